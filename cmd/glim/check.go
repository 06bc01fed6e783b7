package main

import (
	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Compare everything stored with everything else",
		Long:  "Check reads the whole database and compares texts, chunks, vectors, graph, sources and statuses in both directions.",
		Example: `  glim check
  glim check --db backup.db && rm -r old.db`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(false, true, func(d *db.DB) error {
				found := []db.Problem{}
				for p, err := range d.Check(cmd.Context()) {
					if err != nil {
						return err
					}
					found = append(found, p)
					if !a.json {
						a.out.printf("%s\n", p.String())
					}
				}
				switch {
				case a.json:
					if err := a.out.json(found); err != nil {
						return err
					}
				case len(found) == 0:
					a.out.printf("no problems found\n")
				}
				if len(found) > 0 {
					return &failure{code: exitProblems, what: count(len(found), "problem") + " found in " + a.set.DB,
						hint: "keep a copy of the directory; `glim dump` saves what can be read"}
				}
				return nil
			})
		},
	}
}
