package db_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	iofs "io/fs"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
)

// Messages say what is accepted once, and the truth about who holds a lock.
func TestMessagesInWords(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.Query.Mode, o.Index.ChunkTokens, o.Index.ChunkOverlap = "x", 100, 100
	_, err := db.Open("glim.db", db.WithOptions(o))
	for _, want := range []string{"Query.mode is x, want naive,", "Index.ChunkOverlap is 100, want less than the size, 100"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	dir := t.TempDir() // a lock in memory does not know who holds it
	opened(t, dir)
	if _, err := db.Open(dir); err == nil || !strings.Contains(err.Error(), "locked: by this process") ||
		strings.Contains(err.Error(), "another") {
		t.Errorf("the second Open in one process: %v", err)
	}
}

// Values that the types allow and nothing stands for.
func TestUnknownValues(t *testing.T) {
	d := openTest(t, testOptions(nil))
	var bad *index.OptionError
	if _, err := d.Enqueue(ctx, index.Policy(9), doc("a", "E A (one)")); !errors.As(err, &bad) || bad.Field != "Policy" {
		t.Errorf("policy: %v", err)
	}
	for _, status := range append(index.Statuses(), "", "wat") {
		var err error
		for _, err = range d.Documents(ctx, index.Filter{Status: status}) {
			break
		}
		if known := status != "wat"; known != (err == nil) || !known && (!errors.As(err, &bad) || bad.Field != "Filter.Status") {
			t.Errorf("status %q: %v", status, err)
		}
	}
}

// reach are ways to every sentinel through the public face.
var reach = map[string]struct {
	err error
	way func(t *testing.T) error
}{
	"ErrClosed": {db.ErrClosed, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		closeChecked(t, d)
		return second(d.Text(ctx, "x"))
	}},
	"ErrReadOnly": {db.ErrReadOnly, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		return d.View(ctx, func(tx *db.Tx) error { return tx.KV("x").Put(nil, nil) })
	}},
	"ErrDiskFull": {db.ErrDiskFull, func(t *testing.T) error {
		fs := testkit.NewCrashFS(1)
		d := openTest(t, testOptions(fs))
		fs.FailAt(1, testkit.ErrNoSpace)
		defer fs.Heal()
		return second(d.Insert(ctx, doc("a", "E A (one)")))
	}},
	"ErrLocked": {db.ErrLocked, func(t *testing.T) error {
		o := testOptions(vfs.NewMem())
		openTest(t, o)
		return second(db.Open("glim.db", db.WithOptions(o)))
	}},
	"ErrCorrupt": {db.ErrCorrupt, func(t *testing.T) error {
		fs := vfs.NewMem()
		d, err := db.Open("glim.db", db.WithOptions(testOptions(fs)))
		if err != nil {
			t.Fatal(err)
		}
		closeChecked(t, d)
		names, err := fs.List("glim.db")
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			if strings.HasPrefix(n, "MANIFEST") {
				overwrite(t, fs, "glim.db/"+n, bytes.Repeat([]byte{0xff}, 64))
			}
		}
		return second(db.Open("glim.db", db.WithOptions(testOptions(fs))))
	}},
	"ErrFormat": {db.ErrFormat, func(t *testing.T) error {
		fs := vfs.NewMem()
		if err := fs.MkdirAll("glim.db", 0o755); err != nil {
			t.Fatal(err)
		}
		overwrite(t, fs, "glim.db/thesis.txt", []byte("chapter one"))
		return second(db.Open("glim.db", db.WithOptions(testOptions(fs))))
	}},
	"ErrOption": {db.ErrOption, func(*testing.T) error { return second(db.Open("")) }},
	"ErrBusy": {db.ErrBusy, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		return d.Update(ctx, func(*db.Tx) error { return second(d.Load(ctx, strings.NewReader(""))) })
	}},
	"ErrDocument": {db.ErrDocument, func(t *testing.T) error {
		return second(openTest(t, testOptions(nil)).Insert(ctx, index.Document{ID: strings.Repeat("x", index.MaxIDBytes+1), Text: "x"}))
	}},
	"ErrEmptyDocument": {db.ErrEmptyDocument, func(t *testing.T) error {
		return second(openTest(t, testOptions(nil)).Insert(ctx, doc("empty", " \n")))
	}},
	"ErrText": {db.ErrText, func(t *testing.T) error {
		return second(openTest(t, testOptions(nil)).Insert(ctx, doc("noise", strings.Repeat("\xff\xfe\x80", 100))))
	}},
	"ErrDuplicate": {db.ErrDuplicate, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		insert(t, d, doc("a", "one"))
		return second(d.Insert(ctx, doc("a", "two")))
	}},
	"ErrQueueFull": {db.ErrQueueFull, func(t *testing.T) error {
		o := testOptions(nil)
		o.Index.MaxPending = 1
		return second(openTest(t, o).Enqueue(ctx, index.Put, doc("a", "E A (one)"), doc("b", "E B (two)")))
	}},
	"ErrMismatch": {db.ErrMismatch, func(t *testing.T) error {
		o := testOptions(vfs.NewMem())
		d, err := db.Open("glim.db", db.WithOptions(o))
		if err != nil {
			t.Fatal(err)
		}
		insert(t, d, doc("a", "one"))
		closeChecked(t, d)
		o.LexicalDim = 128
		d = openTest(t, o)
		_, err = d.Insert(ctx, doc("b", "two"))
		var both *db.MismatchError
		if !errors.As(err, &both) || !strings.Contains(both.Stored, "64") || !strings.Contains(both.Given, "128") {
			t.Errorf("%v does not name both sides", err)
		}
		if _, err := d.Text(ctx, "a"); err != nil {
			t.Errorf("reading with another model: %v", err)
		}
		return err
	}},
	"ErrEmbedding": {db.ErrEmbedding, func(t *testing.T) error {
		emb := llmtest.NewEmbedder(8)
		emb.Break(0, llmtest.Short)
		o := testOptions(nil)
		o.Models.Embedder = emb
		return second(openTest(t, o).Insert(ctx, doc("a", "one")))
	}},
	"ErrNoModel": {db.ErrNoModel, func(t *testing.T) error {
		return second(openTest(t, testOptions(nil)).Query(ctx, "why", query.Options{Want: query.WantAnswer}))
	}},
	"ErrEmptyQuery": {db.ErrEmptyQuery, func(t *testing.T) error {
		return second(openTest(t, testOptions(nil)).Query(ctx, " \n", query.Options{}))
	}},
	"ErrUnknownMode": {db.ErrUnknownMode, func(t *testing.T) error {
		return second(openTest(t, testOptions(nil)).Query(ctx, "why", query.Options{Mode: "guess"}))
	}},
	"ErrStreamUsed": {db.ErrStreamUsed, func(t *testing.T) error {
		o := testOptions(nil)
		o.Models.Chat = extracting()
		d := openTest(t, o)
		insert(t, d, doc("mill", "E Ines Calder (runs the mill)\nInes Calder runs the mill."))
		res, err := d.Query(ctx, "who runs the mill", query.Options{Stream: true})
		if err != nil || res.Stream == nil {
			t.Fatal(err)
		}
		if err := drain(res.Stream); err != nil {
			t.Error(err)
		}
		return drain(res.Stream)
	}},
	"ErrNotFound": {db.ErrNotFound, func(t *testing.T) error {
		return second(openTest(t, testOptions(nil)).Document(ctx, "nobody"))
	}},
	"ErrTooLarge": {db.ErrTooLarge, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		return d.Update(ctx, func(tx *db.Tx) error { return tx.KV("x").Put(make([]byte, kv.MaxKeyBytes+1), nil) })
	}},
	"ErrDimension": {db.ErrDimension, func(t *testing.T) error { return putVector(t, 1, 2, 3) }},
	"ErrVector":    {db.ErrVector, func(t *testing.T) error { return putVector(t, float32(math.NaN()), 1) }},
	"ErrParameter": {db.ErrParameter, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		return d.Update(ctx, func(tx *db.Tx) error {
			v, err := tx.CreateVectors("v", vector.Config{Dim: 2})
			if err != nil {
				return err
			}
			return second(v.Search([]float32{1, 0}, vector.SearchOptions{}))
		})
	}},
	"ErrConfig": {db.ErrConfig, func(t *testing.T) error {
		return openTest(t, testOptions(nil)).Update(ctx, func(tx *db.Tx) error {
			return second(tx.CreateVectors("v", vector.Config{Dim: 2, M: 1 << 20}))
		})
	}},
	"ErrReserved": {db.ErrReserved, func(t *testing.T) error {
		return openTest(t, testOptions(nil)).Update(ctx, func(tx *db.Tx) error { return tx.DropGraph(db.KnowledgeGraph) })
	}},
	"ErrEdit": {db.ErrEdit, func(t *testing.T) error { return second(openTest(t, testOptions(nil)).DeleteEntity(ctx, "Nobody")) }},
	"ErrNameTaken": {db.ErrNameTaken, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		insert(t, d, doc("a", "E Mira (mends)"))
		return second(d.CreateEntity(ctx, index.NewEntity{Name: "Mira", Description: "again"}))
	}},
	"ErrName": {db.ErrName, func(t *testing.T) error {
		return second(openTest(t, testOptions(nil)).CreateEntity(ctx, index.NewEntity{Name: "7", Description: "a number"}))
	}},
	"ErrAmbiguous": {db.ErrAmbiguous, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		insert(t, d, doc("a", "E Mira (mends)\nE MIRA (an office)"))
		return second(d.DeleteEntity(ctx, "mira"))
	}},
	"ErrSelfRelation": {db.ErrSelfRelation, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		insert(t, d, doc("a", "E Mira (mends)"))
		return second(d.CreateRelation(ctx, index.NewRelation{Src: "Mira", Dst: "Mira", Description: "herself"}))
	}},
	"ErrField": {db.ErrField, func(t *testing.T) error {
		return second(openTest(t, testOptions(nil)).CreateEntity(ctx, index.NewEntity{Name: "Mira", Description: " "}))
	}},
	"ErrDropped": {db.ErrDropped, func(t *testing.T) error {
		return dropped(t, llm.PurposeExtract, func(d *db.DB) error { return second(d.Insert(ctx, doc("b", "E Ann (held)"))) })
	}},
	"ErrNotEmpty": {db.ErrNotEmpty, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		update(t, d, func(tx *db.Tx) error { return tx.KV("x").Put([]byte("k"), nil) })
		return second(d.Load(ctx, strings.NewReader(logical(t, d))))
	}},
	"ErrDump": {db.ErrDump, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		s := logical(t, d)
		return second(d.Load(ctx, strings.NewReader(s[:len(s)-2])))
	}},
	"ErrTruncated": {db.ErrTruncated, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		for range 3 {
			update(t, d, func(tx *db.Tx) error { return tx.KV("x").Put([]byte("k"), nil) })
		}
		if err := d.TruncateChanges(ctx, 2); err != nil {
			t.Fatal(err)
		}
		return drain(d.Changes(ctx, 0))
	}},
	"ErrAhead": {db.ErrAhead, func(t *testing.T) error {
		d := openTest(t, testOptions(nil))
		return drain(d.Changes(ctx, d.LSN()+1))
	}},
}

