package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command that takes a question takes one of exactly the limit, and tells of one character more as a mistake of the
// caller, without printing it.
func TestQuestionLength(t *testing.T) {
	const limit = 64 << 10
	dir := filepath.Join(t.TempDir(), "glim.db")
	must(t, dir, "--entity-words", "on", "insert", filepath.FromSlash("../../testdata/corpus/skarn-light.md"))
	set := filepath.Join(t.TempDir(), "set.jsonl")
	for n, want := range map[int]int{limit: exitOK, limit + 1: exitUsage} {
		question := string([]rune(strings.Repeat("Skarn 灯塔 ", limit))[:n-1]) + "é"
		if err := os.WriteFile(set, []byte(mustJSON(map[string]any{"question": question, "documents": []string{"../../testdata/corpus/skarn-light.md"}})), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name, input string
			args        []string
		}{
			{"query", "", []string{"query", question}},
			{"query -", question + "\n", []string{"query", "-"}},
			{"search", "", []string{"search", question}},
			{"search --entities", "", []string{"search", "--entities", question}},
			{"chat", question + "\n", []string{"chat"}},
			{"eval", "", []string{"eval", set, "--mode", "naive"}},
		} {
			env := map[string]string{"GLIM_DB": dir, "GLIM_OFFLINE": "true", "GLIM_ENTITY_WORDS": "on"}
			var out, errs bytes.Buffer
			code := run(context.Background(), c.args, strings.NewReader(c.input), &out, &errs, func(k string) string { return env[k] })
			if code != want || errs.Len() > 1000 || want == exitUsage && !strings.Contains(errs.String(), "65537 characters") {
				t.Errorf("%s, %d characters: exit code %d, want %d: %.1000s", c.name, n, code, want, errs.String())
			}
		}
	}
	must(t, dir, "check")
}
