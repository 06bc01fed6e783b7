package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What docs/querying.md shows is what its commands print, numbers and the lines left out aside.
func TestQueryingDocShowsWhatIsPrinted(t *testing.T) {
	doc, err := os.ReadFile("../../docs/querying.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```sh\nglim ([^\n]*)\n```\n\n```text\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(examples) < 5 {
		t.Fatalf("%d examples, want one a mode", len(examples))
	}
	t.Chdir(filepath.Join("..", ".."))
	dir := filepath.Join(t.TempDir(), "glim.db")
	must(t, dir, "insert", "testdata/corpus")
	// Times differ by run, and where a line breaks with them.
	varying := regexp.MustCompile(`[0-9.]+(ns|µs|ms|s)\b|[0-9]+`)
	flat := func(s string) string { return strings.Join(strings.Fields(varying.ReplaceAllString(s, "0")), " ") }
	for _, e := range examples {
		printed := flat(must(t, dir, commandLine(t, e[1])...))
		for line := range strings.Lines(e[2]) {
			if line = flat(line); line != "..." && !strings.Contains(printed, line) {
				t.Errorf("glim %s does not print %q", e[1], line)
			}
		}
	}
	must(t, dir, "check")
}
