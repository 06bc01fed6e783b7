package db_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/vector"
)

// oddStrings are names and values that a text format could damage.
var oddStrings = []string{"", "plain", "\x00", "\xff\xfe", "a\x00b", "<&>\"'\\", "\u2028\u2029", "港の灯台", "👨‍👩‍👧‍👦", "e\u0301", "\u00e9", "\ufffd", "base64:eA==",
	"{\"base64\":\"eA==\"}", "\n\r\t", "\x7f\x1b[31m", strings.Repeat("long ", 20_000)}

// fillOdd writes odd names and values into every kind of space.
func fillOdd(tx *db.Tx) error {
	var errs []error
	for i, s := range oddStrings {
		name := "space" + s[:min(len(s), 100)]
		errs = append(errs, tx.KV(name).Put([]byte(s), []byte(s)), tx.KV("all").Put([]byte(s), fmt.Appendf(nil, "%d", i)))
	}
	for _, c := range []vector.Config{{Metric: vector.Cosine, Dim: 3}, {Metric: vector.Dot, Dim: 3, Model: "港", Kind: vector.IVF, Quantization: vector.Binary}, {Metric: vector.L2, Dim: 3, M: 8, EfConstruction: 64, ExtendCandidates: true, KeepPruned: true}} {
		v, err := tx.CreateVectors("points/"+c.Metric.String(), c)
		if err != nil {
			return err
		}
		for i, s := range oddStrings {
			errs = append(errs, ignoreInvalid(v.Put(s, []float32{1, float32(i) / 3, -1e-30})))
		}
	}
	if _, err := tx.CreateVectors("empty", vector.Config{Dim: 1}); err != nil {
		return err
	}
	if _, err := tx.CreateGraph("empty", graph.Config{}); err != nil {
		return err
	}
	for _, directed := range []bool{false, true} {
		g, err := tx.CreateGraph(fmt.Sprint("roads ", directed), graph.Config{Directed: directed})
		if err != nil {
			return err
		}
		var nodes []string
		for _, s := range oddStrings {
			props := graph.Props{"s": s, "i": int64(1) << 60, "f": 0.1, "whole": 1.0, "b": true, "no": false, "list": []string{s, "", "x"}, "none": []string{}}
			if utf8.ValidString(s) && s != "" {
				props[s] = s
			}
			err := g.PutNode(graph.Node{Name: s, Type: s, Props: props})
			if err == nil {
				nodes = append(nodes, s)
			}
			errs = append(errs, ignoreInvalid(err))
		}
		for i, a := range nodes {
			b := nodes[(i+1)%len(nodes)]
			errs = append(errs, ignoreInvalid(g.PutEdge(graph.Edge{Src: a, Dst: b, Type: b, Weight: 0.1, Props: graph.Props{"said": a}})),
				ignoreInvalid(g.PutEdge(graph.Edge{Src: b, Dst: a, Type: "", Weight: -1e300})), g.PutEdge(graph.Edge{Src: a, Dst: a, Type: "self"}))
		}
	}
	return errors.Join(errs...)
}

// ignoreInvalid lets refusals of names pass: what is refused need not be dumped.
func ignoreInvalid(err error) error {
	if errors.Is(err, graph.ErrInvalid) || errors.Is(err, vector.ErrVector) || errors.Is(err, db.ErrTooLarge) {
		return nil
	}
	return err
}

