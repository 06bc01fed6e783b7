package llm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/llm/token"
)

func texts(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("text %d", i)
	}
	return out
}

func TestBatchSplits(t *testing.T) {
	for _, c := range []struct {
		n, size int
		calls   int
	}{{0, 3, 0}, {1, 3, 1}, {3, 3, 1}, {4, 3, 2}, {10, 3, 4}, {100, 0, 4}} {
		e := llmtest.NewEmbedder(4)
		in := texts(c.n)
		vecs, err := llm.Batch(e, llm.BatchOptions{Texts: c.size}).Embed(t.Context(), in, llm.ForDocument)
		if err != nil || len(vecs) != c.n || len(e.Calls()) != c.calls || e.Texts() != c.n {
			t.Fatalf("%d texts by %d: %d vectors, %d calls, %v", c.n, c.size, len(vecs), len(e.Calls()), err)
		}
		want, _ := e.Embed(t.Context(), in, llm.ForDocument)
		for i := range want {
			if vecs[i][0] != want[i][0] {
				t.Errorf("text %d has the vector of another", i)
			}
		}
	}
}

func TestBatchByTokens(t *testing.T) {
	e := llmtest.NewEmbedder(2)
	long := strings.Repeat("many words here ", 40)
	in := []string{"a", "b", long, "c", "d", "e"}
	b := llm.Batch(e, llm.BatchOptions{Texts: 3, Tokens: 20, Tokenizer: token.Default(), Parallel: 1})
	if _, err := b.Embed(t.Context(), in, llm.ForDocument); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, c := range e.Calls() {
		sizes = append(sizes, len(c.Texts))
	}
	if fmt.Sprint(sizes) != "[2 1 3]" {
		t.Errorf("batches of %v", sizes)
	}
}

func TestHC16_BadVectors(t *testing.T) {
	for _, c := range []struct {
		name      string
		fault     llmtest.Fault
		reason    string
		index     int
		got, want int
	}{
		{"four of five", llmtest.Drop, llm.ReasonCount, -1, 4, 5},
		{"NaN", llmtest.NaN, llm.ReasonNotFinite, 4, 3, 3},
		{"zero", llmtest.Zero, llm.ReasonZero, 4, 3, 3},
		{"dimension", llmtest.Short, llm.ReasonDimension, 4, 2, 3},
	} {
		for name, wrap := range map[string]func(llm.Embedder) llm.Embedder{
			"batch":         func(e llm.Embedder) llm.Embedder { return llm.Batch(e, llm.BatchOptions{}) },
			"cache":         func(e llm.Embedder) llm.Embedder { return llm.CacheEmbedder(e, newStore(), llm.CacheOptions{}) },
			"cached chain":  func(e llm.Embedder) llm.Embedder { return llm.Chain{Store: newStore()}.Embedder(e) },
			"default chain": func(e llm.Embedder) llm.Embedder { return llm.Chain{}.Embedder(e) },
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				e := llmtest.NewEmbedder(3)
				e.Break(0, c.fault)
				vecs, err := wrap(e).Embed(t.Context(), texts(5), llm.ForDocument)
				var bad *llm.VectorError
				if vecs != nil || !errors.Is(err, llm.ErrVectors) || !errors.As(err, &bad) {
					t.Fatalf("%v, %v", vecs, err)
				}
				want := llm.VectorError{Model: e.ID(), Index: c.index, Got: c.got, Want: c.want, Reason: c.reason}
				if *bad != want {
					t.Errorf("%+v, want %+v", *bad, want)
				}
			})
		}
	}
}

// The index of a bad vector counts in the caller's texts, whatever batches and hits lie between.
func TestBadVectorIndex(t *testing.T) {
	store := newStore()
	e := llmtest.NewEmbedder(3)
	chain := llm.Chain{Store: store, Batch: llm.BatchOptions{Texts: 2, Parallel: 1}}.Embedder(e)
	in := texts(9)
	if _, err := chain.Embed(t.Context(), []string{in[0], in[3]}, llm.ForDocument); err != nil {
		t.Fatal(err)
	}
	// Missing: 1 2 | 4 5 | 6 7 | 8; the second call from here on is bad in its last text.
	e.Break(0, llmtest.After(1, llmtest.NaN))
	_, err := chain.Embed(t.Context(), in, llm.ForDocument)
	var bad *llm.VectorError
	if !errors.As(err, &bad) || bad.Index != 5 {
		t.Fatalf("%v", err)
	}
}

func TestBatchFailureCancelsTheRest(t *testing.T) {
	never := make(chan struct{})
	var once sync.Once
	failing := llm.FuncEmbedder("f", 2, func(ctx context.Context, text string) ([]float32, error) {
		first := false
		once.Do(func() { first = true })
		if first {
			return nil, errBoom
		}
		select {
		case <-never:
		case <-ctx.Done():
		}
		return nil, ctx.Err()
	})
	if _, err := llm.Batch(failing, llm.BatchOptions{Texts: 1}).Embed(t.Context(), texts(50), llm.ForDocument); !errors.Is(err, errBoom) {
		t.Errorf("error %v", err)
	}
}
