package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/spf13/cobra"
)

func (a *app) docsCommand() *cobra.Command {
	var f index.Filter
	var text bool
	cmd := &cobra.Command{
		Use:   "docs [ID]",
		Short: "List documents with their status, or show one",
		Example: `  glim docs
  glim docs --status failed
  glim docs notes/lamp.md --text`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.with(false, true, func(d *db.DB) error {
				switch {
				case len(given) == 1 && text:
					t, err := d.Text(cmd.Context(), given[0])
					if err == nil {
						_, err = fmt.Fprintln(a.out, t)
					}
					return err
				case len(given) == 1:
					i, err := d.Document(cmd.Context(), given[0])
					if err != nil {
						return err
					}
					return a.printJSON(i)
				case text:
					return usage(errors.New("--text needs the id of a document"))
				}
				return a.list(cmd, d, f)
			})
		},
	}
	cmd.Flags().StringVar(&f.Status, "status", "", "only pending, processing, processed or failed ones")
	cmd.Flags().StringVar(&f.PathPrefix, "prefix", "", "only those whose path begins so")
	cmd.Flags().StringVar(&f.Track, "track", "", "only those of one insert")
	cmd.Flags().BoolVar(&text, "text", false, "print the text of the document")
	return cmd
}

func (a *app) list(cmd *cobra.Command, d *db.DB, f index.Filter) error {
	n := 0
	var all []index.Info
	for i, err := range d.Documents(cmd.Context(), f) {
		if err != nil {
			return err
		}
		n++
		if a.json {
			all = append(all, i)
			continue
		}
		fmt.Fprintf(a.out, "%-10s %4d chunks %5d entities %5d relations  %s\n", i.Status, i.Chunks, i.Entities, i.Relations, printable(i.ID))
		if i.Error != "" {
			fmt.Fprintf(a.out, "%11s%s\n", "", i.Error)
		}
		for _, w := range i.Warnings {
			fmt.Fprintf(a.out, "%11snote: %s\n", "", w)
		}
	}
	if a.json {
		return a.printJSON(nonNil(all))
	}
	if n == 0 {
		fmt.Fprintln(a.out, "no documents")
	}
	return nil
}

func (a *app) deleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID...",
		Short: "Delete documents and everything that only they say",
		Long:  "Delete removes documents in one step. Entities and relations that other documents mention stay, and say only what those say.",
		Example: `  glim delete notes/lamp.md
  glim delete notes/a.md notes/b.md`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.with(false, false, func(d *db.DB) error {
				r, err := d.Delete(cmd.Context(), ids...)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(r)
				}
				fmt.Fprintf(a.out, "deleted %s with %s, %s and %s; %d shared ones were derived again\n", count(r.Documents, "document"),
					count(r.Chunks, "chunk"), count(r.Entities, "entity"), count(r.Relations, "relation"), r.Rederived)
				return nil
			})
		},
	}
}

func (a *app) retryCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "retry [ID...]",
		Short: "Try failed documents again, all of them when none is named",
		Example: `  glim retry
  glim retry notes/lamp.md`,
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.with(false, false, func(d *db.DB) error {
				if _, err := d.Retry(cmd.Context(), ids...); err != nil {
					return err
				}
				bar := newProgress(a.err)
				s, err := d.Process(cmd.Context(), index.ProcessOptions{Progress: bar.event})
				bar.end()
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(s)
				}
				fmt.Fprintf(a.out, "%s processed, %d failed\n", count(s.Processed, "document"), s.Failed)
				for id, e := range s.Errors {
					fmt.Fprintf(a.out, "  %s: %s\n", printable(id), e)
				}
				if s.Failed > 0 {
					return &exitError{exitPartial, fmt.Errorf("%s failed again", count(s.Failed, "document"))}
				}
				return nil
			})
		},
	}
}

func (a *app) statsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "Show what the database holds and which models made it", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(false, true, func(d *db.DB) error {
				s, err := d.Stats(cmd.Context())
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(s)
				}
				fmt.Fprintf(a.out, "%s, LSN %d\n", a.set.DB, s.LSN)
				fmt.Fprintf(a.out, "  documents  %d%s\n", s.Documents, statuses(s.Statuses))
				fmt.Fprintf(a.out, "  chunks     %d\n  entities   %d\n  relations  %d\n", s.Chunks, s.Entities, s.Relations)
				fmt.Fprintf(a.out, "  on disk    %s\n  vectors    %s in memory\n", bytesOf(s.DiskBytes), bytesOf(s.VectorBytes))
				fmt.Fprintf(a.out, "  embedder   %s (%d dimensions)\n  extractor  %s\n  tokenizer  %s\n", s.Models.Embedder, s.Models.Dim, s.Models.Extractor, s.Models.Tokenizer)
				if s.Models.Chat != "" {
					fmt.Fprintf(a.out, "  chat       %s\n", s.Models.Chat)
				}
				return nil
			})
		},
	}
}

func statuses(m map[string]int) string {
	out := ""
	for _, name := range []string{"pending", "processing", "failed"} {
		if m[name] > 0 {
			out += fmt.Sprintf(", %d %s", m[name], name)
		}
	}
	return out
}

func bytesOf(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Compare everything stored with everything else", Args: args(cobra.NoArgs),
		Long: "Check reads the whole database and compares texts, chunks, vectors, graph, sources and statuses in both directions.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(false, true, func(d *db.DB) error {
				var found []db.Problem
				for p, err := range d.Check(cmd.Context()) {
					if err != nil {
						return err
					}
					found = append(found, p)
					if !a.json {
						fmt.Fprintln(a.out, p)
					}
				}
				if a.json {
					if err := a.printJSON(nonNil(found)); err != nil {
						return err
					}
				}
				if len(found) > 0 {
					return &exitError{exitProblems, fmt.Errorf("%s found", count(len(found), "problem"))}
				}
				if !a.json {
					fmt.Fprintln(a.out, "no problems found")
				}
				return nil
			})
		},
	}
}

func (a *app) dumpCommand() *cobra.Command {
	var file string
	var logical bool
	cmd := &cobra.Command{
		Use: "dump", Short: "Write everything as JSON Lines", Args: args(cobra.NoArgs),
		Long: "Dump writes the whole logical state, sorted, one JSON object a line; `glim load` reads it back.",
		Example: `  glim dump --output backup.jsonl
  glim dump | zstd > backup.jsonl.zst`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(false, true, func(d *db.DB) error {
				return toFile(a.out, file, func(w io.Writer) error { return d.Dump(cmd.Context(), w, db.DumpOptions{Logical: logical}) })
			})
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this `file` instead of standard output")
	cmd.Flags().BoolVar(&logical, "logical", false, "leave out what may differ between equal databases (times)")
	return cmd
}

func (a *app) loadCommand() *cobra.Command {
	return &cobra.Command{
		Use: "load [FILE]", Short: "Read a dump into an empty database", Args: args(cobra.MaximumNArgs(1)),
		Example: `  glim load backup.jsonl --db restored.db
  zstdcat backup.jsonl.zst | glim load --db restored.db`,
		RunE: func(cmd *cobra.Command, given []string) error {
			r := a.in
			if len(given) == 1 && given[0] != stdinArg {
				f, err := os.Open(given[0])
				if err != nil {
					return err
				}
				defer f.Close()
				r = f
			}
			return a.with(true, false, func(d *db.DB) error {
				n, err := d.Load(cmd.Context(), r)
				if err == nil && !a.json {
					fmt.Fprintf(a.out, "%s loaded\n", count(n, "record"))
				}
				return err
			})
		},
	}
}
