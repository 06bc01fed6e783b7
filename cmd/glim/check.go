package main

import (
	"context"
	"errors"

	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Compare everything stored with everything else",
		Long: `Check reads the whole database and compares texts, chunks, vectors, graph, sources and statuses in both directions:
those of every workspace, or with --workspace of that one.`,
		Example: `  glim check
  glim check --db backup.db && rm -r old.db`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(false, true, func(d *db.DB) error {
				found := []problem{}
				err := a.eachChecked(cmd.Context(), d, func(w *db.DB) error {
					for p, err := range w.Check(cmd.Context()) {
						if err != nil {
							return err
						}
						found = append(found, problem{w.WorkspaceName(), p})
						if !a.json {
							a.out.printf("%s\n", found[len(found)-1].String())
						}
					}
					return nil
				})
				if err != nil {
					return err
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
					return &failure{code: exitProblems, what: count(len(found), "problem") + " found in " + a.where(),
						hint: "keep a copy of the directory; `glim dump` saves what can be read"}
				}
				return nil
			})
		},
	}
}

// problem is one that check found, and where.
type problem struct {
	Workspace string `json:"workspace,omitempty"`
	db.Problem
}

func (p *problem) String() string {
	if p.Workspace == "" {
		return p.Problem.String()
	}
	return "workspace " + shownWorkspace(p.Workspace) + ": " + p.Problem.String()
}

// eachChecked calls f with a handle on the workspace of the settings, or, where they name none, on each one.
func (a *app) eachChecked(ctx context.Context, d *db.DB, f func(*db.DB) error) error {
	if err := f(d); err != nil || a.set.Workspace != "" {
		return err
	}
	for name, err := range d.Workspaces(ctx) {
		if err != nil {
			return err
		}
		if name == "" {
			continue
		}
		w, err := d.Workspace(name)
		if err != nil {
			return err
		}
		if err := errors.Join(f(w), w.Close()); err != nil { // one at a time in memory
			return err
		}
	}
	return nil
}
