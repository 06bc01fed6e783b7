package llm_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

var errBoom = errors.New("boom")

// memStore is a ByteStore that can be told to fail.
type memStore struct {
	mu             sync.Mutex
	entries        map[string][]byte
	puts           int
	getErr, putErr error
}

func newStore() *memStore { return &memStore{entries: map[string][]byte{}} }

func (s *memStore) Get(_ context.Context, key string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.entries[key]
	return append([]byte(nil), v...), ok, s.getErr
}

func (s *memStore) Put(_ context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.putErr != nil {
		return s.putErr
	}
	s.puts++
	s.entries[key] = append([]byte(nil), value...)
	return nil
}

func (s *memStore) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: text}}, Purpose: llm.PurposeExtract}
}

// forgetful never finds anything: the suite expects each call to reach the model.
type forgetful struct{ *memStore }

func (forgetful) Get(context.Context, string) ([]byte, bool, error) { return nil, false, nil }

func TestChatDecorators(t *testing.T) {
	policy := llm.RetryPolicy{Sleep: func(context.Context, time.Duration) error { return nil }}
	for name, wrap := range map[string]func(llm.Chat) llm.Chat{
		"retry":    func(c llm.Chat) llm.Chat { return llm.Retry(c, policy) },
		"limit":    func(c llm.Chat) llm.Chat { return llm.Limit(c, llm.NewLimiter(2)) },
		"deadline": func(c llm.Chat) llm.Chat { return llm.Deadline(c, time.Hour) },
		"meter":    func(c llm.Chat) llm.Chat { return new(llm.Meter).Chat(c) },
		"cache":    func(c llm.Chat) llm.Chat { return llm.Cache(c, forgetful{newStore()}, llm.CacheOptions{}) },
		"chain": func(c llm.Chat) llm.Chat {
			return llm.Chain{Meter: new(llm.Meter), Store: forgetful{newStore()}, Retry: policy, Limiter: llm.NewLimiter(1), Timeout: time.Hour}.Chat(c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			llmtest.TestChat(t, func(_ *testing.T, s llmtest.Script) llm.Chat { return wrap(llmtest.Scripted(s)) })
		})
	}
}

func TestEmbedderDecorators(t *testing.T) {
	for name, wrap := range map[string]func(llm.Embedder) llm.Embedder{
		"retry":    func(e llm.Embedder) llm.Embedder { return llm.RetryEmbedder(e, llm.RetryPolicy{}) },
		"limit":    func(e llm.Embedder) llm.Embedder { return llm.LimitEmbedder(e, llm.NewLimiter(2)) },
		"deadline": func(e llm.Embedder) llm.Embedder { return llm.DeadlineEmbedder(e, time.Hour) },
		"meter":    func(e llm.Embedder) llm.Embedder { return new(llm.Meter).Embedder(e) },
		"batch":    func(e llm.Embedder) llm.Embedder { return llm.Batch(e, llm.BatchOptions{Texts: 3}) },
		"cache":    func(e llm.Embedder) llm.Embedder { return llm.CacheEmbedder(e, newStore(), llm.CacheOptions{}) },
		"chain": func(e llm.Embedder) llm.Embedder {
			return llm.Chain{Meter: new(llm.Meter), Store: newStore(), Limiter: llm.NewLimiter(1), Timeout: time.Hour, Batch: llm.BatchOptions{Texts: 2}}.Embedder(e)
		},
	} {
		t.Run(name, func(t *testing.T) {
			llmtest.TestEmbedder(t, func(*testing.T) llm.Embedder { return wrap(llmtest.NewEmbedder(8)) })
		})
	}
	t.Run("func", func(t *testing.T) {
		llmtest.TestEmbedder(t, func(*testing.T) llm.Embedder {
			inner := llmtest.NewEmbedder(8)
			return llm.FuncEmbedder("mine", 8, func(ctx context.Context, text string) ([]float32, error) {
				v, err := inner.Embed(ctx, []string{text}, llm.ForDocument)
				if err != nil {
					return nil, err
				}
				return v[0], nil
			})
		})
	})
}

func TestRerankerDecorators(t *testing.T) {
	llmtest.TestReranker(t, func(*testing.T) llm.Reranker {
		return llm.Chain{Meter: new(llm.Meter), Limiter: llm.NewLimiter(1), Timeout: time.Hour}.Reranker(llmtest.NewReranker())
	})
}

func TestChainOfNothing(t *testing.T) {
	var ch llm.Chain
	if ch.Chat(nil) != nil || ch.Embedder(nil) != nil || ch.Reranker(nil) != nil {
		t.Error("a decorator around nil")
	}
	if ch.Chat(llmtest.NewChat()).ID() != "fake/chat" || ch.Embedder(llmtest.NewEmbedder(3)).Dim() != 3 || ch.Reranker(llmtest.NewReranker()).ID() != "fake/rerank" {
		t.Error("the model's identity is lost")
	}
}

func TestFuncChat(t *testing.T) {
	c := llm.FuncChat("mine", func(_ context.Context, req llm.Request) (llm.Reply, error) {
		if req.JSON {
			return llm.Reply{Text: "half"}, errBoom
		}
		return llm.Reply{Text: req.Messages[0].Content + "!"}, nil
	})
	r, err := llm.Complete(t.Context(), c, ask("tide"))
	if err != nil || r.Text != "tide!" || r.Finish != llm.FinishStop || r.Usage.Calls != 1 || c.ID() != "mine" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := llm.Complete(t.Context(), c, llm.Request{JSON: true}); !errors.Is(err, errBoom) || r.Text != "" {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llm.Complete(ctx, c, ask("tide")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestStripReasoning(t *testing.T) {
	for in, want := range map[string]string{
		"<think>a</think>b":  "b",
		"a</think>b":         "b",
		"<think>open":        "<think>open",
		"":                   "",
		"plain":              "plain",
		"x<think>a</think>y": "xy",
		"<think>{\"high\":[]}</think>\n\n{\"a\":1}": "{\"a\":1}",
		"orphan</think><think>b</think>c":           "c",
		"<think>a</think>b<think>c</think>d":        "bd",
		"a</think>b<think>open":                     "b<think>open",
		"<think></think>":                           "",
		"<think>a<think>b</think>c":                 "c",
	} {
		if got := llm.StripReasoning(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzStripReasoning(f *testing.F) {
	for _, s := range []string{"<think>a</think>b", "</think>", "<think>", "a<think>b</think>c</think>d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := llm.StripReasoning(s); len(got) > len(s) {
			t.Fatalf("%q grew to %q", s, got)
		}
	})
}
