package main

import (
	"context"
	"maps"
	"slices"

	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

func (a *app) retryCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "retry [ID...]",
		Short: "Try documents again that failed or are incomplete, all of them when none is named",
		Long: `Retry puts documents back into the queue that failed, or for which a reply of the model was cut off or of no use, and
works off all that wait. Model replies that arrived before are not paid again. A document stays visible as it is until it is done.`,
		Example: `  glim retry
  glim retry notes/lamp.md`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.with(false, false, func(d *db.DB) error {
				ids, err := a.ids(cmd.Context(), d, ids)
				if err != nil {
					return err
				}
				tried, err := d.Retry(cmd.Context(), ids...)
				if err != nil {
					return err
				}
				s, err := a.process(cmd.Context(), d, 0)
				if err == nil {
					err = a.stillLacking(cmd.Context(), d, tried)
				}
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

// stillLacking tells which of the documents that were tried again are incomplete still.
func (a *app) stillLacking(ctx context.Context, d *db.DB, ids []string) error {
	for _, id := range ids {
		i, err := d.Document(ctx, id)
		if err != nil {
			return err
		}
		if n := i.Truncated + i.Unusable; n > 0 && i.Error == "" {
			a.err.printf("note: %s: %s of the model cut off or of no use again\n", id, count(n, "reply"))
		}
	}
	return nil
}
