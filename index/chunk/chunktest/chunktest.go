package chunktest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/index/chunk"
)

// Texts are inputs that chunkers get wrong: nothing, only white space, one character, no place to cut,
// characters of several bytes, emoji joined of several characters, mixed line ends.
func Texts() []string {
	return []string{
		"", " ", "\n\t\r\n  ", "a", " a ", "\ufeffbook",
		"One sentence. Another one follows it.\n\nA second paragraph, after a blank line.\r\n\r\nA third.",
		strings.Repeat("word ", 2000),
		strings.Repeat("x", 5000),
		strings.Repeat("\n", 3000) + "end",
		strings.Repeat("今天天气好。我们去公园！", 200),
		strings.Repeat("家族👨‍👩‍👧‍👦と👩🏽‍🚀、", 300),
		strings.Repeat("e\u0301\u0302", 1000),
		"a" + strings.Repeat(" ", 4000) + "b" + strings.Repeat("\u2003", 1000) + "c",
	}
}

// Run checks c on Texts and on the texts given: chunks are well formed, in order, and the same on every
// call, from several goroutines too. With covered, every character that is not white space must lie in a
// chunk, as it must for a chunker that leaves nothing out on purpose.
func Run(t *testing.T, c chunk.Chunker, covered bool, texts ...string) {
	t.Helper()
	if first, second := c.ID(), c.ID(); first == "" || first != second {
		t.Errorf("the ID %q, then %q must be constant and not empty", first, second)
	}
	for _, text := range append(Texts(), texts...) {
		spans, err := c.Split(context.Background(), text)
		if err != nil {
			t.Errorf("%s: %v", quote(text), err)
			continue
		}
		if err := chunk.Check(text, spans); err != nil {
			t.Errorf("%s: %v", quote(text), err)
			continue
		}
		if i := Uncovered(text, spans); covered && i >= 0 {
			t.Errorf("%s: byte %d is in no chunk", quote(text), i)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if again, err := c.Split(context.Background(), text); err != nil || !slices.Equal(again, spans) {
					t.Errorf("%s: another call answers differently (%v)", quote(text), err)
				}
			})
		}
		wg.Wait()
	}
}

// Uncovered returns the first byte of a character that is not white space and lies wholly in no span, or
// -1. spans are in order.
func Uncovered(text string, spans []chunk.Span) int {
	covered := 0 // no gap before
	for _, s := range append(slices.Clone(spans), chunk.Span{Start: len(text), End: len(text)}) {
		for i, r := range text[min(covered, s.Start):s.Start] {
			if !unicode.IsSpace(r) {
				return covered + i
			}
		}
		covered = max(covered, s.End)
	}
	return -1
}

func quote(text string) string {
	const shown = 40
	if utf8.RuneCountInString(text) > shown {
		text = string([]rune(text)[:shown]) + "…"
	}
	return "text " + strings.ReplaceAll(text, "\n", "⏎")
}
