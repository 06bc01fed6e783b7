package hnsw

import (
	"math"

	"github.com/glimdb/db/vector"
)

// Search implements vector.Searcher. Slots that are not admitted are walked through all the same; when
// they crowd the beam, a second walk collects admitted ones only.
func (x *Index) Search(q vector.Query, out []uint32) []uint32 {
	e := x.entry.Load()
	if e == noEntry || uint32(e) >= q.Probe.Limit() {
		return out
	}
	w := x.walker()
	defer func() {
		w.probe = nil
		x.walkers.Put(w)
	}()
	w.probe = q.Probe
	slot := uint32(e)
	d := w.distance(slot)
	for level := int(e >> 32); level > 0; level-- {
		slot, d = w.greedy(slot, d, level)
	}
	if !q.Narrow {
		w.beam(slot, d, 0, max(q.Ef, q.Width), vector.NoSlot)
		had, passed := len(out), 0
		for _, k := range w.pool {
			if s := slotOf(k); q.Admit(s) {
				passed++
				if len(out)-had < q.K {
					out = append(out, s)
				}
			}
		}
		if passed >= max(min(len(w.pool), q.Ef)*3/4, q.K) {
			return out
		}
		out = out[:had]
	}
	if !w.narrow(slot, d, q) {
		return out
	}
	for _, k := range w.pool[:min(q.K, len(w.pool))] {
		out = append(out, slotOf(k))
	}
	return out
}

// narrow leaves the q.Ef nearest admitted slots in w.pool. It expands whatever is nearer than the worst of
// them, admitted or not, and everything reachable while there are fewer. It reports false when it gave up.
func (w *walker) narrow(slot uint32, d float32, q vector.Query) bool {
	limit := w.begin()
	w.visit(slot)
	compared := 0
	w.pool, w.front = w.pool[:0], append(w.front[:0], key(d, slot))
	if q.Admit(slot) {
		w.pool = append(w.pool, key(d, slot))
	}
	for len(w.front) > 0 {
		k := w.popFront()
		if k > w.worst(q.Ef) {
			break
		}
		n := w.fresh(slotOf(k), 0, limit)
		if compared += n; q.Most > 0 && compared > q.Most {
			return false
		}
		w.probe.Distances(w.ids[:n], w.out[:n])
		for i := range n {
			k := key(w.out[i], w.ids[i])
			if k > w.worst(q.Ef) {
				continue
			}
			w.pushFront(k)
			if q.Admit(w.ids[i]) {
				w.insert(k, q.Ef)
			}
		}
	}
	return true
}

// worst is the key that a slot must beat to enter the pool of at most ef.
func (w *walker) worst(ef int) uint64 {
	if len(w.pool) < ef {
		return math.MaxUint64
	}
	return w.pool[len(w.pool)-1]
}

func (w *walker) pushFront(k uint64) {
	h := append(w.front, k)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up] <= h[i] {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	w.front = h
}

func (w *walker) popFront() uint64 {
	h := w.front
	top := h[0]
	h[0] = h[len(h)-1]
	h = h[:len(h)-1]
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if h[i] <= h[c] {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	w.front = h
	return top
}
