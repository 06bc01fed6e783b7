package index_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/index"
)

// TestLineEndsDoNotMatter: whatever ends its lines, a text has the same chunks, entities and relations, and is stored
// as it was given.
func TestLineEndsDoNotMatter(t *testing.T) {
	files, err := filepath.Glob("../testdata/corpus/*")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	var want []string
	for _, end := range []string{"\n", "\r\n", "\r"} {
		s := newStore(t, index.Options{ChunkTokens: 700})
		if s.real, err = index.NewRules(index.RulesOptions{}); err != nil {
			t.Fatal(err)
		}
		s.reopen()
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(raw), "\n", end))
			s.put(index.Document{ID: filepath.Base(f), Text: text})
			v := s.view()
			stored, err := index.Text(v, "", filepath.Base(f))
			v.Close()
			if err != nil || stored != text {
				t.Fatalf("%s with %q is stored as %d bytes of %d, %v", f, end, len(stored), len(text), err)
			}
		}
		got := slices.DeleteFunc(s.dump(), func(line string) bool {
			return !strings.HasPrefix(line, "node ") && !strings.HasPrefix(line, "edge ") && !strings.HasPrefix(line, "source ")
		})
		if len(got) < 100 {
			t.Fatalf("only %d lines", len(got))
		}
		if want == nil {
			want = got
		}
		if d := diff(got, want); d != "" {
			t.Errorf("with %q:\n%s", end, d)
		}
	}
	s := newStore(t, index.Options{})
	if _, err := s.Enqueue(context.Background(), []index.Document{{ID: "x", Text: "E A|t|one\r\nE B|t|two"}}, index.Put); err != nil {
		t.Fatal(err)
	}
	if s.process(); s.entity("B") == nil || s.info("x").Status != "processed" {
		t.Errorf("status %+v", s.info("x"))
	}
}
