package wal

import (
	"errors"
	"sync"
)

// groupSync lets many commits share one sync: a waiter joins the round that has not begun yet, and the
// first of them runs it.
type groupSync struct {
	run func() error

	mu   sync.Mutex
	next *round // not begun

	busy sync.Mutex // held by the round that runs; taken before mu
}

type round struct {
	once sync.Once
	err  error
}

// errAborted is the outcome of a round whose sync panicked.
var errAborted = errors.New("wal: sync was aborted by a panic")

func newGroupSync(run func() error) *groupSync { return &groupSync{run: run, next: &round{}} }

// wait returns the outcome of a sync that began after the call.
func (g *groupSync) wait() error {
	g.mu.Lock()
	r := g.next
	g.mu.Unlock()
	r.once.Do(func() {
		g.busy.Lock() // the round before has ended
		defer g.busy.Unlock()
		g.mu.Lock()
		g.next = &round{} // later commits need a later sync
		g.mu.Unlock()
		r.err = errAborted // what the others get if run does not return
		r.err = g.run()
	})
	return r.err
}
