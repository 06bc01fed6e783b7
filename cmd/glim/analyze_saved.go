package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph/analytics"
	"github.com/glimdb/db/internal/brief"
	"github.com/spf13/cobra"
)

func (a *app) analyzeList() *cobra.Command {
	var graphName string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List stored results and what they were made from",
		Long:  "List names the results that --save has stored beside a graph, with the commit and the parameters they were made from.",
		Example: `  glim analyze list
  glim analyze list --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(false, true, func(d *db.DB) error {
				list, err := d.Analyses(cmd.Context(), graphName)
				switch {
				case errors.Is(err, db.ErrNotFound):
					return a.noGraph(graphName)
				case err != nil:
					return err
				case a.json:
					if list == nil {
						list = []db.SavedAnalysis{}
					}
					return a.out.json(list)
				case len(list) == 0:
					a.out.printf("nothing is stored; `glim analyze pagerank --save` stores a rank\n")
				}
				for _, s := range list {
					a.out.printf("%s: %s, from commit %d (now %d), %s\n  %s\n", s.Property, count(s.Saved, "node"), s.LSN, d.LSN(),
						s.At.UTC().Format("2006-01-02 15:04:05"), settingsOf(s.Options))
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&graphName, "graph", "", "of this `graph` (default: that of the documents)")
	return cmd
}

// settingsOf lists the parameters of a result as key=value, those that were left at nothing not at all.
func settingsOf(o analytics.Options) string {
	var out []string
	add := func(name string, value any) {
		if !reflect.ValueOf(value).IsZero() {
			out = append(out, fmt.Sprintf("%s=%v", name, value))
		}
	}
	add("algorithm", o.Algorithm)
	add("unweighted", o.Unweighted)
	add("damping", o.Damping)
	add("tolerance", o.Tolerance)
	add("resolution", o.Resolution)
	add("rounds", o.Rounds)
	add("seed", o.Seed)
	if o.From != "" {
		add("from", brief.Quote(o.From))
	}
	add("length", o.Length)
	return strings.Join(out, " ")
}

func properties(list []db.SavedAnalysis) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Property
	}
	return names
}

func (a *app) analyzeDrop() *cobra.Command {
	var graphName string
	cmd := &cobra.Command{
		Use:     "drop PROPERTY",
		Short:   "Remove a stored result",
		Long:    "Drop removes a result that --save has stored, from all nodes. The graph itself stays as it is.",
		Example: `  glim analyze drop pagerank`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.with(false, false, func(d *db.DB) error {
				list, err := d.Analyses(cmd.Context(), graphName)
				if errors.Is(err, db.ErrNotFound) {
					return a.noGraph(graphName)
				}
				if err != nil {
					return err
				}
				if !slices.Contains(properties(list), given[0]) {
					return notFound("`glim analyze list` names what there is", "no stored result %s", brief.Quote(given[0]))
				}
				if err := d.DropAnalysis(cmd.Context(), graphName, given[0]); err != nil {
					return err
				}
				if a.json {
					return a.out.json(map[string]string{"dropped": given[0]})
				}
				a.out.printf("%s dropped\n", brief.Quote(given[0]))
				return nil
			})
		},
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(given) > 0 || a.resolve(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.complete(func(d *db.DB) ([]string, error) {
			list, err := d.Analyses(cmd.Context(), graphName)
			return properties(list), err
		})
	}
	cmd.Flags().StringVar(&graphName, "graph", "", "of this `graph` (default: that of the documents)")
	return cmd
}
