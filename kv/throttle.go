package kv

import (
	"sync"
	"time"
)

// throttle makes writers wait while flushes and compactions lag behind. The engine does this itself, but
// holding the locks that Close needs and deaf to a failed disk; so its thresholds are out of reach and kv
// waits here instead (Store.Ready), before the engine is called.
type throttle struct {
	mu      sync.Mutex
	check   bool          // something happened since the limits were last found kept
	changed chan struct{} // closed and replaced when something happens
	waits   int64
	waited  time.Duration
}

func newThrottle() *throttle { return &throttle{changed: make(chan struct{})} }

// poke tells that memtables or levels changed, the disk failed, or the store closes.
func (t *throttle) poke() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.check = true
	close(t.changed)
	t.changed = make(chan struct{})
}

// wait returns when over reports false, and the error of stop as soon as it has one. over is costly and is
// asked only after a poke.
func (t *throttle) wait(stop func() error, over func() bool) error {
	var start time.Time
	for {
		t.mu.Lock()
		check, changed := t.check, t.changed // before asking, so that no later poke is missed
		t.check = false
		t.mu.Unlock()
		if err := stop(); err != nil {
			return err
		}
		if !check {
			return nil
		}
		if !over() {
			if !start.IsZero() {
				t.mu.Lock()
				t.waits++
				t.waited += time.Since(start)
				t.mu.Unlock()
			}
			return nil
		}
		if start.IsZero() {
			start = time.Now()
		}
		t.mu.Lock()
		t.check = true
		t.mu.Unlock()
		<-changed
	}
}

// watch asks again after every poke, until again says no or done is closed.
func (t *throttle) watch(done <-chan struct{}, again func() bool) {
	for {
		t.mu.Lock()
		changed := t.changed // before asking, so that no later poke is missed
		t.mu.Unlock()
		if !again() {
			return
		}
		select {
		case <-done:
			return
		case <-changed:
		}
	}
}

// stats returns how often and how long writers waited.
func (t *throttle) stats() (int64, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waits, t.waited
}
