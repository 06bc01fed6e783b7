package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/query"
)

// glim runs one command line on the database of dir and returns its exit code and output.
func glim(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	env := map[string]string{"GLIM_DB": dir, "GLIM_OFFLINE": "true"}
	var out, errw bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &out, &errw, func(k string) string { return env[k] })
	return code, out.String(), errw.String()
}

// must is glim for a command that has to succeed.
func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	code, out, errs := glim(t, dir, args...)
	if code != exitOK {
		t.Fatalf("glim %q: exit code %d: %s", args, code, errs)
	}
	return out
}

func parse[T any](t *testing.T, out string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v in %.200q", err, out)
	}
	return v
}

// mainJob inserts path, asks question in every mode, checks, deletes all documents one by one, and wants
// nothing left. refused is how many inputs cannot become documents.
func mainJob(t *testing.T, path, question string, refused int) {
	dir := filepath.Join(t.TempDir(), "glim.db")
	code, out, errs := glim(t, dir, "insert", path, "--json")
	want := exitOK
	if refused > 0 {
		want = exitPartial
	}
	if code != want {
		t.Fatalf("insert: exit code %d, want %d: %s", code, want, errs)
	}
	res := parse[inserted](t, out)
	if len(res.Refused) != refused || strings.Count(errs, "refused: ") != refused {
		t.Errorf("refused %v, want %d, each with a line in %q", res.Refused, refused, errs)
	}
	if len(res.Documents) == 0 || res.Summary.Failed != 0 || res.Summary.Processed != len(res.Documents) {
		t.Errorf("%d documents, summary %+v", len(res.Documents), res.Summary)
	}
	must(t, dir, "check")

	for _, mode := range query.Modes() {
		code, out, errs := glim(t, dir, "query", question, "--mode", string(mode), "--json")
		if mode == query.Bypass {
			if code == exitOK || !strings.Contains(errs, "model") {
				t.Errorf("bypass without a model: exit code %d, %q", code, errs)
			}
			continue
		}
		if code != exitOK {
			t.Errorf("%s: exit code %d: %s", mode, code, errs)
			continue
		}
		if r := parse[struct {
			Outcome string
			Data    struct{ Chunks []json.RawMessage }
		}](t, out); len(r.Data.Chunks) == 0 {
			t.Errorf("%s: no chunks: %s %s", mode, r.Outcome, out[:min(len(out), 400)])
		}
	}

	for _, d := range res.Documents {
		must(t, dir, "delete", d.ID)
	}
	must(t, dir, "check")
	got := must(t, dir, "dump", "--logical")
	if want := emptyDump(t); got != want {
		t.Errorf("dump after deleting everything:\n%.2000s\nof an empty database:\n%.2000s", got, want)
	}
}

// emptyDump is the logical dump of a database that never held anything.
func emptyDump(t *testing.T) string {
	t.Helper()
	d, err := db.Open(filepath.Join(t.TempDir(), "glim.db"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := errors.Join(d.Dump(context.Background(), &b, db.DumpOptions{Logical: true}), d.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMainJobOnShippedCorpus(t *testing.T) {
	mainJob(t, filepath.FromSlash("../../testdata/corpus"), "Who repairs the lighthouse lamp?", 0)
}

func TestMainJobOnRealData(t *testing.T) {
	for _, c := range []struct {
		data, question string
		refused        int
	}{
		{"a-christmas-carol/book.txt", "Who is Jacob Marley to Scrooge?", 0},
		{"lightrag-ollama-zh/inputs", "LightRAG", 0},
		{"eval-lightrag-sample/sample_documents", "How does LightRAG reduce hallucinations?", 0},
		{"messy-docs", "What is a Go interface type?", 3}, // Shift_JIS, GBK and EUC-KR, which must be named
	} {
		t.Run(c.data, func(t *testing.T) { mainJob(t, testkit.Data(t, c.data), c.question, c.refused) })
	}
}
