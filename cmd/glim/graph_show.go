package main

import (
	"maps"
	"slices"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/spf13/cobra"
)

func (a *app) graphShow() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show an entity with its relations and sources",
		Long:  "Show tells all that is known about an entity: type, description, documents, and its relations, the weightiest first.\n" + nameHelp,
		Example: `  glim graph show "Maren Holt"
  glim graph show "maren holt" --limit 100
  glim graph show 青石港 --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := bounded("limit", limit, 1, graph.MaxPopular); err != nil {
				return err
			}
			return a.inGraph(cmd, func(tx *db.Tx, g *db.Graph) error {
				n, err := a.node(tx, g, given[0])
				if err != nil {
					return err
				}
				derived, err := g.Derived(n.Name)
				if err != nil {
					return err
				}
				if a.json {
					edges, err := incident(g, n.Name)
					if err != nil {
						return err
					}
					shown := map[string]any{"entity": nodeJSON(&n), "relations": edgesJSON(edges)}
					if len(derived) > 0 {
						shown["derived"] = derived
					}
					return a.out.json(shown)
				}
				edges, err := strongest(g, n.Name, limit)
				if err != nil {
					return err
				}
				a.show(&n, edges, derived)
				return nil
			})
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", 20, "how many relations, 1 to 1,000")
	return cmd
}

// strongest reads the weightiest relations of a node.
func strongest(g *db.Graph, name string, limit int) ([]*graph.Edge, error) {
	pairs, err := g.Strongest(name, limit)
	if err != nil {
		return nil, err
	}
	edges := make([]*graph.Edge, len(pairs))
	for i, p := range pairs {
		e, err := g.Edge(p.Src, p.Dst, "")
		if err != nil {
			return nil, err
		}
		edges[i] = &e
	}
	return edges, nil
}

// incident reads all relations of a node, the weightiest first.
func incident(g *db.Graph, name string) ([]*graph.Edge, error) {
	var edges []*graph.Edge
	for nb, err := range g.Neighbors(name) {
		if err != nil {
			return nil, err
		}
		e, err := g.Edge(name, nb.Name, nb.Type)
		if err != nil {
			return nil, err
		}
		edges = append(edges, &e)
	}
	slices.SortFunc(edges, byWeight)
	return edges, nil
}

// show prints a node with its weightiest relations, and what analyses said of it.
func (a *app) show(n *graph.Node, edges []*graph.Edge, derived graph.Props) {
	p := &page{output: a.out, begun: true}
	p.printf("%s (%s)\n", n.Name, described(n))
	for _, fragment := range fragments(str(n.Props["description"])) {
		p.wrapped("  ", fragment)
	}
	p.title("Relations", len(edges), n.Degree)
	for _, e := range edges {
		other := e.Dst
		if other == n.Name {
			other = e.Src
		}
		weight := ""
		if e.Weight != 1 {
			weight = "weight " + number(e.Weight)
		}
		p.wrapped("  ", other+bracketed(strs(e.Props["keywords"]), weight))
		for _, fragment := range fragments(str(e.Props["description"])) {
			p.wrapped("      ", fragment)
		}
	}
	if paths := strs(n.Props["paths"]); len(paths) > 0 {
		p.title("Documents", len(paths), len(paths))
		for _, path := range paths {
			p.printf("  %s\n", path)
		}
	}
	if len(derived) > 0 {
		p.title("Analyses", len(derived), len(derived))
		for _, property := range slices.Sorted(maps.Keys(derived)) {
			p.printf("  %s %v\n", property, derived[property])
		}
	}
	if more := n.Degree - len(edges); more > 0 {
		p.printf("\n%s, see --limit\n", count(more, "more relation"))
	}
}
