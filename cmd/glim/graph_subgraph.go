package main

import (
	"math"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/spf13/cobra"
)

// walkFlags bound a part of the graph.
type walkFlags struct{ depth, most int }

func (f *walkFlags) add(cmd *cobra.Command, depth, most int) {
	cmd.Flags().IntVar(&f.depth, "depth", depth, "how many steps away, 0 or more")
	cmd.Flags().IntVar(&f.most, "max-nodes", most, "most entities, itself included, 1 or more")
}

func (f *walkFlags) check(most int) error {
	if err := bounded("depth", f.depth, 0, math.MaxInt); err != nil {
		return err
	}
	return bounded("max-nodes", f.most, 1, most)
}

// subgraph reads the part of the graph around the entity that a name means, or with graph.All its best connected
// part. start is the entity's name, or graph.All.
func (a *app) subgraph(tx *db.Tx, g *db.Graph, name string, f walkFlags) (start string, sub *graph.Subgraph, err error) {
	if start = name; name != graph.All {
		n, err := a.node(tx, g, name)
		if err != nil {
			return "", nil, err
		}
		start = n.Name
	}
	sub, err = g.Subgraph(start, f.depth, f.most)
	return start, sub, err
}

func (a *app) graphSubgraph() *cobra.Command {
	var f walkFlags
	cmd := &cobra.Command{
		Use:   "subgraph NAME|*",
		Short: "Show a part of the graph: the entities around one, and the relations among them",
		Long: `Subgraph shows the entities that a walk of --depth steps reaches, nearer ones before farther, at one distance the best
connected first, up to --max-nodes, and all relations among them. With * in place of a name it shows the best connected
entities of the whole graph, whatever --depth.
` + nameHelp,
		Example: `  glim graph subgraph "Maren Holt" --depth 2 --max-nodes 50
  glim graph subgraph '*' --max-nodes 500 --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := f.check(math.MaxInt); err != nil {
				return err
			}
			return a.inGraph(cmd, func(tx *db.Tx, g *db.Graph) error {
				start, sub, err := a.subgraph(tx, g, given[0], f)
				switch {
				case err != nil:
					return err
				case len(sub.Nodes) == 0:
					return a.emptyGraph()
				case a.json:
					return a.out.json(subgraphJSON(start, sub))
				}
				a.showSubgraph(sub, f)
				return nil
			})
		},
	}
	f.add(cmd, graph.DefaultDepth, graph.DefaultNodes)
	return cmd
}

func subgraphJSON(start string, sub *graph.Subgraph) map[string]any {
	nodes := nodesJSON(sub.Nodes)
	if start != graph.All {
		for i, d := range distances(start, sub) {
			nodes[i]["distance"] = d
		}
	}
	return map[string]any{"nodes": nodes, "edges": edgesJSON(sub.Edges), "truncated": sub.Truncated, "depth_limited": sub.DepthLimited}
}

func (a *app) showSubgraph(sub *graph.Subgraph, f walkFlags) {
	p := &page{output: a.out}
	p.title("Entities", len(sub.Nodes), len(sub.Nodes))
	for _, n := range sub.Nodes {
		p.printf("  %s (%s)\n", n.Name, described(n))
	}
	p.title("Relations", len(sub.Edges), len(sub.Edges))
	for _, e := range sub.Edges {
		p.wrapped("  ", e.Src+" - "+e.Dst+bracketed(strs(e.Props["keywords"])))
	}
	if sub.Truncated || sub.DepthLimited {
		p.printf("\n")
	}
	if sub.Truncated {
		p.printf("cut off at %s, see --max-nodes\n", count(f.most, "entity"))
	}
	if sub.DepthLimited {
		p.printf("the graph goes on behind %s, see --depth\n", count(f.depth, "step"))
	}
}
