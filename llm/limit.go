package llm

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Priority orders calls that wait for a Limiter: lower goes first.
type Priority int

// The levels. Questions of people overtake the indexing of documents.
const (
	PriorityQuery   Priority = 5
	PrioritySummary Priority = 8
	PriorityIndex   Priority = 10
)

// PriorityOf returns the level of a purpose.
func PriorityOf(p Purpose) Priority {
	switch p {
	case PurposeKeywords, PurposeHypothesis, PurposeAnswer:
		return PriorityQuery
	case PurposeSummary:
		return PrioritySummary
	}
	return PriorityIndex
}

// Limiter lets a number of calls run at once; those that wait go in by priority, and in order of arrival
// inside a level. One Limiter may stand before several models that share a machine or an account. Safe for
// concurrent use.
type Limiter struct {
	mu      sync.Mutex
	free    int
	waiting []*ticket   // by priority, then arrival
	until   time.Time   // of the pause
	resume  *time.Timer // ends the pause; nil when there is none
}

type ticket struct {
	priority Priority
	admitted chan struct{}
}

// NewLimiter returns a Limiter for n calls at once; n below 1 counts as 1.
func NewLimiter(n int) *Limiter { return &Limiter{free: max(1, n)} }

// Acquire waits for a place and returns nil, or ctx's error. Each success needs one Release.
func (l *Limiter) Acquire(ctx context.Context, p Priority) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	if l.free > 0 && l.resume == nil {
		l.free--
		l.mu.Unlock()
		return nil
	}
	t := &ticket{priority: p, admitted: make(chan struct{})}
	at, _ := slices.BinarySearchFunc(l.waiting, p, func(w *ticket, p Priority) int {
		if w.priority <= p {
			return -1
		}
		return 1
	})
	l.waiting = slices.Insert(l.waiting, at, t)
	l.mu.Unlock()

	select {
	case <-t.admitted:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	if at := slices.Index(l.waiting, t); at >= 0 {
		l.waiting = slices.Delete(l.waiting, at, at+1)
		l.mu.Unlock()
		return ctx.Err()
	}
	l.mu.Unlock()
	// Admitted at the same moment: the place goes to the next.
	l.Release()
	return ctx.Err()
}

// Release gives a place back.
func (l *Limiter) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free++
	l.admit()
}

// Pause admits nobody for d from now on, or until a pause that is there already ends, when that is later. Calls that run
// go on. It is for a provider that asks to slow down: calls behind the one that was refused would be refused, too.
func (l *Limiter) Pause(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := time.Now().Add(d)
	if d <= 0 || until.Before(l.until) {
		return
	}
	l.until = until
	if l.resume == nil {
		l.resume = time.AfterFunc(d, l.goOn)
	}
}

// refusedPause is how long a refused call holds the others back before its place is free again: until the Retry above
// has told for how long it will be.
const refusedPause = 100 * time.Millisecond

// heed pauses after a call that was refused for the rate of calls.
func (l *Limiter) heed(err error) {
	if slowDown(err) {
		l.Pause(refusedPause)
	}
}

// slowDown reports whether a provider asks for fewer calls, or for a wait.
func slowDown(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Retryable() && (e.RetryAfter > 0 || e.Status == http.StatusTooManyRequests)
}

// goOn ends a pause, unless it was prolonged.
func (l *Limiter) goOn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := time.Until(l.until); left > 0 {
		l.resume = time.AfterFunc(left, l.goOn)
		return
	}
	l.resume = nil
	l.admit()
}

// admit lets in who may go. The caller holds the lock.
func (l *Limiter) admit() {
	for l.free > 0 && l.resume == nil && len(l.waiting) > 0 {
		next := l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		l.free--
		close(next.admitted)
	}
}

// Limit makes calls of c wait for a place, at the priority of their purpose. A stream holds its place until
// its last delta was taken or its loop broken.
func Limit(c Chat, l *Limiter) Chat { return &limitedChat{c, l} }

type limitedChat struct {
	Chat
	limiter *Limiter
}

func (c *limitedChat) Generate(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		if err := c.limiter.Acquire(ctx, PriorityOf(req.Purpose)); err != nil {
			yield(Delta{}, err)
			return
		}
		defer c.limiter.Release()
		c.Chat.Generate(ctx, req)(func(d Delta, err error) bool {
			c.limiter.heed(err)
			return yield(d, err)
		})
	}
}

// LimitEmbedder makes calls of e wait for a place; those for queries go first.
func LimitEmbedder(e Embedder, l *Limiter) Embedder { return &limitedEmbedder{e, l} }

type limitedEmbedder struct {
	Embedder
	limiter *Limiter
}

func (e *limitedEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	p := PriorityIndex
	if kind == ForQuery {
		p = PriorityQuery
	}
	if err := e.limiter.Acquire(ctx, p); err != nil {
		return nil, err
	}
	defer e.limiter.Release()
	vectors, err := e.Embedder.Embed(ctx, texts, kind)
	e.limiter.heed(err)
	return vectors, err
}

// LimitReranker makes calls of r wait for a place.
func LimitReranker(r Reranker, l *Limiter) Reranker { return &limitedReranker{r, l} }

type limitedReranker struct {
	Reranker
	limiter *Limiter
}

func (r *limitedReranker) Rerank(ctx context.Context, query string, docs []string) ([]float64, error) {
	if err := r.limiter.Acquire(ctx, PriorityQuery); err != nil {
		return nil, err
	}
	defer r.limiter.Release()
	scores, err := r.Reranker.Rerank(ctx, query, docs)
	r.limiter.heed(err)
	return scores, err
}
