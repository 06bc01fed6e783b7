package db_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/cluster"
	"github.com/glimdb/db/graph/analytics"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/query"
)

// arguments are valid arguments of the methods of DB, by type.
var arguments = map[reflect.Type]any{
	reflect.TypeFor[string]():                "who runs the mill",
	reflect.TypeFor[kv.LSN]():                kv.LSN(0),
	reflect.TypeFor[int]():                   0,
	reflect.TypeFor[index.Document]():        doc("new", "E Ines Calder (runs the mill)"),
	reflect.TypeFor[index.Policy]():          index.Put,
	reflect.TypeFor[index.ProcessOptions]():  index.ProcessOptions{},
	reflect.TypeFor[index.Filter]():          index.Filter{IDPrefix: "mill"},
	reflect.TypeFor[query.Options]():         query.Options{},
	reflect.TypeFor[query.TextOptions]():     query.TextOptions{},
	reflect.TypeFor[db.DumpOptions]():        db.DumpOptions{},
	reflect.TypeFor[io.Writer]():             io.Discard,
	reflect.TypeFor[io.Reader]():             strings.NewReader(""),
	reflect.TypeFor[func(tx *db.Tx) error](): func(*db.Tx) error { return nil },
	reflect.TypeFor[index.NewEntity]():       index.NewEntity{Name: "Tide Mill", Description: "a mill"},
	reflect.TypeFor[index.EntityFields]():    index.EntityFields{},
	reflect.TypeFor[index.Merge]():           index.Merge{Into: "Tide Mill", From: []string{"Ines Calder"}},
	reflect.TypeFor[index.NewRelation]():     index.NewRelation{Src: "Ines Calder", Dst: "Tide Mill", Description: "runs"},
	reflect.TypeFor[index.RelationFields]():  index.RelationFields{},
	reflect.TypeFor[index.InfoOptions]():     index.InfoOptions{},
	reflect.TypeFor[index.CustomGraph]():     index.CustomGraph{Entities: []index.CustomEntity{{Name: "Ines Calder"}}},
	reflect.TypeFor[index.CustomOptions]():   index.CustomOptions{},
	reflect.TypeFor[db.CacheKind]():          db.CacheSummary,
	reflect.TypeFor[db.ExportOptions]():      db.ExportOptions{},
	reflect.TypeFor[db.ReembedOptions]():     db.ReembedOptions{},
	reflect.TypeFor[db.AnalysisOptions]():    db.AnalysisOptions{Options: analytics.Options{Algorithm: analytics.Leiden}},
	reflect.TypeFor[*db.Analysis]():          &db.Analysis{Result: &analytics.Result{}, Graph: db.KnowledgeGraph},
	reflect.TypeFor[db.SimilarOptions]():     db.SimilarOptions{Collection: "chunks", MinScore: 1},
	reflect.TypeFor[cluster.Options]():       cluster.Options{},
	reflect.TypeFor[cluster.TuneOptions]():   cluster.TuneOptions{},
	reflect.TypeFor[uint32]():                uint32(1),
}

// call calls a method of d with ctx and valid arguments and returns its error, or that of the sequence it
// returns. It fails the test for a method that it does not know how to call, so that none is forgotten.
func call(t *testing.T, d *db.DB, m reflect.Method, ctx context.Context) error {
	t.Helper()
	f := reflect.ValueOf(d).Method(m.Index)
	var args []reflect.Value
	for i := range f.Type().NumIn() {
		typ := f.Type().In(i)
		if f.Type().IsVariadic() && i == f.Type().NumIn()-1 {
			typ = typ.Elem()
		}
		if typ == reflect.TypeFor[context.Context]() {
			args = append(args, reflect.ValueOf(ctx))
			continue
		}
		v, ok := arguments[typ]
		if !ok {
			t.Fatalf("%s: no argument of type %v: add one to the table", m.Name, typ)
		}
		args = append(args, reflect.ValueOf(v))
	}
	out := f.Call(args)
	if len(out) == 0 {
		return nil
	}
	last := out[len(out)-1]
	if err, ok := last.Interface().(error); ok {
		return err
	}
	if last.Type().CanSeq2() {
		var err error
		for _, e := range last.Seq2() {
			if e.IsValid() && !e.IsNil() {
				err = e.Interface().(error)
			}
		}
		return err
	}
	return nil
}

