package arch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModule is the gate: the module breaks no rule.
func TestModule(t *testing.T) {
	found, err := Check(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// TestRulesCatch proves that each rule finds what its fixture breaks, there and nowhere else. A fixture is
// a small module; its file want lists "place: text" with text a part of the finding.
func TestRulesCatch(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			root := filepath.Join("testdata", r.name)
			want, err := os.ReadFile(filepath.Join(root, "want"))
			if err != nil {
				t.Fatalf("the rule has no fixture: %v", err)
			}
			found, err := Check(root)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				if f.Rule != r.name || r.name == "table" && strings.Contains(f.What, "does not exist") && f.File != "kv" {
					continue // other rules have other fixtures; a fixture does not hold every package
				}
				if f.Why == "" {
					t.Errorf("%v gives no reason", f)
				}
				place := f.File
				if f.Line > 0 {
					place = fmt.Sprintf("%s:%d", place, f.Line)
				}
				got = append(got, place+": "+f.What)
			}
			lines := strings.Split(strings.TrimSpace(string(want)), "\n")
			if lines[0] == "" {
				t.Fatal("the fixture breaks nothing: a rule that finds nothing would pass")
			}
			if g, w := strings.Join(got, "\n"), strings.Join(lines, "\n"); g != w {
				t.Errorf("found\n%s\nwant\n%s", g, w)
			}
		})
	}
}

func TestEveryFixtureHasItsRule(t *testing.T) {
	dirs, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, r := range rules {
		names[r.name] = true
	}
	for _, d := range dirs {
		if !names[d.Name()] {
			t.Errorf("testdata/%s belongs to no rule", d.Name())
		}
	}
}
