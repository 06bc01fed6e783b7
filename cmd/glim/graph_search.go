package main

import (
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/brief"
	"github.com/spf13/cobra"
)

// foundRow is an entity, and the alias by which it was found where its name does not hold the text.
type foundRow struct {
	entityRow
	Alias string `json:"alias,omitempty"`
}

func (a *app) graphSearch() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "search TEXT",
		Short: "Find entities by a part of their name",
		Long:  "Search lists the entities whose names or aliases contain the text, whatever its case, the best matches first.",
		Example: `  glim graph search harbour
  glim graph search 灯塔 --limit 10`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			switch err := bounded("limit", limit, 1, graph.MaxSearch); {
			case err != nil:
				return err
			case strings.TrimSpace(given[0]) == "":
				return usage("the text to search for is empty")
			}
			return a.inGraph(cmd, func(tx *db.Tx, g *db.Graph) error {
				found, err := tx.SearchNames(given[0], limit)
				if err != nil {
					return err
				}
				rows := make([]foundRow, 0, len(found))
				for _, m := range found {
					n, err := g.Node(m.Name)
					if err != nil {
						return err
					}
					rows = append(rows, foundRow{entityRow{n.Name, n.Type, n.Degree}, m.Alias})
				}
				if a.json {
					err = a.out.json(rows)
				}
				switch {
				case err != nil:
					return err
				case len(rows) == 0:
					return notFound("", "no entity has %s in its name", brief.Quote(given[0]))
				case a.json:
					return nil
				}
				for _, r := range rows {
					also := ""
					if r.Alias != "" {
						also = ", also " + r.Alias
					}
					a.out.printf("%5d  %s (%s)%s\n", r.Degree, r.Name, strings.ToLower(r.Type), also)
				}
				if len(rows) == limit && limit < graph.MaxSearch {
					a.out.printf("there may be more, see --limit\n")
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", 50, "how many, 1 to 100")
	return cmd
}
