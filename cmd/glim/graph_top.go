package main

import (
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/spf13/cobra"
)

// entityRow is one entity in lists, also in their JSON form.
type entityRow struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Degree int    `json:"degree"`
}

func (a *app) graphTop() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "top",
		Short: "List the best connected entities",
		Long:  "Top lists the entities with the most relations.",
		Example: `  glim graph top
  glim graph top --limit 100 --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := bounded("limit", limit, 1, graph.MaxPopular); err != nil {
				return err
			}
			return a.inGraph(cmd, func(_ *db.Tx, g *db.Graph) error {
				labels, err := g.PopularLabels(limit)
				if err != nil {
					return err
				}
				rows := make([]entityRow, 0, len(labels))
				for _, l := range labels {
					n, err := g.Node(l.Name)
					if err != nil {
						return err
					}
					rows = append(rows, entityRow{l.Name, n.Type, l.Degree})
				}
				if a.json {
					err = a.out.json(rows)
				}
				switch {
				case err != nil:
					return err
				case len(rows) == 0:
					return a.emptyGraph()
				case a.json:
					return nil
				}
				for _, r := range rows {
					a.out.printf("%5d  %s (%s)\n", r.Degree, r.Name, strings.ToLower(r.Type))
				}
				if st, err := g.Stats(); err != nil {
					return err
				} else if more := int(st.Nodes) - len(rows); more > 0 {
					a.out.printf("%s, see --limit\n", count(more, "more entity"))
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", 20, "how many, 1 to 1,000")
	return cmd
}
