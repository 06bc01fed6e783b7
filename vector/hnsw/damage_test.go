package hnsw

import (
	"fmt"
	"slices"

	"github.com/glimdb/db/vector"
)

// Damage is one way to break a graph.
type Damage struct {
	Name string
	// Break damages the graph and returns, in any order, all that Check is to say of it.
	Break func(x *Index) []string
}

// DamageIn is Break for an index whose type is hidden.
func (d Damage) DamageIn(x vector.Index) []string { return d.Break(x.(*Index)) }

// Damages are faults of each kind that Check looks for. They need a graph with three levels, in which the
// slots are dense.
var Damages = []Damage{
	{"nothing", func(*Index) []string { return nil }},
	{"the last link into a node cut", func(x *Index) []string {
		leaf := x.pick(func(slot uint32, level int) bool { return level == 0 && len(x.childrenOf(slot)) == 0 })
		parent, _ := x.parent(leaf)
		x.eachNode(func(slot uint32, _ int) { x.without(slot, 0, leaf) })
		n := len(x.childrenOf(parent))
		return []string{
			fmt.Sprintf("vector %q is not reachable", x.points.ID(leaf)),
			fmt.Sprintf("node %d and its parent %d do not link to each other", leaf, parent),
			fmt.Sprintf("node %d counts %d children but links to %d", parent, n+1, n),
		}
	}},
	{"a node that is none, while its vector lives", func(x *Index) []string {
		slot := x.points.Len() - 1
		x.Remove([]uint32{slot})
		return []string{fmt.Sprintf("vector %q is not reachable", x.points.ID(slot))}
	}},
	{"an entry point that is no node", func(x *Index) []string {
		e := x.entry.Load()
		const nowhere = 1 << 20
		x.entry.Store(e>>32<<32 | nowhere)
		return append(x.allUnreachable(),
			fmt.Sprintf("entry point %d on level %d, highest level %d", nowhere, e>>32, e>>32))
	}},
	{"an entry point below the highest level", func(x *Index) []string {
		top := x.entry.Load() >> 32
		at := x.pick(func(_ uint32, level int) bool { return level == 0 })
		x.entry.Store(uint64(at))
		return []string{fmt.Sprintf("entry point %d on level 0, highest level %d", at, top)}
	}},
	{"an entry point that is not on the level it names", func(x *Index) []string {
		top := x.entry.Load() >> 32
		at := x.pick(func(_ uint32, level int) bool { return level == 0 })
		x.entry.Store(top<<32 | uint64(at))
		return []string{fmt.Sprintf("entry point %d on level %d, highest level %d", at, top, top)}
	}},
	{"no entry point", func(x *Index) []string {
		x.entry.Store(noEntry)
		return append(x.allUnreachable(), "no entry point")
	}},
	{"a link to a removed node", func(x *Index) []string {
		gone := x.pick(func(slot uint32, _ int) bool { return uint32(x.entry.Load()) != slot })
		from := x.roomy(0, gone)
		x.Remove([]uint32{gone})
		x.append(from, 0, gone)
		return []string{
			fmt.Sprintf("node %d links to %d, which is no node, on level 0", from, gone),
			fmt.Sprintf("vector %q is not reachable", x.points.ID(gone)), // it was not deleted
		}
	}},
	{"a link to a slot that never was", func(x *Index) []string {
		const nowhere = 1 << 20
		from := x.roomy(0, nowhere)
		list := x.list(from, 0)
		list[len(read(list, nil))] = nowhere + 1
		x.links.Add(1)
		return []string{fmt.Sprintf("node %d links to %d, which is no node, on level 0", from, nowhere)}
	}},
	{"a link twice", func(x *Index) []string {
		from := x.roomy(0, vector.NoSlot)
		to := read(x.list(from, 0), nil)[0]
		n := x.countedChildren(from)
		x.append(from, 0, to)
		return append(x.miscounted(from, n), fmt.Sprintf("node %d links to %d twice or to itself on level 0", from, to))
	}},
	{"a link twice above the ground", func(x *Index) []string {
		from := x.roomy(1, vector.NoSlot)
		to := read(x.list(from, 1), nil)[0]
		x.append(from, 1, to)
		return []string{fmt.Sprintf("node %d links to %d twice or to itself on level 1", from, to)}
	}},
	{"a link to itself", func(x *Index) []string {
		at := x.roomy(0, vector.NoSlot)
		x.append(at, 0, at)
		return []string{fmt.Sprintf("node %d links to %d twice or to itself on level 0", at, at)}
	}},
	{"a link above the level of its end", func(x *Index) []string {
		to := x.pick(func(_ uint32, level int) bool { return level == 0 })
		from := x.roomy(1, to)
		list := x.list(from, 1)
		list[len(read(list, nil))] = to + 1
		x.links.Add(1)
		return []string{fmt.Sprintf("node %d links to %d above its level on level 1", from, to)}
	}},
	{"a parent that is no node", func(x *Index) []string {
		const nowhere = 1 << 20
		at := x.pick(func(slot uint32, _ int) bool { _, ok := x.parent(slot); return ok })
		x.orphan(at)
		b, i := x.block(at)
		b.parent[i] = nowhere + 1
		return []string{fmt.Sprintf("node %d has parent %d, which is no node", at, nowhere)}
	}},
	{"a parent that has no link to its child", func(x *Index) []string {
		at := x.pick(func(slot uint32, _ int) bool { _, ok := x.parent(slot); return ok })
		parent, _ := x.parent(at)
		n := x.countedChildren(parent)
		x.without(parent, 0, at)
		return append(x.miscounted(parent, n), fmt.Sprintf("node %d and its parent %d do not link to each other", at, parent))
	}},
	{"a child that has no link to its parent", func(x *Index) []string {
		at := x.pick(func(slot uint32, _ int) bool { _, ok := x.parent(slot); return ok })
		parent, _ := x.parent(at)
		x.without(at, 0, parent)
		return []string{fmt.Sprintf("node %d and its parent %d do not link to each other", at, parent)}
	}},
	{"a child that its parent does not count", func(x *Index) []string {
		at := x.pick(func(slot uint32, _ int) bool { return len(x.childrenOf(slot)) > 0 })
		b, i := x.block(at)
		b.children[i]--
		return x.miscounted(at, int(b.children[i]))
	}},
	{"too many children", func(x *Index) []string {
		root := x.pick(func(slot uint32, _ int) bool { _, ok := x.parent(slot); return !ok })
		for n := len(x.childrenOf(root)); n <= x.maxChildren(); n++ {
			leaf := x.pick(func(slot uint32, _ int) bool {
				p, ok := x.parent(slot)
				return ok && p != root && len(x.childrenOf(slot)) == 0
			})
			x.setParent(leaf, root)
			x.tie(leaf, root)
		}
		n := x.maxChildren() + 1
		return []string{fmt.Sprintf("node %d has %d children, more than %d", root, n, n-1)}
	}},
	{"two roots", func(x *Index) []string {
		x.orphan(x.pick(func(slot uint32, _ int) bool { _, ok := x.parent(slot); return ok }))
		return []string{"2 roots"}
	}},
	{"parents in a circle", func(x *Index) []string {
		// A node and its first child become each other's parents.
		at := x.pick(func(slot uint32, _ int) bool {
			_, ok := x.parent(slot)
			return ok && len(x.childrenOf(slot)) > 0 && x.roomForChild(x.childrenOf(slot)[0])
		})
		x.setParent(at, x.childrenOf(at)[0])
		var want []string
		x.eachNode(func(slot uint32, _ int) {
			for up, ok := slot, true; ok; up, ok = x.parent(up) {
				if up == at {
					want = append(want, fmt.Sprintf("the parents of node %d run in a circle", slot))
					break
				}
			}
		})
		return want
	}},
	{"a removal that never ended", func(x *Index) []string {
		at := x.pick(func(uint32, int) bool { return true })
		b, i := x.block(at)
		b.state[i] = dying
		return []string{fmt.Sprintf("node %d is half removed", at)}
	}},
	{"links into a node miscounted", func(x *Index) []string {
		at := x.pick(func(uint32, int) bool { return true })
		*x.linksTo(at, 0)++
		n := *x.linksTo(at, 0)
		return []string{fmt.Sprintf("node %d counts %d links that lead to it on level 0, there are %d", at, n, n-1)}
	}},
	{"links into a node miscounted above the ground", func(x *Index) []string {
		at := x.pick(func(_ uint32, level int) bool { return level == 2 })
		*x.linksTo(at, 2)++
		n := *x.linksTo(at, 2)
		return []string{fmt.Sprintf("node %d counts %d links that lead to it on level 2, there are %d", at, n, n-1)}
	}},
	{"nodes miscounted", func(x *Index) []string {
		return x.totals(func() { x.nodes.Add(1) })
	}},
	{"links miscounted", func(x *Index) []string {
		return x.totals(func() { x.links.Add(-1) })
	}},
	{"levels miscounted", func(x *Index) []string {
		return x.totals(func() { x.levels[0]--; x.levels[1]++ })
	}},
}

