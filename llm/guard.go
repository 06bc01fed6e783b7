package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
)

// ErrPanic says that code handed in by the caller (a model, an extractor, a callback) panicked while the library
// ran it on a goroutine of its own, where no recover of the caller's can reach. Errors carry it inside a *PanicError.
var ErrPanic = errors.New("llm: panic")

// PanicError is a panic turned into an error.
type PanicError struct {
	// What panicked, as its interface and id.
	What string
	// Value is what was passed to panic.
	Value any
	// Stack is that of the panicking goroutine, for a log; Error leaves it out.
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.What, e.Value) }

// Is makes ErrPanic found.
func (e *PanicError) Is(target error) bool { return target == ErrPanic }

// Unwrap returns the value that was passed to panic, when it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// CatchPanic turns a panic of the function that defers it into a *PanicError in *err. It must be deferred itself,
// not called by a deferred function.
func CatchPanic(what string, err *error) {
	if v := recover(); v != nil {
		*err = panicError(what, v)
	}
}

func panicError(what string, v any) error {
	return &PanicError{What: what, Value: v, Stack: debug.Stack()}
}

// Guard turns panics of c into errors, and usage that cannot be true into none. A panic of the loop that reads the
// reply is not c's and goes on.
func Guard(c Chat) Chat { return guardChat{c} }

type guardChat struct{ Chat }

func (c guardChat) Generate(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		stopped := false
		if err := c.generate(ctx, req, func(d Delta, err error) bool {
			stopped = !yield(d, err)
			return !stopped
		}); err != nil && !stopped {
			yield(Delta{}, err)
		}
	}
}

func (c guardChat) generate(ctx context.Context, req Request, yield func(Delta, error) bool) (err error) {
	reading := false // the caller's loop runs
	defer func() {
		if reading {
			return
		}
		if v := recover(); v != nil {
			err = panicError("chat model "+c.ID(), v)
		}
	}()
	for d, err := range c.Chat.Generate(ctx, req) {
		d.Usage = d.Usage.plausible()
		reading = true
		if !yield(d, err) {
			reading = false
			return nil
		}
		reading = false
	}
	return nil
}

// plausible replaces counts below zero, which some servers send for "unknown".
func (u Usage) plausible() Usage {
	u.Calls, u.PromptTokens, u.CompletionTokens = max(u.Calls, 0), max(u.PromptTokens, 0), max(u.CompletionTokens, 0)
	return u
}

// GuardEmbedder turns panics of e into errors.
func GuardEmbedder(e Embedder) Embedder { return guardEmbedder{e} }

type guardEmbedder struct{ Embedder }

func (e guardEmbedder) Embed(ctx context.Context, texts []string, kind Kind) (vecs [][]float32, err error) {
	defer CatchPanic("embedder "+e.ID(), &err)
	return e.Embedder.Embed(ctx, texts, kind)
}

// GuardReranker turns panics of r into errors.
func GuardReranker(r Reranker) Reranker { return guardReranker{r} }

type guardReranker struct{ Reranker }

func (r guardReranker) Rerank(ctx context.Context, query string, docs []string) (scores []float64, err error) {
	defer CatchPanic("reranker "+r.ID(), &err)
	return r.Reranker.Rerank(ctx, query, docs)
}
