package hnsw

import (
	"fmt"
	"slices"
)

// validate holds a loaded graph of n places against the invariants, so that no method can be led astray by
// it: every link ends at another node that exists on its level, no list repeats one, the parents form one
// tree whose edges are linked both ways and whose nodes have no more children than Insert allows, and the
// entry point is on the highest level. It counts what is counted on the way. It costs a pass over the links.
func (x *Index) validate(n int, entry uint64) error {
	v := validator{x: x, in: make([]uint32, n), parents: make([]uint32, n)}
	top := 0
	err := v.each(func(place uint32, level int) error {
		top = max(top, level)
		return v.lists(place, level)
	})
	if err == nil {
		err = v.each(v.node)
	}
	if err != nil {
		return err
	}
	for place, links := range v.in {
		if links > 0 && !x.has(uint32(place)) {
			return fmt.Errorf("%d links to place %d, where no node is", links, place)
		}
	}
	if v.roots != 1 || !v.tree() {
		return fmt.Errorf("%d roots, or parents run in circles", v.roots)
	}
	if entry == 0 || entry > uint64(n) || !x.has(uint32(entry-1)) || !v.reaches(uint32(entry-1), top) {
		return fmt.Errorf("entry %d is not on the highest level", int64(entry)-1)
	}
	x.links.Store(v.links)
	return nil
}

type validator struct {
	x       *Index
	in      []uint32 // by place: links on the ground that lead there
	parents []uint32 // by place: parent's place + 1, 0 for the root
	roots   int
	links   int64
}

// each calls f for every node until it fails.
func (v *validator) each(f func(place uint32, level int) error) (err error) {
	v.x.eachNode(func(place uint32, level int) {
		if err == nil {
			err = f(place, level)
		}
	})
	return err
}

// reaches reports whether place is a node of a level.
func (v *validator) reaches(place uint32, level int) bool {
	b, i := v.x.block(place)
	return b.state[i] != absent && int(b.level[i]) >= level
}

// lists checks the links of a node one by one and counts them. That a place on the ground holds a node is
// seen later, from the counts: looking at each end of two million links costs more than all the rest.
func (v *validator) lists(place uint32, level int) error {
	b, i := v.x.block(place)
	for l := 0; l <= level; l++ {
		list := b.list(i, l, v.x.m)
		if end := slices.Index(list, 0); end >= 0 {
			list = list[:end]
		}
		if !distinct(list) {
			return fmt.Errorf("node %d has a link twice on level %d", place, l)
		}
		v.links += int64(len(list))
		for _, to := range list {
			if uint64(to) > uint64(len(v.in)) || to == place+1 || l > 0 && !v.reaches(to-1, l) {
				return fmt.Errorf("node %d links to %d on level %d", place, to-1, l)
			}
			if l == 0 {
				v.in[to-1]++
			} else {
				*v.x.linksTo(to-1, l)++
			}
		}
	}
	return nil
}

// node checks that a node and its parent link to each other, and stores what was counted.
func (v *validator) node(place uint32, _ int) error {
	x := v.x
	b, i := x.block(place)
	b.in[i] = v.in[place]
	to := b.parent[i]
	v.parents[place] = to
	if to == 0 {
		v.roots++
		return nil
	}
	if uint64(to) > uint64(len(v.in)) || !x.has(to-1) ||
		!slices.Contains(x.list(place, 0), to) || !slices.Contains(x.list(to-1, 0), place+1) {
		return fmt.Errorf("node %d and its parent %d do not link to each other", place, to-1)
	}
	if !x.roomForChild(to - 1) {
		return fmt.Errorf("node %d has too many children", to-1)
	}
	p, j := x.block(to - 1)
	p.children[j]++
	return nil
}

// tree reports whether parents lead every node to a root.
func (v *validator) tree() bool {
	const unknown, open, rooted = 0, 1, 2
	state := make([]uint8, len(v.parents))
	for i := range v.parents {
		at := i
		for at >= 0 && state[at] == unknown {
			state[at] = open
			at = int(v.parents[at]) - 1
		}
		if at >= 0 && state[at] == open {
			return false
		}
		for at := i; at >= 0 && state[at] == open; at = int(v.parents[at]) - 1 {
			state[at] = rooted
		}
	}
	return true
}

// distinct reports whether no value comes twice. Values that share a bit of the sieve are compared.
func distinct(list []uint32) bool {
	var sieve [8]uint64
	for i, v := range list {
		word, bit := &sieve[v>>6&7], uint64(1)<<(v&63)
		if *word&bit != 0 && slices.Contains(list[:i], v) {
			return false
		}
		*word |= bit
	}
	return true
}
