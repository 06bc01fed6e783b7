package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/index/format"
	"github.com/spf13/cobra"
)

const (
	// enqueueBytes is how much text is put into one enqueue commit: few commits for many small files, and
	// memory for one large one.
	enqueueBytes = 16 << 20
	// maxWorkers is the library's own bound.
	maxWorkers = 64
	// shownDocuments is how many documents the report names one by one.
	shownDocuments = 20
)

type insertFlags struct {
	format, stdinID   string
	decode            format.Options
	chunking          chunkFlags
	noReplace, dryRun bool
	workers           int
	metadata          []string
	clear             bool // metadata
	track             string
	priority          int8

	meta map[string]any // of metadata
}

func (a *app) insertCommand() *cobra.Command {
	var f insertFlags
	cmd := &cobra.Command{
		Use:   "insert PATH...",
		Short: "Index files, folders, globs or standard input",
		Long: `Insert reads files and makes them part of the knowledge graph: text, Markdown, HTML, PDF, Word (docx), JSON, and tables as
CSV, TSV or JSON lines, of which each row is a document. A file's path as you write it (./a and a are the same) is the document's
id, with #ID after it for a row: inserting a changed file again replaces it, an unchanged one costs nothing.

Folders are walked. Left out in them are hidden files and folders, such as .git. Skipped, and named, are databases (glim's
own and others of Pebble, RocksDB or LevelDB), bare Git repositories, links, pipes and devices, empty files and what is no
text, such as pictures. The same named on the command line itself is refused; a link or a pipe named there is read.

Globs that the shell left as they are (in quotes, say) are expanded as a shell does: nothing hidden but where the pattern
itself has the dot, {a,b} for either, and ** for any number of folders, which are walked as above.

Bytes that are no UTF-8 are read as UTF-16 or a Chinese, Japanese or Korean encoding when they leave no doubt, with a note, and as
what an HTML page declares; else they are refused with the likely encoding named, since a wrong guess would store garbage.
Chunks are windows of tokens unless --chunker says otherwise. A file that is inserted again is cut as before unless a flag says how, and keeps
the --metadata it was given; those given now stand over them, --clear-metadata drops them. A row has its own fields and what this
command gives. Interrupt with Ctrl-C at any time: what is done is kept, and the next insert goes on.`,
		Example: `  glim insert notes/ README.md
  glim insert 'chapters/*.txt' 'notes/**/*.{md,txt}'
  curl -s https://example.com/page.html | glim insert - --id page.html
  glim insert old/ --encoding shift_jis
  glim insert handbook.docx docs/ --chunker markdown --chunk-size 800
  glim insert products.csv --text-field description --id-field sku
  glim insert reports/ --metadata year=2026 --metadata 'tags=["board","draft"]' --priority 5`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			return a.insert(cmd.Context(), given, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", autoFormat, "`format` of the files: auto, "+formatNames())
	fl.StringVar(&f.decode.Encoding, "encoding", autoFormat, "encoding of the files: auto, or a name such as shift_jis")
	fl.StringVar(&f.decode.TextField, "text-field", "", "`field` of a row that is its text; the others become metadata (default text, content or body; else all fields)")
	fl.StringVar(&f.decode.IDField, "id-field", "", "`field` that tells rows apart (default id, _id or key; else the row's number)")
	f.chunking.add(fl)
	fl.StringVar(&f.stdinID, "id", "stdin", "document `id` of standard input")
	fl.BoolVar(&f.noReplace, "no-replace", false, "refuse changed documents instead of replacing them")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show what would be read, store nothing")
	fl.StringArrayVarP(&f.metadata, "metadata", "m", nil, "`key=value` kept with every document, may be repeated; numbers, true, false and JSON lists of texts are kept as such; a row's own fields win")
	fl.BoolVar(&f.clear, "clear-metadata", false, "drop what an earlier insert gave a file as metadata")
	fl.StringVar(&f.track, "track", "", "name of this insert, for glim docs --track (default: one is made)")
	fl.Int8Var(&f.priority, "priority", 0, "documents of higher priority are processed first, -128 to 127")
	fl.IntVar(&f.workers, "workers", 3, "documents processed at the same time, 1 to 64")
	return cmd
}

func (f *insertFlags) validate() error {
	var err error
	if f.decode.Format, err = formatFlag(f.format); err != nil {
		return err
	}
	if err := f.decode.Validate(); err != nil {
		return usage("--encoding: %s", strings.TrimPrefix(err.Error(), format.ErrOption.Error()+": "))
	}
	if err := f.chunking.validate(); err != nil {
		return err
	}
	if f.meta, err = metadataOf(f.metadata); err != nil {
		return err
	}
	return bounded("workers", f.workers, 1, maxWorkers)
}

// inserted is the result of an insert, also its JSON form.
type inserted struct {
	Track     string            `json:"track,omitempty"` // for docs --track and delete --track
	Documents []index.Outcome   `json:"documents"`
	Refused   map[string]string `json:"refused"` // path -> reason
	Skipped   map[string]string `json:"skipped"` // path, found inside a folder -> reason
	Summary   index.Summary     `json:"summary"`
	// Notes tell by path what was assumed about a file or left out of it.
	Notes map[string][]string `json:"notes,omitempty"`

	missing int // of Refused: inputs that are not there
}

func (r *inserted) skip(path string, why error) { r.Skipped[filepath.ToSlash(path)] = plain(why) }

// noted keeps what a file's report tells, and says it.
func (a *app) noted(res *inserted, path string, how format.Report) {
	if len(how.Notes) == 0 {
		return
	}
	if res.Notes == nil {
		res.Notes = make(map[string][]string)
	}
	res.Notes[path] = how.Notes
	for _, n := range how.Notes {
		a.err.printf("note: %s: %s\n", path, n)
	}
}

// code is the exit code of an insert that could not take every input: another one where all that was named is not there.
func (r *inserted) code() int {
	if r.missing > 0 && r.missing == len(r.Refused)+r.Summary.Failed && len(r.Documents) == 0 {
		return exitNotFound
	}
	return exitPartial
}

// err is the end of an insert that could not take every input.
func (r *inserted) err() error {
	if n := len(r.Refused) + r.Summary.Failed; n > 0 {
		return &failure{code: r.code(), what: count(n, "input") + " could not be indexed, " + count(r.Summary.Processed, "document") + " could"}
	}
	return nil
}

func (a *app) insert(ctx context.Context, paths []string, f insertFlags) error {
	res := inserted{Track: f.track, Documents: []index.Outcome{}, Refused: map[string]string{}, Skipped: map[string]string{}}
	in, errs := expand(paths, res.skip)
	for _, err := range errs {
		a.refuse(&res, err)
	}
	switch {
	case f.dryRun:
		return a.dryRun(ctx, in, f, &res)
	case len(in) == 0: // no database is made for nothing
		if a.json {
			return errors.Join(a.out.json(&res), res.err())
		}
		a.skipped(&res)
		if err := res.err(); err != nil {
			return err
		}
		a.out.printf("nothing to insert\n")
		return nil
	}
	if err := a.readAhead(ctx, in); err != nil {
		return err
	}
	return a.creating(func() bool { return len(res.Documents) == 0 }, func(d *db.DB) error {
		err := a.enqueue(ctx, d, in, f, &res)
		if err == nil {
			res.Summary, err = a.process(ctx, d, f.workers)
		}
		if ctx.Err() != nil && len(res.Documents) == 0 {
			return &failure{code: exitInterrupted, err: ctx.Err(), what: "interrupted: nothing was stored"}
		}
		if ctx.Err() != nil {
			return &failure{code: exitInterrupted, err: ctx.Err(), hint: "run the same command again to go on; no model reply is paid twice",
				what: "interrupted: " + count(res.Summary.Processed, "document") + " done, the others wait"}
		}
		if err == nil {
			err = a.report(ctx, d, &res)
		}
		if err == nil {
			err = res.err()
		}
		return err
	})
}

// process works off what waits and shows how far it is.
func (a *app) process(ctx context.Context, d *db.DB, workers int) (index.Summary, error) {
	bar := newProgress(a.err)
	defer bar.end()
	return d.Process(ctx, index.ProcessOptions{Workers: workers, Progress: bar.event})
}

// refuse notes one input that cannot become a document and says so at once.
func (a *app) refuse(res *inserted, err error) {
	name := ""
	if ie, ok := errors.AsType[*inputError](err); ok {
		name, err = ie.path, ie.err
	}
	if _, twice := res.Refused[filepath.ToSlash(name)]; !twice && errors.Is(err, fs.ErrNotExist) {
		res.missing++
	}
	res.Refused[filepath.ToSlash(name)] = plain(err)
	if name == "" {
		name = `""`
	}
	a.err.printf("refused: %s: %s\n", name, plain(err))
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
		if err := asBefore(ctx, d, docs, f.clear); err != nil {
			return err
		}
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

// asBefore leaves what this insert does not say of documents that are stored already: how they are cut and, unless it is
// to be cleared, metadata of documents that are a whole file. A row's metadata are its fields, which may have gone.
func asBefore(ctx context.Context, d *db.DB, docs []index.Document, clear bool) error {
	for i := range docs {
		doc := &docs[i]
		was, err := d.Document(ctx, doc.ID)
		if errors.Is(err, db.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if doc.Chunking == nil && slices.Contains(chunk.Methods(), was.Chunking.Method) {
			doc.Chunking = &was.Chunking
		}
		if doc.ID == doc.Path && !clear {
			doc.Metadata = over(doc.Metadata, was.Metadata)
		}
	}
	return nil
}

// enqueueBatch stores a batch. When some documents are refused, those are noted and the others stored. All batches of
// an insert have one track.
func (a *app) enqueueBatch(ctx context.Context, d *db.DB, policy index.Policy, docs []index.Document, res *inserted) error {
	for i := range docs {
		docs[i].Track = res.Track
	}
	r, err := d.Enqueue(ctx, policy, docs...)
	if refused := allOf[*index.DocumentError](err); len(refused) > 0 {
		bad := make(map[int]bool, len(refused))
		for _, e := range refused {
			bad[e.Index] = true
			a.refuse(res, &inputError{docs[e.Index].ID, refusal(e)})
		}
		var kept []index.Document
		for i, doc := range docs {
			if !bad[i] {
				kept = append(kept, doc)
			}
		}
		r, err = d.Enqueue(ctx, policy, kept...)
	}
	res.Documents = append(res.Documents, r.Documents...)
	res.Track = cmp.Or(res.Track, r.Track)
	return err
}

// refusal is the reason of a refused document in words of the command.
func refusal(e *index.DocumentError) error {
	if errors.Is(e, db.ErrDuplicate) {
		return errors.New("another text is stored under this id; leave out --no-replace to replace it")
	}
	return e.Err
}

// documents yields the inputs as documents. What is no text inside a folder is skipped, not an error.
func (a *app) documents(ctx context.Context, in []input, f insertFlags, res *inserted) iter.Seq2[index.Document, error] {
	return func(yield func(index.Document, error) bool) {
		for file, err := range read(ctx, in, a.in, f.stdinID) {
			var (
				docs []index.Document
				how  format.Report
			)
			if err == nil {
				docs, how, err = decode(ctx, file, f.decode)
			}
			if file.walked && (errors.Is(err, format.ErrNotText) || errors.Is(err, format.ErrEmpty)) {
				res.skip(file.id, errors.Unwrap(err))
				continue
			}
			if err != nil {
				if !yield(index.Document{}, err) {
					return
				}
				continue
			}
			if own := fieldsOfRows(docs, file.id, f.meta); len(own) > 0 {
				how.Notes = append(how.Notes, "rows keep their own "+strings.Join(own, ", ")+", whatever --metadata says")
			}
			a.noted(res, file.id, how)
			for _, doc := range docs {
				if doc.ID == file.id {
					doc.Metadata = over(f.meta, doc.Metadata)
				} else {
					doc.Metadata = over(doc.Metadata, f.meta)
				}
				doc.Priority, doc.Chunking = f.priority, f.chunking.spec
				if !yield(doc, nil) {
					return
				}
			}
		}
	}
}

// over are the entries of upper, and those of lower beside them.
func over(upper, lower map[string]any) map[string]any {
	if len(upper) == 0 {
		return lower
	}
	all := maps.Clone(lower)
	if all == nil {
		all = make(map[string]any)
	}
	maps.Copy(all, upper)
	return all
}

// fieldsOfRows are the keys of given that documents which are rows of a file have, too.
func fieldsOfRows(docs []index.Document, file string, given map[string]any) []string {
	own := make(map[string]bool)
	for _, doc := range docs {
		for k := range given {
			if _, has := doc.Metadata[k]; has && doc.ID != file {
				own[k] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(own))
}

func (a *app) dryRun(ctx context.Context, in []input, f insertFlags, res *inserted) error {
	var total int64
	for doc, err := range a.documents(ctx, in, f, res) {
		if err != nil {
			a.refuse(res, err)
			continue
		}
		total += int64(len(doc.Text))
		res.Documents = append(res.Documents, index.Outcome{ID: doc.ID, Result: "would be read"})
		if !a.json {
			a.out.printf("%10s  %s\n", bytesOf(int64(len(doc.Text))), doc.ID)
		}
	}
	if a.json {
		if err := a.out.json(res); err != nil {
			return err
		}
	} else {
		a.skipped(res)
		a.out.printf("%s, %s of text; nothing was stored\n", count(len(res.Documents), "document"), bytesOf(total))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if n := len(res.Refused); n > 0 {
		return &failure{code: res.code(), what: count(n, "input") + " could not be read"}
	}
	return nil
}

// report tells what became of the inputs: every failure, and the first of the others one by one.
func (a *app) report(ctx context.Context, d *db.DB, res *inserted) error {
	if a.json {
		return a.out.json(res)
	}
	unchanged, shown, more := 0, 0, 0
	for _, o := range res.Documents {
		if o.Result == index.Unchanged {
			unchanged++
			continue
		}
		i, err := d.Document(ctx, o.ID)
		switch {
		case err != nil:
			return err
		case i.Error != "":
			a.out.printf("  %s: failed: %s\n", o.ID, i.Error)
			if i.Replacing {
				a.out.printf("    note: %s\n", serving(&i))
			}
			continue
		case shown == shownDocuments:
			more++
			continue
		}
		shown++
		verb := ""
		if o.Replaces {
			verb = "replaced, "
		}
		a.out.printf("  %s: %s%s, %s, %s%s\n", o.ID, verb, count(i.Chunks, "chunk"), count(i.Entities, "entity"), count(i.Relations, "relation"), lost(&i))
		for _, w := range i.Warnings {
			a.out.printf("    note: %s\n", w)
		}
	}
	if more > 0 {
		a.out.printf("  and %s; `glim docs` lists them\n", count(more, "more document"))
	}
	if unchanged > 0 {
		a.out.printf("  %s unchanged\n", count(unchanged, "document"))
	}
	a.skipped(res)
	st, err := d.Stats(ctx)
	if err != nil {
		return err
	}
	if st.Documents == 0 {
		return nil
	}
	a.out.printf("%s now holds %s, %s, %s, %s\n", a.where(), count(st.Documents, "document"), count(st.Chunks, "chunk"),
		count(st.Entities, "entity"), count(st.Relations, "relation"))
	return nil
}

// skipped names what was found in folders and is left out.
func (a *app) skipped(res *inserted) {
	for i, path := range slices.Sorted(maps.Keys(res.Skipped)) {
		if i == shownDocuments {
			a.out.printf("  and %s; --json lists them\n", count(len(res.Skipped)-i, "more skipped path"))
			break
		}
		a.out.printf("  %s: skipped, %s\n", path, res.Skipped[path])
	}
}

// lost says what of a document's extraction or text was not used.
func lost(i *index.Info) string {
	s := ""
	if i.Truncated > 0 {
		s += ", " + count(i.Truncated, "reply") + " cut off"
	}
	if i.Removed > 0 {
		s += ", " + count(i.Removed, "unusable character") + " removed"
	}
	return s
}
