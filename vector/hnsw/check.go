package hnsw

import (
	"fmt"
	"iter"
)

// Check implements vector.Index: it walks the whole graph and holds it against H1 to H4 and H6.
func (x *Index) Check(live func(slot uint32) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for problem := range x.checkGraph() {
			if !yield(problem) {
				return
			}
		}
		var seen []bool
		if e := x.entry.Load(); e != noEntry && x.has(uint32(e)) {
			seen = x.reachable(uint32(e))
		}
		for slot := range x.points.Len() {
			if live(slot) && (int(slot) >= len(seen) || !seen[slot]) {
				if !yield(fmt.Sprintf("vector %q is not reachable", x.points.ID(slot))) {
					return
				}
			}
		}
	}
}

// checkGraph is Check without the points.
func (x *Index) checkGraph() iter.Seq[string] {
	return func(yield func(string) bool) {
		k := checker{x: x, yield: yield, open: true, in: make(map[levelled]uint32)}
		k.run()
	}
}

// levelled is a node on a level.
type levelled struct {
	slot  uint32
	level int
}

type checker struct {
	x      *Index
	yield  func(string) bool
	open   bool
	in     map[levelled]uint32 // links that lead there
	levels [maxLevel + 1]int
	links  int64
}

func (k *checker) report(format string, args ...any) {
	k.open = k.open && k.yield(fmt.Sprintf(format, args...))
}

func (k *checker) run() {
	x := k.x
	roots, nodes, top := 0, 0, -1
	x.eachNode(func(slot uint32, level int) {
		if !k.open {
			return
		}
		nodes++
		k.levels[level]++
		top = max(top, level)
		for l := 0; l <= level; l++ {
			k.list(slot, l)
		}
		parent, ok := x.parent(slot)
		switch {
		case !ok:
			roots++
		case !x.has(parent):
			k.report("node %d has parent %d, which is no node", slot, parent)
		case !x.linked(slot, parent) || !x.linked(parent, slot):
			k.report("node %d and its parent %d do not link to each other", slot, parent)
		}
		if b, i := x.block(slot); int(b.children[i]) != len(x.childrenOf(slot)) {
			k.report("node %d counts %d children but links to %d", slot, b.children[i], len(x.childrenOf(slot)))
		}
	})
	e := x.entry.Load()
	switch {
	case e == noEntry && top >= 0:
		k.report("no entry point")
	case e != noEntry && (!x.has(uint32(e)) || int(e>>32) != top):
		k.report("entry point %d on level %d, highest level %d", uint32(e), e>>32, top)
	}
	if top >= 0 && roots != 1 {
		k.report("%d roots", roots)
	}
	k.counts(nodes)
}

// counts holds what is counted against H6.
func (k *checker) counts(nodes int) {
	x := k.x
	x.eachNode(func(slot uint32, level int) {
		for l := 0; l <= level; l++ {
			if got, want := *x.linksTo(slot, l), k.in[levelled{slot, l}]; got != want && k.open {
				k.report("node %d counts %d links that lead to it on level %d, there are %d", slot, got, l, want)
			}
		}
	})
	if k.open && (k.levels != x.levels || int64(nodes) != x.nodes.Load() || k.links != x.links.Load()) {
		k.report("counted %d nodes, %d links, by level %v; there are %d, %d, %v", x.nodes.Load(), x.links.Load(), x.levels, nodes, k.links, k.levels)
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

func (k *checker) list(slot uint32, level int) {
	x := k.x
	links := read(x.list(slot, level), nil)
	k.links += int64(len(links))
	seen := map[uint32]bool{slot: true}
	for _, s := range links {
		k.in[levelled{s, level}]++
		switch {
		case seen[s]:
			k.report("node %d links to %d twice or to itself on level %d", slot, s, level)
		case !x.has(s):
			k.report("node %d links to %d, which is no node, on level %d", slot, s, level)
		default:
			if b, i := x.block(s); int(b.level[i]) < level {
				k.report("node %d links to %d above its level on level %d", slot, s, level)
			}
		}
		seen[s] = true
	}
}

// reachable tells which slots a walk over the ground links from slot finds.
func (x *Index) reachable(slot uint32) []bool {
	seen := make([]bool, len(*x.blocks.Load())<<blockShift)
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
