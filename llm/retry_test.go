package llm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

func status(code int) *llm.Error { return &llm.Error{Provider: "fake", Op: "chat", Status: code} }

func TestRetryable(t *testing.T) {
	reset := &url.Error{Op: "Post", URL: "http://x", Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errBoom, false},
		{status(400), false}, {status(401), false}, {status(403), false}, {status(404), false}, {status(422), false},
		{status(408), true}, {status(425), true}, {status(429), true},
		{status(500), true}, {status(502), true}, {status(503), true}, {status(529), true},
		{status(501), false}, {status(505), false}, {status(302), false},
		{&llm.Error{Status: 429, Code: "insufficient_quota"}, false},
		{fmt.Errorf("wrapped: %w", status(503)), true},
		{&llm.Error{Err: llm.ErrTimeout}, true},
		{&llm.Error{Err: reset}, true},
		{reset, true},
		{&llm.Error{Status: 200, Err: io.ErrUnexpectedEOF}, true},
		{&llm.Error{Status: 200, Err: llm.ErrReply}, false},
		{&llm.Error{Err: context.Canceled}, false},
		{context.Canceled, false}, {context.DeadlineExceeded, false},
		{&net.DNSError{IsNotFound: true}, false}, {&net.DNSError{IsTemporary: true}, true},
		{&llm.VectorError{Reason: llm.ReasonZero}, false},
		{llm.ErrNoModel, false},
	} {
		if got := llm.Retryable(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

func TestRetryWaitsLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := llmtest.NewChat(llmtest.Rule{Times: 3, Err: status(503)}, llmtest.Rule{Text: "well"})
		start := time.Now()
		r, err := llm.Complete(t.Context(), llm.Retry(c, llm.RetryPolicy{}), ask("x"))
		if err != nil || r.Text != "well" || c.Count("") != 4 {
			t.Fatalf("%+v, %v after %d calls", r, err, c.Count(""))
		}
		// 1 + 2 + 4 s, each half of it more or less.
		if d := time.Since(start); d < 3500*time.Millisecond || d > 10500*time.Millisecond {
			t.Errorf("waited %v", d)
		}
	})
}

func TestRetryHonoursRetryAfter(t *testing.T) {
	var waits []time.Duration
	policy := llm.RetryPolicy{Sleep: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}}
	limited := func(d time.Duration) *llm.Error {
		return &llm.Error{Status: 429, RetryAfter: d}
	}
	c := llmtest.NewChat(llmtest.Rule{Times: 1, Err: limited(17 * time.Second)}, llmtest.Rule{Times: 1, Err: limited(90 * time.Second)}, llmtest.Rule{Text: "well"})
	if _, err := llm.Complete(t.Context(), llm.Retry(c, policy), ask("x")); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(waits, []time.Duration{17 * time.Second, 90 * time.Second}) {
		t.Errorf("waits %v", waits)
	}

	c = llmtest.NewChat(llmtest.Rule{Err: limited(time.Hour)})
	waits = nil
	_, err := llm.Complete(t.Context(), llm.Retry(c, policy), ask("x"))
	var e *llm.Error
	if !errors.As(err, &e) || e.RetryAfter != time.Hour || len(waits) != 0 || c.Count("") != 1 {
		t.Errorf("%v after %d calls and waits %v", err, c.Count(""), waits)
	}
}

func TestRetryGivesUp(t *testing.T) {
	policy := llm.RetryPolicy{Attempts: 3, Sleep: func(context.Context, time.Duration) error { return nil }}
	for _, c := range []struct {
		err   error
		calls int
	}{{status(500), 3}, {status(401), 1}, {errBoom, 1}} {
		chat := llmtest.NewChat(llmtest.Rule{Err: c.err})
		if _, err := llm.Complete(t.Context(), llm.Retry(chat, policy), ask("x")); !errors.Is(err, c.err) || chat.Count("") != c.calls {
			t.Errorf("chat: %v after %d calls, want %v after %d", err, chat.Count(""), c.err, c.calls)
		}
		embed := llmtest.NewEmbedder(2)
		embed.Break(0, llmtest.Fail(c.err))
		if _, err := llm.RetryEmbedder(embed, policy).Embed(t.Context(), []string{"x"}, llm.ForQuery); !errors.Is(err, c.err) || len(embed.Calls()) != c.calls {
			t.Errorf("embedder: %v after %d calls", err, len(embed.Calls()))
		}
		rerank := llmtest.NewReranker()
		rerank.Fail(c.err)
		if _, err := llm.RetryReranker(rerank, policy).Rerank(t.Context(), "q", []string{"x"}); !errors.Is(err, c.err) || len(rerank.Calls()) != c.calls {
			t.Errorf("reranker: %v after %d calls", err, len(rerank.Calls()))
		}
	}
}

