package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/brief"
	"github.com/spf13/cobra"
)

// graphEdits are the commands that change the graph by hand.
func (a *app) graphEdits() []*cobra.Command {
	return []*cobra.Command{a.graphInfo(), a.graphCreate(), a.graphEdit(), a.graphRename(), a.graphMerge(), a.graphAlias(), a.graphUnalias(),
		a.graphDelete(), a.graphReset(), a.graphRelation(), a.graphInsert()}
}

// editing runs one edit and tells what changed; told, unless nil, says what that means.
func (a *app) editing(ctx context.Context, told func(r *index.EditResult) string, edit func(d *db.DB) (index.EditResult, error)) error {
	return a.with(false, false, func(d *db.DB) error {
		r, err := edit(d)
		if err != nil {
			return a.editFailure(ctx, d, err)
		}
		for _, n := range r.Resolved {
			a.meant(n.Given, n.Name)
		}
		if a.json {
			return a.out.json(r)
		}
		what := "nothing had to change"
		if changed := len(r.Entities) + len(r.Relations); r.LSN != 0 && (changed > 0 || told == nil) {
			what = fmt.Sprintf("%s and %s changed", count(len(r.Entities), "entity"), count(len(r.Relations), "relation"))
		} else if r.LSN != 0 {
			what = ""
		}
		if told != nil {
			what = strings.TrimSuffix(told(&r)+"; "+what, "; ")
		}
		a.out.printf("%s\n", what)
		return nil
	})
}

// entityOf is the entity that a name given to an edit was taken for.
func entityOf(r *index.EditResult, given string) string {
	for _, n := range r.Resolved {
		if n.Given == given {
			return n.Name
		}
	}
	return index.NormalizeName(given)
}

// editFailure is editFailure with the names that come near one that is not there.
func (a *app) editFailure(ctx context.Context, d *db.DB, err error) error {
	none, missing := errors.AsType[*index.NoObjectError](err)
	if !missing || none.Deleted || len(none.Names) != 1 {
		return editFailure(err)
	}
	return d.View(ctx, func(tx *db.Tx) error {
		g, err := tx.Graph(db.KnowledgeGraph)
		if err != nil { // there is none yet, and no name in it
			return editFailure(none)
		}
		return noEntity(g, none.Names[0])
	})
}

// editFailure puts a refused edit, or look-up, into words.
func editFailure(err error) error {
	none, missing := errors.AsType[*index.NoObjectError](err)
	several, ambiguous := errors.AsType[*index.AmbiguousError](err)
	e, refused := errors.AsType[*index.EditError](err)
	switch {
	case missing:
		return &failure{code: exitNotFound, what: plain(none), hint: absenceHint(none), err: err}
	case ambiguous:
		return &failure{code: exitNotFound, what: plain(several), hint: "letter case tells them apart: " + strings.Join(several.Candidates, ", "), err: err}
	case refused && errors.Is(err, db.ErrNotFound):
		return &failure{code: exitNotFound, what: plain(e), hint: "`glim graph info NAME` lists the names of an entity", err: err}
	case refused:
		f := &failure{code: exitUsage, what: plain(e), err: err}
		if errors.Is(err, db.ErrNameTaken) && strings.HasPrefix(e.Op, "rename") {
			f.hint = "`glim graph merge` makes two entities one"
		}
		return f
	}
	return err
}

// absenceHint tells what to do about an entity or a relation that is not there.
func absenceHint(none *index.NoObjectError) string {
	relation := len(none.Names) > 1
	switch {
	case none.Deleted && relation:
		return "`glim graph relation reset` brings back what documents say of it"
	case none.Deleted:
		return "`glim graph reset` brings back what documents say of it"
	case relation:
		return "`glim graph show NAME` lists the relations of an entity"
	}
	return "`glim graph search TEXT` finds names by a part of them"
}

// text is the value of a flag that was given, nil otherwise.
func text(cmd *cobra.Command, flag string) *string {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	s, err := cmd.Flags().GetString(flag)
	if err != nil {
		return nil // not a flag of that kind
	}
	return &s
}

func (a *app) graphCreate() *cobra.Command {
	var e index.NewEntity
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "State an entity by hand",
		Long: `Create states an entity by hand. It lives without any document until it is deleted; documents that mention it add to its
description and sources.`,
		Example: `  glim graph create "Harbour Guild" --type organization --description "The guild of the pilots."`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			e.Name = given[0]
			return a.editing(cmd.Context(), nil, func(d *db.DB) (index.EditResult, error) { return d.CreateEntity(cmd.Context(), e) })
		},
	}
	cmd.Flags().StringVar(&e.Type, "type", "", "type of the entity; none: UNKNOWN, until a document knows one")
	cmd.Flags().StringVar(&e.Description, "description", "", "what it is; must be given")
	return cmd
}

