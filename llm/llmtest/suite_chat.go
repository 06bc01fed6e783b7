package llmtest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db/llm"
)

// Script is what the model behind a Chat under test does with every call.
type Script struct {
	// Pieces of the reply, in order. A chat may deliver them joined.
	Pieces []string
	Finish llm.Finish
	Usage  llm.Usage
	// Fail breaks the call after the pieces; without pieces it is refused at once.
	Fail bool
	// Hold, when not nil, stops the model after the first piece (before the reply when there is none) until it is
	// closed or the call ends.
	Hold <-chan struct{}
	// Entered, when not nil, must be sent a value (without waiting for ever) when a call reaches the model.
	Entered chan<- struct{}
}

// TestChat checks the contract of llm.Chat. open returns a Chat whose model follows the script; the suite
// calls it several times and never needs two of its chats at once. A chat that retries must give up on Fail
// within the test.
func TestChat(t *testing.T, open func(t *testing.T, s Script) llm.Chat) {
	t.Helper()
	req := llm.Request{
		Messages: []llm.Message{{Role: llm.System, Content: "Be brief."}, {Role: llm.User, Content: "What moves the tides?"}},
		Purpose:  llm.PurposeAnswer, Subject: "q1",
	}
	pieces := []string{"The ", "moon, ", "月, ", "mostly."}
	whole := strings.Join(pieces, "")
	full := Script{Pieces: pieces, Finish: llm.FinishStop, Usage: llm.Usage{PromptTokens: 11, CompletionTokens: 5}}

	t.Run("id", func(t *testing.T) {
		c := open(t, full)
		first := c.ID()
		if again := c.ID(); first == "" || again != first {
			t.Errorf("ID %q, then %q: want it stable and not empty", first, again)
		}
	})
	t.Run("reply", func(t *testing.T) {
		c := open(t, full)
		r, err := llm.Complete(t.Context(), c, req)
		if err != nil || r.Text != whole || r.Finish != llm.FinishStop {
			t.Fatalf("%+v, %v", r, err)
		}
		want := llm.Usage{Calls: 1, PromptTokens: 11, CompletionTokens: 5}
		if r.Usage != want {
			t.Errorf("usage %+v, want %+v", r.Usage, want)
		}
	})
	t.Run("deltas", func(t *testing.T) {
		c := open(t, full)
		var sb strings.Builder
		var finish []llm.Finish
		for d, err := range c.Generate(t.Context(), req) {
			if err != nil {
				t.Fatal(err)
			}
			sb.WriteString(d.Text)
			if d.Finish != "" {
				finish = append(finish, d.Finish)
			} else if len(finish) > 0 && d.Text != "" {
				t.Error("text after the finish reason")
			}
		}
		if sb.String() != whole || !slices.Equal(finish, []llm.Finish{llm.FinishStop}) {
			t.Errorf("text %q, finish %q", sb.String(), finish)
		}
	})
	t.Run("truncated", func(t *testing.T) {
		c := open(t, Script{Pieces: pieces[:2], Finish: llm.FinishLength})
		r, err := llm.Complete(t.Context(), c, req)
		if err != nil || r.Finish != llm.FinishLength || r.Text != "The moon, " {
			t.Fatalf("%+v, %v", r, err)
		}
	})
	t.Run("again", func(t *testing.T) {
		// One sequence ranged over twice, and the request not changed by it.
		c := open(t, full)
		mine := req
		mine.Messages = slices.Clone(req.Messages)
		seq := c.Generate(t.Context(), mine)
		for range 2 {
			var sb strings.Builder
			for d, err := range seq {
				if err != nil {
					t.Fatal(err)
				}
				sb.WriteString(d.Text)
			}
			if sb.String() != whole {
				t.Errorf("%q", sb.String())
			}
		}
		if !slices.Equal(mine.Messages, req.Messages) {
			t.Error("the request was changed")
		}
	})
	t.Run("failure", func(t *testing.T) {
		for _, s := range []Script{{Fail: true}, {Fail: true, Pieces: pieces[:2]}} {
			c := open(t, s)
			errs := 0
			for d, err := range c.Generate(t.Context(), req) {
				if errs > 0 {
					t.Fatal("something after the error")
				}
				if err != nil {
					errs++
					if d.Finish != "" {
						t.Error("a failed reply has a finish reason")
					}
				}
			}
			if errs != 1 {
				t.Fatalf("%d errors, want 1", errs)
			}
			if r, err := llm.Complete(t.Context(), c, req); err == nil {
				t.Errorf("Complete returned %+v without an error", r)
			}
		}
	})
	t.Run("break", func(t *testing.T) {
		hold := make(chan struct{})
		defer close(hold)
		s := full
		s.Hold = hold
		c := open(t, s)
		for d, err := range c.Generate(t.Context(), req) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Text != "" {
				break // returns although the model has not finished
			}
		}
	})
	t.Run("cancelled before", func(t *testing.T) {
		c := open(t, full)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := llm.Complete(ctx, c, req); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("cancelled during", func(t *testing.T) {
		hold, entered := make(chan struct{}), make(chan struct{})
		defer close(hold)
		s := Script{Hold: hold, Entered: entered, Finish: llm.FinishStop}
		c := open(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := llm.Complete(ctx, c, req)
			done <- err
		}()
		<-entered
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("concurrent", func(t *testing.T) {
		c := open(t, full)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				runtime.Gosched()
				if r, err := llm.Complete(t.Context(), c, req); err != nil || r.Text != whole {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		wg.Wait()
	})
}
