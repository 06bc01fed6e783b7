package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands yields every command of our own, below root.
func commands(root *cobra.Command) (all []*cobra.Command) {
	for _, c := range root.Commands() {
		if c.Name() != "help" && c.Name() != "completion" { // cobra's
			all = append(append(all, c), commands(c)...)
		}
	}
	return all
}

func TestEveryCommandExplainsItself(t *testing.T) {
	root := newApp(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, env(nil)).command()
	all := append(commands(root), root)
	if len(all) < 19 {
		t.Fatalf("only %d commands", len(all))
	}
	for _, c := range all {
		path := c.CommandPath()
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || strings.Contains(c.Short, "\n") {
			t.Errorf("%s: short help %q", path, c.Short)
		}
		if c.Long == "" && !c.HasSubCommands() {
			t.Errorf("%s: no long help", path)
		}
		if !strings.Contains(c.Example, c.Root().Name()+strings.TrimPrefix(path, "glim")) {
			t.Errorf("%s: no example of it in %q", path, c.Example)
		}
		if c.RunE == nil || c.Args == nil {
			t.Errorf("%s: runs without looking at its arguments", path)
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: flag --%s is not explained", path, f.Name)
			}
			if kind, _ := pflag.UnquoteUsage(f); strings.Contains(kind, " ") { // what is in backquotes is shown as the flag's value
				t.Errorf("%s: --%s %s", path, f.Name, kind)
			}
		})
	}
}

// Examples are command lines that glim takes.
func TestExamplesParse(t *testing.T) {
	root := newApp(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, env(nil)).command()
	for _, c := range append(commands(root), root) {
		for line := range strings.Lines(c.Example) {
			_, call, ok := strings.Cut(" "+line, " glim ")
			if !ok {
				t.Errorf("%s: no call in example %q", c.CommandPath(), line)
				continue
			}
			call, _, _ = strings.Cut(call, "|")
			call, _, _ = strings.Cut(call, "&&")
			call, _, _ = strings.Cut(call, ">")
			args := commandLine(t, call)
			found, rest, err := root.Find(args)
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err == nil && found.Args != nil {
				err = found.Args(found, found.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: example %q: %v", c.CommandPath(), line, err)
			}
		}
	}
}

// What the README shows is what its first command prints, numbers and the places where lines are cut aside.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "<!-- first command -->")
	first, block, _ := strings.Cut(block, "```text")
	shown, _, ok := strings.Cut(block, "```")
	calls := regexp.MustCompile(`go run ./cmd/glim ([^&\n]*)`).FindAllStringSubmatch(first, -1)
	if !ok || len(calls) != 2 {
		t.Fatalf("the README has no first command of two calls: %q", calls)
	}
	t.Chdir(filepath.Join("..", "..")) // its reader is there
	dir := filepath.Join(t.TempDir(), "glim.db")
	must(t, dir, commandLine(t, calls[0][1])...)
	numbers := regexp.MustCompile(`[0-9]+`)
	printed := numbers.ReplaceAllString(must(t, dir, commandLine(t, calls[1][1])...), "0")
	for line := range strings.Lines(shown) {
		line = strings.TrimSuffix(strings.TrimRight(numbers.ReplaceAllString(line, "0"), "\n"), cutMark)
		if line != "..." && !strings.Contains(printed, line) {
			t.Errorf("not printed: %q", line)
		}
	}
	must(t, dir, "check")
}

// commandLine is the words of a command line.
func commandLine(t *testing.T, s string) []string {
	t.Helper()
	out, err := words(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPlainIsOneLineWithoutNamesOfPackages(t *testing.T) {
	for in, want := range map[string]string{
		"db: open x: kv: open x: broken":         "open x: open x: broken",
		"index: insert: kv: graph: put: no room": "insert: put: no room",
		"llm: openai: chat: no":                  "chat: no",
		"see https://kv: fine":                   "see https://kv: fine",
		"notes/index: odd name":                  "notes/index: odd name",
	} {
		if got := plain(errors.New(in)); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
	if got := plain(errors.Join(errors.New("db: one"), errors.New("kv: two"))); got != "one; two" {
		t.Errorf("joined: %q", got)
	}
}
