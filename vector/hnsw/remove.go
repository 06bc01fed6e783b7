package hnsw

import (
	"slices"
)

// Remove implements vector.Index. Every node that linked to a removed one chooses anew among its other
// links and those of the removed, so that paths through it survive. It reads every link list once, a few
// milliseconds for 100,000 nodes, however many slots are removed.
func (x *Index) Remove(slots []uint32) {
	dead := make(map[uint32]bool, len(slots))
	for _, s := range slots {
		if x.has(s) {
			dead[s] = true
		}
	}
	if len(dead) == 0 {
		return
	}
	w := x.builder()
	x.detach(slots, dead)
	x.eachNode(func(node uint32, level int) {
		if dead[node] {
			return
		}
		for l := 0; l <= level; l++ {
			links := read(x.list(node, l), nil)
			if slices.ContainsFunc(links, func(s uint32) bool { return dead[s] }) {
				w.set(node, l, x.bypass(node, l, links, dead))
			}
		}
	})
	for _, s := range slots {
		if dead[s] {
			b, i := x.block(s)
			b.present[i] = false
			x.nodes.Add(-1)
			x.links.Add(-int64(len(read(x.list(s, 0), nil))))
			for l := 1; l <= int(b.level[i]); l++ {
				x.links.Add(-int64(len(read(x.list(s, l), nil))))
			}
			x.logDrop(s)
		}
	}
	if e := x.entry.Load(); e != noEntry && dead[uint32(e)] {
		x.replaceEntry()
	}
}

// bypass returns links without the dead, and what the dead led to, through further dead if need be.
func (x *Index) bypass(node uint32, level int, links []uint32, dead map[uint32]bool) []uint32 {
	// bypassMax bounds the choice; the nearest of so many are as good as the nearest of all.
	const bypassMax = 512
	seen := map[uint32]bool{node: true}
	var out []uint32
	for queue := links; len(queue) > 0 && len(out) < bypassMax; queue = queue[1:] {
		s := queue[0]
		if seen[s] {
			continue
		}
		seen[s] = true
		if !dead[s] {
			out = append(out, s)
			continue
		}
		queue = read(x.list(s, level), append([]uint32{s}, queue[1:]...))
	}
	return out
}

// detach takes the dead out of the tree. The children of each move to its parent's side, or to the side
// of the first of them when it was the root; the walk down from there cannot enter the moving subtree.
func (x *Index) detach(slots []uint32, dead map[uint32]bool) {
	for _, s := range slots {
		if !dead[s] {
			continue
		}
		kids := x.childrenOf(s)
		up, ok := x.parent(s)
		x.orphan(s)
		for _, kid := range kids {
			x.orphan(kid)
		}
		if !ok && len(kids) > 0 {
			up, kids = kids[0], kids[1:]
		}
		for _, kid := range kids {
			parent := x.below(up, kid)
			x.setParent(kid, parent)
			x.tie(kid, parent)
		}
	}
}

// tie makes sure that both ends of a tree edge link to each other.
func (x *Index) tie(a, b uint32) {
	x.backlink(x.build, a, b, 0)
	x.backlink(x.build, b, a, 0)
}

// eachNode calls f for every node in order of slot.
func (x *Index) eachNode(f func(slot uint32, level int)) {
	for at, b := range *x.blocks.Load() {
		for i := range blockNodes {
			if b.present[i] {
				f(uint32(at<<blockShift|i), int(b.level[i]))
			}
		}
	}
}

// replaceEntry makes the first node of the highest level the entry point.
func (x *Index) replaceEntry() {
	best := noEntry
	x.eachNode(func(slot uint32, level int) {
		if best == noEntry || level > int(best>>32) {
			best = uint64(level)<<32 | uint64(slot)
		}
	})
	x.entry.Store(best)
	x.log.dirty = true
}
