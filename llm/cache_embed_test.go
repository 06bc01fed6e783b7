package llm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

func TestCacheEmbedderSendsWhatIsMissing(t *testing.T) {
	e, store := llmtest.NewEmbedder(4), newStore()
	c := llm.CacheEmbedder(e, store, llm.CacheOptions{})
	embed := func(kind llm.Kind, in ...string) [][]float32 {
		t.Helper()
		vecs, err := c.Embed(t.Context(), in, kind)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := llmtest.NewEmbedder(4).Embed(t.Context(), in, kind)
		for i := range in {
			if !slices.Equal(vecs[i], want[i]) {
				t.Errorf("text %d %q has another vector", i, in[i])
			}
		}
		return vecs
	}
	vecs := embed(llm.ForDocument, "a", "b", "a", "c", "b", "a")
	if got := e.Calls(); len(got) != 1 || !slices.Equal(got[0].Texts, []string{"a", "b", "c"}) {
		t.Errorf("calls %v", got)
	}
	vecs[0][0] = 99
	embed(llm.ForDocument, "c", "d", "a")
	if got := e.Calls(); len(got) != 2 || !slices.Equal(got[1].Texts, []string{"d"}) {
		t.Errorf("calls %v", got)
	}
	embed(llm.ForDocument, "a", "b", "c", "d")
	if len(e.Calls()) != 2 {
		t.Error("a call although all are known")
	}
	embed(llm.ForQuery, "a")
	if len(e.Calls()) != 3 {
		t.Error("queries and documents share vectors")
	}
	e.SetID("another")
	if vecs, err := c.Embed(t.Context(), []string{"a"}, llm.ForDocument); err != nil || len(e.Calls()) != 4 {
		t.Errorf("models share vectors: %v, %v", vecs, err)
	}
	for k := range store.entries {
		store.entries[k] = []byte{1, 2}
	}
	e.SetID("fake/embed-4")
	embed(llm.ForDocument, "a")
}

// What was paid for before a failure is kept.
func TestCacheEmbedderKeepsProgress(t *testing.T) {
	e := llmtest.NewEmbedder(2)
	c := llm.CacheEmbedder(e, newStore(), llm.CacheOptions{})
	in := texts(600)
	e.Break(0, llmtest.After(2, llmtest.Fail(errBoom)))
	if _, err := c.Embed(t.Context(), in, llm.ForDocument); !errors.Is(err, errBoom) {
		t.Fatalf("error %v", err)
	}
	e.Heal()
	e.Reset()
	if _, err := c.Embed(t.Context(), in, llm.ForDocument); err != nil || e.Texts() != 600-512 {
		t.Errorf("%v, %d texts asked for again", err, e.Texts())
	}
}

// poison is a fault: calls with this text fail.
func poison(text string) llmtest.Fault {
	return func(call llmtest.EmbedCall, vecs [][]float32) ([][]float32, error) {
		if slices.Contains(call.Texts, text) {
			return nil, errBoom
		}
		return vecs, nil
	}
}

// asked counts how often each text went to the model.
func asked(e *llmtest.Embedder) map[string]int {
	n := make(map[string]int)
	for _, call := range e.Calls() {
		for _, text := range call.Texts {
			n[text]++
		}
	}
	return n
}

// Whichever batch fails, those that succeeded beside it are not paid for again.
func TestFailedBatchLeavesTheOthersPaid(t *testing.T) {
	const batch = 4
	in := texts(10 * batch)
	for _, parallel := range []int{1, 4} {
		for bad := 0; bad < len(in); bad += batch + 1 {
			e := llmtest.NewEmbedder(2)
			var mu sync.Mutex
			paid := map[string]bool{}
			e.Break(0, poison(in[bad]))
			e.Break(0, func(call llmtest.EmbedCall, vecs [][]float32) ([][]float32, error) { // after the poison: a call that succeeds
				mu.Lock()
				defer mu.Unlock()
				for _, text := range call.Texts {
					paid[text] = true
				}
				return vecs, nil
			})
			c := llm.Chain{Store: newStore(), Retry: llm.RetryPolicy{Attempts: 1}, Batch: llm.BatchOptions{Texts: batch, Parallel: parallel}}.Embedder(e)
			if _, err := c.Embed(t.Context(), in, llm.ForDocument); !errors.Is(err, errBoom) {
				t.Fatalf("error %v", err)
			}
			if parallel == 1 && len(paid) != bad/batch*batch {
				t.Errorf("bad text %d: %d texts succeeded", bad, len(paid))
			}
			e.Heal()
			e.Reset()
			vecs, err := c.Embed(t.Context(), in, llm.ForDocument)
			if err != nil || slices.ContainsFunc(vecs, func(v []float32) bool { return len(v) != 2 }) {
				t.Fatalf("%v, %v", vecs, err)
			}
			again := asked(e)
			for _, text := range in {
				if (again[text] == 0) != paid[text] || again[text] > 1 {
					t.Errorf("%d parallel, bad text %d: %q succeeded: %t, asked for again %d times", parallel, bad, text, paid[text], again[text])
				}
			}
		}
	}
}

