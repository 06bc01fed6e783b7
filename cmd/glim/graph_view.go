package main

import (
	"io"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/graphview"
	"github.com/spf13/cobra"
)

// maxDrawn is how many entities a browser still moves smoothly.
const maxDrawn = 5000

func (a *app) graphView() *cobra.Command {
	var f walkFlags
	var to target
	cmd := &cobra.Command{
		Use:   "view [NAME]",
		Short: "Write an interactive picture of the graph, or of what is around an entity, as one HTML file",
		Long: `View writes one HTML file with a picture of the best connected entities, or of those around NAME as ` + "`glim graph subgraph`" + `
chooses them. It opens in any browser and needs no network: search finds names, a click on an entity or a relation shows
what is known of it and from which documents and chunks. The page says how much it leaves out.
` + nameHelp,
		Example: `  glim graph view -o graph.html
  glim graph view "Maren Holt" --depth 2 --max-nodes 100 -o holt.html`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := f.check(maxDrawn); err != nil {
				return err
			}
			name := graph.All
			if len(given) > 0 {
				name = given[0]
			}
			return a.inGraph(cmd, func(tx *db.Tx, g *db.Graph) error {
				start, sub, err := a.subgraph(tx, g, name, f)
				if err != nil {
					return err
				}
				st, err := g.Stats()
				switch {
				case err != nil:
					return err
				case len(sub.Nodes) == 0:
					return a.emptyGraph()
				}
				return a.write(to, func(w io.Writer) error { return graphview.Write(w, viewOf(start, sub, st, f)) })
			})
		},
	}
	f.add(cmd, 2, 200)
	cmd.Flags().Lookup("max-nodes").Usage = "most entities, 1 to 5,000"
	to.flags(cmd.Flags())
	return cmd
}

// viewOf is the page of a part of a graph.
func viewOf(start string, sub *graph.Subgraph, whole graph.Stats, f walkFlags) graphview.View {
	v := graphview.View{Title: "Knowledge graph", AllNodes: int(whole.Nodes), AllEdges: int(whole.Edges)}
	if start != graph.All {
		v.Title, v.Start = start, start
	}
	if start != graph.All && sub.Truncated {
		v.Notes = append(v.Notes, "There are more within "+count(f.depth, "step")+".")
	}
	if sub.DepthLimited {
		v.Notes = append(v.Notes, "The graph goes on behind "+count(f.depth, "step")+".")
	}
	for _, n := range sub.Nodes {
		v.Nodes = append(v.Nodes, graphview.Node{Name: n.Name, Type: n.Type, Degree: n.Degree, Source: sourceOf(n.Props)})
	}
	for _, e := range sub.Edges {
		v.Edges = append(v.Edges, graphview.Edge{Src: e.Src, Dst: e.Dst, Keywords: strs(e.Props["keywords"]), Weight: e.Weight, Source: sourceOf(e.Props)})
	}
	return v
}

func sourceOf(p graph.Props) graphview.Source {
	n, _ := p["source_count"].(int64)
	return graphview.Source{Texts: fragments(str(p["description"])), Documents: strs(p["paths"]), Chunks: strs(p["sources"]), ChunkCount: int(n)}
}
