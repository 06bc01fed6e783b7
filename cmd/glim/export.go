package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/spf13/cobra"
)

func (a *app) exportCommand() *cobra.Command {
	var format string
	var parts []string
	var to target
	var o db.ExportOptions
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write entities, relations and sources as JSON Lines, CSV, GraphML or Markdown",
		Long: `Export writes the knowledge graph for other programs: entities and relations, or with --what what each chunk says about them, too.
Every relation is written once. The format is that of --format, or of the ending of --output (.jsonl, .csv, .graphml, .md).
What a format cannot hold is replaced by something that can be seen; a note counts that. Dump and load move a database.`,
		Example: `  glim export -o graph.graphml
  glim export --what entities -o entities.csv
  glim export --what entities,relations,sources | jq .name`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Format, err = exportFormat(format, to.file); err != nil {
				return err
			}
			if o.Parts, err = exportParts(parts, o.Format); err != nil {
				return err
			}
			var res db.ExportResult
			err = a.with(false, true, func(d *db.DB) error {
				return a.write(to, func(w io.Writer) (err error) {
					res, err = d.Export(cmd.Context(), w, o)
					return err
				})
			})
			if err == nil {
				a.exportNotes(res)
			}
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&format, "format", "f", "", "one of "+joined(db.ExportFormats())+"; by default as --output ends, else jsonl")
	fl.StringSliceVar(&parts, "what", nil, "what to write, some of "+joined(db.ExportParts())+"; by default entities and relations")
	fl.BoolVar(&o.RawCells, "raw-cells", false, "leave CSV cells that begin like a formula as they are, without an apostrophe in front")
	to.flags(fl)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(spelled(db.ExportFormats()), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("what", cobra.FixedCompletions(spelled(db.ExportParts()), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// exportNotes tells what the output holds otherwise than the database.
func (a *app) exportNotes(res db.ExportResult) {
	if res.Replaced > 0 {
		a.err.printf("note: characters that the format cannot hold: %d; a visible one stands for each\n", res.Replaced)
	}
	if res.Guarded > 0 {
		a.err.printf("note: cells that begin like a formula: %d; an apostrophe stands in front of each, which --raw-cells leaves out\n", res.Guarded)
	}
}

// exportFormat is the format asked for, or that of the file's name.
func exportFormat(name, file string) (db.ExportFormat, error) {
	switch f := db.ExportFormat(name); {
	case slices.Contains(db.ExportFormats(), f):
		return f, nil
	case name == "md":
		return db.ExportMarkdown, nil
	case name != "":
		return "", usage("--format %s: want one of %s", name, joined(db.ExportFormats()))
	}
	endings := map[string]db.ExportFormat{"": db.ExportJSONL, ".jsonl": db.ExportJSONL, ".ndjson": db.ExportJSONL, ".csv": db.ExportCSV,
		".graphml": db.ExportGraphML, ".md": db.ExportMarkdown, ".markdown": db.ExportMarkdown}
	ending := strings.ToLower(filepath.Ext(file))
	f, ok := endings[ending]
	if !ok {
		return "", usage("--output %s: the ending %s is of no known format: give one with --format", file, ending)
	}
	return f, nil
}

func exportParts(names []string, f db.ExportFormat) (parts []db.ExportPart, err error) {
	for _, name := range names {
		p := db.ExportPart(name)
		if !slices.Contains(db.ExportParts(), p) {
			return nil, usage("--what %s: want some of %s", name, joined(db.ExportParts()))
		}
		if !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	if f == db.ExportCSV && len(parts) != 1 {
		return nil, usage("CSV holds one table: choose it with --what %s", joined(db.ExportParts()))
	}
	return parts, nil
}

// spelled are names as texts.
func spelled[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	return out
}

// joined lists names in a sentence.
func joined[T ~string](names []T) string { return strings.Join(spelled(names), ", ") }
