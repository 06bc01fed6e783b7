package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

const (
	// maxImportBatch bounds one commit by its number, importBytes by the size of its vectors: memory for a few.
	maxImportBatch = 100_000
	importBytes    = 32 << 20
)

type vectorsImportFlags struct {
	format, prefix             string
	metric, kind, quantization string
	model                      string
	m, efConstruction          int
	extend, keepPruned         bool
	batch                      int
}

// importedVectors is the result of an import, also its JSON form.
type importedVectors struct {
	Collection string `json:"collection"`
	Read       int    `json:"read"` // vectors committed, those that replaced others included
	Stored     int    `json:"stored"`
}

func (a *app) vectorsImport() *cobra.Command {
	var f vectorsImportFlags
	var about strings.Builder
	for _, v := range vecFormats() {
		fmt.Fprintf(&about, "\n  %-12s %s", v.name, v.says)
	}
	cmd := &cobra.Command{
		Use:   "import NAME FILE...",
		Short: "Read files of vectors into a collection",
		Long: `Import puts the vectors of files into a collection, which it creates when there is none; the first vector then decides the
dimension. A vector whose id is there already replaces the one before it. What flags say of the collection must be what it was
created with; without them it stays as it is. The ending of a file's name tells its format, or
--format does, which standard input (-) needs:
` + about.String() + `

Vectors are committed in batches, each whole or not at all. When a file turns out to be damaged, the error tells where and
how many vectors were committed before; importing the mended file again replaces them.`,
		Example: `  glim vectors import words glove.fvecs --metric cosine
  glim vectors import images a.npy --id-prefix a/ --quantization float32
  zcat points.jsonl.gz | glim vectors import points - --format jsonl --metric l2`,
		Args: args(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.importVectors(cmd, given[0], given[1:], f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "", "format of the files, where their names do not tell it")
	fl.StringVar(&f.prefix, "id-prefix", "", "what to put before every id, so that files do not replace each other's vectors")
	fl.StringVar(&f.metric, "metric", vector.Cosine.String(), "how vectors compare: cosine, dot, l2")
	fl.StringVar(&f.kind, "kind", vector.HNSW.String(), "index of a large collection: hnsw, ivf")
	fl.StringVar(&f.quantization, "quantization", vector.Int8.String(), "what the index compares: int8, float32, binary")
	fl.StringVar(&f.model, "model", "", "name of the model that made the vectors, kept with the collection")
	fl.IntVar(&f.m, "m", 0, "links per vector of a graph index, 4 to 64; 0: the default")
	fl.IntVar(&f.efConstruction, "ef-construction", 0, "width of the search that places a vector, 16 to 2,048; 0: the default")
	fl.BoolVar(&f.extend, "extend-candidates", false, "choose links among the neighbours of near vectors, too: for tight, distant clumps; slow")
	fl.BoolVar(&f.keepPruned, "keep-pruned", false, "fill free links with near vectors that others stand for")
	fl.IntVar(&f.batch, "batch", 1000, "vectors in one commit, 1 to 100,000")
	return cmd
}

// config reads the flags that a collection is created with.
func (f *vectorsImportFlags) config() (vector.Config, error) {
	c := vector.Config{Model: f.model, M: f.m, EfConstruction: f.efConstruction, ExtendCandidates: f.extend, KeepPruned: f.keepPruned}
	err := errors.Join(
		named("metric", f.metric, &c.Metric, vector.L2),
		named("kind", f.kind, &c.Kind, vector.IVF),
		named("quantization", f.quantization, &c.Quantization, vector.Binary))
	return c, err
}

// named finds the value, from 0 to last, whose name is s.
func named[T interface {
	~uint8
	fmt.Stringer
}](flag, s string, v *T, last T) error {
	var names []string
	for *v = 0; *v <= last; *v++ {
		if (*v).String() == s {
			return nil
		}
		names = append(names, (*v).String())
	}
	return usage("--%s %s: want %s", flag, s, strings.Join(names, ", "))
}

func (a *app) importVectors(cmd *cobra.Command, name string, files []string, f vectorsImportFlags) error {
	config, err := f.config()
	if err == nil {
		err = bounded("batch", f.batch, 1, maxImportBatch)
	}
	if err != nil {
		return err
	}
	formats := make([]vecFormat, len(files))
	for i, file := range files { // all of them before the first is read
		if formats[i], err = vecFormatOf(f.format, file); err != nil {
			return err
		}
	}
	imp := &importer{a: a, name: name, config: config, given: cmd.Flags().Changed, flags: f, progress: newVectorProgress(a.err)}
	return a.creating(func() bool { return imp.committed == 0 }, func(d *db.DB) error {
		defer imp.progress.end()
		imp.d = d
		ctx := cmd.Context()
		for i, file := range files {
			if err := imp.file(ctx, file, formats[i]); err != nil {
				return imp.failed(file, err)
			}
		}
		imp.progress.settle(imp.committed)
		if err := d.Settle(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		imp.progress.end()
		return imp.report(ctx)
	})
}

// importer puts the vectors of files into a collection.
type importer struct {
	a        *app
	d        *db.DB
	name     string
	config   vector.Config
	given    func(flag string) bool
	flags    vectorsImportFlags
	progress *vectorProgress

	batch     []vecRecord
	size      int
	committed int
}

// file imports one file. What of its last batch was read when it fails is dropped.
func (p *importer) file(ctx context.Context, name string, format vecFormat) (err error) {
	p.batch, p.size = p.batch[:0], 0
	r, size, closeFile, err := p.open(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFile()) }()
	p.progress.file(size)
	vectors, err := format.open(p.progress.reading(r))
	if err != nil {
		return err
	}
	for {
		rec, err := vectors.next()
		if errors.Is(err, io.EOF) {
			return p.commit(ctx)
		}
		if err != nil {
			return err
		}
		rec.id, rec.vec = p.flags.prefix+rec.id, slices.Clone(rec.vec)
		p.batch = append(p.batch, rec)
		if p.size += 4 * len(rec.vec); len(p.batch) == p.flags.batch || p.size >= importBytes {
			if err := p.commit(ctx); err != nil {
				return err
			}
		}
	}
}

// open opens a file, or keeps standard input or what comes out of a pipe, which are read as a whole.
func (p *importer) open(ctx context.Context, name string) (r io.ReadSeeker, size int64, closeFile func() error, err error) {
	if name == stdinArg {
		b, err := io.ReadAll(p.a.in)
		return bytes.NewReader(b), int64(len(b)), func() error { return nil }, err
	}
	in, st, err := openInput(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil, notFound("", "no file %s", name)
	}
	if in == nil {
		return nil, 0, nil, err
	}
	if err == nil && st.IsDir() {
		err = usage("%s is a folder", name)
	}
	if f, ok := in.(io.ReadSeeker); ok && err == nil {
		return f, st.Size(), in.Close, nil
	}
	var b []byte
	if err == nil {
		b, err = io.ReadAll(in)
	}
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, 0, nil, err
	}
	return bytes.NewReader(b), int64(len(b)), func() error { return nil }, nil
}

// commit puts the batch into the collection.
func (p *importer) commit(ctx context.Context) error {
	if len(p.batch) == 0 {
		return nil
	}
	err := p.d.Update(ctx, func(tx *db.Tx) error {
		v, err := p.collection(tx, len(p.batch[0].vec))
		if err != nil {
			return err
		}
		for _, rec := range p.batch {
			if err := v.Put(rec.id, rec.vec); err != nil {
				return &badVector{rec.at, err}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.committed += len(p.batch)
	p.progress.vectors(p.committed)
	p.batch, p.size = p.batch[:0], 0
	return nil
}

// collection returns the collection, made for vectors of dim values when there is none.
func (p *importer) collection(tx *db.Tx, dim int) (*db.Vectors, error) {
	v, err := tx.Vectors(p.name)
	if errors.Is(err, db.ErrNotFound) {
		c := p.config
		c.Dim = dim
		return tx.CreateVectors(p.name, c)
	}
	if err != nil {
		return nil, err
	}
	if v.OfDocuments() {
		return nil, fmt.Errorf("import into collection %q: %w", p.name, db.ErrReserved)
	}
	if c := v.Config(); p.asked(c) != c {
		return nil, &vector.ConfigError{Collection: p.name, Stored: c, Asked: p.asked(c)}
	}
	return v, nil
}

// asked is a stored configuration as the flags that were given would have it.
func (p *importer) asked(stored vector.Config) vector.Config {
	c := stored
	for flag, set := range map[string]func(){
		"metric":            func() { c.Metric = p.config.Metric },
		"model":             func() { c.Model = p.config.Model },
		"kind":              func() { c.Kind = p.config.Kind },
		"quantization":      func() { c.Quantization = p.config.Quantization },
		"m":                 func() { c.M = cmp.Or(p.config.M, vector.DefaultM) },
		"ef-construction":   func() { c.EfConstruction = cmp.Or(p.config.EfConstruction, vector.DefaultEfConstruction) },
		"extend-candidates": func() { c.ExtendCandidates = p.config.ExtendCandidates },
		"keep-pruned":       func() { c.KeepPruned = p.config.KeepPruned },
	} {
		if p.given(flag) {
			set()
		}
	}
	return c
}

// badVector is a vector that the collection refused.
type badVector struct {
	at  place
	err error
}

func (e *badVector) Error() string { return e.at.String() + ": " + e.err.Error() }
func (e *badVector) Unwrap() error { return e.err }

// failed tells what of the files is stored.
func (p *importer) failed(file string, err error) error {
	if p.committed == 0 && !isVecError(err) {
		return err
	}
	f := p.a.explain(err)
	if isVecError(err) {
		f.code, f.what = exitFailure, file+": "+plain(err)
	}
	f.hint = "nothing was imported"
	if p.committed > 0 {
		f.hint = count(p.committed, "vector") + " before that were imported; run the command again to go on, they are replaced"
	}
	return f
}

func isVecError(err error) bool {
	_, file := errors.AsType[*vecFileError](err)
	_, bad := errors.AsType[*badVector](err)
	return file || bad
}

func (p *importer) report(ctx context.Context) error {
	out := importedVectors{Collection: p.name, Read: p.committed}
	err := p.d.View(ctx, func(tx *db.Tx) error {
		v, err := tx.Vectors(p.name)
		if errors.Is(err, db.ErrNotFound) {
			return nil // the files were empty
		}
		if err == nil {
			out.Stored, err = v.Len()
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case p.a.json:
		return p.a.out.json(out)
	}
	p.a.out.printf("%s imported, %s in collection %s\n", count(out.Read, "vector"), count(out.Stored, "vector"), p.name)
	return nil
}

// vectorProgress shows how much of a file is read: a bar on a terminal, plain lines elsewhere.
type vectorProgress struct {
	w     *output
	bar   *progressbar.ProgressBar
	began time.Time
	shown time.Time
}

func newVectorProgress(w *output) *vectorProgress {
	now := time.Now()
	p := &vectorProgress{w: w, began: now, shown: now}
	if w.terminal {
		p.bar = progressbar.NewOptions64(1, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true),
			progressbar.OptionThrottle(barEvery), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(minBar))
	}
	return p
}

func (p *vectorProgress) file(size int64) {
	if p.bar != nil {
		p.bar.Reset()
		p.bar.ChangeMax64(max(1, size))
	}
}

// reading returns r; where it is read to moves the bar.
func (p *vectorProgress) reading(r io.ReadSeeker) io.ReadSeeker {
	if p.bar == nil {
		return r
	}
	return &barReader{r, p.bar}
}

// barReader tells a bar how far it was read.
type barReader struct {
	io.ReadSeeker
	bar *progressbar.ProgressBar
}

func (b *barReader) Read(to []byte) (int, error) {
	n, err := b.ReadSeeker.Read(to)
	_ = b.bar.Add(n)
	return n, err
}

func (b *barReader) Seek(offset int64, whence int) (int64, error) {
	n, err := b.ReadSeeker.Seek(offset, whence)
	_ = b.bar.Set64(n)
	return n, err
}

func (p *vectorProgress) vectors(n int) {
	now := time.Now()
	s := fmt.Sprintf("%s, %.0f/s", count(n, "vector"), float64(n)/max(now.Sub(p.began).Seconds(), 1e-3))
	if p.bar != nil {
		p.bar.Describe(s)
	} else if now.Sub(p.shown) >= plainEvery {
		p.shown = now
		p.w.printf("%s\n", s)
	}
}

// settle says that the rest is the index.
func (p *vectorProgress) settle(n int) {
	if p.bar != nil {
		p.bar.Describe(count(n, "vector") + ", indexing")
	} else if time.Since(p.began) >= plainEvery {
		p.w.printf("%s, indexing\n", count(n, "vector"))
	}
}

func (p *vectorProgress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
