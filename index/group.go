package index

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/glimdb/db/llm"
	"golang.org/x/sync/errgroup"
)

// group is an errgroup that runs code of the caller's. When that ends its goroutine with runtime.Goexit, which
// an errgroup takes for success, Wait returns a *llm.PanicError that names it.
type group struct {
	*errgroup.Group
	what   string // whose code it is
	exited atomic.Bool
}

var errExited = errors.New("runtime.Goexit was called")

// newGroup runs at most limit functions at a time. Its context ends with the first error.
func newGroup(ctx context.Context, limit int, what string) (*group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(limit)
	return &group{Group: g, what: what}, ctx
}

func (g *group) Go(f func() error) {
	g.Group.Go(func() error {
		returned := false
		defer func() {
			if !returned {
				g.exited.Store(true)
			}
		}()
		err := f()
		returned = true
		return err
	})
}

func (g *group) Wait() error {
	err := g.Group.Wait()
	if g.exited.Load() {
		err = errors.Join(err, &llm.PanicError{What: g.what, Value: errExited})
	}
	return err
}
