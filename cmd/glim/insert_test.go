package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/glimdb/db"
)

// readerFunc is a reader that runs f before its text.
type readerFunc struct {
	f    func()
	text *strings.Reader
}

func (r *readerFunc) Read(p []byte) (int, error) {
	if r.f != nil {
		r.f()
		r.f = nil
	}
	return r.text.Read(p)
}

// Whoever writes to an insert may use the database meanwhile.
func TestInsertLocksAfterStandardInput(t *testing.T) {
	t.Chdir(t.TempDir())
	used := false
	in := &readerFunc{text: strings.NewReader("Maren Holt keeps Skarn Light."), f: func() {
		d, err := db.Open("glim.db")
		if err != nil {
			t.Errorf("the database is in use: %v", err)
			return
		}
		used = true
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"insert", "-"}, in, &out, &errs, env(nil)); code != 0 || !used {
		t.Fatalf("exit code %d: %s%s", code, &out, &errs)
	}
	if !strings.Contains(out.String(), "now holds 1 document") {
		t.Errorf("output %s", &out)
	}
	if err := checkOne("glim.db"); err != nil {
		t.Error(err)
	}
}
