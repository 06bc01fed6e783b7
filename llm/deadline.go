package llm

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Deadline ends calls of c in which the model stays silent for longer than d: before the first delta or between
// two. The time that the caller takes with a delta does not count. The error is a retryable *Error with
// ErrTimeout. d of 0 or less returns c.
func Deadline(c Chat, d time.Duration) Chat {
	if d <= 0 {
		return c
	}
	return &deadlineChat{c, d}
}

type deadlineChat struct {
	Chat
	limit time.Duration
}

func (c *deadlineChat) Generate(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		inner, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		timer := time.AfterFunc(c.limit, func() { cancel(ErrTimeout) })
		defer timer.Stop()
		for d, err := range c.Chat.Generate(inner, req) {
			timer.Stop()
			if err != nil {
				err = timeoutError(ctx, inner, "chat", c.ID(), err)
			}
			if !yield(d, err) {
				return
			}
			timer.Reset(c.limit)
		}
	}
}

// DeadlineEmbedder ends calls of e that take longer than d, with a retryable *Error that carries ErrTimeout.
func DeadlineEmbedder(e Embedder, d time.Duration) Embedder {
	if d <= 0 {
		return e
	}
	return &deadlineEmbedder{e, d}
}

type deadlineEmbedder struct {
	Embedder
	limit time.Duration
}

func (e *deadlineEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	return within(ctx, e.limit, "embed", e.ID(), func(ctx context.Context) ([][]float32, error) {
		return e.Embedder.Embed(ctx, texts, kind)
	})
}

// DeadlineReranker ends calls of r that take longer than d, with a retryable *Error that carries ErrTimeout.
func DeadlineReranker(r Reranker, d time.Duration) Reranker {
	if d <= 0 {
		return r
	}
	return &deadlineReranker{r, d}
}

type deadlineReranker struct {
	Reranker
	limit time.Duration
}

func (r *deadlineReranker) Rerank(ctx context.Context, query string, docs []string) ([]float64, error) {
	return within(ctx, r.limit, "rerank", r.ID(), func(ctx context.Context) ([]float64, error) {
		return r.Reranker.Rerank(ctx, query, docs)
	})
}

// within makes one call with a time limit of its own.
func within[T any](ctx context.Context, limit time.Duration, op, id string, call func(context.Context) (T, error)) (T, error) {
	inner, cancel := context.WithTimeoutCause(ctx, limit, ErrTimeout)
	defer cancel()
	out, err := call(inner)
	if err != nil {
		var none T
		return none, timeoutError(ctx, inner, op, id, err)
	}
	return out, nil
}

// timeoutError tells our own time limit from the end of the caller's context.
func timeoutError(outer, inner context.Context, op, id string, err error) error {
	if outer.Err() == nil && errors.Is(context.Cause(inner), ErrTimeout) {
		return &Error{Provider: id, Op: op, Err: ErrTimeout}
	}
	return err
}
