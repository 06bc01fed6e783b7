package llm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

func TestCacheKey(t *testing.T) {
	zero, half := 0.0, 0.5
	base := llm.Request{Purpose: llm.PurposeExtract, Subject: "c1", Messages: []llm.Message{{Role: llm.System, Content: "ab"}, {Role: llm.User, Content: "c"}}}
	with := func(f func(*llm.Request)) llm.Request {
		r := base
		r.Messages = slices.Clone(base.Messages)
		f(&r)
		return r
	}
	keys := map[string]string{llm.CacheKey("m", base): "base"}
	if k := llm.CacheKey("m", base); !strings.HasPrefix(k, "extract/") || len(k) != len("extract/")+32 {
		t.Errorf("key %q", k)
	}
	if k := llm.CacheKey("m", llm.Request{}); !strings.HasPrefix(k, "call/") {
		t.Errorf("key %q", k)
	}
	for name, r := range map[string]llm.Request{
		"json":        with(func(r *llm.Request) { r.JSON = true }),
		"max tokens":  with(func(r *llm.Request) { r.MaxTokens = 1 }),
		"temperature": with(func(r *llm.Request) { r.Temperature = &zero }),
		"half":        with(func(r *llm.Request) { r.Temperature = &half }),
		"role":        with(func(r *llm.Request) { r.Messages[1].Role = llm.Assistant }),
		"border":      with(func(r *llm.Request) { r.Messages[0].Content, r.Messages[1].Content = "a", "bc" }),
		"fewer":       with(func(r *llm.Request) { r.Messages = r.Messages[:1] }),
		"purpose":     with(func(r *llm.Request) { r.Purpose = llm.PurposeGlean }),
	} {
		k := llm.CacheKey("m", r)
		if other, ok := keys[k]; ok {
			t.Errorf("%s has the key of %s", name, other)
		}
		keys[k] = name
	}
	if _, ok := keys[llm.CacheKey("m2", base)]; ok {
		t.Error("the model is no part of the key")
	}
	if llm.CacheKey("m", with(func(r *llm.Request) { r.Subject = "c2" })) != llm.CacheKey("m", base) {
		t.Error("the subject is part of the key")
	}
}

func TestCacheHit(t *testing.T) {
	fake := llmtest.NewChat(llmtest.Rule{Text: "The moon, 月.", Piece: 3, Usage: llm.Usage{PromptTokens: 3, CompletionTokens: 4}})
	store := newStore()
	var meter llm.Meter
	c := meter.Chat(llm.Cache(fake, store, llm.CacheOptions{}))
	first, err := llm.Complete(t.Context(), c, ask("tide"))
	if err != nil || first.Cached || first.Usage.Calls != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	deltas := 0
	for d, err := range c.Generate(t.Context(), ask("tide")) {
		if deltas++; err != nil || d.Text != first.Text || !d.Cached || d.Finish != llm.FinishStop || d.Usage != (llm.Usage{CachedCalls: 1}) {
			t.Errorf("%+v, %v", d, err)
		}
	}
	if deltas != 1 || fake.Count("") != 1 || store.puts != 1 {
		t.Errorf("%d deltas, %d calls, %d entries written", deltas, fake.Count(""), store.puts)
	}
	// Another process over the same store.
	other := llmtest.NewChat()
	if r, err := llm.Complete(t.Context(), llm.Cache(other, store, llm.CacheOptions{}), ask("tide")); err != nil || r.Text != first.Text {
		t.Errorf("%+v, %v", r, err)
	}
	if want := (llm.Usage{Calls: 1, CachedCalls: 1, PromptTokens: 3, CompletionTokens: 4}); meter.Total() != want || meter.ByPurpose()[llm.PurposeExtract] != want {
		t.Errorf("metered %+v", meter.ByPurpose())
	}
}

