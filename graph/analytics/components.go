package analytics

import (
	"context"
)

// union is a forest over numbers: each leads to one of its own set, the least of a set to itself.
type union []uint32

func newUnion(n int) union {
	u := make(union, n)
	for i := range u {
		u[i] = uint32(i)
	}
	return u
}

// find returns the least of i's set; it halves the way for those who come after.
func (u union) find(i uint32) uint32 {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

func (u union) join(i, j uint32) {
	i, j = u.find(i), u.find(j)
	u[max(i, j)] = min(i, j)
}

// roots replaces every number by the least of its set.
func (u union) roots() []uint32 {
	for i := range u {
		u[i] = u.find(uint32(i))
	}
	return u
}

func (r *Result) components(ctx context.Context) error {
	u := newUnion(r.Nodes)
	for i := range r.Nodes {
		if err := ended(ctx, i); err != nil {
			return err
		}
		out, _ := r.graph.Row(i)
		for _, j := range out {
			u.join(uint32(i), j)
		}
	}
	r.grouped(u.roots())
	return nil
}

// grouped notes groups and what is to be said of any.
func (r *Result) grouped(of []uint32) {
	r.Groups = assign(r.graph, of)
	r.figure("groups", float64(r.Groups.Count()))
	single := 0
	for _, n := range r.Groups.Sizes {
		if n == 1 {
			single++
		}
	}
	r.figure("of_one_node", float64(single))
	if r.Nodes > 0 {
		r.figure("largest", float64(r.Groups.Sizes[0]))
	}
}

// strong is Tarjan's search with a stack of its own: a path may be as long as the graph.
func (r *Result) strong(ctx context.Context) error {
	if !r.graph.Directed() {
		return r.components(ctx)
	}
	n := r.Nodes
	var (
		of    = make([]uint32, n)
		seen  = make([]uint32, n) // the order of discovery, from 1
		low   = make([]uint32, n) // the earliest that is known to be in the same component; of a finished one, done
		next  = make([]int, n)    // place in the node's row
		open  []uint32            // nodes whose component is not known yet
		walk  []uint32
		count uint32
	)
	const done = ^uint32(0)
	enter := func(v uint32) {
		count++
		seen[v], low[v] = count, count
		open, walk = append(open, v), append(walk, v)
	}
	for root := range n {
		if err := ended(ctx, root); err != nil {
			return err
		}
		if seen[root] > 0 {
			continue
		}
		enter(uint32(root))
		for len(walk) > 0 {
			v := walk[len(walk)-1]
			out, _ := r.graph.Row(int(v))
			if next[v] < len(out) {
				w := out[next[v]]
				next[v]++
				if seen[w] == 0 {
					if err := ended(ctx, int(count)); err != nil {
						return err
					}
					enter(w)
				} else if low[w] != done {
					low[v] = min(low[v], seen[w])
				}
				continue
			}
			walk = walk[:len(walk)-1]
			if len(walk) > 0 {
				up := walk[len(walk)-1]
				low[up] = min(low[up], low[v])
			}
			if low[v] != seen[v] {
				continue
			}
			for w := done; w != v; {
				w = open[len(open)-1]
				open = open[:len(open)-1]
				of[w], low[w] = v, done
			}
		}
	}
	r.grouped(of)
	return nil
}
