package graph

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/glimdb/db/kv"
)

// Bounds of a walk that suit a picture for people.
const (
	DefaultDepth = 3
	DefaultNodes = 1000
)

// All is the label that Subgraph takes for "the most popular nodes of the whole graph". A node of that
// name can still be read, only not walked from.
const All = "*"

// Hop is a node met on a walk.
type Hop struct {
	Name   string
	Depth  int // edges from the start
	Degree int
}

// Walk is the outcome of a bounded breadth-first walk.
type Walk struct {
	// Hops are the nodes in the order of the visit: by depth, then degree descending, then name.
	Hops []Hop
	// Truncated: maxNodes was reached and a node nearer than maxDepth has a neighbour that is not here.
	Truncated bool
	// DepthLimited: a node at maxDepth has a neighbour that is not here.
	DepthLimited bool
}

// KHop returns the nodes within maxDepth edges of the named one, itself first, at most maxNodes (both
// 0.. and 1..): nearer nodes before farther, at one distance those of higher degree before others. Edges
// are followed in both directions in directed graphs, too. The error is kv.ErrNotFound when the node is
// absent. It reads no properties, and the adjacency of every returned node, twice; of a hub (512 edges up)
// with more edges than maxNodes only what may be among the returned: about maxNodes edges for each degree and
// weight that its neighbours of the lowest ranks have in common.
func (g *Graph) KHop(ctx context.Context, r kv.Reader, name string, maxDepth, maxNodes int) (*Walk, error) {
	if err := checkBounds(maxDepth, maxNodes); err != nil {
		return nil, err
	}
	w := walker{ctx: ctx, g: g, s: scanner{g: g, r: r}, maxDepth: maxDepth, maxNodes: maxNodes}
	defer w.s.close()
	err := w.run(name)
	if err == nil {
		err = w.finish(nil)
	}
	if err != nil {
		return nil, fmt.Errorf("graph: k-hop: %w", err)
	}
	return &w.walk, nil
}

// Subgraph is the part of a graph that a walk met.
type Subgraph struct {
	Nodes []*Node // in the order of the visit
	Edges []*Edge // all edges between Nodes, by (src, dst, type)
	// Truncated and DepthLimited are as in Walk. For the label All, Truncated means that the graph has more
	// nodes.
	Truncated, DepthLimited bool
}

// Subgraph returns the nodes that KHop would and all edges between them, with properties. The label All
// stands for the maxNodes nodes of the highest degree, whatever maxDepth. A label that is no node's name
// gives an empty Subgraph. To the cost of KHop come the records of the nodes and edges; of a hub, the edges
// to nodes that are not returned are leapt over.
func (g *Graph) Subgraph(ctx context.Context, r kv.Reader, label string, maxDepth, maxNodes int) (*Subgraph, error) {
	if err := checkBounds(maxDepth, maxNodes); err != nil {
		return nil, err
	}
	sub, err := g.subgraph(ctx, r, label, maxDepth, maxNodes)
	if err != nil {
		return nil, fmt.Errorf("graph: subgraph: %w", err)
	}
	return sub, nil
}

func (g *Graph) subgraph(ctx context.Context, r kv.Reader, label string, maxDepth, maxNodes int) (*Subgraph, error) {
	w := walker{ctx: ctx, g: g, s: scanner{g: g, r: r}, maxDepth: maxDepth, maxNodes: maxNodes}
	defer w.s.close()
	if label == All {
		if err := w.takePopular(); err != nil {
			return nil, err
		}
	} else {
		ids, err := g.lookup(r, []string{label})
		if err != nil || ids[0] == 0 {
			return &Subgraph{}, err
		}
		if err := w.run(label); err != nil {
			return nil, err
		}
	}
	var refs []edgeRef
	err := w.finish(func(src, dst nodeID, typ string) {
		refs = append(refs, edgeRef{src: src, dst: dst, edge: Edge{Type: typ}})
	})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(w.walk.Hops))
	for i, h := range w.walk.Hops {
		names[i] = h.Name
	}
	sub := &Subgraph{Truncated: w.walk.Truncated, DepthLimited: w.walk.DepthLimited}
	if sub.Nodes, err = g.nodesByID(r, w.ids, names); err != nil {
		return nil, err
	}
	if err := g.readEdges(r, refs); err != nil {
		return nil, err
	}
	sub.Edges = make([]*Edge, len(refs))
	for i := range refs {
		e := &refs[i].edge
		e.Src, e.Dst = g.present(names[w.at[refs[i].src]], names[w.at[refs[i].dst]])
		sub.Edges[i] = e
	}
	slices.SortFunc(sub.Edges, compareEdges)
	return sub, nil
}

func checkBounds(maxDepth, maxNodes int) error {
	if maxDepth < 0 {
		return &InvalidError{Field: "argument", Key: "maxDepth", Reason: fmt.Sprintf("%d is negative", maxDepth)}
	}
	if maxNodes < 1 {
		return &InvalidError{Field: "argument", Key: "maxNodes", Reason: fmt.Sprintf("%d is not positive", maxNodes)}
	}
	return nil
}

