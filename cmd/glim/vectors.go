package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/vector"
	"github.com/spf13/cobra"
)

func (a *app) vectorsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vectors",
		Short: "Keep vectors of your own: import, search, stats, list",
		Example: `  glim vectors import words glove.fvecs
  glim vectors search words --id 17
  glim vectors stats words
  glim vectors list`,
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.vectorsImport(), a.vectorsSearch(), a.vectorsStats(), a.vectorsList())
	return cmd
}

// collectionRow is one collection in lists and stats, also in their JSON form.
type collectionRow struct {
	Name         string       `json:"name"`
	Vectors      int          `json:"vectors"`
	Metric       string       `json:"metric"`
	Dim          int          `json:"dim"`
	Kind         string       `json:"kind"`
	Quantization string       `json:"quantization"`
	M            int          `json:"m"`
	Ef           int          `json:"ef_construction"`
	Extend       bool         `json:"extend_candidates,omitempty"`
	KeepPruned   bool         `json:"keep_pruned,omitempty"`
	Model        string       `json:"model,omitempty"`
	Documents    bool         `json:"documents"` // written by documents
	Stats        vector.Stats `json:"stats"`
}

func rowOf(name string, v *db.Vectors) (collectionRow, error) {
	n, err := v.Len()
	c := v.Config()
	return collectionRow{
		Name: name, Vectors: n, Metric: c.Metric.String(), Dim: c.Dim, Kind: c.Kind.String(), Quantization: c.Quantization.String(),
		M: c.M, Ef: c.EfConstruction, Extend: c.ExtendCandidates, KeepPruned: c.KeepPruned,
		Model: c.Model, Documents: v.OfDocuments(), Stats: v.Stats(),
	}, err
}

func (a *app) vectorsList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the collections",
		Long:  "List names the collections of vectors: those that were imported, and those that documents write.",
		Example: `  glim vectors list
  glim vectors list --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.view(cmd.Context(), func(tx *db.Tx) error {
				names, err := tx.VectorNames()
				if err != nil {
					return err
				}
				rows := make([]collectionRow, 0, len(names))
				for _, name := range names {
					v, err := tx.Vectors(name)
					if err != nil {
						return err
					}
					row, err := rowOf(name, v)
					if err != nil {
						return err
					}
					rows = append(rows, row)
				}
				switch {
				case a.json:
					return a.out.json(rows)
				case len(rows) == 0:
					a.out.printf("no collections; `glim vectors import NAME FILE` makes one\n")
				}
				for _, r := range rows {
					of := ""
					if r.Documents {
						of = ", of documents"
					}
					a.out.printf("%9d  %s (%s, %s%s)\n", r.Vectors, r.Name, r.Metric, count(r.Dim, "dimension"), of)
				}
				return nil
			})
		},
	}
}

// inCollection runs f on the collection of that name in one view.
func (a *app) inCollection(cmd *cobra.Command, name string, f func(v *db.Vectors) error) error {
	return a.view(cmd.Context(), func(tx *db.Tx) error {
		v, err := tx.Vectors(name)
		if errors.Is(err, db.ErrNotFound) {
			return a.noCollection(tx, name)
		}
		if err != nil {
			return err
		}
		return f(v)
	})
}

func (a *app) noCollection(tx *db.Tx, name string) error {
	names, err := tx.VectorNames()
	if err != nil {
		return err
	}
	hint := "`glim vectors import NAME FILE` makes one"
	if len(names) > 0 {
		hint = "there are " + strings.Join(names, ", ")
	}
	return notFound(hint, "no collection %q in %s", name, a.where())
}

// explainVectors speaks of what vectors and their collections refuse.
func explainVectors(err error, f *failure) bool {
	p, isParameter := errors.AsType[*vector.ParameterError](err)
	c, isConfig := errors.AsType[*vector.ConfigError](err)
	switch {
	case isParameter:
		f.what = fmt.Sprintf("%s is %v, want %s", p.Field, p.Value, p.Want)
	case isConfig:
		f.what = fmt.Sprintf("collection %q was created with %s", c.Collection, differences(&c.Stored, &c.Asked))
		f.hint = "import into another collection, or leave the flags out"
	case errors.Is(err, db.ErrReserved):
		f.hint = "choose another name for vectors of your own"
	case errors.Is(err, db.ErrDimension), errors.Is(err, db.ErrVector):
	default:
		return false
	}
	f.code = exitUsage
	return true
}

// differences names what two configurations have otherwise: "metric l2, not cosine; M 16, not 8".
func differences(stored, asked *vector.Config) string {
	var parts []string
	for _, d := range []struct {
		name       string
		have, want any
	}{
		{"metric", stored.Metric, asked.Metric},
		{"dimension", stored.Dim, asked.Dim},
		{"model", brief.Quote(stored.Model), brief.Quote(asked.Model)},
		{"kind", stored.Kind, asked.Kind},
		{"quantization", stored.Quantization, asked.Quantization},
		{"M", stored.M, asked.M},
		{"efConstruction", stored.EfConstruction, asked.EfConstruction},
		{"extended candidates", stored.ExtendCandidates, asked.ExtendCandidates},
		{"kept pruned links", stored.KeepPruned, asked.KeepPruned},
	} {
		if d.have != d.want {
			parts = append(parts, fmt.Sprintf("%s %v, not %v", d.name, d.have, d.want))
		}
	}
	return strings.Join(parts, "; ")
}
