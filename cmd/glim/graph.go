package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/spf13/cobra"
)

func (a *app) graphCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Look at the knowledge graph and change it by hand",
		Example: `  glim graph top
  glim graph show "Maren Holt"
  glim graph search bridge
  glim graph neighbors "Maren Holt" --depth 2`,
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.graphShow(), a.graphTop(), a.graphSearch(), a.graphNeighbors(), a.graphSubgraph(), a.graphPath(), a.graphView())
	cmd.AddCommand(a.graphEdits()...)
	return cmd
}

// inGraph runs f on the knowledge graph of one view.
func (a *app) inGraph(cmd *cobra.Command, f func(tx *db.Tx, g *db.Graph) error) error {
	return a.view(cmd.Context(), func(tx *db.Tx) error {
		g, err := tx.Graph(db.KnowledgeGraph)
		if errors.Is(err, db.ErrNotFound) { // it is made with the first document
			return a.emptyGraph()
		}
		if err != nil {
			return err
		}
		return f(tx, g)
	})
}

func (a *app) emptyGraph() error {
	return notFound("`glim insert` documents first", "the knowledge graph of %s is empty", a.where())
}

// described is "person, 4 relations".
func described(n *graph.Node) string {
	kind := strings.ToLower(n.Type)
	if kind == "" {
		kind = "no type"
	}
	return fmt.Sprintf("%s, %s", kind, count(n.Degree, "relation"))
}

// byWeight orders relations for reading: the weightiest first.
func byWeight(a, b *graph.Edge) int {
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Src, b.Src), strings.Compare(a.Dst, b.Dst))
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

func strs(v any) []string {
	s, _ := v.([]string)
	return s
}

func nodeJSON(n *graph.Node) map[string]any {
	return map[string]any{"name": n.Name, "type": n.Type, "degree": n.Degree, "properties": n.Props}
}

func edgeJSON(e *graph.Edge) map[string]any {
	return map[string]any{"source": e.Src, "target": e.Dst, "weight": e.Weight, "properties": e.Props}
}

func nodesJSON(ns []*graph.Node) []map[string]any {
	out := make([]map[string]any, 0, len(ns))
	for _, n := range ns {
		out = append(out, nodeJSON(n))
	}
	return out
}

func edgesJSON(es []*graph.Edge) []map[string]any {
	out := make([]map[string]any, 0, len(es))
	for _, e := range es {
		out = append(out, edgeJSON(e))
	}
	return out
}