// methods are the methods of DB that can fail.
func methods(t *testing.T) (out []reflect.Method) {
	t.Helper()
	typ := reflect.TypeFor[*db.DB]()
	// Close is idempotent; the others tell what stays true of a closed database.
	infallible := map[string]bool{"Close": true, "LSN": true, "Models": true, "WorkspaceName": true}
	for i := range typ.NumMethod() {
		if m := typ.Method(i); !infallible[m.Name] {
			out = append(out, m)
		}
	}
	if len(out) < 15 {
		t.Fatalf("%d methods: the table does not see them", len(out))
	}
	return out
}

func takesContext(m reflect.Method) bool {
	return m.Type.NumIn() > 1 && m.Type.In(1) == reflect.TypeFor[context.Context]()
}

func TestEveryMethodOfAClosedDatabase(t *testing.T) {
	d, err := db.Open("glim.db", db.WithOptions(testOptions(vfs.NewMem())))
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, doc("mill", "E Ines Calder (runs the mill)"))
	lsn := d.LSN()
	closeChecked(t, d)
	for _, m := range methods(t) {
		if err := call(t, d, m, ctx); !errors.Is(err, db.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", m.Name, err)
		}
	}
	if err := d.Close(); err != nil || d.LSN() != lsn || d.Models().Embedder == "" {
		t.Errorf("close again: %v; LSN %d, was %d; models %+v", err, d.LSN(), lsn, d.Models())
	}
}

func TestEveryMethodWithACancelledContext(t *testing.T) {
	d := openTest(t, testOptions(nil))
	insert(t, d, doc("mill", "E Ines Calder (runs the mill)"))
	before, lsn := logical(t, d), d.LSN()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, m := range methods(t) {
		if !takesContext(m) {
			continue
		}
		if err := call(t, d, m, cancelled); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", m.Name, err)
		}
	}
	if d.LSN() != lsn {
		t.Errorf("cancelled calls committed %d times", d.LSN()-lsn)
	}
	equalDumps(t, logical(t, d), before)
}

// Methods that write, of a database opened for reading: all refused, and the directory stays as it is.
func TestEveryMethodOfAReadOnlyDatabase(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.Index.EntityWords = index.EntityWordsOn
	d, err := db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, doc("mill", "E Ines Calder (runs the mill)"), doc("who runs the mill", "E Tom Reed (does)"))
	want := logical(t, d)
	closeChecked(t, d)
	o.ReadOnly = true
	d = openTest(t, o)
	arguments[reflect.TypeFor[func(tx *db.Tx) error]()] = func(tx *db.Tx) error { return tx.KV("k").Put([]byte("k"), nil) }
	defer func() {
		arguments[reflect.TypeFor[func(tx *db.Tx) error]()] = func(*db.Tx) error { return nil }
	}()
	unknown := map[string]bool{"Entity": true, "Relation": true, "Analyses": true, "Clusters": true, "ClusterMembers": true} // what they are asked for
	edits := regexp.MustCompile("^(Create|Edit|Rename|Merge|Add|Remove|Delete|Reset)(Entity|Entities|Alias|Relation)$")
	refused := map[string]bool{"Insert": true, "Put": true, "Enqueue": true, "Delete": true, "DeleteMatching": true, "Retry": true, "TruncateChanges": true, "Update": true, "View": true, "Load": true, "Compact": true, "InsertGraph": true, "ClearCache": true, "Reembed": true, "DropWorkspace": true, "SaveAnalysis": true, "DropAnalysis": true,
		"BuildClusters": true, "TuneClusters": true, "TendClusters": true, "DropClusters": true}
	for _, m := range methods(t) {
		err := call(t, d, m, ctx)
		switch {
		case refused[m.Name] || edits.MatchString(m.Name):
			if !errors.Is(err, db.ErrReadOnly) {
				t.Errorf("%s: %v, want ErrReadOnly", m.Name, err)
			}
		case unknown[m.Name]:
			if !errors.Is(err, db.ErrNotFound) {
				t.Errorf("%s: %v, want ErrNotFound", m.Name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", m.Name, err)
		}
	}
	equalDumps(t, logical(t, d), want)
}
