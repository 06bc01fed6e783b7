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
	inner, cancel := context.WithTimeoutCause(ctx, e.limit, ErrTimeout)
	defer cancel()
	vecs, err := e.Embedder.Embed(inner, texts, kind)
	if err != nil {
		return nil, timeoutError(ctx, inner, "embed", e.ID(), err)
	}
	return vecs, nil
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
	inner, cancel := context.WithTimeoutCause(ctx, r.limit, ErrTimeout)
	defer cancel()
	scores, err := r.Reranker.Rerank(inner, query, docs)
	if err != nil {
		return nil, timeoutError(ctx, inner, "rerank", r.ID(), err)
	}
	return scores, nil
}

// timeoutError tells our own time limit from the end of the caller's context.
func timeoutError(outer, inner context.Context, op, id string, err error) error {
	if outer.Err() == nil && errors.Is(context.Cause(inner), ErrTimeout) {
		return &Error{Provider: id, Op: op, Err: ErrTimeout}
	}
	return err
}
