package main

import (
	"maps"
	"math"
	"slices"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/spf13/cobra"
)

func (a *app) graphNeighbors() *cobra.Command {
	var depth, most int
	cmd := &cobra.Command{
		Use:   "neighbors NAME",
		Short: "List the entities around one, level by level",
		Long:  "Neighbors lists the entities that a walk of --depth steps reaches, level by level, in each the best connected first;\n--json adds the relations among them.\n" + nameHelp,
		Example: `  glim graph neighbors "Maren Holt"
  glim graph neighbors "Maren Holt" --depth 2 --max 500 --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := bounded("depth", depth, 0, math.MaxInt); err != nil {
				return err
			}
			if err := bounded("max", most, 1, math.MaxInt); err != nil {
				return err
			}
			return a.inGraph(cmd, func(tx *db.Tx, g *db.Graph) error {
				n, err := a.node(tx, g, given[0])
				if err != nil {
					return err
				}
				sub, err := g.Subgraph(n.Name, depth, most)
				switch {
				case err != nil:
					return err
				case a.json:
					return a.out.json(subgraphJSON(n.Name, sub))
				}
				a.levels(n.Name, sub)
				if sub.Truncated {
					a.out.printf("cut off at %s, see --max\n", count(most, "entity"))
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&depth, "depth", 1, "how many steps away, 0 or more")
	cmd.Flags().IntVar(&most, "max", 100, "most entities to list, itself included, 1 or more")
	return cmd
}

// levels lists the nodes of a walk by their distance from its start.
func (a *app) levels(start string, sub *graph.Subgraph) {
	byDistance := make(map[int][]*graph.Node)
	for i, d := range distances(start, sub) {
		byDistance[d] = append(byDistance[d], sub.Nodes[i])
	}
	delete(byDistance, 0)
	p := &page{output: a.out}
	for _, d := range slices.Sorted(maps.Keys(byDistance)) {
		p.title(count(d, "step")+" away", len(byDistance[d]), len(byDistance[d]))
		for _, m := range byDistance[d] {
			p.printf("  %s (%s)\n", m.Name, described(m))
		}
	}
}

// distances are the numbers of steps from start to each node of a walk, over its edges.
func distances(start string, sub *graph.Subgraph) []int {
	adjacent := make(map[string][]string)
	for _, e := range sub.Edges {
		adjacent[e.Src] = append(adjacent[e.Src], e.Dst)
		adjacent[e.Dst] = append(adjacent[e.Dst], e.Src)
	}
	away := map[string]int{start: 0}
	for level := []string{start}; len(level) > 0; {
		var next []string
		for _, from := range level {
			for _, to := range adjacent[from] {
				if _, known := away[to]; !known {
					away[to] = away[from] + 1
					next = append(next, to)
				}
			}
		}
		level = next
	}
	out := make([]int, len(sub.Nodes))
	for i, n := range sub.Nodes {
		out[i] = away[n.Name]
	}
	return out
}