func TestRetryNeverRepeatsWhatWasDelivered(t *testing.T) {
	cause := status(503)
	c := llmtest.NewChat(llmtest.Rule{Text: "half a reply", Piece: 4, Err: cause})
	var got string
	var failed error
	for d, err := range llm.Retry(c, llm.RetryPolicy{}).Generate(t.Context(), ask("x")) {
		got += d.Text
		failed = err
	}
	if got != "half a reply" || !errors.Is(failed, cause) || c.Count("") != 1 {
		t.Errorf("%q, %v, %d calls", got, failed, c.Count(""))
	}
}

func TestRetryEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := llmtest.NewChat(llmtest.Rule{Err: status(503)})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(100*time.Millisecond, cancel)
		start := time.Now()
		_, err := llm.Complete(ctx, llm.Retry(c, llm.RetryPolicy{}), ask("x"))
		if !errors.Is(err, context.Canceled) || c.Count("") != 1 || time.Since(start) != 100*time.Millisecond {
			t.Errorf("%v after %v and %d calls", err, time.Since(start), c.Count(""))
		}
	})
}

// Who is asked to wait past the deadline hears at once why, and has the rest of the time for something else.
func TestRetryBeginsNoWaitPastTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := llmtest.NewReranker()
		c.Fail(&llm.Error{Provider: "fake", Op: "rerank", Status: 429, RetryAfter: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		start := time.Now()
		_, err := llm.RetryReranker(c, llm.RetryPolicy{}).Rerank(ctx, "q", []string{"d"})
		if e, ok := errors.AsType[*llm.Error](err); !ok || e.Status != 429 || len(c.Calls()) != 1 || time.Since(start) != 0 {
			t.Errorf("%v after %v and %d calls", err, time.Since(start), len(c.Calls()))
		}
	})
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		c := llm.Deadline(llmtest.NewChat(llmtest.Rule{Gate: never}), time.Minute)
		start := time.Now()
		_, err := llm.Complete(t.Context(), c, ask("x"))
		if !errors.Is(err, llm.ErrTimeout) || !llm.Retryable(err) || time.Since(start) != time.Minute {
			t.Errorf("chat: %v after %v", err, time.Since(start))
		}

		// The caller's own deadline is no fault of the model.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := llm.Complete(ctx, c, ask("x")); !errors.Is(err, context.DeadlineExceeded) || llm.Retryable(err) {
			t.Errorf("chat: %v", err)
		}

		embed := llmtest.NewEmbedder(2)
		embed.Gate = never
		start = time.Now()
		_, err = llm.DeadlineEmbedder(embed, time.Minute).Embed(t.Context(), []string{"x"}, llm.ForQuery)
		if !errors.Is(err, llm.ErrTimeout) || !llm.Retryable(err) || time.Since(start) != time.Minute {
			t.Errorf("embedder: %v after %v", err, time.Since(start))
		}
	})
}

// A slow stream is well as long as it moves, and a slow reader is not the model's silence.
func TestDeadlineCountsSilenceOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		between := make(chan struct{})
		go func() {
			for range 4 {
				time.Sleep(40 * time.Second)
				between <- struct{}{}
			}
		}()
		c := llmtest.NewChat(llmtest.Rule{Text: "aabbccddee", Piece: 2, Between: between})
		var got string
		for d, err := range llm.Deadline(c, time.Minute).Generate(t.Context(), ask("x")) {
			if err != nil {
				t.Fatal(err)
			}
			got += d.Text
			time.Sleep(2 * time.Minute)
		}
		if got != "aabbccddee" {
			t.Errorf("%q", got)
		}
	})
}

func TestErrorText(t *testing.T) {
	e := &llm.Error{Provider: "openai", Op: "chat", Status: 429, Code: "rate_limit", Message: "slow down", Err: errBoom}
	if got, want := e.Error(), "llm: openai chat: status 429 Too Many Requests: rate_limit: slow down: boom"; got != want {
		t.Errorf("%q", got)
	}
	if !errors.Is(e, errBoom) {
		t.Error("the cause is lost")
	}
}

// Call bounds each attempt, not the whole, and repeats what is worth it.
func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		got, err := llm.Call(t.Context(), llm.RetryPolicy{}, time.Minute, "extract", "mine", func(ctx context.Context) (string, error) {
			if tries++; tries < 3 {
				<-ctx.Done() // hangs
				return "lost", ctx.Err()
			}
			return "well", nil
		})
		if got != "well" || err != nil || tries != 3 {
			t.Errorf("%q, %v after %d tries", got, err, tries)
		}
		got, err = llm.Call(t.Context(), llm.RetryPolicy{Attempts: 1}, time.Minute, "extract", "mine", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "lost", ctx.Err()
		})
		if got != "" || !errors.Is(err, llm.ErrTimeout) {
			t.Errorf("%q, %v", got, err)
		}
		_, err = llm.Call(t.Context(), llm.RetryPolicy{}, 0, "extract", "mine", func(context.Context) (int, error) { return 0, errBoom })
		if !errors.Is(err, errBoom) {
			t.Error(err)
		}
	})
}
