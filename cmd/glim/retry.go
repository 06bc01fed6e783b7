package main

import (
	"maps"
	"slices"

	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

func (a *app) retryCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "retry [ID...]",
		Short: "Try failed documents again, all of them when none is named",
		Long:  "Retry puts failed documents back into the queue and works off all that wait. Model replies that arrived before are not paid again.",
		Example: `  glim retry
  glim retry notes/lamp.md`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.with(false, false, func(d *db.DB) error {
				ids, err := a.ids(cmd.Context(), d, ids)
				if err != nil {
					return err
				}
				if _, err := d.Retry(cmd.Context(), ids...); err != nil {
					return err
				}
				s, err := a.process(cmd.Context(), d, 0)
				switch {
				case err != nil:
					return err
				case a.json:
					if err := a.out.json(s); err != nil {
						return err
					}
				default:
					a.out.printf("%s processed, %d failed\n", count(s.Processed, "document"), s.Failed)
					for _, id := range slices.Sorted(maps.Keys(s.Errors)) {
						a.out.printf("  %s: %s\n", id, s.Errors[id])
					}
				}
				if s.Failed > 0 {
					return &failure{code: exitPartial, what: count(s.Failed, "document") + " failed again"}
				}
				return nil
			})
		},
	}
}