func TestCacheKeepsOnlyWholeReplies(t *testing.T) {
	for name, rule := range map[string]llmtest.Rule{
		"truncated":      {Text: "half", Finish: llm.FinishLength},
		"filtered":       {Text: "no", Finish: llm.FinishFilter},
		"empty":          {Text: ""},
		"blank":          {Text: " \n"},
		"reasoning only": {Text: "<think>hm</think>\n"},
		"failed":         {Err: errBoom},
		"failed midway":  {Text: "half a reply", Piece: 3, Err: errBoom},
	} {
		fake, store := llmtest.NewChat(rule), newStore()
		c := llm.Cache(fake, store, llm.CacheOptions{})
		for range 2 {
			_, err := llm.Complete(t.Context(), c, ask("tide"))
			if !errors.Is(err, rule.Err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if store.len() != 0 || fake.Count("") != 2 {
			t.Errorf("%s: %d entries, %d calls", name, store.len(), fake.Count(""))
		}
	}
}

func TestCacheDropsBrokenStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		between := make(chan struct{})
		fake, store := llmtest.NewChat(llmtest.Rule{Text: "a whole reply", Piece: 2, Between: between}), newStore()
		c := llm.Cache(fake, store, llm.CacheOptions{})
		for d, err := range c.Generate(t.Context(), ask("tide")) {
			if err != nil || d.Text != "a " {
				t.Fatalf("%+v, %v", d, err)
			}
			break
		}
		if store.len() != 0 {
			t.Error("half a reply is cached")
		}
		close(between)
		if r, err := llm.Complete(t.Context(), c, ask("tide")); err != nil || r.Text != "a whole reply" || store.len() != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestEqualCallsAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		fake := llmtest.NewChat(llmtest.Rule{Text: "the moon", Piece: 2, Gate: gate})
		var meter llm.Meter
		c := meter.Chat(llm.Cache(fake, newStore(), llm.CacheOptions{}))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if r, err := llm.Complete(t.Context(), c, ask("tide")); err != nil || r.Text != "the moon" || r.Finish != llm.FinishStop {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		synctest.Wait()
		if n := fake.Count(""); n != 1 {
			t.Errorf("%d calls", n)
		}
		close(gate)
		wg.Wait()
		if u := meter.Total(); u.Calls != 1 || u.CachedCalls != 7 {
			t.Errorf("usage %+v", u)
		}
	})
}

// The one who started the call is cancelled: it alone fails.
func TestCancelledCallerHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		fake := llmtest.NewChat(llmtest.Rule{Text: "the moon", Gate: gate})
		c := llm.Cache(fake, newStore(), llm.CacheOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := llm.Complete(ctx, c, ask("tide"))
			first <- err
		}()
		synctest.Wait()
		go func() {
			_, err := llm.Complete(t.Context(), c, ask("tide"))
			second <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("first: %v", err)
		}
		close(gate)
		if err := <-second; err != nil || fake.Count("") != 1 {
			t.Errorf("second: %v after %d calls", err, fake.Count(""))
		}
	})
}

