package hnsw

import "slices"

// maxChildren bounds a node's children to half of its ground links less one, so that the tree never takes
// more than half of what the heuristic chooses from.
func (x *Index) maxChildren() int { return x.m - 1 }

func (x *Index) parent(slot uint32) (uint32, bool) {
	b, i := x.block(slot)
	return b.parent[i] - 1, b.parent[i] != 0
}

// tied reports whether a and b are an edge of the tree.
func (x *Index) tied(a, b uint32) bool {
	if p, ok := x.parent(a); ok && p == b {
		return true
	}
	p, ok := x.parent(b)
	return ok && p == a
}

func (x *Index) roomForChild(slot uint32) bool {
	b, i := x.block(slot)
	return int(b.children[i]) < x.maxChildren()
}

// childrenOf returns the nodes whose parent slot is. They are among its links (H1).
func (x *Index) childrenOf(slot uint32) []uint32 {
	links := read(x.list(slot, 0), nil)
	return slices.DeleteFunc(links, func(s uint32) bool {
		p, ok := x.parent(s)
		return !ok || p != slot
	})
}

// parentFor chooses the parent of a new node among its links: the nearest that has room, or a node below
// the nearest. Going down always ends, at a leaf.
func (x *Index) parentFor(slot uint32, links []uint32) uint32 {
	for _, s := range links {
		if x.roomForChild(s) {
			return s
		}
	}
	return x.below(links[0], slot)
}

// below returns a node of the tree under at, itself included, with room for a child. slot varies the way.
func (x *Index) below(at, slot uint32) uint32 {
	for !x.roomForChild(at) {
		kids := x.childrenOf(at)
		at = kids[mix(uint64(slot)<<32|uint64(at))%uint64(len(kids))]
	}
	return at
}

// adopt links a new node on the ground: to its parent, both ways, and to the other links chosen for it.
func (x *Index) adopt(slot, parent uint32, links []uint32) {
	if !slices.Contains(links, parent) {
		if len(links) >= x.m {
			links = links[:x.m-1]
		}
		links = append(links, parent)
	}
	x.setParent(slot, parent)
	x.set(slot, 0, links)
	for _, to := range links {
		x.backlink(x.build, to, slot, 0)
	}
}

// setParent makes parent the parent of slot. The links of both are the caller's to keep (H1).
func (x *Index) setParent(slot, parent uint32) {
	x.orphan(slot)
	b, i := x.block(slot)
	b.parent[i] = parent + 1
	pb, pi := x.block(parent)
	pb.children[pi]++
	x.logOp(opParent, slot, x.placed(parent+1))
}

// orphan makes slot a root.
func (x *Index) orphan(slot uint32) {
	b, i := x.block(slot)
	if b.parent[i] == 0 {
		return
	}
	pb, pi := x.block(b.parent[i] - 1)
	pb.children[pi]--
	b.parent[i] = 0
	x.logOp(opParent, slot, 0)
}
