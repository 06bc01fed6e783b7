package db_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/graph/analytics"
	"github.com/glimdb/db/vector"
)

func analyze(t testing.TB, d *db.DB, o db.AnalysisOptions) *db.Analysis {
	t.Helper()
	a, err := d.Analyze(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func valuesOf(a *db.Analysis) map[string]any {
	all := map[string]any{}
	for name, v := range a.All() {
		all[name] = v
	}
	return all
}

// derived reads what analyses said of all nodes of the knowledge graph.
func derived(t testing.TB, d *db.DB) map[string]graph.Props {
	t.Helper()
	all := map[string]graph.Props{}
	view(t, d, func(tx *db.Tx) {
		g, err := tx.Graph(db.KnowledgeGraph)
		if err != nil {
			t.Fatal(err)
		}
		for n, err := range g.Nodes() {
			if err != nil {
				t.Fatal(err)
			}
			p, err := g.Derived(n.Name)
			if err != nil {
				t.Fatal(err)
			}
			if p != nil {
				all[n.Name] = p
			}
		}
	})
	return all
}

var (
	villages = doc("villages", "E Ada\nE Ben\nE Cid\nE Dan\nE Eve\nE Fay\nR Ada - Ben\nR Ben - Cid\nR Cid - Ada\nR Dan - Eve\nR Eve - Fay\nR Fay - Dan\nR Cid - Dan")
	hermit   = doc("hermit", "E Hal\nR Hal - Ada")
)

// TestAnalysisIsSavedBesideTheGraph follows derived properties through the life of their entities: the logical state
// stays as it was (P2), an entity takes its own with it, and a later one has none.
func TestAnalysisIsSavedBesideTheGraph(t *testing.T) {
	d := openTest(t, testOptions(nil))
	insert(t, d, villages)
	alone := logical(t, d)
	insert(t, d, hermit)
	before := logical(t, d)

	a := analyze(t, d, db.AnalysisOptions{Options: analytics.Options{Algorithm: analytics.Leiden, Seed: 42}})
	groups := map[string]any{"Ada": int64(0), "Ben": int64(0), "Cid": int64(0), "Hal": int64(0), "Dan": int64(1), "Eve": int64(1), "Fay": int64(1)}
	if got := valuesOf(a); !reflect.DeepEqual(got, groups) || a.LSN != d.LSN() || a.Graph != db.KnowledgeGraph {
		t.Errorf("communities %v of commit %d in %q", got, a.LSN, a.Graph)
	}
	saved, err := d.SaveAnalysis(ctx, a, "")
	if err != nil {
		t.Fatal(err)
	}
	if saved.Property != "leiden" || saved.Saved != 7 || saved.Absent != 0 || saved.LSN != a.LSN || saved.Options.Seed != 42 || !saved.At.Equal(clock()) {
		t.Errorf("%+v", saved)
	}
	ranks := analyze(t, d, db.AnalysisOptions{Options: analytics.Options{Algorithm: analytics.PageRank}})
	if _, err := d.Delete(ctx, "hermit"); err != nil { // between the analysis and its commit
		t.Fatal(err)
	}
	equalDumps(t, logical(t, d), alone)
	if s, err := d.SaveAnalysis(ctx, ranks, "rank"); err != nil || s.Saved != 6 || s.Absent != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	list, err := d.Analyses(ctx, "")
	if err != nil || len(list) != 2 || list[0] != saved || list[1].Property != "rank" || list[1].Options.Damping != 0.85 {
		t.Errorf("%+v, %v", list, err)
	}
	if have := derived(t, d); len(have) != 6 || have["Ada"]["leiden"] != int64(0) || have["Ada"]["rank"].(float64) <= 0 {
		t.Errorf("derived: %v", have)
	}

	insert(t, d, hermit)
	equalDumps(t, logical(t, d), before)
	if have := derived(t, d)["Hal"]; have != nil {
		t.Errorf("an entity that came later has %v", have)
	}
	if err := d.DropAnalysis(ctx, "", "leiden"); err != nil {
		t.Fatal(err)
	}
	if err := d.DropAnalysis(ctx, "", "leiden"); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("dropped twice: %v", err)
	}
	if have := derived(t, d)["Ada"]; len(have) != 1 {
		t.Errorf("after the drop: %v", have)
	}
	for _, id := range []string{"hermit", "villages"} {
		if _, err := d.Delete(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	if have := derived(t, d); len(have) != 0 {
		t.Errorf("without entities: %v", have)
	}
}

func TestAnalysisOfGraphsAndVectors(t *testing.T) {
	d := openTest(t, testOptions(nil))
	update(t, d, func(tx *db.Tx) error {
		g, err := tx.CreateGraph("roads", graph.Config{Directed: true})
		if err != nil {
			return err
		}
		for _, n := range []string{"a", "b", "c", "d"} {
			err = errors.Join(err, g.PutNode(graph.Node{Name: n}))
		}
		for _, e := range []string{"ab", "bc", "ca"} {
			err = errors.Join(err, g.PutEdge(graph.Edge{Src: e[:1], Dst: e[1:], Weight: 2}))
		}
		v, verr := tx.CreateVectors("points", vector.Config{Metric: vector.Cosine, Dim: 2})
		err = errors.Join(err, verr)
		for id, x := range map[string][]float32{"p": {1, 0}, "q": {1, 0.1}, "r": {0, 1}, "s": {0.1, 1}, "t": {-1, -1}} {
			err = errors.Join(err, v.Put(id, x))
		}
		return err
	})
	a := analyze(t, d, db.AnalysisOptions{Graph: "roads", Options: analytics.Options{Algorithm: analytics.Distance, From: "a", Length: analytics.Weight}})
	if got := valuesOf(a); !reflect.DeepEqual(got, map[string]any{"a": 0.0, "b": 2.0, "c": 4.0}) {
		t.Errorf("distances %v", got)
	}
	if s, err := d.SaveAnalysis(ctx, a, "from a"); err != nil || s.Saved != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	a = analyze(t, d, db.AnalysisOptions{Vectors: "points", MinScore: 0.9, Options: analytics.Options{Algorithm: analytics.Louvain}})
	if got := valuesOf(a); !reflect.DeepEqual(got, map[string]any{"p": int64(0), "q": int64(0), "r": int64(1), "s": int64(1), "t": int64(2)}) {
		t.Errorf("communities of vectors %v", got)
	}
	var option *db.OptionError
	if _, err := d.SaveAnalysis(ctx, a, ""); !errors.As(err, &option) {
		t.Errorf("an analysis of vectors was saved: %v", err)
	}

	leiden := analytics.Options{Algorithm: analytics.Leiden}
	for name, x := range map[string]struct {
		o    db.AnalysisOptions
		want error
	}{
		"no graph":      {db.AnalysisOptions{Graph: "rivers", Options: leiden}, db.ErrNotFound},
		"no collection": {db.AnalysisOptions{Vectors: "lines", MinScore: 1, Options: leiden}, db.ErrNotFound},
		"no score":      {db.AnalysisOptions{Vectors: "points", Options: leiden}, db.ErrOption},
		"no algorithm":  {db.AnalysisOptions{}, graph.ErrInvalid},
		"no node":       {db.AnalysisOptions{Options: analytics.Options{Algorithm: analytics.Distance}}, db.ErrNotFound},
		"nodes":         {db.AnalysisOptions{Graph: "roads", Options: leiden, Limits: graph.Limits{Nodes: 3}}, graph.ErrLimit},
		"vectors":       {db.AnalysisOptions{Vectors: "points", MinScore: .1, Options: leiden, Limits: graph.Limits{Nodes: 3}}, graph.ErrLimit},
		"pairs":         {db.AnalysisOptions{Vectors: "points", MinScore: .9, Options: leiden, Limits: graph.Limits{Edges: 1}}, graph.ErrLimit},
		"memory":        {db.AnalysisOptions{Graph: "roads", Options: analytics.Options{Algorithm: analytics.Leiden, MemoryBytes: 64}}, graph.ErrLimit},
	} {
		if _, err := d.Analyze(ctx, x.o); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", name, err, x.want)
		}
	}
	if _, err := d.Analyses(ctx, "rivers"); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("analyses of no graph: %v", err)
	}
	if _, err := d.SaveAnalysis(ctx, analyze(t, d, db.AnalysisOptions{Graph: "roads", Options: leiden}), string([]byte{0xff})); !errors.Is(err, graph.ErrInvalid) {
		t.Errorf("a name of no text: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := d.Analyze(ended, db.AnalysisOptions{Options: leiden}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// TestCase_HC25_Store is HC-25 through the store: nothing, one node, nodes without edges, and identical vectors.
func TestCase_HC25_Store(t *testing.T) {
	fs := vfs.NewMem()
	d := openTest(t, testOptions(fs))
	leiden := analytics.Options{Algorithm: analytics.Leiden, Seed: 7}
	if a := analyze(t, d, db.AnalysisOptions{Options: leiden}); a.Nodes != 0 || a.Groups.Count() != 0 {
		t.Errorf("of nothing: %+v", a)
	}
	if list, err := d.Analyses(ctx, ""); err != nil || len(list) != 0 {
		t.Errorf("of nothing: %v, %v", list, err)
	}
	insert(t, d, doc("one", "E Ada"))
	if a := analyze(t, d, db.AnalysisOptions{Options: leiden}); a.Groups.Count() != 1 {
		t.Errorf("of one node: %v", a.Groups)
	}
	text := ""
	for i := range 40 {
		text += fmt.Sprintf("E Island %02d\n", i)
	}
	insert(t, d, doc("isles", text))
	if a := analyze(t, d, db.AnalysisOptions{Options: leiden}); a.Groups.Count() != 41 {
		t.Errorf("of nodes without edges: %d groups", a.Groups.Count())
	}
	update(t, d, func(tx *db.Tx) error {
		v, err := tx.CreateVectors("same", vector.Config{Metric: vector.Cosine, Dim: 3})
		for i := range 50 {
			err = errors.Join(err, v.Put(fmt.Sprint(i), []float32{1, 2, 3}))
		}
		return err
	})
	same := db.AnalysisOptions{Vectors: "same", MinScore: 0.99, Options: leiden}
	x, y := analyze(t, d, same), analyze(t, d, same)
	if x.Edges != 50*49/2 || x.Groups.Count() != 1 || !slices.Equal(x.Groups.Of, y.Groups.Of) || x.LSN != d.LSN() {
		t.Errorf("of identical vectors: %d pairs, %v", x.Edges, x.Groups)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	o := testOptions(fs)
	o.ReadOnly = true
	d = openTest(t, o)
	a := analyze(t, d, db.AnalysisOptions{Options: leiden})
	if _, err := d.SaveAnalysis(ctx, a, ""); !errors.Is(err, db.ErrReadOnly) {
		t.Errorf("saved in a database that is only read: %v", err)
	}
}
