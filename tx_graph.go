package db

import (
	"iter"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/kv"
)

// CreateGraph returns the graph of that name, creating it with c. If it exists with another configuration
// the error names both sides. KnowledgeGraph is refused with ErrReserved, here and in every other write.
func (tx *Tx) CreateGraph(name string, c graph.Config) (*Graph, error) {
	b, err := tx.graphWriter(name)
	if err != nil {
		return nil, err
	}
	g, err := graph.Create(b, tx.s.name, name, c)
	if err != nil {
		return nil, err
	}
	return &Graph{tx: tx, name: name, g: g}, nil
}

// Graph returns an existing graph, or ErrNotFound. The knowledge graph of the documents is named
// KnowledgeGraph.
func (tx *Tx) Graph(name string) (*Graph, error) {
	r, err := tx.reader()
	if err != nil {
		return nil, err
	}
	g, err := graph.Open(r, tx.s.name, name)
	if err != nil {
		return nil, err
	}
	return &Graph{tx: tx, name: name, g: g}, nil
}

// DropGraph removes a graph with all its nodes and edges.
func (tx *Tx) DropGraph(name string) error {
	b, err := tx.graphWriter(name)
	if err != nil {
		return err
	}
	return graph.Drop(b, tx.s.name, name)
}

// Graph is a graph inside a transaction.
type Graph struct {
	tx   *Tx
	name string
	g    *graph.Graph
}

// PutNode inserts or replaces a node; its edges stay.
func (g *Graph) PutNode(n graph.Node) error {
	return g.write(func(b *kv.Batch) error { return g.g.PutNode(b, n) })
}

// DeleteNode removes a node with its edges, or returns ErrNotFound.
func (g *Graph) DeleteNode(name string) error {
	return g.write(func(b *kv.Batch) error { return g.g.DeleteNode(b, name) })
}

// RenameNode gives a node another name; no edge is moved.
func (g *Graph) RenameNode(from, to string) error {
	return g.write(func(b *kv.Batch) error { return g.g.RenameNode(b, from, to) })
}

// PutEdge inserts or replaces an edge between existing nodes.
func (g *Graph) PutEdge(e graph.Edge) error {
	return g.write(func(b *kv.Batch) error { return g.g.PutEdge(b, e) })
}

// DeleteEdge removes an edge, or returns ErrNotFound. In an undirected graph the order of the ends does
// not matter.
func (g *Graph) DeleteEdge(src, dst, typ string) error {
	return g.write(func(b *kv.Batch) error { return g.g.DeleteEdge(b, src, dst, typ) })
}

func (g *Graph) write(f func(*kv.Batch) error) error {
	b, err := g.tx.graphWriter(g.name)
	if err != nil {
		return err
	}
	return f(b)
}

// Node returns a node, or ErrNotFound.
func (g *Graph) Node(name string) (graph.Node, error) {
	return read(g, func(r kv.Reader) (graph.Node, error) { return g.g.Node(r, name) })
}

// Edge returns an edge, or ErrNotFound.
func (g *Graph) Edge(src, dst, typ string) (graph.Edge, error) {
	return read(g, func(r kv.Reader) (graph.Edge, error) { return g.g.Edge(r, src, dst, typ) })
}

// Neighbors yields the neighbours of a node; properties are not read.
func (g *Graph) Neighbors(name string) iter.Seq2[graph.Neighbor, error] {
	return scan(g, func(r kv.Reader) iter.Seq2[graph.Neighbor, error] { return g.g.Neighbors(r, name) })
}

// Nodes yields all nodes in order of name.
func (g *Graph) Nodes() iter.Seq2[*graph.Node, error] { return scan(g, g.g.AllNodes) }

// Edges yields all edges in order of (source, target, type).
func (g *Graph) Edges() iter.Seq2[*graph.Edge, error] { return scan(g, g.g.AllEdges) }

// Degrees returns the degree of each named node, 0 for an absent one.
func (g *Graph) Degrees(names ...string) ([]int, error) {
	return read(g, func(r kv.Reader) ([]int, error) { return g.g.Degrees(r, names) })
}