// When all are gone the call ends, and the next one starts afresh.
func TestAbandonedCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		fake := llmtest.NewChat(llmtest.Rule{Text: "never", Times: 1, Gate: gate}, llmtest.Rule{Text: "the moon"})
		c := llm.Cache(fake, newStore(), llm.CacheOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := llm.Complete(ctx, c, ask("tide")); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait() // though the gate never opens
		if r, err := llm.Complete(t.Context(), c, ask("tide")); err != nil || r.Text != "the moon" || fake.Count("") != 2 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestSharedFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		fake := llmtest.NewChat(llmtest.Rule{Text: "half", Err: errBoom, Times: 1, Gate: gate}, llmtest.Rule{Text: "well"})
		c := llm.Cache(fake, newStore(), llm.CacheOptions{})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := llm.Complete(t.Context(), c, ask("tide")); !errors.Is(err, errBoom) {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		close(gate)
		wg.Wait()
		if r, err := llm.Complete(t.Context(), c, ask("tide")); err != nil || r.Text != "well" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestCacheUnderFaults(t *testing.T) {
	fake, store := llmtest.NewChat(llmtest.Rule{Text: "the moon"}), newStore()
	c := llm.Cache(fake, store, llm.CacheOptions{})
	store.putErr = errBoom
	if r, err := llm.Complete(t.Context(), c, ask("tide")); err != nil || r.Text != "the moon" {
		t.Errorf("the reply is lost with its entry: %+v, %v", r, err)
	}
	store.putErr, store.getErr = nil, errBoom
	if _, err := llm.Complete(t.Context(), c, ask("tide")); !errors.Is(err, errBoom) || fake.Count("") != 1 {
		t.Errorf("%v after %d calls", err, fake.Count(""))
	}
	if _, err := llm.CacheEmbedder(llmtest.NewEmbedder(2), store, llm.CacheOptions{}).Embed(t.Context(), texts(2), llm.ForQuery); !errors.Is(err, errBoom) {
		t.Errorf("embedder: %v", err)
	}
	store.getErr = nil
	for _, rotten := range []string{"", "\x00", "\x01", "\x63text"} {
		store.entries[llm.CacheKey(c.ID(), ask("tide"))] = []byte(rotten)
		if r, err := llm.Complete(t.Context(), c, ask("tide")); err != nil || r.Text != "the moon" || r.Cached {
			t.Errorf("entry %q: %+v, %v", rotten, r, err)
		}
		if r, err := llm.Complete(t.Context(), c, ask("tide")); err != nil || !r.Cached {
			t.Errorf("entry %q is not replaced: %+v, %v", rotten, r, err)
		}
	}
}

func TestCacheRandomised(t *testing.T) {
	// Many callers of few requests, some leaving at any time: whoever stays gets the right reply.
	fake := llmtest.NewChat(llmtest.Rule{Piece: 1, Func: func(r llm.Request) (string, error) { return "re: " + r.Messages[0].Content, nil }})
	c := llm.Cache(fake, forgetful{newStore()}, llm.CacheOptions{})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if i%3 == 0 {
				wg.Go(cancel)
			}
			q := string(rune('a' + i%4))
			r, err := llm.Complete(ctx, c, ask(q))
			if i%3 != 0 && (err != nil || r.Text != "re: "+q) || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%d: %+v, %v", i, r, err)
			}
		})
	}
	wg.Wait()
}

func TestMeter(t *testing.T) {
	var m llm.Meter
	if m.Total() != (llm.Usage{}) {
		t.Error("a new meter counts")
	}
	c := m.Chat(llmtest.NewChat(llmtest.Rule{Purpose: llm.PurposeSummary, Err: errBoom}, llmtest.Rule{Text: "x", Usage: llm.Usage{PromptTokens: 7}}))
	for _, p := range []llm.Purpose{llm.PurposeExtract, llm.PurposeExtract, llm.PurposeAnswer, llm.PurposeSummary} {
		_, _ = llm.Complete(t.Context(), c, llm.Request{Purpose: p})
	}
	e := m.Embedder(llmtest.NewEmbedder(2))
	_, _ = e.Embed(t.Context(), nil, llm.ForQuery)
	_, _ = e.Embed(t.Context(), texts(3), llm.ForQuery)
	_, _ = m.Reranker(llmtest.NewReranker()).Rerank(t.Context(), "q", texts(2))
	got := m.ByPurpose()
	for p, want := range map[llm.Purpose]llm.Usage{
		llm.PurposeExtract: {Calls: 2, PromptTokens: 14}, llm.PurposeAnswer: {Calls: 1, PromptTokens: 7}, llm.PurposeEmbed: {Calls: 1}, llm.PurposeRerank: {Calls: 1},
	} {
		if got[p] != want {
			t.Errorf("%s: %+v, want %+v", p, got[p], want)
		}
		delete(got, p)
	}
	if len(got) != 0 {
		t.Errorf("also counted: %v", got)
	}
}
