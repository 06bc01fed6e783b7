package vector

import (
	"slices"

	"github.com/glimdb/db/internal/simd"
)

const (
	// compactMin garbage slots are kept before a move to new points is worth its cost.
	compactMin = 256
	// A graph of which more than 1/rebuildShare is to be removed at once is built anew instead.
	rebuildShare = 2
	// An index is given up when the codes have shrunk to 1/abandonShare of the exact threshold.
	abandonShare = 2
)

// reclaim forgets deleted vectors that no view shows any more: the index reconnects around them, and when
// they are more than the living, the collection moves to new points without them. feed.mu is held.
func (c *Collection) reclaim() {
	g := c.gen.Load()
	if len(g.ghosts) > 0 {
		g.index.Remove(g.ghosts)
		g.gone = merge(g.gone, g.ghosts)
		g.ghosts = nil
		g.whole.Store(true)
	}
	removed := c.reap(g)
	rebuild := false
	if len(removed) > 0 {
		var indexed []uint32
		fed := g.fed.Load()
		for _, slot := range removed {
			if slot < fed {
				indexed = append(indexed, slot)
			}
		}
		if g.index != nil && len(indexed) > 0 {
			if rebuild = len(indexed) > g.index.Stats().Nodes/rebuildShare; !rebuild {
				g.index.Remove(indexed)
			}
		}
		g.gone = merge(g.gone, removed)
	}
	abandon := g.index != nil && c.codeBytes() < c.set.o.ExactBytes/abandonShare
	if rebuild || abandon || len(g.gone) > compactMin+c.count.Load().n {
		c.move(g, rebuild, abandon)
	}
}

// reap takes the slots from g.dead that no view shows, ascending.
func (c *Collection) reap(g *generation) []uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(g.dead) == 0 {
		return nil
	}
	oldest := c.oldest()
	var removed []uint32
	g.dead = slices.DeleteFunc(g.dead, func(slot uint32) bool {
		if g.points.Ended(slot) > oldest {
			return false
		}
		removed = append(removed, slot)
		return true
	})
	slices.Sort(removed)
	return removed
}

func merge(a, b []uint32) []uint32 {
	a = append(a, b...)
	slices.Sort(a)
	return slices.Compact(a)
}

// move copies what is not gone to new points and swaps them in. Searches on the old generation go on
// undisturbed; it is garbage when they end. With rebuild the index starts empty, and everything is tail
// until it has been fed again; with abandon there is no index any more.
func (c *Collection) move(g *generation, rebuild, abandon bool) {
	p := newPoints(c.config)
	n := g.points.Len()
	slots := make([]uint32, n)
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
	c.gen.Store(next)
}

// copy makes slot of p what slot from of old is, but for its end.
func (p *Points) copy(slot uint32, old *Points, from uint32) {
	s, i := p.room(slot)
	o, j := old.seg(from), int(from&(simd.SegmentRows-1))
	copy(s.rows[i*p.stride:(i+1)*p.stride], o.rows[j*p.stride:])
	copy(s.codes[i*p.codeStride:(i+1)*p.codeStride], o.codes[j*p.codeStride:])
	s.facts[i], s.ids[i], s.ords[i], s.added[i] = o.facts[j], o.ids[j], o.ords[j], o.added[j]
}
