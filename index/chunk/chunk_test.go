package chunk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/index/chunk/chunktest"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/token"
)

// runes has one token for each character.
type runes struct{}

func (runes) ID() string            { return "runes" }
func (runes) Count(text string) int { return utf8.RuneCountInString(text) }
func (runes) Encode(dst []int, text string) []int {
	for _, r := range text {
		dst = append(dst, int(r))
	}
	return dst
}
func (runes) Decode(tokens []int) []byte {
	var b []byte
	for _, r := range tokens {
		b = utf8.AppendRune(b, rune(r))
	}
	return b
}

// octets has one token for each byte: every character of several bytes can be cut.
type octets struct{}

func (octets) ID() string            { return "octets" }
func (octets) Count(text string) int { return len(text) }
func (octets) Encode(dst []int, text string) []int {
	for i := range len(text) {
		dst = append(dst, int(text[i]))
	}
	return dst
}
func (octets) Decode(tokens []int) []byte {
	b := make([]byte, len(tokens))
	for i, t := range tokens {
		b[i] = byte(t)
	}
	return b
}

func window(t testing.TB, tok llm.Tokenizer, size, overlap int, opts ...chunk.Option) *chunk.Window {
	t.Helper()
	w, err := chunk.NewWindow(tok, size, overlap, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func split(t testing.TB, c chunk.Chunker, text string) []chunk.Span {
	t.Helper()
	spans, err := c.Split(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	return spans
}

func texts(text string, spans []chunk.Span) []string {
	var out []string
	for _, s := range spans {
		out = append(out, s.Text(text))
	}
	return out
}

// TestWindowArithmetic has the counts that the reference gives for one token a character.
func TestWindowArithmetic(t *testing.T) {
	for _, tc := range []struct {
		total           int
		want, contained []int
	}{
		{0, nil, nil},
		{1, []int{1}, []int{1}},
		{1100, []int{1100}, []int{1100}},
		{1101, []int{1101, 1}, []int{1101}},
		{1150, []int{1150, 50}, []int{1150}},
		{1200, []int{1200, 100}, []int{1200}},
		{1201, []int{1200, 101}, []int{1200, 101}},
		{2200, []int{1200, 1100}, []int{1200, 1100}},
		{2300, []int{1200, 1200, 100}, []int{1200, 1200}},
	} {
		for _, tok := range []llm.Tokenizer{runes{}, octets{}} {
			text := strings.Repeat("x", tc.total)
			var got, uncontained []int
			for i, s := range split(t, window(t, tok, 1200, 100), text) {
				got = append(got, s.Tokens)
				if s.Start != i*1100 {
					t.Errorf("%d: window %d starts at %d", tc.total, i, s.Start)
				}
			}
			for _, s := range split(t, window(t, tok, 1200, 100, chunk.WithoutContained()), text) {
				uncontained = append(uncontained, s.Tokens)
			}
			if !slices.Equal(got, tc.want) || !slices.Equal(uncontained, tc.contained) {
				t.Errorf("%d %s: got %v and %v, want %v and %v", tc.total, tok.ID(), got, uncontained, tc.want, tc.contained)
			}
		}
	}
}

// TestRecordedChunks cuts real documents into exactly the chunks that LightRAG stored.
func TestRecordedChunks(t *testing.T) {
	for _, tc := range []struct {
		name                 string
		size, overlap, count int
	}{
		{"lightrag-carol", 1200, 100, 42},
		{"lightrag-ollama-zh", 1200, 100, 53},
		{"lightrag-covid", 800, 100, 68},
		{"lightrag-xiaomi-zh", 1200, 100, 2},
		{"lightrag-tiki-vi", 1200, 100, 52},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var docs map[string]struct{ Content string }
			var chunks map[string]struct {
				Content string
				Tokens  int
				Order   int    `json:"chunk_order_index"`
				Doc     string `json:"full_doc_id"`
			}
			readJSON(t, filepath.Join(testkit.Data(t, tc.name), "kv_store_full_docs.json"), &docs)
			readJSON(t, filepath.Join(testkit.Data(t, tc.name), "kv_store_text_chunks.json"), &chunks)
			recorded := map[string]map[int]chunkRow{}
			for _, c := range chunks {
				if recorded[c.Doc] == nil {
					recorded[c.Doc] = map[int]chunkRow{}
				}
				recorded[c.Doc][c.Order] = chunkRow{c.Content, c.Tokens}
			}
			w := window(t, token.Default(), tc.size, tc.overlap)
			total := 0
			for id, doc := range docs {
				spans := split(t, w, doc.Content)
				total += len(spans)
				if len(spans) != len(recorded[id]) {
					t.Errorf("%s: %d chunks, recorded %d", id, len(spans), len(recorded[id]))
				}
				for i, s := range spans {
					if got := (chunkRow{s.Text(doc.Content), s.Tokens}); got != recorded[id][i] {
						t.Errorf("%s chunk %d: %d tokens, recorded %d; equal text: %t", id, i, s.Tokens, recorded[id][i].tokens, got.text == recorded[id][i].text)
					}
				}
			}
			if total != tc.count {
				t.Errorf("%d chunks, want %d", total, tc.count)
			}
		})
	}
}

type chunkRow struct {
	text   string
	tokens int
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func TestHC13_Overlap(t *testing.T) {
	for _, overlap := range []int{50, 60, -1} {
		_, err := chunk.NewWindow(runes{}, 50, overlap)
		var ce *chunk.ConfigError
		if !errors.Is(err, chunk.ErrConfig) || !errors.As(err, &ce) || ce.Field != "overlap" || ce.Value != overlap {
			t.Errorf("overlap %d: got %v", overlap, err)
		}
	}
	for _, size := range []int{0, chunk.MaxSize + 1, math.MaxInt} {
		if _, err := chunk.NewWindow(runes{}, size, 0); !errors.Is(err, chunk.ErrConfig) {
			t.Errorf("size %d: got %v", size, err)
		}
	}
	if got := split(t, window(t, runes{}, chunk.MaxSize, chunk.MaxSize-1), "abc"); len(got) == 0 || got[0].Text("abc") != "abc" {
		t.Errorf("the largest window: %v", got)
	}
	if _, err := chunk.NewWindow(nil, 50, 0); !errors.Is(err, chunk.ErrConfig) {
		t.Errorf("no tokenizer: got %v", err)
	}
	if got := split(t, window(t, runes{}, 50, 49), strings.Repeat("x", 500)); len(got) != 500 {
		t.Errorf("the largest overlap: %d chunks, want 500", len(got))
	}
}

func TestHC13_CharactersStayWhole(t *testing.T) {
	text := strings.Repeat("家族の写真👨‍👩‍👧‍👦と👩‍👩‍👦です。", 400)
	for _, tok := range []llm.Tokenizer{token.Default(), octets{}, runes{}} {
		for _, overlap := range []int{8, 0, 31} {
			checkWindows(t, tok, 32, overlap, text)
		}
	}
}

// checkWindows tests C1 to C6.
func checkWindows(t *testing.T, tok llm.Tokenizer, size, overlap int, text string) {
	t.Helper()
	spans, err := window(t, tok, size, overlap).Split(context.Background(), text)
	if err != nil {
		if largest := largestCharacter(tok, text); errors.Is(err, chunk.ErrLimit) && largest > size {
			return
		}
		t.Fatalf("%s %d/%d: %v", tok.ID(), size, overlap, err)
	}
	if err := chunk.Check(text, spans); err != nil {
		t.Fatalf("%s %d/%d: %v", tok.ID(), size, overlap, err)
	}
	if i := chunktest.Uncovered(text, spans); i >= 0 {
		t.Fatalf("%s %d/%d: byte %d is in no chunk of %v", tok.ID(), size, overlap, i, spans)
	}
	for _, s := range spans {
		if n := tok.Count(s.Text(text)); n > size+size/400 || s.Tokens > size || s.Tokens < 1 {
			t.Fatalf("%s %d/%d: chunk of %d tokens, says %d", tok.ID(), size, overlap, n, s.Tokens)
		}
	}
}

func largestCharacter(tok llm.Tokenizer, text string) int {
	n := 0
	for _, r := range text {
		n = max(n, tok.Count(string(r)))
	}
	return n
}

func TestHC13_ChunksOfTheCaller(t *testing.T) {
	text := strings.Repeat("one two three four ", 30)
	own := chunk.Func("halves", func(_ context.Context, text string) ([]chunk.Span, error) {
		return []chunk.Span{{Start: 0, End: 18}, {Start: 19, End: len(text) - 1}}, nil
	})
	w := window(t, runes{}, 180, 20)
	spans := split(t, chunk.Limit(own, w, false), text)
	if err := chunk.Check(text, spans); err != nil {
		t.Fatal(err)
	}
	if spans[0] != (chunk.Span{Start: 0, End: 18, Tokens: 18}) {
		t.Errorf("the small one became %v", spans[0])
	}
	if i := chunktest.Uncovered(text, spans); i >= 0 {
		t.Errorf("byte %d is lost", i)
	}
	for _, s := range spans {
		if s.End-s.Start > 180 {
			t.Errorf("%v is over the limit", s)
		}
	}
	_, err := chunk.Limit(own, w, true).Split(context.Background(), text)
	var le *chunk.LimitError
	if !errors.As(err, &le) || !errors.Is(err, chunk.ErrLimit) || le.Tokens != 550 || le.Limit != 180 || le.Start != 19 || utf8.RuneCountInString(le.Preview) != 120 {
		t.Errorf("got %+v (%v)", le, err)
	}
}

func TestCheck(t *testing.T) {
	const text = "né x  yz"
	for _, tc := range []struct {
		spans []chunk.Span
		bad   int
	}{
		{nil, -1},
		{[]chunk.Span{{Start: 0, End: 3}, {Start: 0, End: 5}, {Start: 4, End: 5}, {Start: 7, End: 9}}, -1},
		{[]chunk.Span{{Start: -1, End: 3}}, 0},
		{[]chunk.Span{{Start: 0, End: 10}}, 0},
		{[]chunk.Span{{Start: 3, End: 1}}, 0},
		{[]chunk.Span{{Start: 1, End: 1}}, 0},
		{[]chunk.Span{{Start: 0, End: 2}}, 0},
		{[]chunk.Span{{Start: 2, End: 3}}, 0},
		{[]chunk.Span{{Start: 0, End: 4}}, 0},
		{[]chunk.Span{{Start: 0, End: 3}, {Start: 5, End: 9}}, 1},
		{[]chunk.Span{{Start: 0, End: 3}, {Start: 0, End: 3}}, 1},
		{[]chunk.Span{{Start: 4, End: 5}, {Start: 0, End: 3}}, 1},
		{[]chunk.Span{{Start: 0, End: 5}, {Start: 0, End: 3}}, 1},
		{[]chunk.Span{{Start: 0, End: 3, Tokens: -1}}, 0},
	} {
		err := chunk.Check(text, tc.spans)
		var se *chunk.SpanError
		if tc.bad < 0 && err != nil || tc.bad >= 0 && (!errors.As(err, &se) || se.Index != tc.bad || !errors.Is(err, chunk.ErrSpan)) {
			t.Errorf("%v: got %v, want a complaint about %d", tc.spans, err, tc.bad)
		}
	}
	bad := chunk.Func("bad", func(context.Context, string) ([]chunk.Span, error) {
		return []chunk.Span{{Start: 0, End: 2}}, nil
	})
	if _, err := chunk.Limit(bad, window(t, runes{}, 9, 0), false).Split(context.Background(), text); !errors.Is(err, chunk.ErrSpan) {
		t.Errorf("Limit let %v through", err)
	}
}

func TestSeparator(t *testing.T) {
	const text = "a\n\nb\n\n\n\nc"
	if got := texts(text, split(t, window(t, runes{}, 3, 1, chunk.WithSeparator("\n\n", false)), text)); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("got %q", got)
	}
	long := "abcdefg|hi| jklm |"
	if got := texts(long, split(t, window(t, runes{}, 5, 2, chunk.WithSeparator("|", false)), long)); !slices.Equal(got, []string{"abcde", "defg", "g", "hi", "jklm", "lm"}) {
		t.Errorf("got %q", got)
	}
	_, err := window(t, runes{}, 5, 2, chunk.WithSeparator("|", true)).Split(context.Background(), long)
	var le *chunk.LimitError
	if !errors.As(err, &le) || le.Tokens != 7 || le.Limit != 5 || le.Preview != "abcdefg" {
		t.Errorf("got %v", err)
	}
	if got := split(t, window(t, runes{}, 5, 2, chunk.WithSeparator("", true)), "abcdefg"); len(got) != 3 {
		t.Errorf("an empty separator must count as not given: %v", got)
	}
}

func TestBadInput(t *testing.T) {
	ctx := context.Background()
	w := window(t, octets{}, 3, 0)
	if _, err := w.Split(ctx, "a\xff"); !errors.Is(err, chunk.ErrUTF8) {
		t.Errorf("invalid UTF-8: %v", err)
	}
	_, err := w.Split(ctx, "ab😀")
	var le *chunk.LimitError
	if !errors.As(err, &le) || le.Start != 2 || le.Preview != "😀" {
		t.Errorf("a character over the size: %v", err)
	}
	if _, err := window(t, lossy{}, 9, 0).Split(ctx, "Abc"); !errors.Is(err, chunk.ErrTokenizer) {
		t.Errorf("a tokenizer that changes the text: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.Split(done, "abc"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// lossy folds case, as some model vocabularies do.
type lossy struct{ octets }

func (lossy) Encode(dst []int, text string) []int {
	return octets{}.Encode(dst, strings.ToLower(text))
}

func TestConformance(t *testing.T) {
	own := chunk.Func("whole", func(_ context.Context, text string) ([]chunk.Span, error) {
		s := strings.TrimSpace(text)
		if s == "" {
			return nil, nil
		}
		i := strings.Index(text, s)
		return []chunk.Span{{Start: i, End: i + len(s)}}, nil
	})
	for _, tc := range []struct {
		c    chunk.Chunker
		want chunktest.Want
	}{
		{window(t, runes{}, 10, 3), chunktest.Want{Covered: true, MaxTokens: 10, Tokenizer: runes{}}},
		{window(t, octets{}, 25, 0), chunktest.Want{Covered: true, MaxTokens: 25, Tokenizer: octets{}}},
		{window(t, token.Default(), 32, 8), chunktest.Want{Covered: true, MaxTokens: 32, Tokenizer: token.Default()}},
		{window(t, token.Default(), chunk.DefaultSize, chunk.DefaultOverlap, chunk.WithoutContained()), chunktest.Want{Covered: true, MaxTokens: 1203, Tokenizer: token.Default()}},
		{own, chunktest.Want{Covered: true}},
		{chunk.Limit(own, window(t, runes{}, 100, 10), false), chunktest.Want{Covered: true, MaxTokens: 100, Tokenizer: runes{}}},
		{window(t, runes{}, 10, 3, chunk.WithSeparator("。", false)), chunktest.Want{MaxTokens: 10, Tokenizer: runes{}}},
	} {
		t.Run(tc.c.ID(), func(t *testing.T) { chunktest.Run(t, tc.c, tc.want) })
	}
}

func TestID(t *testing.T) {
	ids := map[string]bool{}
	for _, w := range []*chunk.Window{
		window(t, runes{}, 10, 3), window(t, octets{}, 10, 3), window(t, runes{}, 11, 3), window(t, runes{}, 10, 4),
		window(t, runes{}, 10, 3, chunk.WithoutContained()), window(t, runes{}, 10, 3, chunk.WithDrift(1)),
		window(t, runes{}, 10, 3, chunk.WithSeparator("|", false)), window(t, runes{}, 10, 3, chunk.WithSeparator("|", true)),
	} {
		if ids[w.ID()] {
			t.Errorf("ID %s twice", w.ID())
		}
		ids[w.ID()] = true
	}
}

func TestRandomTexts(t *testing.T) {
	const seed = 20
	rng := rand.New(rand.NewPCG(seed, 0))
	for i, text := range chunktest.Random(seed, 400) {
		size := 1 + rng.IntN(40)
		tok := []llm.Tokenizer{runes{}, octets{}, token.Default()}[i%3]
		t.Run(fmt.Sprintf("seed%d/%d", seed, i), func(t *testing.T) { checkWindows(t, tok, size, rng.IntN(size), text) })
	}
}

func FuzzWindow(f *testing.F) {
	for _, text := range chunktest.Texts() {
		f.Add(text, uint8(32), uint8(8))
	}
	f.Add("ab😀\xff", uint8(3), uint8(0))
	f.Fuzz(func(t *testing.T, text string, size, overlap uint8) {
		if size == 0 || overlap >= size || !utf8.ValidString(text) {
			t.Skip("not a legal configuration")
		}
		for _, tok := range []llm.Tokenizer{octets{}, token.Default()} {
			checkWindows(t, tok, int(size), int(overlap), text)
		}
	})
}

func BenchmarkWindow(b *testing.B) {
	text := strings.Repeat("The lamp burned all night, and nobody at the mill could say why. ", 3000)
	w := window(b, token.Default(), chunk.DefaultSize, chunk.DefaultOverlap)
	if n := len(split(b, w, text)); n < 30 {
		b.Fatalf("%d chunks", n)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Split(context.Background(), text); err != nil {
			b.Fatal(err)
		}
	}
}
