package main

import (
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/spf13/cobra"
)

func (a *app) graphRelation() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "relation",
		Short: "Look at and change relations: info, create, edit, delete, reset",
		Example: `  glim graph relation info "Maren Holt" "Skarn Light"
  glim graph relation create "Maren Holt" "Harbour Guild" --description "She heads it."`,
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.relationInfo(), a.relationCreate(), a.relationEdit(), a.relationDelete(), a.relationReset())
	return cmd
}

// keywordsHelp tells how to give several.
const keywordsHelp = "keywords, with commas between or the flag repeated"

func (a *app) relationCreate() *cobra.Command {
	var r index.NewRelation
	cmd := &cobra.Command{
		Use:     "create NAME NAME",
		Short:   "State a relation of two entities by hand",
		Long:    "Create states a relation of two known entities by hand. It lives without any document until it is deleted.",
		Example: `  glim graph relation create "Maren Holt" "Harbour Guild" --description "She heads it." --keywords leads --weight 3`,
		Args:    args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			r.Src, r.Dst = given[0], given[1]
			return a.editing(cmd.Context(), nil, func(d *db.DB) (index.EditResult, error) { return d.CreateRelation(cmd.Context(), r) })
		},
	}
	cmd.Flags().StringVar(&r.Description, "description", "", "what relates them; must be given")
	cmd.Flags().StringSliceVar(&r.Keywords, "keywords", nil, keywordsHelp)
	cmd.Flags().Float64Var(&r.Weight, "weight", 1, "strength, above 0 to a million")
	return cmd
}

func (a *app) relationEdit() *cobra.Command {
	var (
		keywords []string
		weight   float64
	)
	cmd := &cobra.Command{
		Use:   "edit NAME NAME",
		Short: "Set description, keywords or weight of a relation by hand",
		Long: `Edit sets what a relation shows, whatever documents say now or later, until ` + "`glim graph relation reset`" + `. A weight is at least
the number of chunks that state the relation.`,
		Example: `  glim graph relation edit "Maren Holt" "Skarn Light" --weight 10 --keywords keeps,repairs`,
		Args:    args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			f := index.RelationFields{Description: text(cmd, "description")}
			if cmd.Flags().Changed("keywords") {
				f.Keywords = append([]string{}, keywords...)
			}
			if cmd.Flags().Changed("weight") {
				f.Weight = &weight
			}
			if f.Description == nil && f.Keywords == nil && f.Weight == nil {
				return misused(cmd, "give --description, --keywords or --weight")
			}
			return a.editing(cmd.Context(), nil, func(d *db.DB) (index.EditResult, error) {
				return d.EditRelation(cmd.Context(), given[0], given[1], f)
			})
		},
	}
	cmd.Flags().String("description", "", "description in place of all that documents say")
	cmd.Flags().StringSliceVar(&keywords, "keywords", nil, keywordsHelp+", in place of all")
	cmd.Flags().Float64Var(&weight, "weight", 0, "strength, at least the number of chunks, to a million")
	return cmd
}

func (a *app) relationDelete() *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME NAME",
		Short: "Delete a relation; its ends stay",
		Long: `Delete removes a relation. Documents do not bring it back, until ` + "`glim graph relation reset`" + ` or ` + "`create`" + `; what was stated by
hand is gone for good.`,
		Example: `  glim graph relation delete "Maren Holt" "Skarn Light"`,
		Args:    args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.editing(cmd.Context(), nil, func(d *db.DB) (index.EditResult, error) {
				return d.DeleteRelation(cmd.Context(), given[0], given[1])
			})
		},
	}
}

func (a *app) relationReset() *cobra.Command {
	return &cobra.Command{
		Use:     "reset NAME NAME",
		Short:   "Take back what was set by hand on a relation, and its deletion",
		Long:    "Reset makes a relation what documents and statements by hand say of it.",
		Example: `  glim graph relation reset "Maren Holt" "Skarn Light"`,
		Args:    args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.editing(cmd.Context(), nil, func(d *db.DB) (index.EditResult, error) {
				return d.ResetRelation(cmd.Context(), given[0], given[1])
			})
		},
	}
}
