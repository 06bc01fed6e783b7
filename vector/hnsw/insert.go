package hnsw

import (
	"cmp"
	"slices"

	"github.com/glimdb/db/vector"
)

// Insert implements vector.Index.
func (x *Index) Insert(slot uint32) {
	if x.has(slot) {
		return
	}
	level := x.create(slot, x.points.Ordinal(slot))
	x.logNode(slot)
	w := x.builder()
	e := x.entry.Load()
	if e == noEntry {
		x.entry.Store(uint64(level)<<32 | uint64(slot))
		return
	}
	w.probe.SetSlot(slot)
	at, top := uint32(e), int(e>>32)
	d := w.distance(at)
	for l := top; l > level; l-- {
		at, d = w.greedy(at, d, l)
	}
	chosen := make([][]uint32, min(level, top)+1) // by level
	for l := len(chosen) - 1; l >= 0; l-- {
		w.beam(at, d, l, x.o.Config.EfConstruction, slot)
		at, d = slotOf(w.pool[0]), distOf(w.pool[0])
		w.cands = w.cands[:0]
		for _, k := range w.pool {
			w.cands = append(w.cands, candidate{slotOf(k), distOf(k)})
		}
		if x.o.Config.ExtendCandidates {
			w.extend(slot, l, w.probe)
		}
		least := 0
		if len(w.cands) <= x.m || x.o.Config.KeepPruned {
			least = x.m
		}
		chosen[l] = slices.Clone(w.choose(slot, w.cands, x.m, least, nil))
	}
	// From the ground up: a search that meets the node on a level finds it linked on all below.
	x.adopt(slot, x.parentFor(slot, chosen[0]), chosen[0])
	for l, links := range chosen[1:] {
		x.set(slot, l+1, links)
		for _, to := range links {
			x.backlink(w, to, slot, l+1)
		}
	}
	if level > top {
		x.entry.Store(uint64(level)<<32 | uint64(slot))
	}
}

func (x *Index) builder() *walker {
	if x.build == nil {
		x.build = &walker{x: x, probe: x.points.NewProbe(), other: x.points.NewProbe()}
	}
	return x.build
}

// choose returns up to m diverse candidates, nearest first: one is taken when it is nearer to the node
// than to any taken before (Malkov and Yashunin, algorithm 4). Those in keep are always taken, and while there are
// fewer than least, the nearest of those passed over. Equal distances are ordered by a hash with the node,
// so that copies of a vector do not all choose the same links. cands is sorted in place; the result is valid
// until the next call.
func (w *walker) choose(node uint32, cands []candidate, m, least int, keep []uint32) []uint32 {
	w.chosen, w.pruned = append(w.chosen[:0], keep...), w.pruned[:0]
	slices.SortFunc(cands, func(a, b candidate) int {
		if c := cmp.Compare(a.dist, b.dist); c != 0 {
			return c
		}
		return cmp.Compare(mix(uint64(node)<<32|uint64(a.slot)), mix(uint64(node)<<32|uint64(b.slot)))
	})
	all := len(keep)+len(cands) <= least
	var ids [8]uint32
	var out [8]float32
	for _, c := range cands {
		if len(w.chosen) >= m {
			break
		}
		if slices.Contains(w.chosen, c.slot) {
			continue
		}
		good := true
		if !all && len(w.chosen) > 0 {
			w.other.SetSlot(c.slot)
			for at := 0; at < len(w.chosen) && good; at += len(ids) {
				n := copy(ids[:], w.chosen[at:])
				w.other.Distances(ids[:n], out[:n])
				for _, d := range out[:n] {
					good = good && d >= c.dist
				}
			}
		}
		if good {
			w.chosen = append(w.chosen, c.slot)
		} else if len(w.pruned) < least {
			w.pruned = append(w.pruned, c.slot)
		}
	}
	w.chosen = append(w.chosen, w.pruned[:min(len(w.pruned), max(0, least-len(w.chosen)))]...)
	return w.chosen
}

// extend adds to the candidates of node what they link to on a level (extendCandidates of algorithm 4). p holds
// the vector of node.
func (w *walker) extend(node uint32, level int, p *vector.Probe) {
	w.begin()
	w.visit(node)
	for _, c := range w.cands {
		w.visit(c.slot)
	}
	limit := p.Limit()
	for _, c := range w.cands[:len(w.cands):len(w.cands)] {
		n := w.fresh(c.slot, level, limit)
		p.Distances(w.ids[:n], w.out[:n])
		for i, s := range w.ids[:n] {
			if !w.x.dies(s) {
				w.cands = append(w.cands, candidate{s, w.out[i]})
			}
		}
	}
}

// backlink adds to's link to slot on a level, choosing anew among its links when they are full.
func (x *Index) backlink(w *walker, to, slot uint32, level int) {
	list := x.list(to, level)
	links := read(list, w.ids[:0])
	if slices.Contains(links, slot) {
		return
	}
	if len(links) < len(list) {
		x.push(to, level, len(links), slot)
		return
	}
	w.set(to, level, append(links, slot))
}

// set gives node the best of links on a level: all of them if they fit, else a diverse choice that keeps
// the edges of the tree.
func (w *walker) set(node uint32, level int, links []uint32) {
	x := w.x
	m := len(x.list(node, level))
	if len(links) <= m {
		x.set(node, level, links)
		return
	}
	w.keep = w.keep[:0]
	if level == 0 {
		for _, s := range links {
			if x.tied(node, s) {
				w.keep = append(w.keep, s)
			}
		}
	}
	w.compare(node, links)
	if x.o.Config.ExtendCandidates {
		w.extend(node, level, w.other)
	}
	least := 0
	if x.o.Config.KeepPruned {
		least = m
	}
	x.set(node, level, w.choose(node, w.cands, m, least, w.keep))
}

// compare makes slots the candidates of node. w.other holds its vector afterwards.
func (w *walker) compare(node uint32, slots []uint32) {
	w.other.SetSlot(node)
	w.cands = w.cands[:0]
	for part := range slices.Chunk(slots, vector.MaxGather) {
		w.other.Distances(part, w.out[:len(part)])
		for i, s := range part {
			w.cands = append(w.cands, candidate{s, w.out[i]})
		}
	}
}
