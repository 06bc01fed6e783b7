package llm

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// RetryPolicy says how often and how long to try. The zero value is the default.
type RetryPolicy struct {
	// Attempts is the number of calls in all; default 4.
	Attempts int
	// First is the wait before the second attempt; it doubles with each, and half of it more or less is left to
	// chance. Default 1 s.
	First time.Duration
	// Longest bounds a wait, before chance; default 60 s.
	Longest time.Duration
	// LongestAsked bounds what a provider may ask for with Retry-After: a longer wait is not begun, the call
	// fails at once with the *Error that names it. Default 2 min.
	LongestAsked time.Duration
	// Limiter is paused while a call waits that was refused for the rate of calls (status 429, or any with Retry-After).
	// nil: others go on.
	Limiter *Limiter
	// Sleep waits and returns early with the context's error; default a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Logger is told of each retry (model, attempt, wait, status; no text). Default silent.
	Logger *slog.Logger
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	def := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	if p.Attempts <= 0 {
		p.Attempts = 4
	}
	def(&p.First, time.Second)
	def(&p.Longest, time.Minute)
	def(&p.LongestAsked, 2*time.Minute)
	if p.Sleep == nil {
		p.Sleep = sleep
	}
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	return p
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attempts counts the attempts of one call.
type attempts struct {
	RetryPolicy
	id    string
	made  int
	delay *backoff.ExponentialBackOff
}

func (p RetryPolicy) start(id string) *attempts {
	delay := backoff.NewExponentialBackOff()
	delay.InitialInterval, delay.MaxInterval, delay.Multiplier = p.First, p.Longest, 2
	return &attempts{RetryPolicy: p, id: id, delay: delay}
}

// again waits before the next attempt and returns nil, or the error with which the call ends: the cause, or the
// context's when that ended. A wait that the context would not outlive is not begun: the cause says more.
func (a *attempts) again(ctx context.Context, cause error) error {
	a.made++
	if err := ctx.Err(); err != nil {
		return err
	}
	if !Retryable(cause) {
		return cause
	}
	wait := a.delay.NextBackOff()
	status := 0
	if e, ok := errors.AsType[*Error](cause); ok {
		status = e.Status
		if e.RetryAfter > a.LongestAsked {
			return cause
		}
		if e.RetryAfter > 0 {
			wait = e.RetryAfter
		}
		if a.Limiter != nil && slowDown(cause) {
			a.Limiter.Pause(wait)
		}
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait || a.made >= a.Attempts {
		return cause
	}
	a.Logger.LogAttrs(ctx, slog.LevelInfo, "model call failed, trying again", slog.String("model", a.id),
		slog.Int("attempt", a.made), slog.Duration("wait", wait), slog.Int("status", status))
	return a.Sleep(ctx, wait)
}

// Retry repeats calls that fail with a Retryable error before their first delta. Once a part of the reply was
// delivered it cannot be taken back, and the error goes to the caller.
func Retry(c Chat, p RetryPolicy) Chat { return &retryChat{c, p.withDefaults()} }

type retryChat struct {
	Chat
	policy RetryPolicy
}

func (c *retryChat) Generate(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		tries := c.policy.start(c.ID())
		for {
			failed, ended := c.attempt(ctx, req, yield)
			if ended {
				return
			}
			if err := tries.again(ctx, failed); err != nil {
				yield(Delta{}, err)
				return
			}
		}
	}
}

// attempt makes one call. It returns an error when the call failed without having delivered anything.
func (c *retryChat) attempt(ctx context.Context, req Request, yield func(Delta, error) bool) (failed error, ended bool) {
	delivered := false
	for d, err := range c.Chat.Generate(ctx, req) {
		if err != nil && !delivered {
			return err, false
		}
		delivered = delivered || d != (Delta{})
		if !yield(d, err) {
			break
		}
	}
	return nil, true
}

// RetryEmbedder repeats calls that fail with a Retryable error.
func RetryEmbedder(e Embedder, p RetryPolicy) Embedder { return &retryEmbedder{e, p.withDefaults()} }

type retryEmbedder struct {
	Embedder
	policy RetryPolicy
}

func (e *retryEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	return retry(ctx, e.policy.start(e.ID()), func() ([][]float32, error) { return e.Embedder.Embed(ctx, texts, kind) })
}

// RetryReranker repeats calls that fail with a Retryable error.
func RetryReranker(r Reranker, p RetryPolicy) Reranker { return &retryReranker{r, p.withDefaults()} }

type retryReranker struct {
	Reranker
	policy RetryPolicy
}

func (r *retryReranker) Rerank(ctx context.Context, query string, docs []string) ([]float64, error) {
	return retry(ctx, r.policy.start(r.ID()), func() ([]float64, error) { return r.Reranker.Rerank(ctx, query, docs) })
}

// Call makes one call of a component that asks a model in its own way: limit bounds each attempt (0: nothing does), and
// attempts that fail with a Retryable error are repeated as p says. op and id are for messages.
func Call[T any](ctx context.Context, p RetryPolicy, limit time.Duration, op, id string, call func(context.Context) (T, error)) (T, error) {
	return retry(ctx, p.withDefaults().start(id), func() (T, error) {
		if limit <= 0 {
			return call(ctx)
		}
		return within(ctx, limit, op, id, call)
	})
}

func retry[T any](ctx context.Context, tries *attempts, call func() (T, error)) (T, error) {
	for {
		result, err := call()
		if err == nil {
			return result, nil
		}
		if err := tries.again(ctx, err); err != nil {
			var none T
			return none, err
		}
	}
}
