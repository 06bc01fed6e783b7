package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/spf13/cobra"
)

func (a *app) statsCommand() *cobra.Command {
	var queries int
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show what the database holds and which models made it",
		Long:  "Stats counts documents, chunks, entities and relations, tells sizes, and names the models that the documents were indexed with,\nthose of the settings beside them where they differ.\n" + recallHelp,
		Example: `  glim stats
  glim stats --recall 100
  glim stats --json --db notes.db`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := bounded("recall", queries, 0, maxRecallQueries); err != nil {
				return err
			}
			return a.with(false, true, func(d *db.DB) error {
				s, err := d.Stats(cmd.Context())
				if a.set.unsized() {
					s.Models.Dim = 0
					if s.Stored != nil && s.Stored.Embedder == s.Models.Embedder {
						s.Models.Dim = s.Stored.Dim
					}
				}
				if err == nil && queries > 0 {
					err = estimateAll(cmd.Context(), d, &s, queries)
				}
				if err != nil {
					return err
				}
				extractors, err := d.Extractors(cmd.Context())
				switch {
				case err != nil:
					return err
				case a.json:
					return a.out.json(struct {
						db.Stats
						Extractors []index.ExtractorUse `json:"extractors"`
					}{s, extractors})
				}
				a.out.printf("%s, commit %d\n", a.where(), s.LSN)
				a.out.printf("  documents  %d%s\n", s.Documents, unfinished(s.Statuses))
				a.out.printf("  chunks     %d\n  entities   %d\n  relations  %d\n", s.Chunks, s.Entities, s.Relations)
				a.out.printf("  on disk    %s\n  vectors    %s in memory\n", bytesOf(s.DiskBytes), bytesOf(s.VectorBytes))
				if n, bytes := kept(s.Caches); n > 0 {
					a.out.printf("  caches     %s in %s\n", bytesOf(bytes), count(n, "entry"))
				}
				for _, name := range slices.Sorted(maps.Keys(s.Collections)) {
					if e := s.Collections[name].Recall; e != nil {
						a.out.printf("  %-10s %s\n", "recall", recallOf(name, e))
					}
				}
				a.models(&s, extractors)
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&queries, "recall", 0, recallUsage)
	return cmd
}

// kept sums what is cached of all kinds.
func kept(all map[db.CacheKind]db.CacheStats) (entries int, bytes int64) {
	for _, c := range all {
		entries += c.Entries
		bytes += c.Bytes
	}
	return entries, bytes
}

// models tells the models that the documents were indexed with, and beside them those of the settings where
// they are others, which cannot be used with this database. Only an extractor can: on documents to come.
func (a *app) models(s *db.Stats, extractors []index.ExtractorUse) {
	made := db.StoredModels{Embedder: s.Models.Embedder, Dim: s.Models.Dim, Tokenizer: s.Models.Tokenizer}
	if s.Stored != nil {
		made = *s.Stored
	}
	row := func(name, stored, set, remedy string) {
		if stored != set {
			stored += "; the settings name " + set + ", which this database cannot use" + remedy
		}
		a.out.printf("  %-10s %s\n", name, stored)
	}
	embedder := func(id string, dim int) string {
		if dim == 0 {
			return id + " (dimension not given)"
		}
		return id + " (" + count(dim, "dimension") + ")"
	}
	row("embedder", embedder(made.Embedder, made.Dim), embedder(s.Models.Embedder, s.Models.Dim), " before `glim reembed`")
	row("tokenizer", made.Tokenizer, s.Models.Tokenizer, "")
	for _, e := range extractors {
		a.out.printf("  extractor  %s (%s)\n", e.ID, count(e.Chunks, "chunk"))
	}
	if !slices.ContainsFunc(extractors, func(e index.ExtractorUse) bool { return e.ID == s.Models.Extractor }) {
		a.out.printf("  extractor  %s, of the settings: no document yet\n", s.Models.Extractor)
	}
	if n := s.Next; n != nil {
		a.out.printf("  next       %s: %d of %s embedded; `glim reembed` goes on\n", embedder(n.Embedder, n.Dim), n.Done, count(n.Total, "text"))
	}
	if s.Models.Reranker != "" {
		a.out.printf("  reranker   %s\n", s.Models.Reranker)
	}
	if s.Models.Chat != "" {
		a.out.printf("  chat       %s\n", s.Models.Chat)
	}
}

// unfinished counts the documents that cannot be found yet.
func unfinished(m map[string]int) string {
	out := ""
	for _, name := range index.Statuses() {
		if m[name] > 0 && name != "processed" {
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
	case n < 1<<10:
		return count(int(n), "byte")
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}
