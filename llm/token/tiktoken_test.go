package token

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm"
)

var _ llm.Tokenizer = (*Adapter)(nil)

func TestFromTiktoken(t *testing.T) {
	a := FromTiktoken(oracle(t, Cl100kBase), "mine")
	if a.ID() != "mine" {
		t.Errorf("ID %q", a.ID())
	}
	data, err := os.ReadFile(filepath.Join(testkit.Data(t, "a-christmas-carol"), "book.txt"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data[:40_000])
	want := mustNew(t, Cl100kBase).Encode(nil, text)
	if got := a.Encode([]int{-1}, text); !slices.Equal(got[1:], want) || got[0] != -1 {
		t.Error("sections change the tokens of prose")
	}
	if n := a.Count(text); n != len(want) {
		t.Errorf("Count %d, want %d", n, len(want))
	}
	for _, text := range []string{"", "a", strings.Repeat("的", 3000), strings.Repeat("x", 9000) + " y", strings.Repeat("a ", 5000)} {
		ids := a.Encode(nil, text)
		if string(a.Decode(ids)) != text || a.Count(text) != len(ids) {
			t.Errorf("no round trip of %.20q", text)
		}
	}
}

func TestSections(t *testing.T) {
	for name, text := range map[string]string{
		"words": strings.Repeat("some words ", 2000), "one word": strings.Repeat("x", 20_000), "Han": strings.Repeat("的", 5000),
		"not UTF-8": strings.Repeat("\xe4", 10_000), "short": "short",
	} {
		n := 0
		for rest := text; len(rest) > 0; n++ {
			end := section(rest)
			if end < 1 || end > sectionLimit {
				t.Fatalf("%s: a section of %d bytes", name, end)
			}
			if name == "words" && end < len(rest) && rest[end] != ' ' || name == "Han" && end%3 != 0 {
				t.Fatalf("%s: cut at %q", name, rest[end:][:10])
			}
			rest = rest[end:]
		}
		if most := 2*len(text)/sectionLimit + 1; n > most {
			t.Errorf("%s: %d sections of %d bytes", name, n, len(text))
		}
	}
}