func putVector(t *testing.T, v ...float32) error {
	return openTest(t, testOptions(nil)).Update(ctx, func(tx *db.Tx) error {
		c, err := tx.CreateVectors("v", vector.Config{Dim: 2})
		if err != nil {
			return err
		}
		return c.Put("x", v)
	})
}

func overwrite(t *testing.T, fs vfs.FS, name string, content []byte) {
	t.Helper()
	f, err := fs.Create(name, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// Every sentinel of errors.go is reached through the public face, and one that is added needs a way.
func TestEverySentinelIsReached(t *testing.T) {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, id := range v.Names {
			names++
			if _, ok := reach[id.Name]; !ok {
				t.Errorf("no way to %s", id.Name)
			}
		}
		return true
	})
	if names != len(reach) {
		t.Errorf("%d sentinels, %d ways", names, len(reach))
	}
	for name, r := range reach {
		t.Run(name, func(t *testing.T) {
			if err := r.way(t); !errors.Is(err, r.err) {
				t.Errorf("got %v, want %v", err, r.err)
			}
		})
	}
}

// Each option out of range has an error of its own, which names it; together they are reported together;
// nothing is written.
func TestOptionsOutOfRange(t *testing.T) {
	chat := llmtest.NewChat()
	for field, spoil := range map[string]func(o *db.Options){
		"CacheBytes":             func(o *db.Options) { o.CacheBytes = 1 },
		"MemTableBytes":          func(o *db.Options) { o.MemTableBytes = 1 },
		"ModelConcurrency":       func(o *db.Options) { o.ModelConcurrency = -1 },
		"ModelTimeout":           func(o *db.Options) { o.ModelTimeout = -1 },
		"ModelRetries":           func(o *db.Options) { o.ModelRetries = 1000 },
		"EmbedBatch":             func(o *db.Options) { o.EmbedBatch = 5000 },
		"LexicalDim":             func(o *db.Options) { o.LexicalDim = 3 },
		"Models.Embedder":        func(o *db.Options) { o.Models.Embedder = llmtest.NewEmbedder(vector.MaxDim + 1) },
		"Vectors.M":              func(o *db.Options) { o.Vectors.M = 1 },
		"Vectors.EfConstruction": func(o *db.Options) { o.Vectors.EfConstruction = 1 },
		"Vectors.MemoryBytes":    func(o *db.Options) { o.Vectors.MemoryBytes = -1 },
		"Index.ChunkTokens":      func(o *db.Options) { o.Index.ChunkTokens = -1 },
		"Index.ChunkOverlap":     func(o *db.Options) { o.Index.ChunkTokens, o.Index.ChunkOverlap = 10, 10 },
		"Index.Workers":          func(o *db.Options) { o.Index.Workers = 65 },
		"Prices.m":               func(o *db.Options) { o.Prices = llm.Prices{"m": {Prompt: -1}} },
		"Index.CommitBytes":      func(o *db.Options) { o.Index.CommitBytes = 1 },
		"Index.MaxPending":       func(o *db.Options) { o.Index.MaxPending = -1 },
		"Index.ChunkWorkers":     func(o *db.Options) { o.Index.ChunkWorkers = 257 },
		"Index.MaxSources":       func(o *db.Options) { o.Index.MaxSources = -1 },
		"Index.MaxPaths":         func(o *db.Options) { o.Index.MaxPaths = -1 },
		"Index.SummaryFragments": func(o *db.Options) { o.Index.SummaryFragments = 1 },
		"Index.SummaryTokens":    func(o *db.Options) { o.Index.SummaryTokens = -1 },
		"Index.EmbedTokens":      func(o *db.Options) { o.Index.EmbedTokens = -1 },
		"Extract.MaxRecords":     func(o *db.Options) { o.Extractor, o.Models.Chat, o.Extract.MaxRecords = nil, chat, -1 },
		"Extract.MaxTokens":      func(o *db.Options) { o.Extractor, o.Models.Chat, o.Extract.MaxTokens = nil, chat, -1 },
		"Extract.Format":         func(o *db.Options) { o.Extractor, o.Models.Chat, o.Extract.Format = nil, chat, 99 },
		"Summary.ContextTokens":  func(o *db.Options) { o.Models.Chat, o.Summary.ContextTokens = chat, 1 },
		"Summary.JoinBelow":      func(o *db.Options) { o.Models.Chat, o.Summary.JoinBelow = chat, -1 },
		"Query.mode":             func(o *db.Options) { o.Query.Mode = "guess" },
		"Query.top_k":            func(o *db.Options) { o.Query.TopK = -1 },
		"Query.cosine_threshold": func(o *db.Options) { o.Query.CosineThreshold = query.Some(2.0) },
		"Query.max_total_tokens": func(o *db.Options) { o.Query.Budget.Total = -1 },
	} {
		t.Run(field, func(t *testing.T) {
			fs := vfs.NewMem()
			o := testOptions(fs)
			spoil(&o)
			d, err := db.Open("glim.db", db.WithOptions(o))
			if d != nil {
				t.Fatal("opened")
			}
			fields := optionFields(err)
			if !errors.Is(err, db.ErrOption) || len(fields) != 1 || !fields[field] {
				t.Errorf("%v names %v", err, fields)
			}
			if names, err := fs.List(""); err != nil || len(names) != 0 {
				t.Errorf("a refused opening left %q, %v", names, err)
			}
			closeChecked(t, openTest(t, testOptions(fs)))
		})
	}
	o := testOptions(nil)
	o.EmbedBatch, o.Vectors.M, o.Index.Workers, o.Index.ChunkOverlap, o.Query.TopK, o.LexicalDim = -1, 1, -1, 5000, -1, 3
	_, err := db.Open("", db.WithOptions(o))
	if fields := optionFields(err); len(fields) != 7 {
		t.Errorf("seven mistakes, told of %v: %v", fields, err)
	}
}

