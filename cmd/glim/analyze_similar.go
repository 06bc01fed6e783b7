package main

import (
	"errors"
	"io"
	"math"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/spf13/cobra"
)

func (a *app) analyzeSimilar() *cobra.Command {
	var o db.SimilarOptions
	var format string
	var to target
	cmd := &cobra.Command{
		Use:   "similar COLLECTION",
		Short: "List pairs of vectors that are near each other",
		Long: `Similar writes every pair of a vector collection whose score is --min-score or more: chunks, entities, relations, or one of
your own. Near-duplicates among documents are pairs of chunks above 0.95 or so. It is exact and compares every vector with
all others, which takes minutes from 100,000 vectors on.`,
		Example: `  glim analyze similar entities --min-score 0.9
  glim analyze similar chunks --min-score 0.95 --format csv -o duplicates.csv`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			o.Collection = given[0]
			f, all, err := formatted(format, to)
			if err == nil {
				err = bounded("limit", o.Limit, 0, math.MaxInt)
			}
			if err != nil {
				return err
			}
			if o.Format = f; !all && !a.json {
				o.Format = db.ExportMarkdown
			}
			n := 0
			err = a.with(false, true, func(d *db.DB) error {
				return a.write(to, func(w io.Writer) (err error) {
					n, err = d.ExportSimilar(cmd.Context(), w, o)
					if errors.Is(err, db.ErrNotFound) {
						err = d.View(cmd.Context(), func(tx *db.Tx) error { return a.noCollection(tx, o.Collection) })
					}
					return err
				})
			})
			switch {
			case errors.Is(err, graph.ErrLimit):
				return &failure{code: exitFailure, what: plain(err), hint: "raise --min-score or --limit", err: err}
			case err == nil:
				a.err.printf("note: %s of score %s or more\n", count(n, "pair"), number(o.MinScore))
			}
			return err
		},
	}
	fl := cmd.Flags()
	fl.Float64Var(&o.MinScore, "min-score", 0.9, "the least score of a pair: a cosine, a dot product, or an L2 distance negated")
	fl.IntVarP(&o.Limit, "limit", "n", 100_000, "fail beyond this many pairs; 0: no bound")
	fl.StringVarP(&format, "format", "f", "", "csv, jsonl or markdown; by default as --output ends, else a table")
	to.flags(fl)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(spelled(tableFormats()), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
