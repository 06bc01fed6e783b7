package main

import (
	"errors"

	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

func (a *app) loadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "load [FILE]",
		Short: "Read a dump into an empty database",
		Long:  "Load reads what `glim dump` wrote, from a file or from standard input. It loads everything or nothing;\na database that it made for a dump it cannot load is removed again.",
		Example: `  glim load backup.jsonl --db restored.db
  zstdcat backup.jsonl.zst | glim load --db restored.db`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			r, name, err := a.given(cmd.Context(), given)
			if err != nil {
				return err
			}
			defer r.Close()
			loaded := false
			return a.creating(func() bool { return !loaded }, func(d *db.DB) error {
				n, err := d.Load(cmd.Context(), r)
				loaded = err == nil
				switch {
				case err != nil && cmd.Context().Err() != nil:
					return &failure{code: exitInterrupted, err: err, what: "interrupted: nothing was loaded"}
				case errors.Is(err, db.ErrFormat), errors.Is(err, db.ErrDump):
					return &failure{code: exitFailure, what: name + " cannot be loaded: " + plain(err), hint: "nothing was loaded; a dump is what `glim dump` writes", err: err}
				case err != nil:
					return err
				case a.json:
					return a.out.json(map[string]int{"records": n})
				}
				a.out.printf("%s loaded into %s\n", count(n, "record"), a.where())
				return nil
			})
		},
	}
}
