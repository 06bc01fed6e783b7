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
		if x.dies(slot) {
			k.report("node %d is half removed", slot)
		}
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
		case !x.rooted(slot):
			k.report("the parents of node %d run in a circle", slot)
		}
		b, i := x.block(slot)
		if n := int(b.children[i]); n != k.children(slot) {
			k.report("node %d counts %d children but links to %d", slot, n, k.children(slot))
		} else if n > x.maxChildren() {
			k.report("node %d has %d children, more than %d", slot, n, x.maxChildren())
		}
	})
	e := x.entry.Load()
	switch {
	case e == noEntry && top >= 0:
		k.report("no entry point")
	case e != noEntry && (int(e>>32) != top || !x.reaches(uint32(e), top)):
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

// children is the number of nodes that slot links to and whose parent it is. Links may lead anywhere.
func (k *checker) children(slot uint32) (n int) {
	for _, s := range read(k.x.list(slot, 0), nil) {
		if k.x.has(s) {
			if p, ok := k.x.parent(s); ok && p == slot {
				n++
			}
		}
	}
	return n
}

// rooted reports whether the parents of slot end, at a root or at a parent that is no node. A tortoise and a
// hare walk up.
func (x *Index) rooted(slot uint32) bool {
	up := func(at uint32, ok bool) (uint32, bool) {
		if !ok || !x.has(at) {
			return 0, false
		}
		return x.parent(at)
	}
	slow, fast, ok := slot, slot, true
	for {
		slow, _ = up(slow, true)
		if fast, ok = up(up(fast, ok)); !ok {
			return true
		}
		if slow == fast {
			return false
		}
	}
}

// reaches reports whether slot is a node of a level.
func (x *Index) reaches(slot uint32, level int) bool {
	if !x.has(slot) {
		return false
	}
	b, i := x.block(slot)
	return int(b.level[i]) >= level
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
		case !x.reaches(s, level):
			k.report("node %d links to %d above its level on level %d", slot, s, level)
		}
		seen[s] = true
	}
}

// reachable tells which nodes a walk over the ground links from slot finds.
func (x *Index) reachable(slot uint32) []bool {
	seen := make([]bool, len(*x.blocks.Load())<<blockShift)
	seen[slot] = true
	for queue := []uint32{slot}; len(queue) > 0; {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, s := range read(x.list(at, 0), nil) {
			if x.has(s) && !seen[s] {
				seen[s] = true
				queue = append(queue, s)
			}
		}
	}
	return seen
}
