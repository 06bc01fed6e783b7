package main

import (
	"math"

	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

func (a *app) graphNeighbors() *cobra.Command {
	var depth, most int
	cmd := &cobra.Command{
		Use:   "neighbors NAME",
		Short: "List the entities around one, level by level",
		Long:  "Neighbors lists the entities that a walk of --depth steps reaches, the nearest and best connected first; --json adds the relations among them.",
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
			return a.inGraph(cmd, func(g *db.Graph) error {
				n, err := a.node(g, given[0])
				if err != nil {
					return err
				}
				sub, err := g.Subgraph(n.Name, depth, most)
				switch {
				case err != nil:
					return err
				case a.json:
					return a.out.json(map[string]any{"nodes": nodesJSON(sub.Nodes), "edges": edgesJSON(sub.Edges),
						"truncated": sub.Truncated, "depth_limited": sub.DepthLimited})
				}
				for _, m := range sub.Nodes {
					if m.Name != n.Name {
						a.out.printf("%s (%s)\n", m.Name, described(m))
					}
				}
				if sub.Truncated {
					a.out.printf("cut off at %s, see --max\n", count(most, "entity"))
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&depth, "depth", 1, "how many steps away")
	cmd.Flags().IntVar(&most, "max", 100, "most entities to list, itself included")
	return cmd
}