// Documents that share texts pay for each text once, also when they are embedded at the same time.
func TestEqualTextsAreAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		e := llmtest.NewEmbedder(3)
		e.Gate = gate
		c := llm.Chain{Store: newStore(), Batch: llm.BatchOptions{Texts: 2}}.Embedder(e)
		in := texts(9)
		want, err := llmtest.NewEmbedder(3).Embed(t.Context(), in, llm.ForDocument)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for shift := range 6 {
			wg.Go(func() {
				mine := append(slices.Clone(in[shift:]), in[:shift]...)
				got, err := c.Embed(t.Context(), mine, llm.ForDocument)
				if err != nil {
					t.Error(err)
					return
				}
				for i, v := range got {
					if !slices.Equal(v, want[(i+shift)%len(in)]) {
						t.Errorf("text %d of call %d has the vector of another", i, shift)
					}
					clear(v) // every vector is the caller's alone
				}
			})
		}
		synctest.Wait()
		close(gate)
		wg.Wait()
		for text, n := range asked(e) {
			if n != 1 {
				t.Errorf("%q was asked for %d times", text, n)
			}
		}
		if n := e.Texts(); n != len(in) {
			t.Errorf("%d texts went to the model, want %d", n, len(in))
		}
	})
}

// A text that another call asks for and does not get is asked for by the one who waits: it has its own error, or none.
func TestWaitingCallAsksItself(t *testing.T) {
	for name, cancelled := range map[string]bool{"cancelled": true, "failed": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				e := llmtest.NewEmbedder(3)
				e.Gate = gate
				c := llm.Chain{Store: newStore(), Retry: llm.RetryPolicy{Attempts: 1}}.Embedder(e)
				e.Break(1, poison("bad"))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				first, second := make(chan error, 1), make(chan error, 1)
				go func() {
					_, err := c.Embed(ctx, []string{"shared", "bad"}, llm.ForDocument)
					first <- err
				}()
				synctest.Wait()
				go func() {
					vecs, err := c.Embed(t.Context(), []string{"own", "shared"}, llm.ForDocument)
					if err == nil && (len(vecs) != 2 || len(vecs[0]) != 3 || len(vecs[1]) != 3) {
						err = fmt.Errorf("vectors %v", vecs)
					}
					second <- err
				}()
				synctest.Wait()
				want := errBoom
				if cancelled {
					want = context.Canceled
					cancel()
					synctest.Wait()
				}
				close(gate)
				if err := <-first; !errors.Is(err, want) {
					t.Errorf("first: %v", err)
				}
				if err := <-second; err != nil {
					t.Errorf("second: %v", err)
				}
				if n := asked(e); n["own"] != 1 || n["shared"] != 2 {
					t.Errorf("asked for %v", n)
				}
			})
		})
	}
}

// A waiting call that is cancelled leaves at once, and the one it waited for is not disturbed.
func TestCancelledWaiterLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		e := llmtest.NewEmbedder(3)
		e.Gate = gate
		c := llm.CacheEmbedder(e, newStore(), llm.CacheOptions{})
		first := make(chan error, 1)
		go func() {
			_, err := c.Embed(t.Context(), []string{"shared"}, llm.ForDocument)
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		second := make(chan error, 1)
		go func() {
			_, err := c.Embed(ctx, []string{"shared"}, llm.ForDocument)
			second <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) { // though the gate is shut
			t.Errorf("second: %v", err)
		}
		close(gate)
		if err := <-first; err != nil || e.Texts() != 1 {
			t.Errorf("first: %v, %d texts", err, e.Texts())
		}
	})
}

// Many calls over few texts, some leaving, some failing: whoever succeeds has the right vectors, and none hangs.
func TestCacheEmbedderRandomised(t *testing.T) {
	e := llmtest.NewEmbedder(2)
	e.Break(0, poison("text 3"))
	in := texts(8)
	want, err := llmtest.NewEmbedder(2).Embed(t.Context(), in, llm.ForDocument)
	if err != nil {
		t.Fatal(err)
	}
	c := llm.Chain{Store: newStore(), Retry: llm.RetryPolicy{Attempts: 1}, Batch: llm.BatchOptions{Texts: 2}}.Embedder(e)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if i%3 == 0 {
				wg.Go(cancel)
			}
			places := rng.Perm(len(in))[:1+rng.IntN(4)]
			var mine []string
			for _, at := range places {
				mine = append(mine, in[at])
			}
			got, err := c.Embed(ctx, mine, llm.ForDocument)
			poisoned := slices.Contains(places, 3)
			switch {
			case err == nil && poisoned:
				t.Error("a call with the bad text succeeded")
			case err == nil:
				for j, at := range places {
					if !slices.Equal(got[j], want[at]) {
						t.Errorf("%q has the vector of another", mine[j])
					}
				}
			case errors.Is(err, errBoom) && poisoned, errors.Is(err, context.Canceled) && i%3 == 0:
			default:
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}
