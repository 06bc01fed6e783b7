package ivf

import (
	"math"
	"slices"

	"github.com/glimdb/db/vector"
)

// scratch is what a search, or the feeding goroutine, needs and gives back.
type scratch struct {
	query []float32 // padded
	far   []float32 // by cell
	cells []uint64  // a heap of cells, the nearest first
	best  []uint64  // a heap of slots, the farthest first
	slots []uint32
	out   [vector.MaxGather]float32
}

func (x *Index) newScratch() *scratch {
	return &scratch{query: make([]float32, newTable(x.o.Config.Dim, false).stride)}
}

func (s *scratch) pad(v []float32) []float32 {
	copy(s.query, v)
	return s.query
}

// For every efPerCell of Ef a search compares as many admitted slots as a cell is meant to hold: with the number
// of vectors they grow like its root, and at equal Ef the recall is about that of a graph.
const efPerCell = 2

// Search implements vector.Searcher. A slot that moves to another cell meanwhile is found all the same: the
// lists of one layout hold all slots that were there when it was stored.
func (x *Index) Search(q vector.Query, out []uint32) []uint32 {
	s, _ := x.pool.Get().(*scratch)
	if s == nil {
		s = x.newScratch()
	}
	defer x.pool.Put(s)
	l := x.layout.Load()
	s.far = l.centroids.distances(s.pad(q.Probe.Vector()), s.far[:0])
	s.cells, s.best = s.cells[:0], s.best[:0]
	for at, d := range s.far {
		s.cells = append(s.cells, key(d, uint32(at)))
	}
	heapify(s.cells)
	enough := q.Ef * x.size() / efPerCell
	var n counts
	for len(s.cells) > 0 {
		if n.admitted() >= enough && len(s.best) >= q.K {
			break
		}
		if q.Most > 0 && n.compared > q.Most {
			return out
		}
		var k uint64
		k, s.cells = popLeast(s.cells)
		s.compare(&q, l.cells[slotOf(k)].list(), &n)
	}
	slices.Sort(s.best)
	for _, k := range s.best {
		out = append(out, slotOf(k))
	}
	return out
}

// counts tell how far a search has come, in slots.
type counts struct {
	compared int // all of them, or the admitted when it is narrow
	asked    int // those near enough to be results, of which it was asked whether they are admitted,
	passed   int // and are
}

// admitted estimates how many of the compared are. What is near tells of what is near: where a filter rejects
// just that, the estimate is low, and the search goes on for longer.
func (n *counts) admitted() int {
	if n.asked == 0 {
		return n.compared
	}
	return n.compared * n.passed / n.asked
}

// compare takes the admitted slots of list that are near enough into s.best.
func (s *scratch) compare(q *vector.Query, l *list, n *counts) {
	limit := q.Probe.Limit()
	for at := 0; at < len(l.slots); {
		var slots []uint32
		slots, at = s.measure(q, l, at)
		n.compared += len(slots)
		for i, slot := range slots {
			k := key(s.out[i], slot)
			if len(s.best) == q.K && k > s.best[0] || slot >= limit {
				continue
			}
			if !q.Narrow {
				if n.asked++; !q.Admit(slot) {
					continue
				}
				n.passed++
			}
			s.best = addBest(s.best, k, q.K)
		}
	}
}

// measure sets s.out to the distances of the next slots of a list from position at on, only the admitted of them
// when the search is narrow. It returns these slots and the position behind them.
func (s *scratch) measure(q *vector.Query, l *list, at int) ([]uint32, int) {
	if end := min(at+vector.MaxGather, len(l.slots)); !q.Narrow && end <= l.strip.Len() {
		q.Probe.StripDistances(l.strip, at, s.out[:end-at])
		return l.slots[at:end], end
	}
	limit := q.Probe.Limit()
	s.slots = s.slots[:0]
	for ; at < len(l.slots) && len(s.slots) < vector.MaxGather; at++ {
		if slot := l.slots[at]; slot < limit && (!q.Narrow || q.Admit(slot)) {
			s.slots = append(s.slots, slot)
		}
	}
	q.Probe.Distances(s.slots, s.out[:len(s.slots)])
	return s.slots, at
}

// key orders by distance, then slot.
func key(d float32, slot uint32) uint64 {
	b := math.Float32bits(d)
	if b>>31 != 0 {
		b = ^b
	} else {
		b |= 1 << 31
	}
	return uint64(b)<<32 | uint64(slot)
}

func slotOf(k uint64) uint32 { return uint32(k) }

// heapify orders h as a heap with the least first.
func heapify(h []uint64) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		sink(h, i)
	}
}

// popLeast takes the least key.
func popLeast(h []uint64) (uint64, []uint64) {
	top := h[0]
	h[0] = h[len(h)-1]
	h = h[:len(h)-1]
	sink(h, 0)
	return top, h
}

func sink(h []uint64, i int) {
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if h[i] <= h[c] {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// addBest adds k to a heap of the n least keys, the greatest of them first.
func addBest(h []uint64, k uint64, n int) []uint64 {
	if len(h) < n {
		h = append(h, k)
		for i := len(h) - 1; i > 0; {
			up := (i - 1) / 2
			if h[up] >= h[i] {
				break
			}
			h[up], h[i] = h[i], h[up]
			i = up
		}
		return h
	}
	h[0] = k
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			return h
		}
		if c+1 < len(h) && h[c+1] > h[c] {
			c++
		}
		if h[i] >= h[c] {
			return h
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}
