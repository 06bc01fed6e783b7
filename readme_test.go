package db_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Go code of the README is cut from the examples, so that it compiles and prints what they print.
func TestReadmeCodeIsFromExamples(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	flat := func(s string) string {
		var lines []string
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n")
	}
	all := flat(string(examples))
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) == 0 {
		t.Fatal("the README shows no Go code")
	}
	for _, b := range blocks {
		if !strings.Contains(all, flat(b[1])) {
			t.Errorf("not in example_test.go:\n%s", b[1])
		}
	}
}
