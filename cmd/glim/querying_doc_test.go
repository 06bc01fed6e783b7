package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/glimdb/db/query"
)

// What docs/querying.md shows is what its commands print, in that order, but for durations and the lines left out; and it
// shows one for each mode.
func TestQueryingDocShowsWhatIsPrinted(t *testing.T) {
	doc, err := os.ReadFile("../../docs/querying.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```sh\nglim ([^\n]*)\n```\n\n```text\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	t.Chdir(filepath.Join("..", ".."))
	m := newFakeModel(nil)
	defer m.Close()
	env := map[string]string{"GLIM_DB": filepath.Join(t.TempDir(), "glim.db"), "GLIM_BASE_URL": m.URL + "/v1", "OPENAI_API_KEY": "secret"}
	printing := func(line string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), commandLine(t, line), strings.NewReader(""), &out, &errs, func(k string) string { return env[k] }); code != exitOK {
			t.Fatalf("glim %s: exit code %d: %s", line, code, &errs)
		}
		return out.String()
	}
	printing("insert testdata/corpus")
	// Durations differ by run, and where a line breaks with them.
	varying := regexp.MustCompile(`[0-9.]+(ns|µs|ms|s)\b`)
	flat := func(s string) string { return strings.Join(strings.Fields(varying.ReplaceAllString(s, "0s")), " ") }
	shown := make(map[string]bool)
	for _, e := range examples {
		rest := flat(printing(e[1]))
		parts := strings.Split("\n"+e[2], "\n...\n") // between lines that stand for what is left out
		for i, part := range parts {
			part = flat(part)
			before, after, ok := strings.Cut(rest, part)
			if !ok || i == 0 && before != "" || i == len(parts)-1 && part != "" && after != "" {
				t.Errorf("glim %s: want at this place\n%s\nit prints\n%s", e[1], part, rest)
				break
			}
			rest = after
		}
		for _, mode := range query.Modes() {
			if strings.Contains(e[2], "\n"+string(mode)+" |") {
				shown[string(mode)] = true
			}
		}
	}
	for _, mode := range query.Modes() {
		if !shown[string(mode)] {
			t.Errorf("no example of mode %s with what it prints", mode)
		}
	}
	printing("check")
}