// KHop returns the nodes within maxDepth edges of a node, nearest first, at most maxNodes.
func (g *Graph) KHop(name string, maxDepth, maxNodes int) (*graph.Walk, error) {
	return read(g, func(r kv.Reader) (*graph.Walk, error) { return g.g.KHop(g.tx.ctx, r, name, maxDepth, maxNodes) })
}

// Subgraph returns the neighbourhood of a node, or with graph.All the best connected nodes, within limits: the
// nodes in the order of KHop, and all edges between them. An absent name gives an empty one.
func (g *Graph) Subgraph(name string, maxDepth, maxNodes int) (*graph.Subgraph, error) {
	return read(g, func(r kv.Reader) (*graph.Subgraph, error) { return g.g.Subgraph(g.tx.ctx, r, name, maxDepth, maxNodes) })
}

// Path returns the names on a shortest path of at most maxDepth edges, both ends included; of several the first in
// order of names. The error is graph.ErrNoPath when there is none, ErrNotFound when an end is absent, and a
// *graph.LimitError when the search would take too much memory.
func (g *Graph) Path(from, to string, maxDepth int) ([]string, error) {
	return read(g, func(r kv.Reader) ([]string, error) { return g.g.Path(g.tx.ctx, r, from, to, maxDepth) })
}

// Strongest returns the limit weightiest pairs that join a node with others, ties by the other's name; what it
// reads of a hub does not grow with its degree.
func (g *Graph) Strongest(name string, limit int) ([]graph.RankedEdge, error) {
	return read(g, func(r kv.Reader) ([]graph.RankedEdge, error) { return g.g.Strongest(r, name, limit) })
}

// Labels returns all names in order of code point.
func (g *Graph) Labels() ([]string, error) {
	return read(g, func(r kv.Reader) ([]string, error) { return g.g.Labels(g.tx.ctx, r) })
}

// PopularLabels returns the limit best connected nodes.
func (g *Graph) PopularLabels(limit int) ([]graph.Label, error) {
	return read(g, func(r kv.Reader) ([]graph.Label, error) { return g.g.PopularLabels(g.tx.ctx, r, limit) })
}

// SearchLabels returns up to limit names that contain text, ignoring case, best match first.
func (g *Graph) SearchLabels(text string, limit int) ([]graph.Match, error) {
	return read(g, func(r kv.Reader) ([]graph.Match, error) { return g.g.SearchLabels(g.tx.ctx, r, text, limit) })
}

// NamesAlike returns, for each spelling, the names of nodes that differ from it in letter case, in the width or
// composition of characters or in the length of blanks at most (equal graph.Fold), in byte order, at most
// graph.MaxAlike. It costs one seek a spelling.
func (g *Graph) NamesAlike(spellings ...string) ([][]string, error) {
	return read(g, func(r kv.Reader) ([][]string, error) { return g.g.NamesAlike(r, spellings) })
}

// Derived returns what analyses said of a node, by property (see DB.SaveAnalysis); nil when there is nothing, ErrNotFound
// when there is no such node.
func (g *Graph) Derived(name string) (graph.Props, error) {
	return read(g, func(r kv.Reader) (graph.Props, error) { return g.g.Derived(r, name) })
}

// Snapshot returns the whole graph in compressed sparse rows for analytics, within limits; it stays valid
// after the transaction.
func (g *Graph) Snapshot(l graph.Limits) (*graph.CSR, error) {
	return read(g, func(r kv.Reader) (*graph.CSR, error) { return g.g.Snapshot(g.tx.ctx, r, l) })
}

// Stats counts nodes and edges.
func (g *Graph) Stats() (graph.Stats, error) { return read(g, g.g.Stats) }

func read[T any](g *Graph, f func(kv.Reader) (T, error)) (T, error) {
	r, err := g.tx.reader()
	if err != nil {
		var zero T
		return zero, err
	}
	return f(r)
}

func scan[T any](g *Graph, f func(kv.Reader) iter.Seq2[T, error]) iter.Seq2[T, error] {
	r, err := g.tx.reader()
	if err != nil {
		return func(yield func(T, error) bool) {
			var zero T
			yield(zero, err)
		}
	}
	return f(r)
}
