package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/export"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// ExportFormat is the form of an export.
type ExportFormat string

// The formats. All are UTF-8; docs/indexing.md tells the columns.
const (
	ExportJSONL    ExportFormat = "jsonl"    // an object a line, with a kind: exact
	ExportCSV      ExportFormat = "csv"      // one table with a row of names; lists are JSON arrays in a cell
	ExportGraphML  ExportFormat = "graphml"  // one graph
	ExportMarkdown ExportFormat = "markdown" // tables for people; what each source says of an object is a line of its description
)

// ExportFormats returns all formats.
func ExportFormats() []ExportFormat {
	return []ExportFormat{ExportJSONL, ExportCSV, ExportGraphML, ExportMarkdown}
}

// ExportPart is a part of what is exported.
type ExportPart string

// The parts.
const (
	ExportEntities  ExportPart = "entities"  // the nodes of the knowledge graph
	ExportRelations ExportPart = "relations" // its edges, each once, src <= dst
	ExportSources   ExportPart = "sources"   // what each chunk, document or person says about them
)

// ExportParts returns all parts.
func ExportParts() []ExportPart {
	return []ExportPart{ExportEntities, ExportRelations, ExportSources}
}

// ExportOptions say what an export holds.
type ExportOptions struct {
	// Format is the form; empty: ExportJSONL.
	Format ExportFormat
	// Parts are what is written, in the order of ExportParts whatever theirs. Empty: entities and relations; CSV
	// takes exactly one. In GraphML the entities are there whatever is asked for, since edges need their ends, but bare if they are not.
	Parts []ExportPart
	// RawCells leaves CSV cells that a spreadsheet would take for a formula as they are. Otherwise they, and cells
	// that begin with an apostrophe, get an apostrophe in front.
	RawCells bool
}

// ExportResult tells what was written.
type ExportResult struct {
	LSN       kv.LSN `json:"lsn"` // of the view
	Entities  int    `json:"entities"`
	Relations int    `json:"relations"`
	Sources   int    `json:"sources"`
	// Replaced counts characters that the format cannot hold: a control character is shown by its picture (U+2400 to U+2421),
	// another by U+FFFD.
	Replaced int `json:"replaced,omitempty"`
	// Guarded counts CSV cells that begin like a formula.
	Guarded int `json:"guarded,omitempty"`
}

func (o ExportOptions) withDefaults() (ExportOptions, error) {
	if o.Format == "" {
		o.Format = ExportJSONL
	}
	if !slices.Contains(ExportFormats(), o.Format) {
		return o, &OptionError{Field: "Format", Value: o.Format, Want: fmt.Sprint("one of ", ExportFormats())}
	}
	for _, p := range o.Parts {
		if !slices.Contains(ExportParts(), p) {
			return o, &OptionError{Field: "Parts", Value: p, Want: fmt.Sprint("some of ", ExportParts())}
		}
	}
	if len(o.Parts) == 0 {
		o.Parts = []ExportPart{ExportEntities, ExportRelations}
	}
	asked := o.Parts
	o.Parts = slices.DeleteFunc(ExportParts(), func(p ExportPart) bool { return !slices.Contains(asked, p) })
	if o.Format == ExportCSV && len(o.Parts) > 1 {
		return o, &OptionError{Field: "Parts", Value: o.Parts, Want: "one part: CSV holds one table"}
	}
	return o, nil
}

// Export writes entities, relations and their sources for other programs, as one view shows them, in a fixed order
// and with memory that does not grow with their number. Whatever texts hold, the output is valid. Dump and Load are
// for moving a database; an export is not read back.
//
// Options out of range are an *OptionError. An error of w ends the export.
func (d *DB) Export(ctx context.Context, w io.Writer, o ExportOptions) (ExportResult, error) {
	o, err := o.withDefaults()
	if err != nil {
		return ExportResult{}, err
	}
	res, err := reading(ctx, d, "Export", func(ctx context.Context, s *state, r kv.Reader) (ExportResult, error) {
		x := &exporter{ctx: ctx, ws: s.name, r: r, w: w, o: o, res: ExportResult{LSN: r.LSN()}}
		if x.graph, err = graph.Open(r, x.ws, record.GraphName); ignore(err, ErrNotFound) != nil {
			return x.res, err
		}
		if o.Format == ExportGraphML {
			return x.res, x.graphML()
		}
		for _, p := range o.Parts {
			if err := x.table(tables[p], p); err != nil {
				return x.res, err
			}
		}
		return x.res, nil
	})
	if err != nil {
		return res, fmt.Errorf("db: export: %w", err)
	}
	return res, nil
}

// exporter is one Export call.
type exporter struct {
	ctx   context.Context
	ws    string
	r     kv.Reader
	w     io.Writer
	o     ExportOptions
	graph *graph.Graph // nil while there is none
	res   ExportResult
}

