package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/glimdb/db"
	"github.com/glimdb/db/internal/brief"
	"github.com/spf13/cobra"
)

func (a *app) workspaceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workspace",
		Short: "See which workspaces a database has, or remove one: list, drop",
		Long: `A workspace is a database of its own inside the same directory: its own documents, graph, vectors and caches, and its
own models. Every command works in the one that --workspace names, or else in the default one, which has no name.
A workspace is there from the first document on.`,
		Example: `  glim workspace list
  glim insert notes --workspace notes
  glim workspace drop notes`,
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.workspaceList(), a.workspaceDrop())
	return cmd
}

// workspaceEntry is a workspace as `glim workspace list` tells of it.
type workspaceEntry struct {
	Name      string `json:"name"` // "": the default one
	Documents int    `json:"documents"`
	Entities  int    `json:"entities"`
	Relations int    `json:"relations"`
}

func (a *app) workspaceList() *cobra.Command {
	var long bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the workspaces of the database",
		Long:  "List names the workspaces that hold anything, one a line; the default one is (default). With --long it tells what each holds, and reads all of them.",
		Example: `  glim workspace list
  glim workspace list --long
  glim workspace list --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.set.Workspace = ""
			return a.with(false, true, func(d *db.DB) error {
				entries := []workspaceEntry{}
				for name, err := range d.Workspaces(cmd.Context()) {
					e := workspaceEntry{Name: name}
					if err == nil && (long || a.json) {
						e, err = entryOf(cmd.Context(), d, name)
					}
					if err != nil {
						return err
					}
					entries = append(entries, e)
				}
				if a.json {
					return a.out.json(entries)
				}
				for _, e := range entries {
					a.out.printf("%s", shownWorkspace(e.Name))
					if long {
						a.out.printf("  %s, %s, %s", count(e.Documents, "document"), count(e.Entities, "entity"), count(e.Relations, "relation"))
					}
					a.out.printf("\n")
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVarP(&long, "long", "l", false, "tell how much each holds")
	return cmd
}

// entryOf counts what a workspace holds, and lets memory go of it again.
func entryOf(ctx context.Context, d *db.DB, name string) (workspaceEntry, error) {
	w, err := d.Workspace(name)
	if err != nil {
		return workspaceEntry{}, err
	}
	s, err := w.Stats(ctx)
	return workspaceEntry{name, s.Documents, s.Entities, s.Relations}, errors.Join(err, w.Close())
}

// shownWorkspace is a name as a person may type it: odd ones are quoted, and a workspace called (default) is, too.
func shownWorkspace(name string) string {
	switch {
	case name == "":
		return "(default)"
	case name == "(default)" || brief.Quote(name) != `"`+name+`"`:
		return brief.Quote(name)
	}
	return name
}

func (a *app) workspaceDrop() *cobra.Command {
	var byDefault bool
	cmd := &cobra.Command{
		Use:   "drop NAME | --default",
		Short: "Remove a workspace with all that it holds",
		Long: `Drop removes a workspace: documents, graph, vectors, caches. It cannot be taken back; ` + "`glim dump --workspace NAME`" + ` before
keeps a copy. What to drop is always named: the default workspace, which is emptied, by --default.`,
		Example: `  glim workspace drop notes
  glim workspace drop --default`,
		Args:              args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: a.completeWorkspaces,
		RunE: func(cmd *cobra.Command, given []string) error {
			name := ""
			if len(given) == 1 {
				name = given[0]
			}
			if byDefault == (name != "") {
				return misused(cmd, "name the workspace to drop, or the default one by --default")
			}
			a.set.Workspace = ""
			return a.with(false, false, func(d *db.DB) error {
				err := d.DropWorkspace(cmd.Context(), name)
				switch {
				case errors.Is(err, db.ErrNotFound):
					return a.noWorkspace(name)
				case err != nil:
					return err
				case a.json:
					return a.out.json(map[string]string{"dropped": name})
				}
				a.out.printf("%s dropped\n", shownWorkspace(name))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&byDefault, "default", false, "empty the default workspace")
	return cmd
}

func (a *app) noWorkspace(name string) error {
	return notFound("`glim workspace list` shows all", "no workspace %s in %s", shownWorkspace(name), a.set.DB)
}

// known fails when d has no workspace of that name, which a misspelt --workspace would look like an empty one.
func (a *app) known(d *db.DB, name string) error {
	for have, err := range d.Workspaces(context.Background()) {
		if err != nil {
			return err
		}
		if have == name {
			return nil
		}
	}
	return a.noWorkspace(name)
}

// completeWorkspaces offers the names of the workspaces; none where the database cannot be read.
func (a *app) completeWorkspaces(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	if err := a.resolve(cmd); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	a.set.Workspace = ""
	return a.complete(func(d *db.DB) (names []string, err error) {
		for name, err := range d.Workspaces(cmd.Context()) {
			if err != nil {
				return nil, err
			}
			names = append(names, name)
		}
		return names, nil
	})
}

// complete offers names that a database holds. Those that a shell cannot take, or that would look like others, are left out.
func (a *app) complete(list func(*db.DB) ([]string, error)) (names []string, _ cobra.ShellCompDirective) {
	err := a.with(false, true, func(d *db.DB) (err error) {
		names, err = list(d)
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
	}), cobra.ShellCompDirectiveNoFileComp
}

// where is the database, and the workspace in it unless that is the default one.
func (a *app) where() string {
	if a.set.Workspace == "" {
		return a.set.DB
	}
	return "workspace " + shownWorkspace(a.set.Workspace) + " of " + a.set.DB
}
