package vector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// arrival is the rows that a collection was opened without and that belong in memory all the same. They come all at
// once, behind the first searches; until then what is chosen by codes is read from the view that is searched. The
// collection's points stay meanwhile.
type arrival struct {
	pending atomic.Bool
	mu      sync.Mutex   // one reading at a time; taken before feed.mu
	view    *kv.Snapshot // shows the rows of the slots below n; guarded by mu
	n       uint32
}

// expect notes that the rows of the first n slots of p are to be read from view.
func (a *arrival) expect(p *Points, n uint32, view *kv.Snapshot) {
	p.await()
	a.view, a.n = view, n
	a.pending.Store(true)
}

// await makes room for the rows of what is appended before those of the present slots are there.
func (p *Points) await() {
	n := len(p.table.Load().segs)
	r := &rows{segs: make([][]float32, n), first: make([]*float32, n)}
	if n > 0 {
		r.segs[n-1] = make([]float32, simd.SegmentRows*p.stride)
	}
	p.arriving = r
}

// bring reads the rows that are awaited, if any are. Where they cannot be read, they stay in the store, and searches
// that need one of them say why.
func (c *Collection) bring(ctx context.Context) error {
	a := &c.arrival
	if !a.pending.Load() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.pending.Load() {
		return nil
	}
	p := c.gen.Load().points
	segs, err := c.awaited(ctx, p)
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil {
		c.set.log.Warn("vector: rows could not be brought into memory", "collection", c.Name(), "err", err)
		return c.stopAwaiting()
	}
	c.mu.Lock()
	r := p.arriving
	for i, s := range segs {
		r.segs[i], r.first[i] = s, &s[0]
	}
	p.rows.Store(r)
	c.mu.Unlock()
	return c.stopAwaiting()
}

// awaited returns the rows of the slots that were loaded, by segment. arrival.mu is held.
func (c *Collection) awaited(ctx context.Context, p *Points) ([][]float32, error) {
	const ctxEvery = 1024
	n := c.arrival.n
	if n == 0 {
		return nil, nil
	}
	segs := make([][]float32, (n+simd.SegmentRows-1)>>simd.SegmentShift)
	c.mu.Lock()
	last := p.arriving.segs[len(segs)-1] // others append to it
	c.mu.Unlock()
	slot := uint32(0)
	skip := func(to uint64) error { // slots without rows may only be ghosts
		for ; slot < n && p.Ordinal(slot) < to; slot++ {
			if !p.ghost(slot) {
				return c.lost(p.ID(slot), p.Ordinal(slot))
			}
		}
		return nil
	}
	err := c.eachRow(c.arrival.view, p.Ordinal(0), p.Ordinal(n-1)+1, func(ord uint64, value []byte) error {
		if err := skip(ord); err != nil {
			return err
		}
		if slot == n || p.Ordinal(slot) != ord {
			return nil
		}
		if slot%ctxEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at, i := slot>>simd.SegmentShift, int(slot&(simd.SegmentRows-1))
		switch {
		case segs[at] != nil:
		case int(at) == len(segs)-1:
			segs[at] = last
		default:
			segs[at] = make([]float32, simd.SegmentRows*p.stride)
		}
		slot++
		_, err := decodeRow(value, segs[at][i*p.stride:i*p.stride+c.config.Dim])
		return err
	})
	if err == nil {
		err = skip(maxOrdinal)
	}
	for at := range segs {
		if segs[at] == nil { // of ghosts alone
			segs[at] = make([]float32, simd.SegmentRows*p.stride)
		}
	}
	segs[len(segs)-1] = last
	return segs, err
}

// stopAwaiting lets go of what is left of an arrival. arrival.mu is held.
func (c *Collection) stopAwaiting() error {
	a := &c.arrival
	a.pending.Store(false)
	c.mu.Lock()
	c.gen.Load().points.arriving = nil
	c.mu.Unlock()
	if a.view == nil {
		return nil
	}
	view := a.view
	a.view = nil
	if err := view.Close(); err != nil {
		return fmt.Errorf("vector: rows of %q: %w", c.Name(), err)
	}
	return nil
}

// letAwaited gives up what is awaited.
func (c *Collection) letAwaited() error {
	c.arrival.mu.Lock()
	defer c.arrival.mu.Unlock()
	return c.stopAwaiting()
}

// letAwaited gives up what the collections await.
func (s *Set) letAwaited() error {
	var errs []error
	for _, c := range s.collections() {
		errs = append(errs, c.letAwaited())
	}
	return errors.Join(errs...)
}