// pick returns the first node that fits.
func (x *Index) pick(fits func(slot uint32, level int) bool) uint32 {
	found := vector.NoSlot
	x.eachNode(func(slot uint32, level int) {
		if found == vector.NoSlot && fits(slot, level) {
			found = slot
		}
	})
	if found == vector.NoSlot {
		panic("the graph has no such node")
	}
	return found
}

// roomy returns the first node with links on a level, none of them to other, and with room for one more.
func (x *Index) roomy(level int, other uint32) uint32 {
	return x.pick(func(slot uint32, top int) bool {
		if slot == other || top < level {
			return false
		}
		list := x.list(slot, level)
		links := read(list, nil)
		return len(links) > 0 && len(links) < len(list) && !slices.Contains(links, other)
	})
}

// append adds a link, counted, behind the others.
func (x *Index) append(from uint32, level int, to uint32) {
	x.push(from, level, len(read(x.list(from, level), nil)), to)
}

// without cuts the link to a node, if there is one, and counts that.
func (x *Index) without(from uint32, level int, to uint32) {
	links := read(x.list(from, level), nil)
	if at := slices.Index(links, to); at >= 0 {
		x.set(from, level, slices.Delete(links, at, at+1))
	}
}

// allUnreachable is what is to be said of the vectors when no search can begin.
func (x *Index) allUnreachable() (want []string) {
	for slot := range x.points.Len() {
		want = append(want, fmt.Sprintf("vector %q is not reachable", x.points.ID(slot)))
	}
	return want
}

func (x *Index) countedChildren(slot uint32) int {
	b, i := x.block(slot)
	return int(b.children[i])
}

// miscounted is what is to be said of a node that counts n children, if it has another number.
func (x *Index) miscounted(slot uint32, n int) []string {
	if links := len(x.childrenOf(slot)); links != n {
		return []string{fmt.Sprintf("node %d counts %d children but links to %d", slot, n, links)}
	}
	return nil
}

// totals is what is to be said once damage has changed what the index counts as a whole.
func (x *Index) totals(damage func()) []string {
	nodes, links, levels := x.nodes.Load(), x.links.Load(), x.levels
	damage()
	return []string{fmt.Sprintf("counted %d nodes, %d links, by level %v; there are %d, %d, %v",
		x.nodes.Load(), x.links.Load(), x.levels, nodes, links, levels)}
}
