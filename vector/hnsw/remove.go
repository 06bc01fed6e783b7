package hnsw

const (
	// searchLists bounds the search for the nodes that link to a removed one. Nearly always they are among
	// the nearest few hundred; beyond so many lists a pass over the level is no dearer.
	searchLists = 4096
	// A batch of more than 1/passShare of the nodes is removed in one pass over all lists: each list costs
	// some nanoseconds there, and each removed node hundreds of lists otherwise.
	passShare = 32
)

// Remove implements vector.Index. Every node that linked to a removed one gets links to where that led in its
// place, so that paths through it survive.
//
// Links have one direction, so the nodes that link to a removed one must be looked for. They are near it,
// and it is known how many they are: a search around it ends with the last of them. So the cost follows
// from the neighbourhood of what is removed, not from the size of the graph.
func (x *Index) Remove(slots []uint32) {
	dead := make([]uint32, 0, len(slots))
	for _, s := range slots {
		if x.has(s) && !x.dies(s) {
			b, i := x.block(s)
			b.state[i] = dying
			dead = append(dead, s)
		}
	}
	if len(dead) == 0 {
		return
	}
	w := x.builder()
	for _, s := range dead {
		x.detach(s)
	}
	for _, s := range dead {
		x.uncount(s)
	}
	if len(dead) > int(x.nodes.Load())/passShare {
		w.bypassAll()
	}
	for _, s := range dead {
		b, i := x.block(s)
		for l := 0; l <= int(b.level[i]); l++ {
			w.bypassAround(s, l)
		}
	}
	for _, s := range dead {
		x.logOp(opDrop, s)
		x.destroy(s)
	}
	if e := x.entry.Load(); !x.has(uint32(e)) {
		x.replaceEntry(uint32(e))
	}
}

// uncount takes the links of a dying node out of the counts.
func (x *Index) uncount(slot uint32) {
	b, i := x.block(slot)
	for l := 0; l <= int(b.level[i]); l++ {
		for _, v := range b.list(i, l, x.m) {
			if v == 0 {
				break
			}
			*x.linksTo(v-1, l)--
			x.links.Add(-1)
		}
	}
}

// bypassAround gives the nodes that link to dead on a level other links.
func (w *walker) bypassAround(dead uint32, level int) {
	x := w.x
	want := int(*x.linksTo(dead, level))
	if want == 0 {
		return
	}
	w.begin()
	w.visit(dead)
	w.probe.SetSlot(dead)
	limit := w.probe.Limit()
	w.front, w.found = w.front[:0], w.found[:0]
	at := dead
	for range searchLists {
		n := w.fresh(at, level, limit)
		w.probe.Distances(w.ids[:n], w.out[:n])
		for i := range n {
			w.pushFront(key(w.out[i], w.ids[i]))
		}
		if len(w.found) == want || len(w.front) == 0 {
			break
		}
		at = slotOf(w.popFront())
		if !x.dies(at) && w.leads(at, level, func(to uint32) bool { return to == dead }) {
			w.found = append(w.found, at)
		}
	}
	for _, node := range w.found {
		w.mend(node, level)
	}
	if *x.linksTo(dead, level) > 0 {
		w.bypassAll()
	}
}

// bypassAll gives every node that links to a dying one other links.
func (w *walker) bypassAll() {
	x := w.x
	x.eachNode(func(node uint32, level int) {
		if x.dies(node) {
			return
		}
		for l := 0; l <= level; l++ {
			if w.leads(node, l, x.dies) {
				w.mend(node, l)
			}
		}
	})
}

// leads reports whether node links to a slot of that kind on a level.
func (w *walker) leads(node uint32, level int, kind func(slot uint32) bool) bool {
	w.reads++
	for _, v := range w.x.list(node, level) {
		if v == 0 {
			return false
		}
		if kind(v - 1) {
			return true
		}
	}
	return false
}

// mend gives node, which links to dying ones on a level, links to what these lead to in their place: the diverse
// ones, and the nearest of the others until it has as many as it had. Its other links stay. Were they judged anew,
// a graph of which parts are always being removed would have a quarter fewer links than a new one, and find less.
func (w *walker) mend(node uint32, level int) {
	x := w.x
	list := x.list(node, level)
	links, stay := w.bypass(node, level)
	w.keep = append(w.keep[:0], links[:stay]...)
	w.compare(node, links[stay:])
	if x.o.Config.ExtendCandidates {
		w.extend(node, level, w.other)
	}
	least := length(list)
	if x.o.Config.KeepPruned {
		least = len(list)
	}
	x.set(node, level, w.choose(node, w.cands, len(list), least, w.keep))
}

// bypass returns node's links without the dying, of which there are stay, and then what the dying lead to, through
// further dying ones if need be. The result is valid until the next call.
func (w *walker) bypass(node uint32, level int) (links []uint32, stay int) {
	// bypassMax bounds the choice; the nearest of so many are as good as the nearest of all.
	const bypassMax = 512
	x := w.x
	w.begin()
	w.visit(node)
	out := w.around[:0]
	queue := read(x.list(node, level), w.queue[:0])
	for own, at := len(queue), 0; at < len(queue) && len(out) < bypassMax; at++ {
		s := queue[at]
		if !w.visit(s) {
			continue
		}
		if x.dies(s) {
			w.reads++
			queue = read(x.list(s, level), queue)
			continue
		}
		out = append(out, s)
		if at < own {
			stay++
		}
	}
	w.around, w.queue = out, queue
	return out, stay
}

// detach takes a dying node out of the tree. Its children move to its parent's side, or to the side of the
// first of them when it was the root; the walk down from there cannot enter the moving subtree.
func (x *Index) detach(slot uint32) {
	kids := x.childrenOf(slot)
	up, ok := x.parent(slot)
	x.orphan(slot)
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

// tie makes sure that both ends of a tree edge link to each other.
func (x *Index) tie(a, b uint32) {
	x.backlink(x.build, a, b, 0)
	x.backlink(x.build, b, a, 0)
}

// eachNode calls f for every node in order of slot.
func (x *Index) eachNode(f func(slot uint32, level int)) {
	for at, b := range *x.blocks.Load() {
		for i := range blockNodes {
			if b.state[i] != absent {
				f(uint32(at<<blockShift|i), int(b.level[i]))
			}
		}
	}
}

// replaceEntry makes a node of the highest level the entry point: one that the old entry linked to there or,
// where it knew none, the first in order of slot.
func (x *Index) replaceEntry(old uint32) {
	top := maxLevel
	for top >= 0 && x.levels[top] == 0 {
		top--
	}
	if top < 0 {
		x.entry.Store(noEntry)
		return
	}
	best := noEntry
	for _, s := range read(x.list(old, top), nil) {
		if b, i := x.block(s); b.state[i] == present && int(b.level[i]) == top {
			best = uint64(s)
			break
		}
	}
	if best == noEntry {
		x.eachNode(func(slot uint32, level int) {
			if best == noEntry && level == top {
				best = uint64(slot)
			}
		})
	}
	x.entry.Store(uint64(top)<<32 | best)
}
