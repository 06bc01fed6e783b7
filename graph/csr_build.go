package graph

import (
	"cmp"
	"fmt"
	"slices"
)

// Arc is an edge between places in a list of names.
type Arc struct {
	From, To uint32
	Weight   float64
}

// NewCSR makes a CSR of what is in memory and in no store, such as pairs of similar things. Names are distinct
// and in any order; arcs refer to their places. Arcs of one pair are summed in their order; in an undirected graph
// (a, b) and (b, a) are one pair. Both slices are only read. Errors are *InvalidError: a name given twice, an arc
// to no name, a weight that is not finite. It costs sorting both.
func NewCSR(directed bool, names []string, arcs []Arc) (*CSR, error) {
	order := make([]uint32, len(names)) // by number, the place
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return cmp.Compare(names[x], names[y]) })
	c := &CSR{names: make([]string, len(names)), directed: directed}
	number := make([]uint32, len(names)) // by place
	for i, at := range order {
		c.names[i], number[at] = names[at], uint32(i)
		if i > 0 && c.names[i] == c.names[i-1] {
			return nil, fmt.Errorf("graph: csr: %w", &InvalidError{Field: "node name", Key: c.names[i], Reason: "given twice"})
		}
	}
	forward := make([]Arc, 0, len(arcs))
	for i, a := range arcs {
		if int(a.From) >= len(names) || int(a.To) >= len(names) {
			return nil, fmt.Errorf("graph: csr: %w", &InvalidError{Field: "argument", Key: fmt.Sprint("arc ", i), Reason: "it leads to no name"})
		}
		if err := checkWeight(a.Weight); err != nil {
			return nil, fmt.Errorf("graph: csr: arc %d: %w", i, err)
		}
		a.From, a.To = number[a.From], number[a.To]
		if !directed && a.From > a.To {
			a.From, a.To = a.To, a.From
		}
		forward = append(forward, a)
	}
	slices.SortStableFunc(forward, func(x, y Arc) int { return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To)) })
	forward = sumPairs(forward)
	c.edges = len(forward)
	c.out = rowsOf(len(names), forward, !directed, false)
	c.in = c.out
	if directed {
		c.in = rowsOf(len(names), forward, false, true)
	}
	return c, nil
}

// sumPairs joins neighbours of one pair.
func sumPairs(sorted []Arc) []Arc {
	out := sorted[:0]
	for _, a := range sorted {
		if n := len(out); n > 0 && out[n-1].From == a.From && out[n-1].To == a.To {
			out[n-1].Weight += a.Weight
			continue
		}
		out = append(out, a)
	}
	return out
}

// rowsOf fills rows from arcs that are sorted by (From, To): forwards, or reversed, or both ways. Every row comes
// out ascending: what leads back to node i comes from nodes in their order, and those below i before its own arcs.
func rowsOf(n int, arcs []Arc, bothWays, reversed bool) rows {
	r := rows{start: make([]int, n+1)}
	each := func(put func(from, to uint32, w float64)) {
		for _, a := range arcs {
			if reversed || bothWays && a.From != a.To {
				put(a.To, a.From, a.Weight)
			}
		}
		if !reversed {
			for _, a := range arcs {
				put(a.From, a.To, a.Weight)
			}
		}
	}
	each(func(from, _ uint32, _ float64) { r.start[from+1]++ })
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	r.targets = make([]uint32, r.start[n])
	r.weights = make([]float64, r.start[n])
	next := slices.Clone(r.start[:n])
	each(func(from, to uint32, w float64) {
		r.targets[next[from]], r.weights[next[from]] = to, w
		next[from]++
	})
	return r
}

// SnapshotBytes estimates the memory of a CSR of either kind: about 60 bytes a node and 24 an edge.
func SnapshotBytes(nodes, edges int) int64 {
	const perNode = 16 + shortName + 2*8 // header and bytes of the name, starts of rows
	const perEntry = 4 + 8               // a target and a weight; every edge has two, directed or not
	return int64(nodes)*perNode + int64(edges)*2*perEntry
}

// shortName is what a name takes on average: most names have 10 to 20 bytes, in blocks of 8.
const shortName = 24
