package llm_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

func TestLimiterOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := llm.NewLimiter(1)
		if err := l.Acquire(t.Context(), llm.PriorityIndex); err != nil {
			t.Fatal(err)
		}
		var order []string
		var wg sync.WaitGroup
		for _, c := range []struct {
			name string
			p    llm.Priority
		}{{"index 1", 10}, {"summary", 8}, {"index 2", 10}, {"query 1", 5}, {"query 2", 5}, {"index 3", 10}} {
			wg.Go(func() {
				if err := l.Acquire(t.Context(), c.p); err != nil {
					t.Error(err)
					return
				}
				order = append(order, c.name) // the place is the lock
				l.Release()
			})
			synctest.Wait() // arrived
		}
		l.Release()
		wg.Wait()
		if want := []string{"query 1", "query 2", "summary", "index 1", "index 2", "index 3"}; !slices.Equal(order, want) {
			t.Errorf("order %q", order)
		}
	})
}

func TestLimiterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := llm.NewLimiter(1)
		if err := l.Acquire(t.Context(), llm.PriorityQuery); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() { gone <- l.Acquire(ctx, llm.PriorityQuery) }()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		l.Release()
		// The place is free again: the one who left does not hold it.
		if err := l.Acquire(t.Context(), llm.PriorityIndex); err != nil {
			t.Fatal(err)
		}
		if err := l.Acquire(ctx, llm.PriorityQuery); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

// Cancelling at the moment of admission must not lose a place.
func TestLimiterCancelRace(t *testing.T) {
	l := llm.NewLimiter(2)
	var wg sync.WaitGroup
	for i := range 400 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			wg.Go(cancel)
			if l.Acquire(ctx, llm.Priority(i%3)) == nil {
				l.Release()
			}
		})
	}
	wg.Wait()
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := l.Acquire(ctx, llm.PriorityQuery); err != nil {
			t.Fatal("a place was lost")
		}
	}
}

func TestLimitBoundsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		fake := llmtest.NewChat(llmtest.Rule{Text: "ok", Gate: gate})
		c := llm.Limit(fake, llm.NewLimiter(3))
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := llm.Complete(t.Context(), c, ask("x")); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := fake.Count(""); n != 3 {
			t.Errorf("%d calls before any ended", n)
		}
		close(gate)
		wg.Wait()
		if fake.Count("") != 10 || fake.MostAtOnce() != 3 {
			t.Errorf("%d calls, %d at once", fake.Count(""), fake.MostAtOnce())
		}
	})
}

// Queries overtake indexing in every decorator, and a broken loop gives its place back.
func TestLimitPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := llm.NewLimiter(1)
		if err := l.Acquire(t.Context(), llm.PriorityQuery); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
		}
		chat := llm.Limit(llm.FuncChat("c", func(_ context.Context, r llm.Request) (llm.Reply, error) {
			note(string(r.Purpose))
			return llm.Reply{Text: "x"}, nil
		}), l)
		kinds := []string{llm.ForDocument: "documents", llm.ForQuery: "question"}
		embed := func(k llm.Kind) llm.Embedder {
			return llm.LimitEmbedder(llm.FuncEmbedder("e", 1, func(context.Context, string) ([]float32, error) {
				note(kinds[k])
				return []float32{1}, nil
			}), l)
		}
		var wg sync.WaitGroup
		start := func(f func()) {
			wg.Go(f)
			synctest.Wait()
		}
		generate := func(p llm.Purpose) func() {
			return func() {
				for _, err := range chat.Generate(t.Context(), llm.Request{Purpose: p}) {
					if err != nil {
						t.Error(err)
					}
					break
				}
			}
		}
		start(generate(llm.PurposeGlean))
		start(func() { _, _ = embed(llm.ForDocument).Embed(t.Context(), []string{"a"}, llm.ForDocument) })
		start(generate(llm.PurposeExtract))
		start(generate(llm.PurposeSummary))
		start(generate(llm.PurposeAnswer))
		start(func() { _, _ = embed(llm.ForQuery).Embed(t.Context(), []string{"a"}, llm.ForQuery) })
		start(generate(llm.PurposeKeywords))
		l.Release()
		wg.Wait()
		if want := []string{"answer", "question", "keywords", "summary", "glean", "documents", "extract"}; !slices.Equal(order, want) {
			t.Errorf("order %q", order)
		}
	})
}

// A provider that asks to slow down is left alone by everybody for that long: only calls that were on their way already
// are refused with the first one. Embedding calls behind another limiter go on.
func TestRateLimitPausesAll(t *testing.T) {
	for name, refusal := range map[string]*llm.Error{
		"with Retry-After":    {Status: 429, RetryAfter: 30 * time.Second},
		"overloaded":          {Status: 503, RetryAfter: 30 * time.Second},
		"without Retry-After": {Status: 429},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const places, calls = 3, 40
				start := time.Now()
				wait := refusal.RetryAfter
				if wait == 0 {
					wait = time.Second / 2 // the least a first back-off can be
				}
				var mu sync.Mutex
				early := 0
				model := llmtest.NewChat(llmtest.Rule{Func: func(llm.Request) (string, error) {
					time.Sleep(10 * time.Millisecond)
					if time.Since(start) < wait {
						mu.Lock()
						defer mu.Unlock()
						early++
						return "", refusal
					}
					return "well", nil
				}})
				chat := llm.Chain{Limiter: llm.NewLimiter(places)}.Chat(model)
				var wg sync.WaitGroup
				for range calls {
					wg.Go(func() {
						if _, err := llm.Complete(t.Context(), chat, ask("x")); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if early > places {
					t.Errorf("%d calls were refused, want %d at most", early, places)
				}
				if took := time.Since(start); took < wait || took > wait+time.Minute {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// A pause holds back whoever comes, counts from the last request, and ends for those who gave up waiting.
func TestLimiterPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := llm.NewLimiter(2)
		start := time.Now()
		l.Pause(0)
		if err := l.Acquire(t.Context(), llm.PriorityQuery); err != nil || time.Since(start) != 0 {
			t.Errorf("a pause of nothing: %v after %v", err, time.Since(start))
		}
		l.Pause(10 * time.Second)
		l.Pause(3 * time.Second) // shorter: changes nothing
		time.Sleep(5 * time.Second)
		l.Pause(10 * time.Second)
		l.Release() // lets nobody in
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Acquire(ctx, llm.PriorityQuery); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		for range 2 {
			if err := l.Acquire(t.Context(), llm.PriorityIndex); err != nil || time.Since(start) != 15*time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		}
	})
}
