package graph

import (
	gonum "gonum.org/v1/gonum/graph"
)

// This file lets gonum's algorithms (network, path, community, topo, traverse) run on a CSR. It imports
// gonum's interfaces only, a package without dependencies of its own. Node ids are CSR numbers; self-loops
// are hidden, because most of those algorithms refuse graphs that have them.

var (
	_ gonum.Weighted           = (*CSR)(nil)
	_ gonum.WeightedUndirected = UndirectedView{}
	_ gonum.WeightedDirected   = DirectedView{}
)

// UndirectedView is a CSR of an undirected graph for gonum's algorithms on graph.Undirected.
type UndirectedView struct{ *CSR }

// DirectedView is a CSR for gonum's algorithms on graph.Directed. Over an undirected graph every edge
// leads both ways.
type DirectedView struct{ *CSR }

// Undirected returns the view of an undirected graph; ok is false when the graph is directed.
func (c *CSR) Undirected() (v UndirectedView, ok bool) { return UndirectedView{c}, !c.directed }

// AsDirected returns the directed view of either kind.
func (c *CSR) AsDirected() DirectedView { return DirectedView{c} }

type gonumNode int64

// ID implements gonum's graph.Node.
func (n gonumNode) ID() int64 { return int64(n) }

type gonumEdge struct {
	from, to gonumNode
	weight   float64
}

func (e gonumEdge) From() gonum.Node         { return e.from }
func (e gonumEdge) To() gonum.Node           { return e.to }
func (e gonumEdge) Weight() float64          { return e.weight }
func (e gonumEdge) ReversedEdge() gonum.Edge { return gonumEdge{e.to, e.from, e.weight} }

// gonumNodes iterates a row without one target, or 0..n-1.
type gonumNodes struct {
	row  []uint32 // nil: all numbers below n
	n    int
	at   int // of the current node; -1 before the first
	skip int // a number that is left out; -1 for none
}

func newRowNodes(row []uint32, self int) *gonumNodes {
	it := &gonumNodes{row: row, n: len(row), skip: self}
	it.Reset()
	return it
}

func (it *gonumNodes) number(i int) int {
	if it.row == nil {
		return i
	}
	return int(it.row[i])
}

// Next implements gonum's graph.Iterator.
func (it *gonumNodes) Next() bool {
	for it.at+1 < it.n {
		it.at++
		if it.number(it.at) != it.skip {
			return true
		}
	}
	it.at = it.n
	return false
}

// Len implements gonum's graph.Iterator: the nodes that Next will still visit.
func (it *gonumNodes) Len() int {
	left := 0
	if it.skip < 0 {
		return max(it.n-it.at-1, 0)
	}
	for i := it.at + 1; i < it.n; i++ {
		if it.number(i) != it.skip {
			left++
		}
	}
	return left
}

// Reset implements gonum's graph.Iterator.
func (it *gonumNodes) Reset() { it.at = -1 }

// Node implements gonum's graph.Nodes.
func (it *gonumNodes) Node() gonum.Node {
	if it.at < 0 || it.at >= it.n {
		return nil
	}
	return gonumNode(it.number(it.at))
}

func (c *CSR) has(id int64) bool { return id >= 0 && id < int64(len(c.names)) }

func (c *CSR) nodesOf(r *rows, id int64) gonum.Nodes {
	if !c.has(id) {
		return gonum.Empty
	}
	targets, _ := r.row(int(id))
	if len(targets) == 0 {
		return gonum.Empty
	}
	return newRowNodes(targets, int(id))
}

// Node implements gonum's graph.Graph.
func (c *CSR) Node(id int64) gonum.Node {
	if !c.has(id) {
		return nil
	}
	return gonumNode(id)
}

// Nodes implements gonum's graph.Graph.
func (c *CSR) Nodes() gonum.Nodes {
	if len(c.names) == 0 {
		return gonum.Empty
	}
	it := &gonumNodes{n: len(c.names), skip: -1}
	it.Reset()
	return it
}

// From implements gonum's graph.Graph.
func (c *CSR) From(id int64) gonum.Nodes { return c.nodesOf(&c.out, id) }

// HasEdgeBetween implements gonum's graph.Graph.
func (c *CSR) HasEdgeBetween(x, y int64) bool { return c.hasEdge(x, y) || c.hasEdge(y, x) }

func (c *CSR) hasEdge(u, v int64) bool { return c.WeightedEdge(u, v) != nil }

// Edge implements gonum's graph.Graph.
func (c *CSR) Edge(u, v int64) gonum.Edge {
	if e := c.WeightedEdge(u, v); e != nil {
		return e
	}
	return nil // an untyped nil, which is what gonum's callers compare with
}

// WeightedEdge implements gonum's graph.Weighted.
func (c *CSR) WeightedEdge(u, v int64) gonum.WeightedEdge {
	if u == v || !c.has(u) || !c.has(v) {
		return nil
	}
	w, ok := c.out.weight(int(u), int(v))
	if !ok {
		return nil
	}
	return gonumEdge{gonumNode(u), gonumNode(v), w}
}

// Weight implements gonum's graph.Weighted: 0 for a node itself, ok false where there is no edge.
func (c *CSR) Weight(x, y int64) (w float64, ok bool) {
	if x == y {
		return 0, c.has(x)
	}
	if e := c.WeightedEdge(x, y); e != nil {
		return e.Weight(), true
	}
	return 0, false
}

// EdgeBetween implements gonum's graph.Undirected.
func (v UndirectedView) EdgeBetween(x, y int64) gonum.Edge { return v.Edge(x, y) }

// WeightedEdgeBetween implements gonum's graph.WeightedUndirected.
func (v UndirectedView) WeightedEdgeBetween(x, y int64) gonum.WeightedEdge {
	return v.WeightedEdge(x, y)
}

// HasEdgeFromTo implements gonum's graph.Directed.
func (v DirectedView) HasEdgeFromTo(u, w int64) bool { return v.hasEdge(u, w) }

// To implements gonum's graph.Directed.
func (v DirectedView) To(id int64) gonum.Nodes { return v.nodesOf(&v.in, id) }
