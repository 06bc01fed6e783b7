package main

import (
	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

func (a *app) deleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID...",
		Short: "Delete documents and everything that only they say",
		Long: `Delete removes documents in one step; when one of the ids is unknown, nothing is deleted. Entities and relations that
other documents mention stay, and say only what those say.`,
		Example: `  glim delete notes/lamp.md
  glim delete notes/a.md notes/b.md`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.with(false, false, func(d *db.DB) error {
				r, err := d.Delete(cmd.Context(), ids...)
				switch {
				case err != nil:
					return err
				case a.json:
					return a.out.json(r)
				}
				a.out.printf("deleted %s with %s, %s and %s", count(r.Documents, "document"), count(r.Chunks, "chunk"),
					count(r.Entities, "entity"), count(r.Relations, "relation"))
				if r.Rederived > 0 {
					a.out.printf("; %d that others mention, too, were derived again", r.Rederived)
				}
				a.out.printf("\n")
				return nil
			})
		},
	}
}
