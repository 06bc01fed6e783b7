package chunktest

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/llm"
)

// Texts are inputs that chunkers get wrong: nothing, only white space, one character, no place to cut,
// characters of several bytes, emoji joined of several characters, combining marks, right-to-left scripts, NUL,
// mixed line ends, headings, tables and code, closed and not.
func Texts() []string {
	return []string{
		"", " ", "\n\t\r\n  ", "a", " a ", "\ufeffbook", "\x00", "a\x00b \x00\x00",
		"One sentence. Another one follows it.\n\nA second paragraph, after a blank line.\r\n\r\nA third.",
		strings.Repeat("word ", 2000),
		strings.Repeat("x", 5000),
		strings.Repeat("\n", 3000) + "end",
		strings.Repeat("今天天气好。我们去公园！", 200),
		strings.Repeat("家族👨‍👩‍👧‍👦と👩🏽‍🚀、", 300),
		strings.Repeat("e\u0301\u0302", 1000),
		strings.Repeat("\u0301", 700),
		strings.Repeat("\u200d", 700),
		strings.Repeat("שלום עולם. مرحبا بالعالم؟ \u202e", 120),
		strings.Repeat("line\r\n\r\nother\rthird\n", 200),
		"a" + strings.Repeat(" ", 4000) + "b" + strings.Repeat("\u2003", 1000) + "c",
		strings.Repeat("# Guide\n\n## Install\n\nRun it.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nrun # no heading\n```\n\n", 40),
		"# " + strings.Repeat("long ", 900) + "\n\nbody\n===\n---\n#\n####### seven\n```\nnever closed\n# x",
		"| h |\n|---|\n" + strings.Repeat("| "+strings.Repeat("cell ", 90)+"|\n", 9) + "<table><tr><td>1<tr><td>2",
		strings.Repeat("|", 3000) + "\n" + strings.Repeat("|-", 3000) + "|\n",
	}
}

// alphabet mixes what makes tokens of one and of many bytes, white space, and marks of structure.
var alphabet = []string{"a", "b", " ", "  ", "\n", "\n\n", "\r\n", "word", " Word", ". ", "é", "今", "天。", "👨‍👩‍👧‍👦", "🚀", "\u0301",
	"\u200d", "שלום", "0", "...", "\u00a0", "\u2028", "\x00", "\n# h\n", "\n## h", "|", "\n|-|-|\n", "\n```\n", "<table>\n", "<tr>", "\n---\n"}

// Random returns n texts of up to 200 parts that are hard to cut, the same for equal seeds.
func Random(seed uint64, n int) []string {
	rng := rand.New(rand.NewPCG(seed, 0))
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range rng.IntN(200) {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		texts[i] = b.String()
	}
	return texts
}

// Want is what a chunker promises beside C1 to C4.
type Want struct {
	// Covered: every character that is not white space lies in a chunk, as it must for a chunker that leaves
	// nothing out on purpose.
	Covered bool
	// MaxTokens, if above 0, is the largest chunk by Tokenizer's count.
	MaxTokens int
	Tokenizer llm.Tokenizer
}

// Run checks c on Texts, on random ones and on the texts given: chunks are well formed, in order, and the same on
// every call, from several goroutines too.
func Run(t *testing.T, c chunk.Chunker, want Want, texts ...string) {
	t.Helper()
	if first, second := c.ID(), c.ID(); first == "" || first != second {
		t.Errorf("the ID %q, then %q must be constant and not empty", first, second)
	}
	const seed, random = 20, 100
	for _, text := range slices.Concat(Texts(), Random(seed, random), texts) {
		Check(t, c, want, text)
	}
}

// Check is what Run does with one text, for fuzz targets.
func Check(t *testing.T, c chunk.Chunker, want Want, text string) {
	t.Helper()
	spans, err := c.Split(context.Background(), text)
	if err != nil {
		t.Errorf("%s: %v", quote(text), err)
		return
	}
	if err := chunk.Check(text, spans); err != nil {
		t.Errorf("%s: %v", quote(text), err)
		return
	}
	if i := Uncovered(text, spans); want.Covered && i >= 0 {
		t.Errorf("%s: byte %d is in no chunk", quote(text), i)
	}
	for i, s := range spans {
		if want.MaxTokens == 0 {
			break
		}
		if n := want.Tokenizer.Count(s.Text(text)); n > want.MaxTokens {
			t.Errorf("%s: chunk %d has %d tokens, the limit is %d", quote(text), i, n, want.MaxTokens)
		}
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if again, err := c.Split(context.Background(), text); err != nil || !slices.Equal(again, spans) {
				t.Errorf("%s: another call answers differently (%v)", quote(text), err)
			}
		})
	}
	wg.Wait()
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