func dumpOf(t testing.TB, d *db.DB, o db.DumpOptions) string {
	t.Helper()
	var b strings.Builder
	if err := d.Dump(ctx, &b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// fullDatabase holds something of every kind: documents in every status, odd texts, transactions' spaces.
func fullDatabase(t *testing.T) (*db.DB, db.Options) {
	chat := extracting()
	o := modelled(chat, llmtest.NewEmbedder(8))
	o.ModelRetries = -1
	d := openTest(t, o)
	update(t, d, fillOdd)
	a := index.Document{ID: "a/港", Path: "a\\b", Text: "E Mira Voss (repairs <the> bridge & more)\nR Mira Voss - Lantern Bridge (works on)\n\nE Lantern Bridge (old)", Metadata: map[string]any{"k": "v\x01", "港": ""}, Time: clock()}
	insert(t, d, a, doc("b", "E Mira Voss (teaches)\n\n"+strings.Repeat("Long text. ", 5000)), doc("gone", "E Gone (soon)"))
	if _, err := d.Delete(ctx, "gone"); err != nil {
		t.Fatal(err)
	}
	chat.First(llmtest.Rule{Contains: "Broken", Err: errors.New("broken")})
	if _, err := d.Insert(ctx, doc("failed", "E Broken (fails)")); err == nil {
		t.Fatal("want a failed document")
	}
	if _, err := d.Put(ctx, doc("b", "E Broken (replacement that fails)")); err == nil {
		t.Fatal("want a failed replacement")
	}
	if _, err := d.Enqueue(ctx, index.Insert, doc("waits", "E Waits (for its turn)")); err != nil {
		t.Fatal(err)
	}
	o.FS = nil
	return d, o
}

// A dump loads into the same state, and the dump of that is the same byte for byte, volatile parts
// included; what waits goes on waiting, and works.
func TestDumpRoundTrip(t *testing.T) {
	d, o := fullDatabase(t)
	for name, opts := range map[string]db.DumpOptions{"full": {}, "logical": {Logical: true}} {
		t.Run(name, func(t *testing.T) {
			want := dumpOf(t, d, opts)
			o.FS = vfs.NewMem()
			o.Models.Chat = extracting()
			c := openTest(t, o)
			n, err := c.Load(ctx, strings.NewReader(want))
			if err != nil || n != strings.Count(want, "\n")-2 {
				t.Fatalf("loaded %d records, %v", n, err)
			}
			equalDumps(t, dumpOf(t, c, opts), want)
			equalDumps(t, logical(t, c), logical(t, d))
			checkDB(t, c)
			if got, want := contexts(t, c, "Mira Voss"), contexts(t, d, "Mira Voss"); got != want {
				t.Error("the copy answers otherwise")
			}
			if s, err := c.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 1 {
				t.Errorf("processing what waited: %+v, %v", s, err)
			}
			if ids, err := c.Retry(ctx); err != nil || len(ids) != 2 {
				t.Errorf("retry: %v, %v", ids, err)
			}
			if s, err := c.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 2 {
				t.Errorf("processing what had failed: %+v, %v", s, err)
			}
			closeChecked(t, c)
			c = openTest(t, o)
			for _, id := range []string{"a/港", "b", "failed", "waits"} {
				if _, err := c.Delete(ctx, id); err != nil {
					t.Errorf("delete %s: %v", id, err)
				}
			}
			if _, err := c.Load(ctx, strings.NewReader(want)); !errors.Is(err, db.ErrNotEmpty) {
				t.Errorf("load into a used database: %v, want ErrNotEmpty", err)
			}
		})
	}
}

// Every line of a dump is one JSON object of valid UTF-8 whose field names are lower case.
func TestDumpForm(t *testing.T) {
	d, _ := fullDatabase(t)
	kinds := make(map[string]bool)
	for line := range strings.Lines(dumpOf(t, d, db.DumpOptions{})) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil || !utf8.ValidString(line) {
			t.Fatalf("%v: %.200q", err, line)
		}
		if kind, ok := v["kind"].(string); ok {
			kinds[kind] = true
			if name := upperField(v["value"], kind == "node" || kind == "edge" || kind == "document"); name != "" {
				t.Errorf("%s: field %q", kind, name)
			}
			if name := upperField(v["volatile"], true); name != "" {
				t.Errorf("%s: volatile field %q", kind, name)
			}
		}
	}
	for _, kind := range []string{"kv", "graph", "node", "edge", "collection", "vector", "document", "chunk", "models"} {
		if !kinds[kind] {
			t.Errorf("no record of kind %q: %v", kind, kinds)
		}
	}
}

// upperField finds a field that begins with a capital. own means that an object may be keyed by the caller.
func upperField(v any, own bool) string {
	switch v := v.(type) {
	case map[string]any:
		for name, f := range v {
			if !own && name != "" && 'A' <= name[0] && name[0] <= 'Z' {
				return name
			}
			if found := upperField(f, own); found != "" {
				return found
			}
		}
	case []any:
		for _, f := range v {
			if found := upperField(f, own); found != "" {
				return found
			}
		}
	}
	return ""
}

// A dump that is cut off, changed, or of an unknown version is refused with a typed error, and the database
// is as empty as before: another dump goes in.
func TestLoadRefusesDamage(t *testing.T) {
	d, o := fullDatabase(t)
	whole := dumpOf(t, d, db.DumpOptions{})
	lines := strings.SplitAfter(whole, "\n")
	bad := map[string]struct {
		dump string
		is   error
	}{
		"empty":           {"", db.ErrFormat},
		"no dump":         {"{}\n", db.ErrFormat},
		"unknown version": {strings.Replace(whole, `"glim_dump":1`, `"glim_dump":2`, 1), db.ErrFormat},
		"no end":          {strings.Join(lines[:len(lines)-2], ""), db.ErrDump},
		"no last byte":    {whole[:len(whole)-1], db.ErrDump},
		"twice":           {whole + whole, db.ErrDump},
		"a line less":     {strings.Join(append(append([]string{}, lines[:3]...), lines[4:]...), ""), db.ErrDump},
		"another value":   {strings.Replace(whole, `"weight":0.1`, `"weight":0.2`, 1), db.ErrDump},
	}
	for _, share := range []int{4, 2} {
		bad[fmt.Sprint("cut to 1/", share)] = struct {
			dump string
			is   error
		}{whole[:len(whole)/share], db.ErrDump}
	}
	o.FS = vfs.NewMem()
	c := openTest(t, o)
	empty := logical(t, c)
	for name, b := range bad {
		if _, err := c.Load(ctx, strings.NewReader(b.dump)); !errors.Is(err, b.is) {
			t.Errorf("%s: %v, want %v", name, err, b.is)
		}
		equalDumps(t, logical(t, c), empty)
		checkDB(t, c)
	}
	broken := errors.New("broken pipe")
	if _, err := c.Load(ctx, io.MultiReader(strings.NewReader(whole[:len(whole)/2]), errReader{broken})); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	if _, err := c.Load(cancelled, io.MultiReader(strings.NewReader(whole[:len(whole)/2]), readerFunc(func([]byte) (int, error) { cancel(); return 0, io.EOF }))); err == nil {
		t.Error("a cancelled load succeeds")
	}
	equalDumps(t, logical(t, c), empty)
	if _, err := c.Load(ctx, strings.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, dumpOf(t, c, db.DumpOptions{}), whole)

	o.FS, o.Models.Embedder = vfs.NewMem(), llmtest.NewEmbedder(16)
	other := openTest(t, o)
	if _, err := other.Load(ctx, strings.NewReader(whole)); !errors.Is(err, db.ErrMismatch) {
		t.Errorf("a dump of another embedder: %v, want ErrMismatch", err)
	}
	equalDumps(t, logical(t, other), empty)
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// A load that loses power at any operation leaves the database empty or whole, never in between.
func TestLoadCrashesAtEveryOperation(t *testing.T) {
	src := openTest(t, testOptions(nil))
	update(t, src, func(tx *db.Tx) error { return writeAll(tx, 1) })
	insert(t, src, doc("a", "E Mira Voss (repairs)\nR Mira Voss - Lantern Bridge (climbs)"))
	whole := dumpOf(t, src, db.DumpOptions{})
	base := testkit.NewCrashFS(1)
	d, err := db.Open("glim.db", db.WithOptions(testOptions(base)))
	if err != nil {
		t.Fatal(err)
	}
	empty := logical(t, d)
	closeChecked(t, d)
	loaded := false
	states := make(map[bool]int)
	run := func(fs *testkit.CrashFS) error {
		loaded = false
		d, err := db.Open("glim.db", db.WithOptions(testOptions(fs)))
		if err != nil {
			return err
		}
		_, err = d.Load(ctx, strings.NewReader(whole))
		loaded = err == nil
		return errors.Join(err, d.Close())
	}
	verify := func(fs *testkit.CrashFS, _ bool) {
		d, err := db.Open("glim.db", db.WithOptions(testOptions(fs)))
		if err != nil {
			t.Fatal(err)
		}
		got := logical(t, d)
		states[got == empty]++
		if got == empty && !loaded {
			if _, err := d.Load(ctx, strings.NewReader(whole)); err != nil {
				t.Errorf("load after the cleaning up: %v", err)
			}
		}
		equalDumps(t, dumpOf(t, d, db.DumpOptions{}), whole)
		closeChecked(t, d)
	}
	n := testkit.EveryCrashPoint(t, testkit.Loop{Seed: 1, Base: base}, run, verify)
	n += testkit.EveryFault(t, testkit.Loop{Seed: 2, Base: base}, testkit.ErrNoSpace, run, verify)
	if states[true] == 0 || states[false] == 0 {
		t.Errorf("%d points left %v: the loop misses one of the outcomes", n, states)
	}
	t.Logf("%d points, %d left empty, %d whole", n, states[true], states[false])
}
