package analytics

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/glimdb/db/graph"
)

// Assignment gives every node of a graph its group: the generic form of a clustering, for whoever works on with it.
type Assignment struct {
	// Of is the group of each node, by node number.
	Of []uint32
	// Sizes are the numbers of members, by group: falling, and above 0.
	Sizes []int

	graph *graph.CSR
}

// Count is the number of groups.
func (a Assignment) Count() int { return len(a.Sizes) }

// All yields every node in order of name with its group.
func (a Assignment) All() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for i, g := range a.Of {
			if !yield(a.graph.Name(i), int(g)) {
				return
			}
		}
	}
}

// Members returns the nodes of each group by number, ascending. It costs one pass.
func (a Assignment) Members() [][]uint32 {
	out := make([][]uint32, len(a.Sizes))
	all := make([]uint32, len(a.Of))
	for g, n := range a.Sizes {
		out[g], all = all[:0:n], all[n:]
	}
	for i, g := range a.Of {
		out[g] = append(out[g], uint32(i))
	}
	return out
}

// assign numbers groups as N2 has it. of holds any number below len(of) for a group, and is overwritten.
func assign(c *graph.CSR, of []uint32) Assignment {
	size, first := make([]int, len(of)), make([]uint32, len(of))
	var groups []uint32
	for i, g := range of {
		if size[g]++; size[g] == 1 {
			first[g] = uint32(i)
			groups = append(groups, g)
		}
	}
	slices.SortFunc(groups, func(x, y uint32) int { return cmp.Or(cmp.Compare(size[y], size[x]), cmp.Compare(first[x], first[y])) })
	a := Assignment{Of: of, Sizes: make([]int, len(groups)), graph: c}
	number := first // no longer needed
	for n, g := range groups {
		a.Sizes[n], number[g] = size[g], uint32(n)
	}
	for i, g := range of {
		of[i] = number[g]
	}
	return a
}

// Modularity is the share of weight inside groups above what the strengths of nodes alone would give (Newman and
// Girvan, 2004; resolution γ by Reichardt and Bornholdt, 2006): Σ over groups of in/2m − γ(strength/2m)². Directions
// do not matter. It is 0 for a graph without edges. Weights must be 0 or more.
func Modularity(c *graph.CSR, a Assignment, resolution float64, unweighted bool) (float64, error) {
	g, err := symmetrize(c, unweighted)
	if err != nil {
		return 0, err
	}
	return g.quality(a.Of, resolution), nil
}

// NMI is the mutual information of two assignments of the same nodes by the mean of their entropies: 1 when they are
// equal but for the numbers of groups, about 0 when they are independent. Two assignments that put everything into one
// group are equal. It panics on assignments of different numbers of nodes, as it would mean nothing.
func NMI(a, b Assignment) float64 {
	if len(a.Of) != len(b.Of) {
		panic("analytics: NMI of assignments of different graphs")
	}
	pairs := make([]uint64, len(a.Of))
	for i := range a.Of {
		pairs[i] = uint64(a.Of[i])<<32 | uint64(b.Of[i])
	}
	slices.Sort(pairs)
	n := float64(len(pairs))
	mutual := 0.0
	for i := 0; i < len(pairs); {
		j := i
		for j < len(pairs) && pairs[j] == pairs[i] {
			j++
		}
		ga, gb := a.Sizes[pairs[i]>>32], b.Sizes[uint32(pairs[i])]
		joint := float64(j - i)
		mutual += joint / n * math.Log(joint*n/(float64(ga)*float64(gb)))
		i = j
	}
	mean := (a.entropy() + b.entropy()) / 2
	if mean == 0 {
		return 1
	}
	return mutual / mean
}

func (a Assignment) entropy() (h float64) {
	n := float64(len(a.Of))
	for _, s := range a.Sizes {
		h -= float64(s) / n * math.Log(float64(s)/n)
	}
	return h
}