// optionFields collects the fields that an error of Open names.
func optionFields(err error) map[string]bool {
	out := make(map[string]bool)
	for _, e := range typed[*db.OptionError](err) {
		out[e.Field] = true
	}
	return out
}

// typed collects the outermost errors of a type in a tree of errors.
func typed[T error](err error) (out []T) {
	if e, ok := err.(T); ok { //nolint:errorlint // the tree itself is looked at
		return []T{e}
	}
	switch e := err.(type) { //nolint:errorlint // as above
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			out = append(out, typed[T](err)...)
		}
	case interface{ Unwrap() error }:
		out = typed[T](e.Unwrap())
	}
	return out
}

// A query tells of every parameter that is out of range, one typed error each, and asks nobody.
func TestQueryParametersOutOfRange(t *testing.T) {
	chat := extracting()
	o := testOptions(nil)
	o.Models.Chat = chat
	d := openTest(t, o)
	_, err := d.Query(ctx, "why", query.Options{Mode: "guess", Picker: "dice", TopK: -1, ChunkTopK: 1 << 20, Budget: query.Budget{Total: -5}, LowKeywords: []string{" "}})
	fields := make(map[string]bool)
	for _, f := range typed[*query.FieldError](err) {
		fields[f.Field] = true
	}
	if len(fields) != 6 || !errors.Is(err, db.ErrUnknownMode) || len(chat.Calls()) != 0 {
		t.Errorf("%v names %v; %d model calls", err, fields, len(chat.Calls()))
	}
}

