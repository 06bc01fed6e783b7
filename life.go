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

	mu         sync.Mutex
	closed     bool
	guests     map[string]int        // calls in which code of the caller runs, by name
	drained    chan struct{}         // set by end; closed when the last guest leaves
	workspaces map[string]*workspace // those in which calls run, and those in memory
}

// workspace is what there is of one while it is used. Its lock is held to read it into memory, to drop it, and to let go
// of it.
type workspace struct {
	name   string
	locked chan struct{} // holds one token

	// Guarded by life.mu.
	state   *state // nil: it is not in memory
	loading bool
	writes  int
	calls   int
	retired bool // to be let go of when no call runs
}

func (w *workspace) lock(ctx context.Context) error {
	select {
	case w.locked <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *workspace) unlock() { <-w.locked }

func newLife() *life {
	l := &life{guests: make(map[string]int), workspaces: make(map[string]*workspace)}
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

// admit counts a call in a workspace.
func (l *life) admit(name string, r role) (*workspace, error) {
	if l.closed {
		return nil, ErrClosed
	}
	w := l.workspaces[name]
	if w == nil {
		w = &workspace{name: name, locked: make(chan struct{}, 1)}
		l.workspaces[name] = w
	}
	switch {
	case r != reads && w.loading, r == loads && w.writes > 0:
		return nil, errLoading
	case r == writes:
		w.writes++
	case r == loads:
		w.loading = true
	}
	w.calls++
	return w, nil
}

// dismiss ends a call. It returns what memory is to let go of, w locked, when it was the last one.
func (l *life) dismiss(w *workspace, r role) (idle *state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r {
	case writes:
		w.writes--
	case loads:
		w.loading = false
	case reads:
	}
	w.calls--
	return l.idle(w)
}

// idle forgets a workspace that nothing is to be remembered of, and returns what memory is to let go of, w locked.
// l.mu is held.
func (l *life) idle(w *workspace) (s *state) {
	if w.calls > 0 {
		return nil
	}
	if s = w.state; s != nil {
		if !w.retired || s.models.names() != s.configured { // what Reembed changed it to is known nowhere else
			return nil
		}
		w.state, w.retired = nil, false
		w.locked <- struct{}{} // free: who holds it is in a call
		return s
	}
	if len(w.locked) == 0 {
		delete(l.workspaces, w.name)
	}
	return nil
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

// present returns what memory holds of w, nil for nothing.
func (l *life) present(w *workspace) *state {
	l.mu.Lock()
	defer l.mu.Unlock()
	return w.state
}

// inMemory is present by name.
func (l *life) inMemory(name string) *state {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.workspaces[name]; w != nil {
		return w.state
	}
	return nil
}

// keep makes s what memory holds of w. A call runs in w.
func (l *life) keep(w *workspace, s *state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.state = s
}

// living returns ctx, ended with the cause of parent when that ends; end releases it.
func living(ctx, parent context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(parent, func() { cancel(context.Cause(parent)) })
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
// its models. Its context ends when Close begins and when the workspace is dropped.
func (d *DB) enter(ctx context.Context, r role) (context.Context, *state, func(), error) {
	return d.call(ctx, "", r)
}

// host begins a call in which code of the caller runs, so that Close must not wait for it forever. Its context ends
// when Close begins: the view that such a call reads outlives a drop of the workspace.
func (d *DB) host(ctx context.Context, name string, r role) (context.Context, *state, func(), error) {
	return d.call(ctx, name, r)
}

func (d *DB) call(ctx context.Context, guest string, r role) (context.Context, *state, func(), error) {
	s, end, err := d.arrive(ctx, guest, r)
	if err != nil {
		return nil, nil, nil, err
	}
	parent := s.ctx
	if guest != "" {
		parent = d.life.ctx
	}
	ctx, release := living(ctx, parent)
	return ctx, s, func() { release(); end() }, nil
}

// arrive counts a call and reads its workspace into memory, if it is not there.
func (d *DB) arrive(ctx context.Context, guest string, r role) (*state, func(), error) {
	if err := given(ctx); err != nil {
		return nil, nil, err
	}
	w, end, err := d.begin(d.name, guest, r)
	if err != nil {
		return nil, nil, err
	}
	s, err := (*state)(nil), ctx.Err()
	if err == nil {
		s, err = d.state(ctx, w)
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return s, end, nil
}

// visit begins a call about the store, for which no workspace is read into memory; guest as for begin.
func (d *DB) visit(ctx context.Context, guest string, r role) (context.Context, func(), error) {
	if err := given(ctx); err != nil {
		return nil, nil, err
	}
	_, end, err := d.begin(d.name, guest, r)
	if err != nil {
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		end()
		return nil, nil, err
	}
	ctx, release := living(ctx, d.life.ctx)
	return ctx, func() { release(); end() }, nil
}

// begin counts a call in a workspace, whose end the caller must call; both return at once, but for an end that
// lets go of what memory holds. guest is the method's name when code of the caller runs in the call, or empty.
func (d *DB) begin(name, guest string, r role) (*workspace, func(), error) {
	if d.closed.Load() {
		return nil, nil, ErrClosed
	}
	l := d.life
	l.mu.Lock()
	defer l.mu.Unlock()
	w, err := l.admit(name, r)
	if err != nil {
		return nil, nil, err
	}
	if guest == "" {
		l.work.Add(1)
	} else {
		l.guests[guest]++
	}
	return w, func() {
		d.letGo(w, l.dismiss(w, r))
		if guest == "" {
			l.work.Done()
		} else {
			l.bye(guest)
		}
	}, nil
}

// retire lets go of what memory holds of a workspace as soon as no call runs in it.
func (d *DB) retire(name string) {
	l := d.life
	l.mu.Lock()
	w := l.workspaces[name]
	if w == nil || l.closed {
		l.mu.Unlock()
		return
	}
	w.retired = true
	s := l.idle(w)
	l.work.Add(1)
	l.mu.Unlock()
	defer l.work.Done()
	d.letGo(w, s)
}

// letGo ends s, which memory held of w, if it is not nil. Then the lock of w is held, and no call runs in it, but others
// may wait for it.
func (c *core) letGo(w *workspace, s *state) {
	for s != nil {
		s.end(ErrClosed)
		if err := c.vectors.Release(w.name); err != nil {
			c.opts.Logger.Warn("db: a view of a workspace could not be closed", "err", err)
		}
		w.unlock()
		c.life.mu.Lock()
		s = c.life.idle(w)
		c.life.mu.Unlock()
	}
}

// given refuses a nil context before the call is counted: the panic that it leads to would leave Close waiting.
func given(ctx context.Context) error {
	if ctx == nil {
		return &OptionError{Field: "ctx", Value: "nil", Want: "a context, such as context.Background()"}
	}
	return nil
}

// because replaces the bare cancellation that Close or a drop causes by ErrClosed or ErrDropped.
func because(ctx context.Context, err error) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	for _, why := range []error{ErrClosed, ErrDropped} {
		if errors.Is(context.Cause(ctx), why) {
			return why
		}
	}
	return err
}
