package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// closeGrace is how long Close waits for code of the caller (the function of a View, the body of a loop,
// the reader of a Load), which it cannot end. The store gives views that are still open as long again.
const closeGrace = time.Second

// errLoading is the reason of ErrBusy.
var errLoading = fmt.Errorf("%w: a load runs alone", ErrBusy)

// life counts the running calls of a database.
type life struct {
	ctx    context.Context // ends when Close begins, with cause ErrClosed
	cancel context.CancelCauseFunc

	work sync.WaitGroup // calls that end soon after ctx does; Add only under mu with closed false

	mu      sync.Mutex
	closed  bool
	loading bool
	writes  int
	guests  map[string]int // calls in which code of the caller runs, by name
	drained chan struct{}  // set by end; closed when the last guest leaves
}

func newLife() *life {
	l := &life{guests: make(map[string]int)}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

// role says what a call does to others.
type role uint8

const (
	reads  role = iota // nothing
	writes             // it must not meet a load
	loads              // it must meet neither a write nor a load
)

// begin counts a call, whose end the caller must call; both return at once.
func (l *life) begin(r role) (end func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.admit(r); err != nil {
		return nil, err
	}
	l.work.Add(1)
	return func() {
		l.dismiss(r)
		l.work.Done()
	}, nil
}

// host counts a call in which code of the caller runs, so that Close must not wait for it forever.
func (l *life) host(name string, r role) (end func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.admit(r); err != nil {
		return nil, err
	}
	l.guests[name]++
	return func() {
		l.dismiss(r)
		l.bye(name)
	}, nil
}

// admit is called with mu held.
func (l *life) admit(r role) error {
	switch {
	case l.closed:
		return ErrClosed
	case r != reads && l.loading, r == loads && l.writes > 0:
		return errLoading
	case r == writes:
		l.writes++
	case r == loads:
		l.loading = true
	}
	return nil
}

func (l *life) dismiss(r role) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r {
	case writes:
		l.writes--
	case loads:
		l.loading = false
	case reads:
	}
}

func (l *life) bye(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.guests[name]--; l.guests[name] == 0 {
		delete(l.guests, name)
	}
	if l.drained != nil && len(l.guests) == 0 {
		close(l.drained)
		l.drained = nil
	}
}

// living returns ctx, ended with cause ErrClosed when Close begins; end releases it.
func (l *life) living(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.ctx, func() { cancel(ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// end refuses new calls, ends the waits of running ones, and waits for them; guests that are still there
// after closeGrace are named in the error.
func (l *life) end() error {
	l.mu.Lock()
	l.closed = true
	drained := make(chan struct{})
	if len(l.guests) == 0 {
		close(drained)
	} else {
		l.drained = drained
	}
	l.mu.Unlock()
	l.cancel(ErrClosed)
	l.work.Wait()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-drained:
		return nil
	case <-timer.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for name, n := range l.guests {
		names = append(names, fmt.Sprintf("%d %s", n, name))
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("calls have not ended: %s", strings.Join(names, ", "))
}

// enter begins a call that waits for models, the writer turn or the disk, and for no code of the caller but
// its models. A context derived from both ctx and the database's life ends its waits when Close begins.
func (d *DB) enter(ctx context.Context, r role) (context.Context, func(), error) {
	if err := given(ctx); err != nil {
		return nil, nil, err
	}
	end, err := d.life.begin(r)
	return d.admitted(ctx, end, err)
}

// host begins a call in which code of the caller runs.
func (d *DB) host(ctx context.Context, name string, r role) (context.Context, func(), error) {
	if err := given(ctx); err != nil {
		return nil, nil, err
	}
	end, err := d.life.host(name, r)
	return d.admitted(ctx, end, err)
}

// given refuses a nil context before the call is counted: the panic that it leads to would leave Close waiting.
func given(ctx context.Context) error {
	if ctx == nil {
		return &OptionError{Field: "ctx", Value: "nil", Want: "a context, such as context.Background()"}
	}
	return nil
}

func (d *DB) admitted(ctx context.Context, end func(), err error) (context.Context, func(), error) {
	if err != nil {
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		end()
		return nil, nil, err
	}
	ctx, release := d.life.living(ctx)
	return ctx, func() { release(); end() }, nil
}

// because replaces the bare cancellation that Close causes by ErrClosed.
func because(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), ErrClosed) && errors.Is(err, context.Canceled) {
		return ErrClosed
	}
	return err
}
