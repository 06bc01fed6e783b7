package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/spf13/cobra"
)

const defaultTop = 20

func (a *app) graphCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Look at the knowledge graph: show, top, search, neighbors, export",
		Example: `  glim graph top
  glim graph show "Mira Voss"
  glim graph search bridge
  glim graph neighbors "Mira Voss" --depth 2
  glim graph export --format graphml > graph.graphml`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.graphShow(), a.graphTop(), a.graphSearch(), a.graphNeighbors(), a.graphExport())
	return cmd
}

// inGraph runs f on the knowledge graph. A database without documents has none, and f gets nil.
func (a *app) inGraph(cmd *cobra.Command, f func(g *db.Graph) error) error {
	return a.view(cmd.Context(), func(_ *db.DB, tx *db.Tx) error {
		g, err := tx.Graph(db.KnowledgeGraph)
		if errors.Is(err, db.ErrNotFound) {
			return &exitError{exitNotFound, errors.New("the knowledge graph is empty: insert documents first")}
		}
		if err != nil {
			return err
		}
		return f(g)
	})
}

func (a *app) graphShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show an entity with its relations and sources", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.inGraph(cmd, func(g *db.Graph) error {
				n, err := a.node(g, given[0])
				if err != nil {
					return err
				}
				var edges []*graph.Edge
				for nb, err := range g.Neighbors(n.Name) {
					if err != nil {
						return err
					}
					e, err := g.Edge(n.Name, nb.Name, nb.Type)
					if err != nil {
						return err
					}
					edges = append(edges, &e)
				}
				slices.SortFunc(edges, heavier)
				if a.json {
					return a.printJSON(map[string]any{"entity": nodeJSON(&n), "relations": edgesJSON(edges)})
				}
				p := &page{w: a.out, width: terminalWidth(a.out), full: true}
				p.node(n)
				for _, e := range edges {
					other := e.Dst
					if other == n.Name {
						other = e.Src
					}
					p.printf("  - %s%s (weight %g)\n", printable(other), bracketed(strs(e.Props["keywords"])), e.Weight)
					p.wrapped("      ", p.cut(str(e.Props["description"]), 0))
				}
				return p.err
			})
		},
	}
}

// node finds a node by its exact name, or explains which names come near.
func (a *app) node(g *db.Graph, name string) (graph.Node, error) {
	n, err := g.Node(name)
	if !errors.Is(err, db.ErrNotFound) {
		return n, err
	}
	near, serr := g.SearchLabels(name, 5)
	if serr != nil {
		return n, serr
	}
	msg, sep := fmt.Sprintf("no entity %q", name), "; did you mean "
	for _, m := range near {
		if strings.EqualFold(m.Name, strings.TrimSpace(name)) {
			return g.Node(m.Name)
		}
		msg, sep = msg+sep+m.Name, ", "
	}
	if len(near) > 0 {
		msg += "?"
	}
	return n, &exitError{exitNotFound, errors.New(msg)}
}

func (p *page) node(n graph.Node) {
	p.printf("%s (%s, %s)\n", printable(n.Name), strings.ToLower(n.Type), count(n.Degree, "relation"))
	p.wrapped("  ", p.cut(str(n.Props["description"]), 0))
	if s := strs(n.Props["sources"]); len(s) > 0 {
		p.wrapped("  ", "sources: "+strings.Join(s, ", "))
	}
}

func (a *app) graphTop() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "top", Short: "List the best connected entities", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.inGraph(cmd, func(g *db.Graph) error {
				labels, err := g.PopularLabels(limit)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(labels)
				}
				for _, l := range labels {
					n, err := g.Node(l.Name)
					if err != nil {
						return err
					}
					fmt.Fprintf(a.out, "%5d  %s (%s)\n", l.Degree, printable(l.Name), strings.ToLower(n.Type))
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", defaultTop, "how many, 1 to 1,000")
	return cmd
}

func (a *app) graphSearch() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "search TEXT", Short: "Find entities by a part of their name", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.inGraph(cmd, func(g *db.Graph) error {
				found, err := g.SearchLabels(given[0], limit)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(nonNil(found))
				}
				for _, m := range found {
					fmt.Fprintln(a.out, printable(m.Name))
				}
				if len(found) == 0 {
					return &exitError{exitNotFound, fmt.Errorf("no entity has %q in its name", given[0])}
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", 50, "how many, 1 to 100")
	return cmd
}

func (a *app) graphNeighbors() *cobra.Command {
	depth, most := 1, 100
	cmd := &cobra.Command{
		Use: "neighbors NAME", Short: "List the entities around one, level by level", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.inGraph(cmd, func(g *db.Graph) error {
				n, err := a.node(g, given[0])
				if err != nil {
					return err
				}
				sub, err := g.Subgraph(n.Name, depth, most)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"nodes": nodesJSON(sub.Nodes), "edges": edgesJSON(sub.Edges),
						"truncated": sub.Truncated, "depth_limited": sub.DepthLimited})
				}
				for _, m := range sub.Nodes {
					if m.Name != n.Name {
						fmt.Fprintf(a.out, "%s (%s, %s)\n", printable(m.Name), strings.ToLower(m.Type), count(m.Degree, "relation"))
					}
				}
				if sub.Truncated {
					fmt.Fprintf(a.err, "cut off at %d entities: raise --max\n", most)
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&depth, "depth", depth, "how many steps away")
	cmd.Flags().IntVar(&most, "max", most, "most entities to list")
	return cmd
}

func heavier(a, b *graph.Edge) int {
	switch {
	case a.Weight > b.Weight:
		return -1
	case a.Weight < b.Weight:
		return 1
	}
	return strings.Compare(a.Src+"\x00"+a.Dst, b.Src+"\x00"+b.Dst)
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

func strs(v any) []string {
	s, _ := v.([]string)
	return s
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
