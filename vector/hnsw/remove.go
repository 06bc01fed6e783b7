package hnsw

// Remove implements vector.Index. Every node that linked to a removed one chooses anew among its other
// links and those of the removed, so that paths through it survive. It reads every link list once, a few
// milliseconds for 100,000 nodes, however many slots are removed.
func (x *Index) Remove(slots []uint32) {
	dead := make(slotSet, len(*x.blocks.Load())<<blockShift/64)
	some := false
	for _, s := range slots {
		if x.has(s) {
			dead.add(s)
			some = true
		}
	}
	if !some {
		return
	}
	w := x.builder()
	x.detach(slots, dead)
	x.eachNode(func(node uint32, level int) {
		if dead.has(node) {
			return
		}
		for l := 0; l <= level; l++ {
			if x.leadsTo(node, l, dead) {
				w.set(node, l, w.bypass(node, l, dead))
			}
		}
	})
	for _, s := range slots {
		if dead.has(s) {
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
	if e := x.entry.Load(); e != noEntry && dead.has(uint32(e)) {
		x.replaceEntry()
	}
}

// slotSet is a set of slots, a bit each.
type slotSet []uint64

func (s slotSet) add(slot uint32)      { s[slot/64] |= 1 << (slot % 64) }
func (s slotSet) has(slot uint32) bool { return s[slot/64]>>(slot%64)&1 != 0 }

// leadsTo reports whether node links to one of dead on a level.
func (x *Index) leadsTo(node uint32, level int, dead slotSet) bool {
	for _, v := range x.list(node, level) {
		if v == 0 {
			return false
		}
		if dead.has(v - 1) {
			return true
		}
	}
	return false
}

// bypass returns node's links without the dead, and what the dead led to, through further dead if need
// be. The result is valid until the next call.
func (w *walker) bypass(node uint32, level int, dead slotSet) []uint32 {
	// bypassMax bounds the choice; the nearest of so many are as good as the nearest of all.
	const bypassMax = 512
	w.begin()
	w.visited[node] = w.epoch
	out := w.around[:0]
	queue := read(w.x.list(node, level), w.queue[:0])
	for at := 0; at < len(queue) && len(out) < bypassMax; at++ {
		s := queue[at]
		if w.visited[s] == w.epoch {
			continue
		}
		w.visited[s] = w.epoch
		if dead.has(s) {
			queue = read(w.x.list(s, level), queue)
		} else {
			out = append(out, s)
		}
	}
	w.around, w.queue = out, queue
	return out
}

// detach takes the dead out of the tree. The children of each move to its parent's side, or to the side
// of the first of them when it was the root; the walk down from there cannot enter the moving subtree.
func (x *Index) detach(slots []uint32, dead slotSet) {
	for _, s := range slots {
		if !dead.has(s) {
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
