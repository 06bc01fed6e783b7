package rerank

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/llm/token"
)

// letters is a tokenizer of one token a byte.
type letters struct{}

func (letters) Count(text string) int { return len(text) }
func (letters) Encode(dst []int, text string) []int {
	for i := range len(text) {
		dst = append(dst, int(text[i]))
	}
	return dst
}

func (letters) Decode(tokens []int) []byte {
	var out []byte
	for _, t := range tokens {
		out = append(out, byte(t))
	}
	return out
}
func (letters) ID() string { return "letters" }

// numbered is a text of n characters of one token each, no two stretches of which are alike.
func numbered(n int) string {
	var sb strings.Builder
	for i := 0; sb.Len() < n; i++ {
		fmt.Fprintf(&sb, "%d,", i)
	}
	return sb.String()[:n]
}

func splitterOf(t *testing.T, s Splitting) *splitter {
	t.Helper()
	r, err := Split(llmtest.NewReranker(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r.(*splitter)
}

// The windows of the specification's appendix C; where ours differ it is because a last window that would bring less
// than the overlap is slid left.
func TestWindows(t *testing.T) {
	for _, c := range []struct {
		n, size, overlap int
		want             string
	}{
		{1000, 480, 32, "0-480 448-928 896-1000"},
		{480, 480, 32, "0-480"},
		{481, 480, 32, "0-480 1-481"}, // the reference: 448-481
		{512, 480, 32, "0-480 448-512"},
		{25, 10, 10, "0-10 5-15 10-20 15-25"},
		{26, 10, 10, "0-10 5-15 10-20 15-25 16-26"}, // the reference: 20-26
		{3, 1, 5, "0-1 1-2 2-3"},
		{23, 10, 0, "0-10 10-20 20-23"},
		{0, 10, 0, "0-0"},
	} {
		text := numbered(c.n)
		var got []string
		for _, p := range splitterOf(t, Splitting{MaxTokens: c.size, Overlap: c.overlap, Tokenizer: letters{}}).split(nil, text) {
			at := strings.Index(text, p)
			if c.n <= 3 {
				at = len(got) // pieces of one character are not told by their text
			}
			got = append(got, fmt.Sprintf("%d-%d", at, at+len(p)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%d tokens, %d/%d: %s, want %s", c.n, c.size, c.overlap, strings.Join(got, " "), c.want)
		}
	}
}

func TestWindowsWithoutTokenizer(t *testing.T) {
	text := strings.Repeat("月", 100)
	pieces := splitterOf(t, Splitting{MaxTokens: 10, Overlap: 2}).split(nil, text)
	var lengths []int
	for _, p := range pieces {
		lengths = append(lengths, utf8.RuneCountInString(p))
	}
	if !slices.Equal(lengths, []int{40, 40, 36}) {
		t.Errorf("%v characters", lengths)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		s    Splitting
		want string
	}{
		{Splitting{MaxTokens: DefaultMaxTokens, Overlap: DefaultOverlap}, ""},
		{Splitting{MaxTokens: 63}, "so few tokens"},
		{Splitting{MaxTokens: 100, Overlap: 100}, "half of it"},
	} {
		var log bytes.Buffer
		c.s.Logger = slog.New(slog.NewTextHandler(&log, nil))
		splitterOf(t, c.s)
		if (c.want == "") != (log.Len() == 0) || !strings.Contains(log.String(), c.want) {
			t.Errorf("%+v: %s", c.s, log.String())
		}
	}
}

func TestAggregation(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		scores           []float64
		max, mean, first float64
	}{
		{[]float64{.1, .9}, .9, .5, .1},
		{[]float64{.5}, .5, .5, .5},
		{[]float64{nan, -.25, inf, -.75}, -.25, -.5, -.25},
		{[]float64{nan, inf}, nan, nan, nan},
		{nil, nan, nan, nan},
	} {
		for how, want := range map[Aggregation]float64{Max: c.max, Mean: c.mean, First: c.first} {
			if got := how.of(c.scores); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s of %v is %v, want %v", how, c.scores, got, want)
			}
		}
	}
}

// The whole way, over a model in process: a long text is found by a piece in its middle.
func TestSplitFindsTheMiddle(t *testing.T) {
	long := strings.Repeat("Nothing happened that day. ", 40) + "The moon lifts the tides. " + strings.Repeat("Nothing happened that day. ", 40)
	inner := llmtest.NewReranker()
	r, err := Split(inner, Splitting{MaxTokens: 40, Overlap: 10, Tokenizer: token.Default()})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := r.Rerank(t.Context(), "moon tides", []string{"bread", long, "", "the moon"})
	if err != nil || fmt.Sprint(scores) != "[0 1 0 0.5]" {
		t.Errorf("%v, %v", scores, err)
	}
	if docs := inner.Calls()[0].Docs; len(docs) < 10 || docs[0] != "bread" || docs[len(docs)-1] != "the moon" {
		t.Errorf("%d pieces", len(docs))
	}
	if r.ID() != inner.ID() {
		t.Error("the model's identity is lost")
	}
}

type few struct{ llm.Reranker }

func (few) Rerank(context.Context, string, []string) ([]float64, error) { return []float64{1}, nil }

func TestSplitChecksTheModel(t *testing.T) {
	r, err := Split(few{llmtest.NewReranker()}, Splitting{MaxTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	if scores, err := r.Rerank(t.Context(), "q", []string{"a long text", "b"}); err == nil || !strings.Contains(err.Error(), "1 scores for") {
		t.Errorf("%v, %v", scores, err)
	}
}

// FuzzSplit: splitting ends, pieces are of bounded size and valid where the text is, and together hold all of it.
func FuzzSplit(f *testing.F) {
	f.Add("The moon lifts the tides. 潮汐由月亮引起。 👨‍👩‍👧‍👦", 5, 2, true)
	f.Add("aaaa", 1, 9, false)
	f.Add("\xff\xfe月", 1, 0, true)
	tok := token.Default()
	f.Fuzz(func(t *testing.T, text string, size, overlap int, counted bool) {
		s := Splitting{MaxTokens: 1 + size&0xff, Overlap: overlap & 0xff}
		if counted {
			s.Tokenizer = tok
		}
		pieces := splitterOf(t, s).split(nil, text)
		covered := 0 // of text, by the pieces so far
		for _, p := range pieces {
			if utf8.ValidString(text) && !utf8.ValidString(p) {
				t.Fatalf("%q is cut inside a character", p)
			}
			// A piece begins at or before what is covered and reaches further, or at its end.
			found := false
			for from := covered; from >= 0 && !found; from-- {
				if strings.HasPrefix(text[from:], p) && from+len(p) >= covered {
					covered, found = from+len(p), true
				}
			}
			if !found {
				t.Fatalf("%q leaves a gap at %d", p, covered)
			}
		}
		if covered != len(text) {
			t.Fatalf("%d of %d bytes covered", covered, len(text))
		}
	})
}
