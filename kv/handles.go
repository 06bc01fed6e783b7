package kv

import (
	"math"
	"slices"
	"sync"
)

// handles knows the open snapshots and cursors, so that Close can wait for their owners, and name and end
// those that nobody closed.
type handles struct {
	mu      sync.Mutex
	snaps   map[*Snapshot]struct{}
	cursors map[*cursor]struct{}
	empty   chan struct{} // not nil: closed when both are empty
}

func newHandles() *handles {
	return &handles{snaps: make(map[*Snapshot]struct{}), cursors: make(map[*cursor]struct{})}
}

func (h *handles) addSnapshot(s *Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.snaps[s] = struct{}{}
}

func (h *handles) addCursor(c *cursor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cursors[c] = struct{}{}
}

func (h *handles) dropSnapshot(s *Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.snaps, s)
	h.signal()
}

func (h *handles) dropCursor(c *cursor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.cursors, c)
	h.signal()
}

func (h *handles) signal() {
	if h.empty != nil && len(h.snaps)+len(h.cursors) == 0 {
		close(h.empty)
		h.empty = nil
	}
}

// drained returns a channel that is closed once nothing is open. Called once, by Close.
func (h *handles) drained() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch := make(chan struct{})
	h.empty = ch
	h.signal()
	return ch
}

// open lists what is open, snapshots by LSN.
func (h *handles) open() (snaps []*Snapshot, cursors []*cursor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.snaps {
		snaps = append(snaps, s)
	}
	slices.SortFunc(snaps, func(a, b *Snapshot) int {
		switch {
		case a.lsn < b.lsn:
			return -1
		case a.lsn > b.lsn:
			return 1
		}
		return 0
	})
	for c := range h.cursors {
		cursors = append(cursors, c)
	}
	return snaps, cursors
}

func (h *handles) counts() (snaps, cursors int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.snaps), len(h.cursors)
}

// oldest returns the smallest LSN of the open snapshots, or the largest LSN when there is none.
func (h *handles) oldest() LSN {
	h.mu.Lock()
	defer h.mu.Unlock()
	oldest := LSN(math.MaxUint64)
	for s := range h.snaps {
		oldest = min(oldest, s.lsn)
	}
	return oldest
}