// A write that is too large fails its transaction, whole, and the database goes on.
func TestTooLarge(t *testing.T) {
	d := openTest(t, testOptions(nil))
	before := logical(t, d)
	long := strings.Repeat("x", kv.MaxKeyBytes+1)
	for name, write := range map[string]func(tx *db.Tx) error{
		"key":   func(tx *db.Tx) error { return tx.KV("x").Put([]byte(long), nil) },
		"space": func(tx *db.Tx) error { return tx.KV(long).Put(nil, nil) },
		"vector": func(tx *db.Tx) error {
			v, err := tx.CreateVectors("v", vector.Config{Dim: 2})
			return errors.Join(err, v.Put(long, []float32{1, 2}))
		},
		"node": func(tx *db.Tx) error {
			g, err := tx.CreateGraph("g", graph.Config{})
			return errors.Join(err, g.PutNode(graph.Node{Name: long}))
		},
	} {
		err := d.Update(ctx, func(tx *db.Tx) error {
			if err := writeAll(tx, 1); err != nil {
				return err
			}
			return write(tx)
		})
		if !errors.Is(err, db.ErrTooLarge) && !errors.Is(err, graph.ErrInvalid) {
			t.Errorf("%s: %v, want a typed error", name, err)
		}
		equalDumps(t, logical(t, d), before)
	}
	insert(t, d, doc("a", "E A (one)"))
}

