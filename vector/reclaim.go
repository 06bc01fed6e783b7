package vector

import (
	"slices"

	"github.com/glimdb/db/internal/simd"
)

const (
	// compactMin garbage slots are kept before a move to new points is worth its cost.
	compactMin = 256
	// removeBatch slots are removed from an index between two looks at other work: some ten milliseconds.
	removeBatch = 64
	// A graph of which more than 1/rebuildShare is to be removed at once is built anew instead.
	rebuildShare = 2
	// An index is given up when the codes have shrunk to 1/abandonShare of the exact threshold.
	abandonShare = 2
)

// reclaim forgets deleted vectors that no view shows any more: the index reconnects around them, removeBatch
// at a time, and when they are more than the living, the collection moves to new points without them.
// feed.mu is held.
func (c *Collection) reclaim() {
	g := c.gen.Load()
	fed := g.fed.Load()
	for _, slot := range c.reap(g) {
		if g.index != nil && slot < fed {
			g.doomed = append(g.doomed, slot)
		} else {
			g.gone = append(g.gone, slot)
		}
	}
	abandon := g.index != nil && c.size() < c.set.o.ExactBytes/abandonShare
	rebuild := len(g.doomed) > 0 && len(g.doomed) > g.index.Stats().Nodes/rebuildShare
	n := len(g.doomed)
	if n > 0 && !abandon && !rebuild {
		n = min(n, removeBatch)
		g.index.Remove(g.doomed[:n])
	}
	g.gone = append(g.gone, g.doomed[:n]...)
	g.doomed = g.doomed[n:]
	if len(g.doomed) == 0 {
		g.whole.Store(true)
	}
	if c.arrival.pending.Load() { // points in which rows are awaited stay
		return
	}
	if rebuild || abandon || len(g.gone) > compactMin+c.count.Load().n {
		c.move(g, rebuild, abandon)
	}
}

// reap takes the slots from g.dead that no view shows. They were deleted in the order in which they lie
// there, so that it looks at no more than one that stays.
func (c *Collection) reap(g *generation) []uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	oldest := c.oldest()
	n := 0
	for n < len(g.dead) && g.points.Ended(g.dead[n]) <= oldest {
		n++
	}
	removed := slices.Clone(g.dead[:n])
	g.dead = g.dead[n:]
	slices.Sort(removed)
	return removed
}

// move copies what is not gone to new points and swaps them in. Searches on the old generation go on
// undisturbed; it is garbage when they end. With rebuild the index starts empty, and everything is tail
// until it has been fed again; with abandon there is no index any more.
func (c *Collection) move(g *generation, rebuild, abandon bool) {
	p := newPoints(c.config, g.points.resident())
	n := g.points.Len()
	slots := make([]uint32, n)
	slices.Sort(g.gone)
	gone := g.gone
	fed, oldFed := uint32(0), g.fed.Load()
	to := uint32(0)
	for slot := range n {
		if len(gone) > 0 && gone[0] == slot {
			gone = gone[1:]
			slots[slot] = NoSlot
			continue
		}
		p.copy(to, g.points, slot)
		slots[slot] = to
		to++
		if slot < oldFed {
			fed++
		}
	}
	var x Index
	switch {
	case g.index == nil:
	case abandon:
		c.feed.erase = true
	case rebuild:
		x = c.newIndex()
		x.Attach(p, nil)
		x.Lost()
		fed = 0
	default:
		p.publish(to)
		x = g.index.Move(p, slots)
	}
	next := newGeneration(p, x)
	if x != nil {
		next.fed.Store(fed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for slot := n; slot < g.points.Len(); slot++ {
		p.copy(to, g.points, slot)
		slots = append(slots, to)
		to++
	}
	p.publish(to)
	for slot, at := range slots {
		if at != NoSlot {
			if end := g.points.Ended(uint32(slot)); end != 0 {
				p.end(at, end)
			}
		}
	}
	for _, slot := range g.dead {
		next.dead = append(next.dead, slots[slot])
	}
	for _, slot := range g.doomed {
		next.doomed = append(next.doomed, slots[slot])
	}
	next.whole.Store(len(next.doomed) == 0 || g.whole.Load())
	c.gen.Store(next)
}

// copy makes slot of p what slot from of old is, but for its end.
func (p *Points) copy(slot uint32, old *Points, from uint32) {
	s, i := p.room(slot)
	o, j := old.seg(from), int(from&(simd.SegmentRows-1))
	copy(p.Vector(slot), old.Vector(from))
	p.packedAt(s.packed, i).copy(old.packedAt(o.packed, j))
	s.facts[i], s.ids[i], s.ords[i], s.added[i] = o.facts[j], o.ids[j], o.ords[j], o.added[j]
}
