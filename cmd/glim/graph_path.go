package main

import (
	"errors"
	"math"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/brief"
	"github.com/spf13/cobra"
)

func (a *app) graphPath() *cobra.Command {
	var depth int
	cmd := &cobra.Command{
		Use:   "path NAME NAME",
		Short: "Show how two entities are connected",
		Long: `Path shows a shortest chain of relations from one entity to another; of several the first in the order of names.
` + nameHelp,
		Example: `  glim graph path "Maren Holt" "Harbour Council"
  glim graph path "Maren Holt" 青石港 --max-depth 10 --json`,
		Args: args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := bounded("max-depth", depth, 0, math.MaxInt); err != nil {
				return err
			}
			return a.inGraph(cmd, func(tx *db.Tx, g *db.Graph) error {
				var ends [2]graph.Node
				for i, name := range given {
					var err error
					if ends[i], err = a.node(tx, g, name); err != nil {
						return err
					}
				}
				names, err := g.Path(ends[0].Name, ends[1].Name, depth)
				switch {
				case errors.Is(err, graph.ErrNoPath):
					return notFound("--max-depth allows for longer ones", "no path of up to %s from %s to %s", count(depth, "relation"),
						brief.Quote(ends[0].Name), brief.Quote(ends[1].Name))
				case errors.Is(err, graph.ErrLimit):
					return &failure{code: exitFailure, what: plain(err), hint: "try a smaller --max-depth", err: err}
				case err != nil:
					return err
				}
				nodes, edges, err := along(g, names)
				if err != nil {
					return err
				}
				if a.json {
					return a.out.json(map[string]any{"nodes": nodesJSON(nodes), "edges": edgesJSON(edges)})
				}
				a.showPath(nodes, edges)
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&depth, "max-depth", 6, "most relations on the way, 0 or more")
	return cmd
}

// along reads the nodes of a path and the edges between them.
func along(g *db.Graph, names []string) (nodes []*graph.Node, edges []*graph.Edge, err error) {
	for i, name := range names {
		n, err := g.Node(name)
		if err != nil {
			return nil, nil, err
		}
		nodes = append(nodes, &n)
		if i == 0 {
			continue
		}
		e, err := g.Edge(names[i-1], name, "")
		if err != nil {
			return nil, nil, err
		}
		edges = append(edges, &e)
	}
	return nodes, edges, nil
}

func (a *app) showPath(nodes []*graph.Node, edges []*graph.Edge) {
	p := &page{output: a.out}
	for i, n := range nodes {
		if i > 0 {
			e := edges[i-1]
			p.wrapped("    | ", bracketed(strs(e.Props["keywords"]), "weight "+number(e.Weight))[1:])
			for _, fragment := range fragments(str(e.Props["description"])) {
				p.wrapped("    | ", fragment)
			}
		}
		p.printf("%s (%s)\n", n.Name, described(n))
	}
}