func (a *app) graphEdit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "Set type or description of an entity by hand",
		Long:  "Edit sets what an entity shows, whatever documents say now or later, until `glim graph reset`.",
		Example: `  glim graph edit "Maren Holt" --description "Keeper of the Skarn light since 1998."
  glim graph edit "Skarn Light" --type lighthouse`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			f := index.EntityFields{Type: text(cmd, "type"), Description: text(cmd, "description")}
			if f == (index.EntityFields{}) {
				return misused(cmd, "give --type or --description")
			}
			return a.editing(cmd.Context(), nil, func(d *db.DB) (index.EditResult, error) { return d.EditEntity(cmd.Context(), given[0], f) })
		},
	}
	cmd.Flags().String("type", "", "type of the entity")
	cmd.Flags().String("description", "", "description in place of all that documents say")
	return cmd
}

func (a *app) graphRename() *cobra.Command {
	return &cobra.Command{
		Use:   "rename NAME NEW-NAME",
		Short: "Give an entity another name",
		Long: `Rename gives an entity another name. The old one becomes an alias: it is still found, and documents that use it, now or
later, speak of the renamed entity. ` + "`glim graph unalias`" + ` with the old name undoes it.`,
		Example: `  glim graph rename "M. Holt" "Maren Holt"`,
		Args:    args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.editing(cmd.Context(), nil, func(d *db.DB) (index.EditResult, error) { return d.RenameEntity(cmd.Context(), given[0], given[1]) })
		},
	}
}

func (a *app) graphMerge() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge INTO NAME...",
		Short: "Make several entities one",
		Long: `Merge makes several entities one, as if documents had always used one name: descriptions, sources and relations come
together, relations between them vanish, the names become aliases. INTO may be one of them, another entity, or new.
` + "`glim graph unalias`" + ` parts them again.`,
		Example: `  glim graph merge "Maren Holt" "M. Holt" "the keeper"`,
		Args:    args(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			m := index.Merge{Into: given[0], From: given[1:], Set: index.EntityFields{Type: text(cmd, "type"), Description: text(cmd, "description")}}
			return a.editing(cmd.Context(), nil, func(d *db.DB) (index.EditResult, error) { return d.MergeEntities(cmd.Context(), m) })
		},
	}
	cmd.Flags().String("type", "", "type of the one entity, in place of the vote")
	cmd.Flags().String("description", "", "description of the one entity, in place of all")
	return cmd
}

func (a *app) graphAlias() *cobra.Command {
	return &cobra.Command{
		Use:     "alias NAME ALIAS",
		Short:   "Give an entity one more name",
		Long:    "Alias gives an entity one more name: it is found by it, and documents that use it speak of the entity.",
		Example: `  glim graph alias "Skarn Light" "the old lamp"`,
		Args:    args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			told := func(r *index.EditResult) string {
				return brief.Quote(index.NormalizeName(given[1])) + " is a name of " + entityOf(r, given[0])
			}
			return a.editing(cmd.Context(), told, func(d *db.DB) (index.EditResult, error) { return d.AddAlias(cmd.Context(), given[0], given[1]) })
		},
	}
}

func (a *app) graphUnalias() *cobra.Command {
	return &cobra.Command{
		Use:     "unalias ALIAS",
		Short:   "Take a name off an entity: undo a rename, merge or alias",
		Long:    "Unalias takes a name off an entity. What documents say under that name is an entity of its own again.",
		Example: `  glim graph unalias "the keeper"`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			told := func(r *index.EditResult) string {
				return brief.Quote(given[0]) + " is no name of " + entityOf(r, given[0]) + " any more"
			}
			return a.editing(cmd.Context(), told, func(d *db.DB) (index.EditResult, error) { return d.RemoveAlias(cmd.Context(), given[0]) })
		},
	}
}

func (a *app) graphDelete() *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete an entity and its relations",
		Long: `Delete removes an entity and its relations from the graph. Documents do not bring it back, until ` + "`glim graph reset`" + ` or
` + "`glim graph create`" + `; what was stated by hand is gone for good. Chunks and documents stay.`,
		Example: `  glim graph delete "Figure 1"`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.editing(cmd.Context(), nil, func(d *db.DB) (index.EditResult, error) { return d.DeleteEntity(cmd.Context(), given[0]) })
		},
	}
}

func (a *app) graphReset() *cobra.Command {
	return &cobra.Command{
		Use:     "reset NAME",
		Short:   "Take back what was set by hand on an entity, and its deletion",
		Long:    "Reset makes an entity what documents and statements by hand say of it. Its names stay.",
		Example: `  glim graph reset "Maren Holt"`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.editing(cmd.Context(), nil, func(d *db.DB) (index.EditResult, error) { return d.ResetEntity(cmd.Context(), given[0]) })
		},
	}
}
