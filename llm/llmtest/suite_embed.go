package llmtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/glimdb/db/llm"
)

// TestEmbedder checks the contract of llm.Embedder. open returns one over a model that works.
func TestEmbedder(t *testing.T, open func(t *testing.T) llm.Embedder) {
	t.Helper()
	texts := []string{
		"The moon lifts the tides at Gull Bay.", "潮汐由月亮引起。", "a", "The moon lifts the tides at Gull Bay.", "  spaces  around  ",
		"👨‍👩‍👧‍👦", "line one\nline two\r\n", "a much longer text: " + fmt.Sprint(make([]int, 400)),
	}
	t.Run("shape", func(t *testing.T) {
		e := open(t)
		if e.Dim() < 1 || e.ID() == "" {
			t.Fatalf("dimension %d, ID %q", e.Dim(), e.ID())
		}
		for _, kind := range []llm.Kind{llm.ForDocument, llm.ForQuery} {
			vecs, err := e.Embed(t.Context(), texts, kind)
			if err != nil {
				t.Fatal(err)
			}
			if err := llm.CheckVectors(e.ID(), vecs, len(texts), e.Dim()); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("empty call", func(t *testing.T) {
		if vecs, err := open(t).Embed(t.Context(), nil, llm.ForQuery); err != nil || len(vecs) != 0 {
			t.Errorf("%v, %v", vecs, err)
		}
	})
	t.Run("order", func(t *testing.T) {
		// Each text gets, up to rounding of batched arithmetic, the vector that it gets alone.
		e := open(t)
		vecs, err := e.Embed(t.Context(), texts, llm.ForDocument)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			alone, err := e.Embed(t.Context(), []string{text}, llm.ForDocument)
			if err != nil {
				t.Fatal(err)
			}
			if c := cosine(alone[0], vecs[i]); c < 0.999 {
				t.Errorf("text %d: cosine %v between its vector in a batch and alone", i, c)
			}
		}
		if c := cosine(vecs[0], vecs[1]); c > 0.999 {
			t.Errorf("different texts have one vector (cosine %v)", c)
		}
	})
	t.Run("ownership", func(t *testing.T) {
		e := open(t)
		first, err := e.Embed(t.Context(), texts, llm.ForQuery)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(first[3])
		clear(first[0]) // the text of 3 is the same
		if !slices.Equal(first[3], want) {
			t.Error("two vectors share memory")
		}
		second, err := e.Embed(t.Context(), texts[:1], llm.ForQuery)
		if err != nil {
			t.Fatal(err)
		}
		if c := cosine(second[0], want); c < 0.999 {
			t.Error("a caller's change reached a later call")
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := open(t).Embed(ctx, texts, llm.ForQuery); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("concurrent", func(t *testing.T) {
		e := open(t)
		want, err := e.Embed(t.Context(), texts, llm.ForDocument)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				got, err := e.Embed(t.Context(), texts, llm.ForDocument)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range want {
					if c := cosine(got[i], want[i]); c < 0.999 {
						t.Errorf("text %d: another vector than before", i)
					}
				}
			})
		}
		wg.Wait()
	})
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range min(len(a), len(b)) {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// TestReranker checks the contract of llm.Reranker. open returns one over a model that works.
func TestReranker(t *testing.T, open func(t *testing.T) llm.Reranker) {
	t.Helper()
	docs := []string{"Bread is baked in ovens.", "The moon lifts the tides.", "潮汐", "x"}
	t.Run("shape", func(t *testing.T) {
		r := open(t)
		if r.ID() == "" {
			t.Error("no ID")
		}
		scores, err := r.Rerank(t.Context(), "what lifts the tides", docs)
		if err != nil || len(scores) != len(docs) {
			t.Fatalf("%d scores, %v", len(scores), err)
		}
		for i, s := range scores {
			if math.IsNaN(s) || math.IsInf(s, 0) {
				t.Errorf("score %d is %v", i, s)
			}
		}
		if scores[1] <= scores[0] {
			t.Errorf("scores %v: the answer is not above the other", scores)
		}
		slices.Reverse(docs)
		defer slices.Reverse(docs)
		back, err := r.Rerank(t.Context(), "what lifts the tides", docs)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(back)
		for i := range scores {
			if math.Abs(scores[i]-back[i]) > 1e-3 {
				t.Errorf("document %d: %v, %v in another order", i, scores[i], back[i])
			}
		}
	})
	t.Run("empty call", func(t *testing.T) {
		if scores, err := open(t).Rerank(t.Context(), "q", nil); err != nil || len(scores) != 0 {
			t.Errorf("%v, %v", scores, err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := open(t).Rerank(ctx, "q", docs); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

// TestTokenizer checks the contract of llm.Tokenizer.
func TestTokenizer(t *testing.T, tok llm.Tokenizer) {
	t.Helper()
	if tok.ID() == "" {
		t.Error("no ID")
	}
	for _, text := range []string{
		"", "a", "Hello, world!", " leading and trailing ", "\ufeffBOM", "line\r\nline\n\n\ttab", "潮汐由月亮引起。", "e\u0301\u0302", "👨‍👩‍👧‍👦🇫🇷",
		"<|endoftext|>", "nul \x00 and \x1b[31m", "ǅ ß İ ſ",
	} {
		ids := tok.Encode(nil, text)
		if n := tok.Count(text); n != len(ids) {
			t.Errorf("%q: Count %d, %d ids", text, n, len(ids))
		}
		if got := tok.Decode(ids); string(got) != text {
			t.Errorf("%q came back as %q", text, got)
		}
		if again := tok.Encode(nil, text); !slices.Equal(again, ids) {
			t.Errorf("%q: not deterministic", text)
		}
		if app := tok.Encode([]int{7}, text); !slices.Equal(app, append([]int{7}, ids...)) {
			t.Errorf("%q: Encode does not append", text)
		}
		var joined []byte
		for i := range ids {
			joined = append(joined, tok.Decode(ids[i:i+1])...)
		}
		if string(joined) != text {
			t.Errorf("%q: token by token %q", text, joined)
		}
		if text != "" && len(ids) == 0 {
			t.Errorf("%q has no tokens", text)
		}
	}
}
