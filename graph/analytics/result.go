package analytics

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/glimdb/db/graph"
)

// Result is what a run found: a score or a group for every node.
type Result struct {
	// Options are those of the run, defaults filled in.
	Options Options
	// Nodes and Edges are the size of the graph; an undirected edge, and parallel ones, count once.
	Nodes, Edges int
	// Scores are by node number; nil for an algorithm of groups. Degrees, cores and hops are whole numbers.
	Scores []float64
	// Groups assign nodes to groups; the zero Assignment for an algorithm of scores.
	Groups Assignment
	// Figures describe the whole in a fixed order.
	Figures []Figure

	graph  *graph.CSR
	parent []uint32 // of Distance: the node before, itself where there is none
}

// Figure is one number about a whole graph.
type Figure struct {
	Name  string
	Value float64
}

// Run runs one algorithm over c. Costs are linear in nodes and edges, times the rounds for PageRank and communities,
// and times the logarithm of the nodes for Distance by weights.
//
// Errors: *graph.InvalidError for an option out of range, and for a weight that the algorithm has no meaning for
// (below 0; 0 as well for Inverse); *graph.MissingNodeError when From is no node; *MemoryError; that of ctx, which is
// looked at between rounds and every few thousand nodes.
func Run(ctx context.Context, c *graph.CSR, o Options) (*Result, error) {
	o, err := o.WithDefaults()
	if err == nil {
		err = o.Admit(c.Len(), c.Edges())
	}
	if err != nil {
		return nil, err
	}
	r := &Result{Options: o, Nodes: c.Len(), Edges: c.Edges(), graph: c}
	r.figure("nodes", float64(r.Nodes))
	r.figure("edges", float64(r.Edges))
	run := map[Algorithm]func(context.Context) error{
		Degree: r.degrees, Components: r.components, StrongComponents: r.strong, PageRank: r.pageRank, Cores: r.cores,
		Louvain: r.communities, Leiden: r.communities, Distance: r.distances,
	}[o.Algorithm]
	if err := run(ctx); err != nil {
		return nil, fmt.Errorf("analytics: %s: %w", o.Algorithm, err)
	}
	return r, nil
}

func (r *Result) figure(name string, v float64) { r.Figures = append(r.Figures, Figure{name, v}) }

// Figure returns the figure of that name.
func (r *Result) Figure(name string) (v float64, ok bool) {
	for _, f := range r.Figures {
		if f.Name == name {
			return f.Value, true
		}
	}
	return 0, false
}

// Name returns the name of node i.
func (r *Result) Name(i int) string { return r.graph.Name(i) }

// All yields every node in order of name with its value: an int64 for a group, a degree, a core or hops, else a
// float64. A node that Distance does not reach is left out.
func (r *Result) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for i := range r.Nodes {
			if v, ok := r.value(i); ok && !yield(r.Name(i), v) {
				return
			}
		}
	}
}

func (r *Result) value(i int) (v any, ok bool) {
	o := r.Options
	switch {
	case o.Algorithm.Groups():
		return int64(r.Groups.Of[i]), true
	case math.IsInf(r.Scores[i], 1):
		return nil, false
	case o.Algorithm == Degree, o.Algorithm == Cores, o.Algorithm == Distance && o.Length == Hops:
		return int64(r.Scores[i]), true
	}
	return r.Scores[i], true
}

// Top returns the limit nodes of the highest scores, best first, ties by name; of Distance the nearest ones.
func (r *Result) Top(limit int) []int {
	better := func(x, y int) bool { return r.Scores[x] > r.Scores[y] }
	if r.Options.Algorithm == Distance {
		better = func(x, y int) bool { return r.Scores[x] < r.Scores[y] }
	}
	return best(len(r.Scores), limit, better)
}

// PathTo returns the names along a shortest path from Options.From to a node, both included; nil when the node is
// not reached or the result is not one of Distance.
func (r *Result) PathTo(name string) []string {
	i, ok := r.graph.Index(name)
	if !ok || r.parent == nil || math.IsInf(r.Scores[i], 1) {
		return nil
	}
	var back []string
	for at := uint32(i); ; at = r.parent[at] {
		back = append(back, r.Name(int(at)))
		if r.parent[at] == at {
			break
		}
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back
}

// patience is the number of nodes between two looks at the context.
const patience = 4096

func ended(ctx context.Context, i int) error {
	if i%patience != 0 {
		return nil
	}
	return ctx.Err()
}
