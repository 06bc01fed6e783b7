package index

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/index/chunk"
)

func TestLineFeeds(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "no end": "no end", "a\nb": "a\nb", "a\r\nb\r\n": "a\nb\n", "old\rmac\r": "old\nmac\n",
		"\r\r\n\n\r": "\n\n\n\n", "\r\n\r\n": "\n\n", "港\r\n灯": "港\n灯",
	} {
		if got, _ := lineFeeds(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestLineFeedsRestore: any span of the text with line feeds finds the same characters in the original.
func TestLineFeedsRestore(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 2000 {
		var sb strings.Builder
		for range rng.IntN(12) {
			sb.WriteString([]string{"\r\n", "\n", "\r", "x", "港", "yz"}[rng.IntN(6)])
		}
		text := sb.String()
		lf, shortened := lineFeeds(text)
		for start := range len(lf) + 1 {
			for end := start; end <= len(lf); end++ {
				s := restore([]chunk.Span{{Start: start, End: end, Tokens: 7}}, shortened)[0]
				if got, _ := lineFeeds(s.Text(text)); got != lf[start:end] || s.Tokens != 7 {
					t.Fatalf("%q: [%d:%d] %q became [%d:%d] %q", text, start, end, lf[start:end], s.Start, s.End, s.Text(text))
				}
			}
		}
		whole := []chunk.Span{{Start: 0, End: len(lf)}}
		if got := restore(whole, shortened)[0]; got != (chunk.Span{Start: 0, End: len(text)}) {
			t.Fatalf("%q: the whole became %v", text, got)
		}
		if !slices.IsSorted(shortened) {
			t.Fatalf("%q: %v", text, shortened)
		}
	}
}
