package hnsw

import (
	"fmt"
	"iter"
)

// Check implements vector.Index: it walks the whole graph and holds it against H1 to H4.
func (x *Index) Check(live func(slot uint32) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		open := true
		report := func(format string, args ...any) {
			open = open && yield(fmt.Sprintf(format, args...))
		}
		roots, top := 0, -1
		x.eachNode(func(slot uint32, level int) {
			if !open {
				return
			}
			top = max(top, level)
			for l := 0; l <= level; l++ {
				x.checkList(slot, l, report)
			}
			parent, ok := x.parent(slot)
			switch {
			case !ok:
				roots++
			case !x.has(parent):
				report("node %d has parent %d, which is no node", slot, parent)
			case !x.linked(slot, parent) || !x.linked(parent, slot):
				report("node %d and its parent %d do not link to each other", slot, parent)
			}
			if b, i := x.block(slot); int(b.children[i]) != len(x.childrenOf(slot)) {
				report("node %d counts %d children but links to %d", slot, b.children[i], len(x.childrenOf(slot)))
			}
		})
		e := x.entry.Load()
		switch {
		case e == noEntry && top >= 0:
			report("no entry point")
		case e != noEntry && (!x.has(uint32(e)) || int(e>>32) != top):
			report("entry point %d on level %d, highest level %d", uint32(e), e>>32, top)
		}
		if top >= 0 && roots != 1 {
			report("%d roots", roots)
		}
		if e == noEntry || !open {
			return
		}
		seen := x.reachable(uint32(e))
		for slot := range x.points.Len() {
			if open && live(slot) && !seen[slot] {
				report("vector %q is not reachable", x.points.ID(slot))
			}
		}
	}
}

func (x *Index) linked(from, to uint32) bool {
	for _, s := range read(x.list(from, 0), nil) {
		if s == to {
			return true
		}
	}
	return false
}

func (x *Index) checkList(slot uint32, level int, report func(string, ...any)) {
	links := read(x.list(slot, level), nil)
	seen := map[uint32]bool{slot: true}
	for _, s := range links {
		switch {
		case seen[s]:
			report("node %d links to %d twice or to itself on level %d", slot, s, level)
		case !x.has(s):
			report("node %d links to %d, which is no node, on level %d", slot, s, level)
		default:
			if b, i := x.block(s); int(b.level[i]) < level {
				report("node %d links to %d above its level on level %d", slot, s, level)
			}
		}
		seen[s] = true
	}
}

// reachable tells which slots a walk over the ground links from slot finds.
func (x *Index) reachable(slot uint32) []bool {
	seen := make([]bool, max(int(x.points.Len()), len(*x.blocks.Load())<<blockShift))
	seen[slot] = true
	for queue := []uint32{slot}; len(queue) > 0; {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, s := range read(x.list(at, 0), nil) {
			if !seen[s] {
				seen[s] = true
				queue = append(queue, s)
			}
		}
	}
	return seen
}
