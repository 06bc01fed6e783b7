package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/spf13/cobra"
)

func (a *app) docsCommand() *cobra.Command {
	var f filterFlags
	var text, chunks bool
	cmd := &cobra.Command{
		Use:   "docs [ID]",
		Short: "List documents with their status, or show one",
		Long: `Docs lists the documents with status and counts, or tells about one: how it was cut, what was found in it, what was dropped
and why. --chunks shows its chunks: id, place in the text in bytes, tokens, and the headings above it, then the text.`,
		Example: `  glim docs
  glim docs --status failed
  glim docs --prefix notes/ --metadata year=2026
  glim docs notes/lamp.md
  glim docs notes/lamp.md --text
  glim docs notes/lamp.md --chunks`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			filter, any, err := f.filter()
			switch {
			case err != nil:
				return err
			case len(given) == 0 && (text || chunks):
				return misused(cmd, "--text and --chunks need the id of a document")
			case text && chunks:
				return misused(cmd, "--text and --chunks exclude each other")
			}
			return a.with(false, true, func(d *db.DB) error {
				if len(given) == 0 {
					return a.docs(cmd.Context(), d, filter, any)
				}
				ids, err := a.ids(cmd.Context(), d, given)
				switch {
				case err != nil:
					return err
				case text:
					return a.docText(cmd.Context(), d, ids[0])
				case chunks:
					return a.docChunks(cmd.Context(), d, ids[0])
				}
				return a.doc(cmd.Context(), d, ids[0])
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&text, "text", false, "print the text of the document")
	cmd.Flags().BoolVar(&chunks, "chunks", false, "print the chunks of the document")
	return cmd
}

func (a *app) docs(ctx context.Context, d *db.DB, f index.Filter, filtered bool) error {
	n := 0
	all := []index.Info{}
	for i, err := range d.Documents(ctx, f) {
		if err != nil {
			return err
		}
		n++
		if a.json {
			all = append(all, i)
			continue
		}
		a.out.printf("%-10s %11s %13s %14s  %s\n", i.Status, count(i.Chunks, "chunk"), count(i.Entities, "entity"), count(i.Relations, "relation"), i.ID)
		if i.Error != "" {
			a.out.printf("%11s%s\n", "", i.Error)
		}
		for _, w := range i.Warnings {
			a.out.printf("%11snote: %s\n", "", w)
		}
	}
	switch {
	case a.json:
		return a.out.json(all)
	case n == 0 && filtered:
		a.out.printf("no such documents\n")
	case n == 0:
		a.out.printf("no documents; insert some with `glim insert`\n")
	}
	return nil
}

func (a *app) docText(ctx context.Context, d *db.DB, id string) error {
	t, err := d.Text(ctx, id)
	switch {
	case err != nil:
		return err
	case a.json:
		return a.out.json(map[string]string{"id": id, "text": t})
	}
	_, err = fmt.Fprintln(a.out, t)
	return err
}

func (a *app) docChunks(ctx context.Context, d *db.DB, id string) error {
	n := 0
	all := []index.Chunk{}
	for c, err := range d.Chunks(ctx, id, 0) {
		if err != nil {
			return err
		}
		n++
		if a.json {
			all = append(all, c)
			continue
		}
		above := ""
		if c.Context != "" {
			above = ", under " + c.Context
		}
		a.out.printf("%s: bytes %d to %d, %s%s\n", c.ID, c.Start, c.End, count(c.Tokens, "token"), above)
		for line := range strings.Lines(c.Content) {
			a.out.printf("    %s\n", strings.TrimRight(line, "\r\n"))
		}
	}
	switch {
	case a.json:
		return a.out.json(all)
	case n == 0:
		a.out.printf("no chunks\n")
	}
	return nil
}

// doc tells all about one document.
func (a *app) doc(ctx context.Context, d *db.DB, id string) error {
	i, err := d.Document(ctx, id)
	switch {
	case err != nil:
		return err
	case a.json:
		return a.out.json(i)
	}
	row := func(name, value string) {
		if value != "" {
			a.out.printf("  %-11s %s\n", name, value)
		}
	}
	a.out.printf("%s\n", i.ID)
	row("status", i.Status)
	row("error", i.Error)
	if i.Replacing {
		row("", serving(&i))
	}
	if i.Path != i.ID {
		row("path", i.Path)
	}
	for _, k := range slices.Sorted(maps.Keys(i.Metadata)) {
		row("metadata", k+"="+index.FormatMetadata(i.Metadata[k]))
	}
	row("text", bytesOf(int64(i.Bytes)))
	row("cut", cutBy(i.Chunking))
	row("found", fmt.Sprintf("%s, %s, %s", count(i.Chunks, "chunk"), count(i.Entities, "entity"), count(i.Relations, "relation")))
	row("dropped", reasonsOf(i.Dropped))
	row("repaired", reasonsOf(i.Repaired))
	if i.Truncated > 0 {
		row("cut off", count(i.Truncated, "model reply"))
	}
	if i.Removed > 0 {
		row("removed", count(i.Removed, "unusable character"))
	}
	for _, w := range i.Warnings {
		row("note", w)
	}
	for _, u := range i.Spent {
		if u.Calls > 0 {
			row("models", fmt.Sprintf("%s (%s): %s, %d + %d tokens", u.Model, u.Purpose, count(u.Calls, "call"), u.PromptTokens, u.CompletionTokens))
		}
	}
	if i.Cost > 0 {
		row("cost", fmt.Sprintf("%.4g", i.Cost))
	}
	if len(i.Unpriced) > 0 {
		row("no price of", strings.Join(i.Unpriced, ", "))
	}
	row("created", i.CreatedAt.Local().Format(time.DateTime))
	if !i.UpdatedAt.IsZero() && !i.UpdatedAt.Equal(i.EndedAt) {
		row("updated", i.UpdatedAt.Local().Format(time.DateTime))
	}
	if !i.EndedAt.IsZero() {
		row("processed", i.EndedAt.Local().Format(time.DateTime)+" in "+short(i.EndedAt.Sub(i.StartedAt)))
	}
	if i.Priority != 0 {
		row("priority", fmt.Sprint(i.Priority))
	}
	row("track", i.Track)
	return nil
}

// serving says which version of a document is found while another one is not processed.
func serving(i *index.Info) string {
	if i.Error != "" {
		return "the version before this one still serves; `glim retry` tries this one again"
	}
	return "the version before this one serves until this one is processed"
}

// reasonsOf lists counts by reason.
func reasonsOf(m map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%d %s", m[name], strings.ReplaceAll(name, "_", " ")))
	}
	return strings.Join(parts, ", ")
}
