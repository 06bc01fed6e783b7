package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/spf13/cobra"
)

// enqueueBytes is how much text is put into one enqueue commit: few commits for many small files, and
// memory for one large one.
const enqueueBytes = 16 << 20

type insertFlags struct {
	encoding, stdinID string
	noReplace, dryRun bool
	workers           int
}

func (a *app) insertCommand() *cobra.Command {
	var f insertFlags
	cmd := &cobra.Command{
		Use:   "insert PATH...",
		Short: "Index files, folders, globs or standard input",
		Long: `Insert reads text, Markdown and HTML files and makes them part of the knowledge graph. A file's path as you write it is
the document's id: inserting a changed file again replaces it, an unchanged one costs nothing. Folders are walked; hidden
files and what is no text are left out.

Bytes that are no UTF-8 are refused with the likely encoding named, since a wrong guess would store garbage; UTF-16 and
declared HTML encodings are read. Interrupt with Ctrl-C at any time: what is done is kept, and the next insert goes on.`,
		Example: `  glim insert notes/ README.md
  glim insert 'chapters/*.txt'
  curl -s https://example.com/page.html | glim insert - --id page.html
  glim insert old/ --encoding shift_jis`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error { return a.insert(cmd.Context(), given, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.encoding, "encoding", autoEncoding, "encoding of the files: auto, or a name such as shift_jis")
	fl.StringVar(&f.stdinID, "id", "stdin", "document `id` of standard input")
	fl.BoolVar(&f.noReplace, "no-replace", false, "refuse changed documents instead of replacing them")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show what would be read, store nothing")
	fl.IntVar(&f.workers, "workers", 0, "documents processed at the same time (default 3)")
	return cmd
}

// inserted is the result of an insert, also its JSON form.
type inserted struct {
	Documents []index.Outcome   `json:"documents"`
	Refused   map[string]string `json:"refused"` // path -> reason
	Skipped   []string          `json:"skipped"` // no text, found inside a folder
	Summary   index.Summary     `json:"summary"`
}

func (a *app) insert(ctx context.Context, paths []string, f insertFlags) error {
	in, errs := expand(paths)
	res := inserted{Documents: []index.Outcome{}, Refused: map[string]string{}, Skipped: []string{}}
	for _, err := range errs {
		a.refuse(&res, err)
	}
	if f.dryRun {
		return a.dryRun(ctx, in, f, &res)
	}
	err := a.with(true, false, func(d *db.DB) error {
		if err := a.enqueue(ctx, d, in, f, &res); err != nil {
			return err
		}
		bar := newProgress(a.err)
		s, err := d.Process(ctx, index.ProcessOptions{Workers: f.workers, Progress: bar.event})
		bar.end()
		res.Summary = s
		if err != nil {
			return err
		}
		return a.report(ctx, d, &res)
	})
	if err != nil {
		return err
	}
	if n := len(res.Refused) + res.Summary.Failed; n > 0 {
		return &exitError{exitPartial, fmt.Errorf("%s could not be indexed, everything else is", count(n, "input"))}
	}
	return nil
}

// refuse notes one input that cannot become a document and says so at once.
func (a *app) refuse(res *inserted, err error) {
	name := ""
	if ie, ok := errors.AsType[*inputError](err); ok {
		name, err = ie.path, ie.err
	}
	res.Refused[filepath.ToSlash(name)] = err.Error()
	fmt.Fprintf(a.err, "refused: %s: %v\n", printable(name), err)
}

// enqueue reads, decodes and stores the inputs in batches.
func (a *app) enqueue(ctx context.Context, d *db.DB, in []input, f insertFlags, res *inserted) error {
	policy := index.Put
	if f.noReplace {
		policy = index.Insert
	}
	var (
		batch []index.Document
		size  int
	)
	flush := func() error {
		docs := batch
		batch, size = nil, 0
		return a.enqueueBatch(ctx, d, policy, docs, res)
	}
	for doc, err := range a.documents(ctx, in, f, res) {
		if err != nil {
			a.refuse(res, err)
			continue
		}
		if size+len(doc.Text) > enqueueBytes && len(batch) > 0 {
			if err := flush(); err != nil {
				return err
			}
		}
		batch = append(batch, doc)
		size += len(doc.Text)
	}
	return errors.Join(ctx.Err(), flush())
}

// enqueueBatch stores a batch. When some documents are refused, those are noted and the others stored.
func (a *app) enqueueBatch(ctx context.Context, d *db.DB, policy index.Policy, docs []index.Document, res *inserted) error {
	r, err := d.Enqueue(ctx, policy, docs...)
	if refused := refusedDocuments(err); len(refused) > 0 {
		for _, e := range refused {
			a.refuse(res, &inputError{docs[e.Index].ID, e.Err})
		}
		kept := slices.Collect(func(yield func(index.Document) bool) {
			for i, doc := range docs {
				if !slices.ContainsFunc(refused, func(e *index.DocumentError) bool { return e.Index == i }) && !yield(doc) {
					return
				}
			}
		})
		r, err = d.Enqueue(ctx, policy, kept...)
	}
	res.Documents = append(res.Documents, r.Documents...)
	return err
}

// refusedDocuments takes a joined error apart.
func refusedDocuments(err error) []*index.DocumentError {
	if err == nil {
		return nil
	}
	if e, ok := err.(*index.DocumentError); ok { //nolint:errorlint // each member of the join is looked at by itself
		return []*index.DocumentError{e}
	}
	var out []*index.DocumentError
	switch u := err.(type) { //nolint:errorlint // walks the tree itself
	case interface{ Unwrap() []error }:
		for _, e := range u.Unwrap() {
			out = append(out, refusedDocuments(e)...)
		}
	case interface{ Unwrap() error }:
		out = refusedDocuments(u.Unwrap())
	}
	return out
}

// documents yields the inputs as documents. What is no text inside a folder is skipped, not an error.
func (a *app) documents(ctx context.Context, in []input, f insertFlags, res *inserted) func(func(index.Document, error) bool) {
	return func(yield func(index.Document, error) bool) {
		for file, err := range read(ctx, in, a.in, f.stdinID) {
			text := ""
			if err == nil {
				text, err = decode(file, f.encoding)
			}
			if file.walked && (errors.Is(err, errNotText) || errors.Is(err, errEmpty)) {
				res.Skipped = append(res.Skipped, file.id)
				continue
			}
			if !yield(index.Document{ID: file.id, Path: file.id, Text: text, Time: file.time}, err) {
				return
			}
		}
	}
}

func (a *app) dryRun(ctx context.Context, in []input, f insertFlags, res *inserted) error {
	total := 0
	for doc, err := range a.documents(ctx, in, f, res) {
		if err != nil {
			a.refuse(res, err)
			continue
		}
		total += len(doc.Text)
		res.Documents = append(res.Documents, index.Outcome{ID: doc.ID, Result: "would be read"})
		if !a.json {
			fmt.Fprintf(a.out, "%8d bytes  %s\n", len(doc.Text), printable(doc.ID))
		}
	}
	if a.json {
		return a.printJSON(res)
	}
	fmt.Fprintf(a.out, "%s, %d bytes; nothing was stored\n", count(len(res.Documents), "document"), total)
	return ctx.Err()
}

// report tells what became of the inputs.
func (a *app) report(ctx context.Context, d *db.DB, res *inserted) error {
	if a.json {
		return a.printJSON(res)
	}
	unchanged := 0
	for _, o := range res.Documents {
		if o.Result == index.Unchanged {
			unchanged++
			continue
		}
		i, err := d.Document(ctx, o.ID)
		if err != nil {
			return err
		}
		if i.Error != "" {
			fmt.Fprintf(a.out, "  %s: failed: %s\n", printable(o.ID), i.Error)
			continue
		}
		fmt.Fprintf(a.out, "  %s: %s, %s, %s\n", printable(o.ID), count(i.Chunks, "chunk"), count(i.Entities, "entity"), count(i.Relations, "relation"))
		for _, w := range i.Warnings {
			fmt.Fprintf(a.out, "    note: %s\n", w)
		}
	}
	if unchanged > 0 {
		fmt.Fprintf(a.out, "  %s unchanged\n", count(unchanged, "document"))
	}
	for _, s := range res.Skipped {
		fmt.Fprintf(a.out, "  %s: skipped, no text\n", printable(s))
	}
	st, err := d.Stats(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s now holds %s, %s, %s, %s\n", a.set.DB, count(st.Documents, "document"), count(st.Chunks, "chunk"),
		count(st.Entities, "entity"), count(st.Relations, "relation"))
	return nil
}
