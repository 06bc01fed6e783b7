package main

import (
	"math"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/spf13/cobra"
)

// infoFlags say what to read beside the view.
type infoFlags struct {
	limit  int
	vector bool
}

func (f *infoFlags) add(cmd *cobra.Command) {
	cmd.Flags().IntVarP(&f.limit, "limit", "n", 20, "how many statements, 0 or more")
	cmd.Flags().BoolVar(&f.vector, "vector", false, "with --json: the stored vector, too")
}

func (f *infoFlags) options() (index.InfoOptions, error) {
	return index.InfoOptions{Statements: f.limit, Vector: f.vector}, bounded("limit", f.limit, 0, math.MaxInt32)
}

func (a *app) graphInfo() *cobra.Command {
	var f infoFlags
	cmd := &cobra.Command{
		Use:   "info NAME",
		Short: "Tell where an entity comes from: names, statements, what is set by hand",
		Long: `Info tells what is behind an entity: its aliases, what was set by hand, and the statements of documents and people that it
is made of.
` + nameHelp,
		Example: `  glim graph info "Maren Holt"
  glim graph info "M. Holt" --limit 100 --vector --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			return a.with(false, true, func(d *db.DB) error {
				i, err := d.Entity(cmd.Context(), given[0], o)
				if err != nil {
					return a.editFailure(cmd.Context(), d, err)
				}
				a.meant(given[0], i.Name)
				if a.json {
					return a.out.json(i)
				}
				p := &page{output: a.out, begun: true}
				p.printf("%s (%s, %s)\n", i.Name, strings.ToLower(i.Type), count(i.Degree, "relation"))
				if len(i.Aliases) > 0 {
					p.wrapped("  ", "also "+strings.Join(i.Aliases, ", "))
				}
				p.object(i.Description, &i.ObjectInfo)
				return nil
			})
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) relationInfo() *cobra.Command {
	var f infoFlags
	cmd := &cobra.Command{
		Use:     "info NAME NAME",
		Short:   "Tell where a relation comes from: statements, what is set by hand",
		Long:    "Info tells what is behind a relation, whatever the order of the names.\n" + nameHelp,
		Example: `  glim graph relation info "Maren Holt" "Skarn Light"`,
		Args:    args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			return a.view(cmd.Context(), func(tx *db.Tx) error {
				i, err := tx.Relation(given[0], given[1], o)
				if err != nil {
					return editFailure(err)
				}
				for _, name := range given {
					end, err := tx.Entity(name, index.InfoOptions{})
					if err != nil {
						return err
					}
					a.meant(name, end.Name)
				}
				if a.json {
					return a.out.json(i)
				}
				p := &page{output: a.out, begun: true}
				p.wrapped("", i.Src+" - "+i.Dst+bracketed(i.Keywords, "weight "+number(i.Weight)))
				p.object(i.Description, &i.ObjectInfo)
				return nil
			})
		},
	}
	f.add(cmd)
	return cmd
}

// object prints what entities and relations have in common.
func (p *page) object(description string, i *index.ObjectInfo) {
	for _, fragment := range fragments(description) {
		p.wrapped("  ", fragment)
	}
	var hand []string
	if i.Stated {
		hand = append(hand, "stated")
	}
	if len(i.Set) > 0 {
		hand = append(hand, "set: "+strings.Join(i.Set, ", "))
	}
	if len(hand) > 0 {
		p.printf("  by hand: %s\n", strings.Join(hand, "; "))
	}
	p.printf("  in %s\n", count(i.SourceCount, "chunk"))
	if len(i.Statements) == 0 {
		return
	}
	p.title("Statements", len(i.Statements), len(i.Statements))
	for _, s := range i.Statements {
		from := s.Chunk
		switch {
		case s.Document == "":
			from = "by hand"
		case from == "":
			from = s.Document
		}
		kind := s.Type
		if s.Endpoint {
			kind = "as an end of a relation"
		}
		p.wrapped("  ", from+": "+strings.Join(s.Names, " - ")+bracketed(s.Keywords, kind))
		if s.Description != "" {
			p.wrapped("      ", s.Description)
		}
	}
}
