package db_test

import (
	"strings"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
)

// A message does not grow with what the caller gave.
func TestMessagesStayShort(t *testing.T) {
	t.Parallel()
	d := openTest(t, testOptions(nil))
	long := strings.Repeat("x", 1<<20)
	update := func(f func(*db.Tx) error) error { return d.Update(ctx, f) }
	if _, err := d.Insert(ctx, doc("a", "E A (one)")); err != nil {
		t.Fatal(err)
	}
	if err := update(func(tx *db.Tx) error {
		if _, err := tx.CreateVectors("v", vector.Config{Dim: 2}); err != nil {
			return err
		}
		_, err := tx.CreateGraph("g", graph.Config{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	vectors := func(f func(*db.Vectors) error) error {
		return update(func(tx *db.Tx) error {
			v, err := tx.Vectors("v")
			if err != nil {
				t.Fatal(err)
			}
			return f(v)
		})
	}
	graphs := func(f func(*db.Graph) error) error {
		return update(func(tx *db.Tx) error {
			g, err := tx.Graph("g")
			if err != nil {
				t.Fatal(err)
			}
			return f(g)
		})
	}
	for name, err := range map[string]error{
		"insert":       second(d.Insert(ctx, index.Document{ID: long, Text: "one"})),
		"twice":        second(d.Insert(ctx, index.Document{ID: long, Text: "one"}, index.Document{ID: long, Text: "two"})),
		"path":         second(d.Insert(ctx, index.Document{ID: "b", Path: long, Text: "one"})),
		"metadata":     second(d.Insert(ctx, index.Document{ID: "b", Text: "one", Metadata: map[string]any{long: "x", "\xff" + long: "x"}})),
		"delete":       second(d.Delete(ctx, long)),
		"delete two":   second(d.Delete(ctx, long, long+"y")),
		"retry":        second(d.Retry(ctx, long)),
		"document":     second(d.Document(ctx, long)),
		"text":         second(d.Text(ctx, long)),
		"chunks":       firstError(d.Chunks(ctx, long, 0)),
		"mode":         second(d.Query(ctx, "one", query.Options{Mode: query.Mode(long)})),
		"want":         second(d.Query(ctx, "one", query.Options{Want: query.Want(long)})),
		"picker":       second(d.Query(ctx, "one", query.Options{Picker: query.Picker(long)})),
		"keywords":     second(d.Query(ctx, "one", query.Options{LowKeywords: []string{long}})),
		"question":     second(d.Query(ctx, long, query.Options{})),
		"default mode": second(db.Open("x", db.WithOptions(db.Options{Query: query.Options{Mode: query.Mode(long)}}))),
		"graph":        update(func(tx *db.Tx) error { return second(tx.Graph(long)) }),
		"create graph": update(func(tx *db.Tx) error { return second(tx.CreateGraph(long, graph.Config{})) }),
		"node":         graphs(func(g *db.Graph) error { return second(g.Node(long)) }),
		"put node":     graphs(func(g *db.Graph) error { return g.PutNode(graph.Node{Name: long}) }),
		"property":     graphs(func(g *db.Graph) error { return g.PutNode(graph.Node{Name: "n", Props: graph.Props{long: struct{}{}}}) }),
		"put edge":     graphs(func(g *db.Graph) error { return g.PutEdge(graph.Edge{Src: long, Dst: "n"}) }),
		"edge":         graphs(func(g *db.Graph) error { return second(g.Edge(long, long, long)) }),
		"collection":   update(func(tx *db.Tx) error { return second(tx.Vectors(long)) }),
		"create": update(func(tx *db.Tx) error {
			return second(tx.CreateVectors(long, vector.Config{Dim: 2, Model: long}))
		}),
		"another model": update(func(tx *db.Tx) error {
			return second(tx.CreateVectors("v", vector.Config{Dim: 2, Model: long}))
		}),
		"put vector": vectors(func(v *db.Vectors) error { return v.Put(long, []float32{1, 2}) }),
		"get vector": vectors(func(v *db.Vectors) error { return second(v.Get(long)) }),
		"dimension":  vectors(func(v *db.Vectors) error { return v.Put(long, []float32{1}) }),
	} {
		switch {
		case err == nil:
			t.Errorf("%s: no error", name)
		case len(err.Error()) > 2000:
			t.Errorf("%s: a message of %d bytes: %.200s", name, len(err.Error()), err.Error())
		}
	}
}