// What cannot be opened is said so, and left as it is.
func TestOpenRefuses(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.ReadOnly = true
	if _, err := db.Open("glim.db", db.WithOptions(o)); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("read-only opening of nothing: %v, want fs.ErrNotExist", err)
	}
	if _, err := db.Open("glim.db", nil, db.WithOptions(o), db.ReadOnly()); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("a nil option, then two: %v, want fs.ErrNotExist", err)
	}
	o.ReadOnly = false
	closeChecked(t, openTest(t, o)) // the refusals are in nobody's way
	for name, key := range map[string][]byte{"no stamp": []byte("somebody else's"), "a stamp of a later format": space.Key(space.Stamp)} {
		fs := vfs.NewMem()
		s, err := kv.Open("glim.db", kv.Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.NewBatch(0)
		if err != nil {
			t.Fatal(err)
		}
		value := []byte(`{"format":99,"added_later":true}`)
		if err := errors.Join(b.Set(key, value), s.Apply(b), b.Durable(), b.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the first attempt leaves the store as it was
			if _, err := db.Open("glim.db", db.WithOptions(testOptions(fs))); !errors.Is(err, db.ErrFormat) {
				t.Errorf("%s: %v, want ErrFormat", name, err)
			}
		}
		if s, err = kv.Open("glim.db", kv.Options{FS: fs}); err != nil {
			t.Fatal(err)
		}
		view, err := s.Snapshot(0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		c, err := view.Cursor(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for c.Next() {
			if n++; !bytes.Equal(c.Key(), key) || !bytes.Equal(c.Value(), value) {
				t.Errorf("%s: key %q was written", name, c.Key())
			}
		}
		if err := errors.Join(c.Err(), c.Close(), view.Close(), s.Close()); err != nil || n != 1 {
			t.Errorf("%s: %d keys, %v", name, n, err)
		}
	}
}