// exportTable is a part as a table. The first ends columns name what a row is about.
type exportTable struct {
	kind, title string
	ends        int
	columns     []export.Attribute
	rows        func(x *exporter) iter.Seq2[[]any, error]
	count       func(r *ExportResult) *int
}

var ofBoth = []export.Attribute{{Name: "sources", Type: "string"}, {Name: "source_count", Type: "long"}, {Name: "paths", Type: "string"},
	{Name: "created_at", Type: "string"}}

var tables = map[ExportPart]exportTable{
	ExportEntities: {"entity", "Entities", 1, append([]export.Attribute{{Name: "name", Type: "string"}, {Name: "type", Type: "string"},
		{Name: "description", Type: "string"}, {Name: "degree", Type: "long"}}, ofBoth...),
		(*exporter).entities, func(r *ExportResult) *int { return &r.Entities }},
	ExportRelations: {"relation", "Relations", 2, append([]export.Attribute{{Name: "src", Type: "string"}, {Name: "dst", Type: "string"},
		{Name: "weight", Type: "double"}, {Name: "keywords", Type: "string"}, {Name: "description", Type: "string"}}, ofBoth...),
		(*exporter).relations, func(r *ExportResult) *int { return &r.Relations }},
	ExportSources: {"source", "Sources", 1, []export.Attribute{{Name: "object", Type: "string"}, {Name: "about", Type: "string"},
		{Name: "names", Type: "string"}, {Name: "document", Type: "string"}, {Name: "chunk", Type: "string"}, {Name: "path", Type: "string"},
		{Name: "type", Type: "string"}, {Name: "description", Type: "string"}, {Name: "keywords", Type: "string"}, {Name: "weight", Type: "double"}},
		(*exporter).sources, func(r *ExportResult) *int { return &r.Sources }},
}

func (t exportTable) names() []string {
	columns := make([]string, len(t.columns))
	for i, c := range t.columns {
		columns[i] = c.Name
	}
	return columns
}

// each calls f with the rows of a part, and counts them.
func (x *exporter) each(p ExportPart, f func(row []any) error) error {
	n := tables[p].count(&x.res)
	for row, err := range tables[p].rows(x) {
		if err == nil {
			err = x.ctx.Err()
		}
		if err == nil {
			err = f(row)
		}
		if err != nil {
			return err
		}
		*n++
	}
	return nil
}

// table writes a part in a format of tables.
func (x *exporter) table(t exportTable, p ExportPart) error {
	columns := t.names()
	var err error
	switch x.o.Format {
	case ExportCSV:
		var c *export.CSV
		if c, err = export.NewCSV(x.w, columns, x.o.RawCells); err == nil {
			err = errors.Join(x.each(p, c.Row), c.Close())
			x.note(c.Notes)
		}
	case ExportMarkdown:
		var m *export.Markdown
		if m, err = export.NewMarkdown(x.w, t.title, columns); err == nil {
			if err = x.each(p, func(row []any) error { return m.Row(t.readable(row)) }); err == nil {
				err = m.Close()
			}
			x.note(m.Notes)
		}
	default:
		j := export.NewJSONL(x.w, t.kind, columns)
		err = x.each(p, j.Row)
		x.note(j.Notes)
	}
	return err
}

// readable puts the fragments of descriptions on lines of their own.
func (t exportTable) readable(row []any) []any {
	for i, c := range t.columns {
		if s, ok := row[i].(string); ok && c.Name == "description" {
			row[i] = strings.ReplaceAll(s, index.Separator, "\n")
		}
	}
	return row
}

func (x *exporter) note(n export.Notes) {
	x.res.Replaced += n.Replaced
	x.res.Guarded += n.Guarded
}

func (x *exporter) entities() iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		if x.graph == nil {
			return
		}
		for n, err := range x.graph.AllNodes(x.r) {
			var row []any
			if err == nil {
				var e record.Entity
				e, err = record.EntityOf(n.Name, n.Type, n.Props)
				row = []any{e.Name, e.Type, e.Description, int64(n.Degree), e.Sources, int64(e.SourceCount), e.Paths, time.Unix(e.CreatedAt, 0)}
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

func (x *exporter) relations() iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		if x.graph == nil {
			return
		}
		for e, err := range x.graph.AllEdges(x.r) {
			var row []any
			if err == nil {
				var v record.Relation
				v, err = record.RelationOf(e.Src, e.Dst, e.Weight, e.Props)
				row = []any{v.Src, v.Dst, v.Weight, v.Keywords, v.Description, v.Sources, int64(v.SourceCount), v.Paths, time.Unix(v.CreatedAt, 0)}
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

func (x *exporter) sources() iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for s, err := range index.Statements(x.r, x.ws) {
			row := []any{s.Object, s.Kind, s.Names, s.Document, s.Chunk, s.Path, s.Type, s.Description, s.Keywords, any(nil)}
			if s.Kind == "relation" {
				row[len(row)-1] = s.Weight
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
