package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/glimdb/db/kv"
)

// Limits bound a Snapshot. A graph beyond them is refused, never cut.
type Limits struct {
	Nodes int // default 1,048,576
	Edges int // default 8,388,608; with an undirected graph's two directions about 200 MB
}

// Defaults of Limits.
const (
	defaultSnapshotNodes = 1 << 20
	defaultSnapshotEdges = 1 << 23
)

// WithDefaults fills zero fields.
func (l Limits) WithDefaults() Limits {
	return Limits{cmp.Or(l.Nodes, defaultSnapshotNodes), cmp.Or(l.Edges, defaultSnapshotEdges)}
}

// CSR is a graph in compressed sparse rows: an immutable copy for analytics, which outlives its reader.
// Nodes are numbered 0..Len()-1 in name order. Parallel edges are one entry of the summed weight.
//
// It implements gonum's graph.Graph and graph.Weighted; Undirected and AsDirected add what gonum's
// algorithms for either kind ask for. Safe for concurrent use.
type CSR struct {
	names    []string
	directed bool
	out      rows
	in       rows // the reverse of out; the same as out when undirected
	edges    int
}

// rows hold the neighbours of node i at [start[i], start[i+1]), ascending.
type rows struct {
	start   []int
	targets []uint32
	weights []float64
}

func (r *rows) row(i int) ([]uint32, []float64) {
	from, to := r.start[i], r.start[i+1]
	return r.targets[from:to:to], r.weights[from:to:to]
}

func (r *rows) weight(i, j int) (float64, bool) {
	targets, weights := r.row(i)
	at, ok := slices.BinarySearch(targets, uint32(j))
	if !ok {
		return 0, false
	}
	return weights[at], true
}

// Len is the number of nodes.
func (c *CSR) Len() int { return len(c.names) }

// Edges is the number of joined pairs; an undirected pair counts once.
func (c *CSR) Edges() int { return c.edges }

// Directed tells which kind of graph it copies.
func (c *CSR) Directed() bool { return c.directed }

// Name returns the name of node i.
func (c *CSR) Name(i int) string { return c.names[i] }

// Index returns the number of the named node. It costs a binary search.
func (c *CSR) Index(name string) (i int, ok bool) { return slices.BinarySearch(c.names, name) }

// Row returns the neighbours of node i, ascending, with the weights of the edges to them: outgoing edges
// when directed. The slices are the CSR's; do not write them.
func (c *CSR) Row(i int) (targets []uint32, weights []float64) { return c.out.row(i) }

// InRow is Row for incoming edges.
func (c *CSR) InRow(i int) (sources []uint32, weights []float64) { return c.in.row(i) }

// Snapshot copies names, edges and weights, no properties. The error is a *LimitError when the graph is
// larger than l, whose zero fields mean the defaults; the counters tell before anything is read.
func (g *Graph) Snapshot(ctx context.Context, r kv.Reader, l Limits) (*CSR, error) {
	c, err := g.snapshot(ctx, r, l.WithDefaults())
	if err != nil {
		return nil, fmt.Errorf("graph: snapshot: %w", err)
	}
	return c, nil
}

func (g *Graph) snapshot(ctx context.Context, r kv.Reader, l Limits) (*CSR, error) {
	st, err := g.Stats(r)
	if err != nil {
		return nil, err
	}
	if st.Nodes > l.Nodes {
		return nil, &LimitError{What: "nodes", Limit: l.Nodes}
	}
	if st.Edges > l.Edges {
		return nil, &LimitError{What: "edges", Limit: l.Edges}
	}
	c := &CSR{names: make([]string, 0, st.Nodes), directed: g.cfg.Directed}
	ids := make([]nodeID, 0, st.Nodes) // in name order
	for w, err := range g.nameWindows(r, "") {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		c.names = append(c.names, w.names...)
		ids = append(ids, w.ids...)
	}
	number := make(map[nodeID]uint32, len(ids))
	for i, id := range ids {
		number[id] = uint32(i)
	}
	s := scanner{g: g, r: r}
	defer s.close()
	room := st.Edges
	if !c.directed {
		room *= 2 // every edge in the rows of both its ends
	}
	if c.out, err = readRows(ctx, ids, number, room, s.scanOut); err != nil {
		return nil, err
	}
	c.in = c.out
	if c.directed {
		if c.in, err = readRows(ctx, ids, number, room, s.scanIn); err != nil {
			return nil, err
		}
		c.edges = len(c.out.targets)
		return c, nil
	}
	for i := range ids {
		targets, _ := c.out.row(i)
		c.edges += len(targets) - sort.Search(len(targets), func(k int) bool { return int(targets[k]) >= i })
	}
	return c, nil
}

// readRows reads one direction. Rows come sorted by number; entries of one pair are summed in the order
// of their types, which is the order of the scan.
func readRows(ctx context.Context, ids []nodeID, number map[nodeID]uint32, room int,
	scan func(nodeID, func(adjacent) bool) error) (rows, error) {
	type entry struct {
		to uint32
		w  float64
	}
	out := rows{start: make([]int, 1, len(ids)+1), targets: make([]uint32, 0, room), weights: make([]float64, 0, room)}
	var row []entry
	for i, id := range ids {
		if i%scanWindow == 0 {
			if err := ctx.Err(); err != nil {
				return rows{}, err
			}
		}
		row = row[:0]
		dangling := false
		err := scan(id, func(a adjacent) bool {
			to, ok := number[a.other]
			dangling = dangling || !ok
			row = append(row, entry{to, a.weight})
			return ok
		})
		if err != nil {
			return rows{}, err
		}
		if dangling {
			return rows{}, corrupt(errors.New("an edge leads to no node"))
		}
		slices.SortStableFunc(row, func(x, y entry) int { return int(x.to) - int(y.to) })
		first := len(out.targets)
		for _, e := range row {
			if n := len(out.targets); n > first && out.targets[n-1] == e.to {
				out.weights[n-1] += e.w
				continue
			}
			out.targets = append(out.targets, e.to)
			out.weights = append(out.weights, e.w)
		}
		out.start = append(out.start, len(out.targets))
	}
	return out, nil
}
