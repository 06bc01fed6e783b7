package hnsw

// validate holds a loaded graph against H1, H3 and H4, so that no method can be led astray by it: every
// link ends at another node that exists on its level, no list repeats one, the parents form one tree whose
// edges are linked both ways and whose nodes have no more children than Insert allows, and the entry point
// is on the highest level. It costs a pass over the links.
func (l *loaded) validate(x *Index, find finder) error {
	seen := make([]uint64, len(l.nodes)) // the last list that held the node
	parents := make([]int, len(l.nodes)) // place of the parent; -1 for the root
	for i := range l.nodes {
		n := &l.nodes[i]
		parents[i] = -1
		if n.parent != 0 {
			at, ok := find.index(n.parent - 1)
			if !ok {
				return corrupt("parent %d of node %d is no node", n.parent-1, n.ord)
			}
			parents[i] = at
		}
	}
	lists, edges := uint64(0), 0
	top := 0
	for i := range l.nodes {
		n := &l.nodes[i]
		top = max(top, len(n.lists))
		children, linked := 0, parents[i] < 0
		for level, list := range n.lists {
			lists++
			seen[i] = lists
			for _, to := range list {
				at, ok := find.index(to)
				if !ok || seen[at] == lists || len(l.nodes[at].lists) <= level {
					return corrupt("node %d links to %d on level %d", n.ord, to, level)
				}
				seen[at] = lists
				if level > 0 {
					continue
				}
				linked = linked || at == parents[i]
				if parents[at] == i {
					children++
				}
			}
		}
		if !linked || children > x.maxChildren() {
			return corrupt("node %d has %d children, link to its parent: %v", n.ord, children, linked)
		}
		edges += children
	}
	if edges != len(l.nodes)-1 || !tree(parents) {
		return corrupt("%d nodes have %d edges to parents or run in circles", len(l.nodes), edges)
	}
	if l.entry == 0 {
		return corrupt("%d nodes and no entry point", len(l.nodes))
	}
	if at, ok := find.index(l.entry - 1); !ok || len(l.nodes[at].lists) != top {
		return corrupt("entry %d is not on the highest level", l.entry-1)
	}
	return nil
}

// tree reports whether parents lead every node to the one root.
func tree(parents []int) bool {
	const unknown, open, rooted = 0, 1, 2
	state := make([]uint8, len(parents))
	roots := 0
	for i := range parents {
		at := i
		for at >= 0 && state[at] == unknown {
			state[at] = open
			at = parents[at]
		}
		switch {
		case at < 0:
			roots++
		case state[at] == open:
			return false
		}
		for at := i; at >= 0 && state[at] == open; at = parents[at] {
			state[at] = rooted
		}
	}
	return roots == 1
}
