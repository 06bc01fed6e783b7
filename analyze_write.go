package db

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/graph/analytics"
	"github.com/glimdb/db/internal/export"
)

// Write writes every node with its value in order of name, as CSV, JSON Lines or a Markdown table of the columns name
// and Column. Cells of CSV that begin like a formula are guarded as in Export. Another format is an *OptionError.
func (a *Analysis) Write(w io.Writer, f ExportFormat) error {
	t := exportTable{kind: "node", title: "Nodes", columns: []export.Attribute{{Name: "name"}, {Name: a.Column()}}}
	return writeTable(w, f, t, func(yield func([]any, error) bool) {
		for name, v := range a.All() {
			if !yield([]any{name, v}, nil) {
				return
			}
		}
	})
}

// Column is what Write calls the value: component or community for a group, else the algorithm's name.
func (a *Analysis) Column() string {
	switch a.Options.Algorithm {
	case analytics.Components, analytics.StrongComponents:
		return "component"
	case analytics.Louvain, analytics.Leiden:
		return "community"
	}
	return string(a.Options.Algorithm)
}

// SimilarOptions say which pairs ExportSimilar writes.
type SimilarOptions struct {
	// Collection is a vector collection, the documents' "chunks", "entities" and "relations" included.
	Collection string
	// MinScore is the least score of a pair; see vector.RangeOptions.
	MinScore float64
	// Limit is the largest number of pairs; 0: all. More are a *graph.LimitError, after that many were written.
	Limit int
	// Format is ExportJSONL, which is the default, ExportCSV or ExportMarkdown.
	Format ExportFormat
}

// ExportSimilar writes the pairs of a collection's vectors that are near each other, columns a, b and score, and returns
// their number. Memory does not grow with it; see Vectors.Pairs for order and cost.
func (d *DB) ExportSimilar(ctx context.Context, w io.Writer, o SimilarOptions) (n int, err error) {
	t := exportTable{kind: "pair", title: "Similar pairs", columns: []export.Attribute{{Name: "a"}, {Name: "b"}, {Name: "score"}}}
	err = d.View(ctx, func(tx *Tx) error {
		v, err := tx.Vectors(o.Collection)
		if err != nil {
			return err
		}
		return writeTable(w, o.Format, t, func(yield func([]any, error) bool) {
			for p, err := range v.Pairs(o.MinScore) {
				if err == nil && o.Limit > 0 && n == o.Limit {
					err = &graph.LimitError{What: "pairs", Limit: o.Limit}
				}
				if err == nil {
					n++
				}
				if !yield([]any{p.A, p.B, shortest(p.Score)}, err) {
					return
				}
			}
		})
	})
	if err != nil {
		return n, fmt.Errorf("db: similar pairs: %w", err)
	}
	return n, nil
}

// shortest is the float64 that prints as x does, without the digits that x never had.
func shortest(x float32) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	return v
}

// writeTable writes rows in a format of tables; empty: ExportJSONL. What was written before an error stays.
func writeTable(w io.Writer, f ExportFormat, t exportTable, rows iter.Seq2[[]any, error]) error {
	o, err := ExportOptions{Format: f, Parts: []ExportPart{ExportEntities}}.withDefaults()
	if err == nil && o.Format == ExportGraphML {
		err = &OptionError{Field: "Format", Value: f, Want: "a format of tables"}
	}
	if err != nil {
		return err
	}
	columns := t.names()
	var row func([]any) error
	end := func() error { return nil }
	switch o.Format {
	case ExportCSV:
		c, err := export.NewCSV(w, columns, false)
		if err != nil {
			return err
		}
		row, end = c.Row, c.Close
	case ExportMarkdown:
		m, err := export.NewMarkdown(w, t.title, columns)
		if err != nil {
			return err
		}
		row, end = m.Row, m.Close
	default:
		row = export.NewJSONL(w, t.kind, columns).Row
	}
	for values, err := range rows {
		if err == nil {
			err = row(values)
		}
		if err != nil {
			_ = end() // what stands is written; err is what matters
			return err
		}
	}
	return end()
}
