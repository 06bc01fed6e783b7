package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
	"github.com/spf13/cobra"
)

func (a *app) vectorsStats() *cobra.Command {
	var queries int
	cmd := &cobra.Command{
		Use:   "stats NAME",
		Short: "Show what a collection holds and takes",
		Long:  "Stats counts the vectors of a collection, tells its index and the memory and disk that it takes.\n" + recallHelp,
		Example: `  glim vectors stats words
  glim vectors stats words --recall 100
  glim vectors stats words --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := bounded("recall", queries, 0, maxRecallQueries); err != nil {
				return err
			}
			return a.inCollection(cmd, given[0], func(v *db.Vectors) error {
				row, err := rowOf(given[0], v)
				if err == nil && queries > 0 {
					row.Stats.Recall, err = estimateRecall(v, queries)
				}
				switch {
				case err != nil:
					return err
				case a.json:
					return a.out.json(row)
				}
				a.collection(row)
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&queries, "recall", 0, recallUsage)
	return cmd
}

const (
	recallHelp = `With --recall it searches for that many stored vectors of each index, exactly as well, and tells which share of the ten
nearest the index finds, with bounds of 95 % confidence. That compares every vector each time.`
	recallUsage = "estimate the recall of indexes by so many `searches`, up to 100,000; 0: not"
	// maxRecallQueries takes minutes of most collections and tells a tenth of a point.
	maxRecallQueries = 100_000
)

// estimateRecall searches for stored vectors; the same ones each time, so that runs compare.
func estimateRecall(v *db.Vectors, queries int) (*vector.RecallEstimate, error) {
	e, err := v.EstimateRecall(vector.EstimateOptions{Queries: queries})
	return &e, err
}

// estimateAll estimates the recall of every collection.
func estimateAll(ctx context.Context, d *db.DB, s *db.Stats, queries int) error {
	return d.View(ctx, func(tx *db.Tx) error {
		for name, st := range s.Collections {
			v, err := tx.Vectors(name)
			if err == nil {
				st.Recall, err = estimateRecall(v, queries)
			}
			if err != nil {
				return err
			}
			s.Collections[name] = st
		}
		return nil
	})
}

// recallOf is "chunks 98.7 %, 97.9 to 99.3 % by 100 queries".
func recallOf(name string, e *vector.RecallEstimate) string {
	if e.Queries == 0 {
		return name + " exact"
	}
	return fmt.Sprintf("%s %.1f %%, %.1f to %.1f %% by %s", name, 100*e.Recall, 100*e.Low, 100*e.High, count(e.Queries, "query"))
}

func (a *app) collection(r collectionRow) {
	s := r.Stats
	a.out.printf("%s\n", r.Name)
	a.out.printf("  vectors    %d, %s, %s\n", r.Vectors, r.Metric, count(r.Dim, "dimension"))
	if r.Model != "" {
		a.out.printf("  model      %s\n", r.Model)
	}
	if s.Index == nil {
		a.out.printf("  index      none: every search compares all vectors\n")
	} else {
		shape := count(int(s.Index.Links), "link")
		if s.Index.Cells > 0 {
			shape = count(s.Index.Cells, "cell")
		}
		a.out.printf("  index      %s over %s, %s, %s\n", s.Index.Kind, r.Quantization, count(s.Index.Nodes, "node"), shape)
		a.out.printf("  waiting    %s for the index\n", count(s.Tail, "vector"))
	}
	a.out.printf("  deleted    %s not yet forgotten\n", count(s.Dead, "vector"))
	a.out.printf("  memory     %s: rows %s, codes %s, links %s\n", bytesOf(s.Bytes), bytesOf(s.Memory.Rows), bytesOf(s.Memory.Codes), bytesOf(s.Memory.Links))
	a.out.printf("  on disk    %s in tables\n", bytesOf(s.Disk))
	if s.Recall != nil {
		a.out.printf("  recall     %s\n", strings.TrimPrefix(recallOf("", s.Recall), " "))
	}
}
