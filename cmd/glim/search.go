package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
	"github.com/spf13/cobra"
)

type searchFlags struct {
	k        int
	full     bool
	entities bool
	filter   queryFilter
}

func (a *app) searchCommand() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search WORDS",
		Short: "Find passages or entities by their words; no model, no retrieval",
		Long: `Search lists the passages that fit some words best, as BM25 scores them: those that hold any of the words, the more and
the rarer the better. Words meet in their stems, so that lamp finds lamps; function words such as "the" are not looked for.

  +word           must be there
  "some words"    must stand there one after the other (quote it for the shell: '"tide mill"')
  begin*          any word that begins so

With --entities it lists entities, by the words of their names and descriptions, where these are indexed: --entity-words on does that,
once, and later inserts keep it up.`,
		Example: `  glim search lighthouse lamp
  glim search '+keeper "tide mill" light*'
  glim search lamp --prefix corpus/ --json
  glim search lighthouse --entities --entity-words on`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := bounded("k", f.k, 1, query.MaxTopK); err != nil {
				return err
			}
			text, err := a.question(given)
			if err != nil {
				return err
			}
			return a.asking(func(d *db.DB) error {
				o := query.TextOptions{K: f.k}
				if o.Filter, err = f.filter.of(cmd.Context(), a, d); err != nil {
					return err
				}
				if f.entities {
					return a.searchEntities(cmd.Context(), d, text, o, f.full)
				}
				return a.searchText(cmd.Context(), d, text, o, f.full)
			})
		},
	}
	fl := cmd.Flags()
	fl.IntVarP(&f.k, "k", "k", 10, "how many passages or entities, 1 to 1000")
	fl.BoolVar(&f.full, "full", false, "show whole passages, or descriptions")
	fl.BoolVar(&f.entities, "entities", false, "find entities instead of passages")
	f.filter.add(cmd)
	return cmd
}

func (a *app) searchText(ctx context.Context, d *db.DB, text string, o query.TextOptions, full bool) error {
	res, err := d.SearchText(ctx, text, o)
	if err != nil {
		return err
	}
	if !res.Complete {
		a.err.printf("note: full-text search does not cover every document yet; what it misses is added in the background while the database is open\n")
	}
	if res.Waiting > 0 {
		if err := a.unsearched(ctx, d); err != nil {
			return err
		}
	}
	if a.json {
		if err := a.out.json(res); err != nil {
			return err
		}
	}
	switch {
	case len(res.Passages) == 0:
		return notFound("", "nothing found: no passage fits %s", strings.Join(append([]string{res.Query}, o.Filter.IDs...), " in "))
	case a.json:
		return nil
	}
	p := &page{output: a.out, full: full}
	p.found(res)
	return nil
}

// found shows the passages of a search by words.
func (p *page) found(r *query.TextResult) {
	p.title("Passages", len(r.Passages), len(r.Passages))
	for i, t := range r.Passages {
		c := query.Chunk{Document: t.Document, Path: t.Path, Order: t.Order, Content: t.Content, Context: t.Context,
			Found: []query.Found{{Via: query.ViaText, Score: query.Some(float32(t.Score))}}}
		p.passage(i, &c)
		room := shownPiece
		if p.full {
			room = max(room, 2*len(c.Content))
		}
		p.excerpt("      ", excerptOf(c.Content, r.Query, room))
	}
	p.lookedFor("passages", r.Terms, r.Ignored, uint64(r.LSN))
}

func (p *page) lookedFor(what string, terms, ignored []string, at uint64) {
	p.printf("\n")
	p.wrapped("", fmt.Sprintf("looked for %s, at commit %d", strings.Join(terms, ", "), at))
	if len(ignored) > 0 {
		p.wrapped("", "not looked for, because "+what+" are not found by them: "+strings.Join(ignored, ", "))
	}
}

func (a *app) searchEntities(ctx context.Context, d *db.DB, text string, o query.TextOptions, full bool) error {
	if a.set.EntityWords == string(index.EntityWordsOn) {
		if err := d.Settle(ctx); err != nil {
			return err
		}
	}
	res, err := d.SearchEntities(ctx, text, o)
	if err != nil {
		return err
	}
	if !res.Complete {
		a.err.printf("note: not every entity is indexed by its words yet; what is missing is added in the background while the database is open\n")
	}
	if res.Waiting > 0 {
		if err := a.unsearched(ctx, d); err != nil {
			return err
		}
	}
	if a.json {
		if err := a.out.json(res); err != nil {
			return err
		}
	}
	switch {
	case len(res.Entities) == 0:
		return notFound("", "nothing found: no entity fits %s", strings.Join(append([]string{res.Query}, o.Filter.IDs...), " in "))
	case a.json:
		return nil
	}
	p := &page{output: a.out, full: full}
	p.title("Entities", len(res.Entities), len(res.Entities))
	for _, e := range res.Entities {
		if p.full {
			p.described(e.Name+bracketed(nil, strings.ToLower(e.Type), count(e.Degree, "relation"), fmt.Sprintf("words %.2f", e.Score)), e.Description)
		} else {
			p.row(e.Name, nameColumns, fmt.Sprintf("words %.2f: %s", e.Score, nearestFragment(e.Description, res.Query)))
		}
	}
	p.lookedFor("entities", res.Terms, res.Ignored, uint64(res.LSN))
	return nil
}
