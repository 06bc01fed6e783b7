package analytics

import (
	"math"

	"github.com/glimdb/db/graph"
)

// symmetric is a graph whose edges lead both ways, without loops: what communities and cores are looked for in. Where
// nodes stand for groups of nodes, inside is the weight between the members.
type symmetric struct {
	start    []int
	to       []uint32
	weight   []float64
	inside   []float64 // both directions of each edge inside; nil: none
	strength []float64 // the weights at a node, those inside included
	total    float64   // all strengths: twice the weight of the graph
}

func (g *symmetric) len() int { return len(g.start) - 1 }

func (g *symmetric) row(i uint32) ([]uint32, []float64) {
	from, to := g.start[i], g.start[i+1]
	return g.to[from:to], g.weight[from:to]
}

// symmetrize copies a CSR. Edges of both directions between two nodes are summed; unweighted, they are one of weight 1.
// Edges of weight 0 join nothing and are left out.
func symmetrize(c *graph.CSR, unweighted bool) (*symmetric, error) {
	if !unweighted {
		if err := checkWeights(c, true); err != nil {
			return nil, err
		}
	}
	n := c.Len()
	g := &symmetric{start: make([]int, n+1), strength: make([]float64, n)}
	room := 2 * c.Edges()
	g.to, g.weight = make([]uint32, 0, room), make([]float64, 0, room)
	for i := range n {
		put := func(j uint32, w float64) {
			if unweighted {
				w = 1
			}
			if int(j) == i || w == 0 {
				return
			}
			g.to, g.weight = append(g.to, j), append(g.weight, w)
			g.strength[i] += w
		}
		out, ow := c.Row(i)
		if !c.Directed() {
			for k, j := range out {
				put(j, ow[k])
			}
		} else {
			in, iw := c.InRow(i)
			merge(out, ow, in, iw, put)
		}
		g.start[i+1] = len(g.to)
		g.total += g.strength[i]
	}
	return g, nil
}

// merge calls put with the entries of two ascending rows, ascending, those of both summed.
func merge(a []uint32, aw []float64, b []uint32, bw []float64, put func(uint32, float64)) {
	const none = math.MaxUint32
	for len(a) > 0 || len(b) > 0 {
		x, y := uint32(none), uint32(none)
		if len(a) > 0 {
			x = a[0]
		}
		if len(b) > 0 {
			y = b[0]
		}
		w := 0.0
		if x <= y {
			w += aw[0]
			a, aw = a[1:], aw[1:]
		}
		if y <= x {
			w += bw[0]
			b, bw = b[1:], bw[1:]
		}
		put(min(x, y), w)
	}
}

// quality is the modularity of a partition into groups of numbers below len(of).
func (g *symmetric) quality(of []uint32, resolution float64) float64 {
	if g.total == 0 {
		return 0
	}
	strength := make([]float64, g.len())
	within := 0.0
	for i, group := range of {
		strength[group] += g.strength[i]
		if g.inside != nil {
			within += g.inside[i]
		}
		nodes, weights := g.row(uint32(i))
		for k, j := range nodes {
			if of[j] == group {
				within += weights[k]
			}
		}
	}
	q := within / g.total
	for _, s := range strength {
		q -= resolution * (s / g.total) * (s / g.total)
	}
	return q
}

// aggregate makes a graph of the groups of a partition, numbered below count.
func (g *symmetric) aggregate(of []uint32, count int) *symmetric {
	up := &symmetric{start: make([]int, count+1), inside: make([]float64, count), strength: make([]float64, count), total: g.total}
	members, begin := sorted(of, count)
	near := newGather(count)
	for group := range count {
		for _, i := range members[begin[group]:begin[group+1]] {
			up.strength[group] += g.strength[i]
			if g.inside != nil {
				up.inside[group] += g.inside[i]
			}
			nodes, weights := g.row(i)
			for k, j := range nodes {
				if other := of[j]; int(other) == group {
					up.inside[group] += weights[k]
				} else {
					near.add(other, weights[k])
				}
			}
		}
		for _, other := range near.keys {
			up.to, up.weight = append(up.to, other), append(up.weight, near.sum[other])
		}
		near.clear()
		up.start[group+1] = len(up.to)
	}
	return up
}

// sorted lists the numbers of each group, ascending: those of group k at [begin[k], begin[k+1]).
func sorted(of []uint32, count int) (members []uint32, begin []int) {
	begin = make([]int, count+1)
	for _, k := range of {
		begin[k+1]++
	}
	for k := range count {
		begin[k+1] += begin[k]
	}
	members = make([]uint32, len(of))
	next := append([]int(nil), begin...)
	for i, k := range of {
		members[next[k]] = uint32(i)
		next[k]++
	}
	return members, begin
}

// gather sums weights by key in an array, and remembers which keys it has.
type gather struct {
	sum  []float64
	keys []uint32
	has  []bool
}

func newGather(n int) *gather { return &gather{sum: make([]float64, n), has: make([]bool, n)} }

func (g *gather) add(key uint32, w float64) {
	if !g.has[key] {
		g.has[key] = true
		g.keys = append(g.keys, key)
	}
	g.sum[key] += w
}

func (g *gather) clear() {
	for _, k := range g.keys {
		g.sum[k], g.has[k] = 0, false
	}
	g.keys = g.keys[:0]
}