// walker runs one walk: nodes are visited level by level, each level by (degree descending, name).
type walker struct {
	ctx                context.Context
	g                  *Graph
	s                  scanner
	maxDepth, maxNodes int

	walk    Walk
	ids     []nodeID       // of walk.Hops
	at      map[nodeID]int // id -> index of walk.Hops
	degrees degreeTable
	whole   bool // the start was All: depth means nothing
}

func (w *walker) take(h Hop, id nodeID) {
	w.at[id] = len(w.ids)
	w.ids = append(w.ids, id)
	w.walk.Hops = append(w.walk.Hops, h)
}

func (w *walker) takePopular() error {
	w.whole = true
	w.at = make(map[nodeID]int)
	top, total, err := w.g.popular(w.ctx, w.s.r, w.maxNodes)
	if err != nil {
		return err
	}
	for _, p := range top {
		w.take(Hop{Name: p.Name, Degree: p.Degree}, p.id)
	}
	w.walk.Truncated = total > len(top)
	return nil
}

func (w *walker) run(start string) error {
	id, err := w.g.id(w.s.r, start)
	if err != nil {
		return err
	}
	w.at = make(map[nodeID]int)
	level := []nodeID{id}
	for depth := 0; len(level) > 0 && len(w.ids) < w.maxNodes; depth++ {
		first := len(w.ids)
		if err := w.visit(level, depth); err != nil {
			return err
		}
		if depth == w.maxDepth {
			break
		}
		if level, err = w.next(w.ids[first:]); err != nil {
			return err
		}
	}
	return nil
}

// next returns the unvisited neighbours of ids, each once, sorted; of a hub those that may be among the best.
func (w *walker) next(ids []nodeID) ([]nodeID, error) {
	var level []nodeID
	room := w.maxNodes - len(w.ids)
	add := func(other nodeID) bool {
		_, seen := w.at[other]
		if !seen {
			level = append(level, other)
		}
		return !seen
	}
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	for _, id := range sorted {
		err := w.ctx.Err()
		switch degree := w.degrees.degree(id); {
		case err != nil:
		case degree >= w.g.hub && degree > room:
			err = w.g.shelfTop(w.ctx, w.s.r, id, room, add)
		default:
			err = w.s.scan(id, func(a adjacent) bool { add(a.other); return true })
		}
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(level)
	return slices.Compact(level), nil
}

// visit takes the best of a level, as many as maxNodes leaves room for. Names are resolved only for nodes
// whose degree does not exclude them.
func (w *walker) visit(level []nodeID, depth int) error {
	if err := w.degrees.load(w.g, w.s.r, level); err != nil {
		return err
	}
	room := w.maxNodes - len(w.ids)
	if len(level) > room {
		byDegree := make([]int, len(level))
		for i, id := range level {
			byDegree[i] = w.degrees.degree(id)
		}
		slices.SortFunc(byDegree, func(x, y int) int { return y - x })
		level = slices.DeleteFunc(level, func(id nodeID) bool { return w.degrees.degree(id) < byDegree[room-1] })
	}
	names, err := w.g.namesOf(w.s.r, level)
	if err != nil {
		return err
	}
	order := make([]int, len(names.ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(w.degrees.degree(names.ids[y]), w.degrees.degree(names.ids[x])),
			strings.Compare(names.names[x], names.names[y]))
	})
	for _, i := range order[:min(room, len(order))] {
		id := names.ids[i]
		w.take(Hop{Name: names.names[i], Depth: depth, Degree: w.degrees.degree(id)}, id)
	}
	return nil
}

// finish looks at the edges of the visited nodes once more. It sets the flags of the walk, and calls inside,
// if there is one, once for each edge between visited nodes, ends oriented.
func (w *walker) finish(inside func(src, dst nodeID, typ string)) error {
	sorted := slices.Clone(w.ids)
	slices.Sort(sorted)
	if inside != nil {
		w.s.only = sorted
	}
	for _, id := range sorted {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		hop := w.walk.Hops[w.at[id]]
		ends := 0 // of edges between visited nodes
		err := w.s.scan(id, func(a adjacent) bool {
			if _, ok := w.at[a.other]; !ok {
				return false // what leads outside tells enough of this node
			}
			ends++
			if a.other == id && !w.g.cfg.Directed {
				ends++ // the scan shows both ends of the loop as one
			}
			if inside != nil && !a.incoming && (w.g.cfg.Directed || id <= a.other) {
				inside(id, a.other, string(a.typ))
			}
			return true
		})
		switch {
		case err != nil:
			return err
		case ends == hop.Degree || w.whole:
		case hop.Depth == w.maxDepth:
			w.walk.DepthLimited = true
		default:
			w.walk.Truncated = true
		}
	}
	return nil
}
