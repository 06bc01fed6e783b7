package db_test

import (
	"errors"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/vector"
)

// writeAll writes one key, one vector and two joined nodes, all marked with n.
func writeAll(tx *db.Tx, n byte) error {
	if err := tx.KV("state").Put([]byte("n"), []byte{n}); err != nil {
		return err
	}
	v, err := tx.CreateVectors("points", vector.Config{Metric: vector.L2, Dim: 2})
	if err != nil {
		return err
	}
	g, err := tx.CreateGraph("roads", graph.Config{})
	if err != nil {
		return err
	}
	return errors.Join(v.Put("p", []float32{float32(n), 1}), g.PutNode(graph.Node{Name: "a"}),
		g.PutNode(graph.Node{Name: "b"}), g.PutEdge(graph.Edge{Src: "a", Dst: "b", Weight: float64(n)}))
}

// wantAll reports where the transaction does not see what writeAll(tx, n) wrote.
func wantAll(t *testing.T, tx *db.Tx, n byte) {
	t.Helper()
	if got, err := tx.KV("state").Get([]byte("n")); err != nil || len(got) != 1 || got[0] != n {
		t.Errorf("key: %v, %v; want %d", got, err, n)
	}
	v, err := tx.Vectors("points")
	if err != nil {
		t.Error(err)
		return
	}
	hits, err := v.Search([]float32{float32(n), 1}, vector.SearchOptions{K: 1})
	if err != nil || len(hits) != 1 || hits[0].ID != "p" || hits[0].Score != 0 {
		t.Errorf("search: %v, %v; want p at distance 0", hits, err)
	}
	g, err := tx.Graph("roads")
	if err != nil {
		t.Error(err)
		return
	}
	if e, err := g.Edge("b", "a", ""); err != nil || e.Weight != float64(n) {
		t.Errorf("edge: %+v, %v; want weight %d", e, err, n)
	}
}

func update(t testing.TB, d *db.DB, f func(tx *db.Tx) error) {
	t.Helper()
	if err := d.Update(ctx, f); err != nil {
		t.Fatal(err)
	}
}

func view(t testing.TB, d *db.DB, f func(tx *db.Tx)) {
	t.Helper()
	if err := d.View(ctx, func(tx *db.Tx) error { f(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

func TestUpdateReadsItsOwnWrites(t *testing.T) {
	d := openTest(t, testOptions(nil))
	update(t, d, func(tx *db.Tx) error {
		err := writeAll(tx, 7)
		wantAll(t, tx, 7)
		return err
	})
	view(t, d, func(tx *db.Tx) { wantAll(t, tx, 7) })
}

func TestUpdateRollsBack(t *testing.T) {
	refused := errors.New("refused")
	for name, end := range map[string]func() error{
		"error": func() error { return refused },
		"panic": func() error { panic(refused) },
	} {
		t.Run(name, func(t *testing.T) {
			d := openTest(t, testOptions(nil))
			update(t, d, func(tx *db.Tx) error { return writeAll(tx, 1) })
			before := logical(t, d)
			var panicked any
			err := func() error {
				defer func() { panicked = recover() }()
				return d.Update(ctx, func(tx *db.Tx) error {
					if err := writeAll(tx, 2); err != nil {
						t.Error(err)
					}
					if err := tx.DropGraph("roads"); err != nil {
						t.Error(err)
					}
					return end()
				})
			}()
			if !errors.Is(err, refused) && panicked != any(refused) {
				t.Errorf("got %v, panic %v; want the cause", err, panicked)
			}
			equalDumps(t, logical(t, d), before)
			update(t, d, func(tx *db.Tx) error { return writeAll(tx, 3) }) // the writer turn is free again
			view(t, d, func(tx *db.Tx) { wantAll(t, tx, 3) })
		})
	}
}

func TestViewStaysWhileOthersWrite(t *testing.T) {
	d := openTest(t, testOptions(nil))
	update(t, d, func(tx *db.Tx) error { return writeAll(tx, 1) })
	view(t, d, func(tx *db.Tx) {
		for n := byte(2); n < 6; n++ {
			update(t, d, func(tx *db.Tx) error { return writeAll(tx, n) })
			wantAll(t, tx, 1)
		}
	})
	view(t, d, func(tx *db.Tx) { wantAll(t, tx, 5) })
}

func TestTxAfterItsEnd(t *testing.T) {
	d := openTest(t, testOptions(nil))
	var kept *db.Tx
	var v *db.Vectors
	var g *db.Graph
	update(t, d, func(tx *db.Tx) (err error) {
		kept = tx
		if err := writeAll(tx, 1); err != nil {
			return err
		}
		if v, err = tx.Vectors("points"); err != nil {
			return err
		}
		g, err = tx.Graph("roads")
		return err
	})
	before := logical(t, d)
	for name, err := range map[string]error{
		"kv put":     kept.KV("state").Put([]byte("n"), nil),
		"kv delete":  kept.KV("state").Delete([]byte("n")),
		"kv get":     second(kept.KV("state").Get([]byte("n"))),
		"vectors":    second(kept.Vectors("points")),
		"vector put": v.Put("q", []float32{1, 2}),
		"vector get": second(v.Get("p")),
		"graph":      second(kept.Graph("roads")),
		"node":       g.PutNode(graph.Node{Name: "c"}),
		"read node":  second(g.Node("a")),
		"drop":       kept.DropGraph("roads"),
	} {
		if !errors.Is(err, db.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
	equalDumps(t, logical(t, d), before)
}

func TestViewRefusesWrites(t *testing.T) {
	d := openTest(t, testOptions(nil))
	update(t, d, func(tx *db.Tx) error { return writeAll(tx, 1) })
	view(t, d, func(tx *db.Tx) {
		v, err := tx.Vectors("points")
		if err != nil {
			t.Fatal(err)
		}
		g, err := tx.Graph("roads")
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{
			"kv put":         tx.KV("state").Put([]byte("n"), nil),
			"kv delete":      tx.KV("state").Delete([]byte("n")),
			"create vectors": second(tx.CreateVectors("more", vector.Config{Dim: 2})),
			"drop vectors":   tx.DropVectors("points"),
			"vector put":     v.Put("q", []float32{1, 2}),
			"vector delete":  v.Delete("p"),
			"create graph":   second(tx.CreateGraph("more", graph.Config{})),
			"drop graph":     tx.DropGraph("roads"),
			"node":           g.DeleteNode("a"),
			"edge":           g.DeleteEdge("a", "b", ""),
		} {
			if !errors.Is(err, db.ErrReadOnly) {
				t.Errorf("%s: %v, want ErrReadOnly", name, err)
			}
		}
	})
}

func TestDocumentsAreNotWrittenByTransactions(t *testing.T) {
	d := openTest(t, testOptions(nil))
	insert(t, d, doc("bridge", "E Mira Voss (repairs the bridge)\nE Lantern Bridge (old)\nR Mira Voss - Lantern Bridge (works on)\n"))
	before := logical(t, d)
	update(t, d, func(tx *db.Tx) error {
		g, err := tx.Graph(db.KnowledgeGraph)
		if err != nil {
			return err
		}
		if n, err := g.Node("Mira Voss"); err != nil || n.Degree != 1 {
			t.Errorf("reading: %+v, %v", n, err)
		}
		refused := map[string]error{
			"create":      second(tx.CreateGraph(db.KnowledgeGraph, graph.Config{})),
			"drop":        tx.DropGraph(db.KnowledgeGraph),
			"put node":    g.PutNode(graph.Node{Name: "Nobody"}),
			"delete node": g.DeleteNode("Mira Voss"),
			"rename node": g.RenameNode("Mira Voss", "Nobody"),
			"put edge":    g.PutEdge(graph.Edge{Src: "Mira Voss", Dst: "Lantern Bridge"}),
			"delete edge": g.DeleteEdge("Mira Voss", "Lantern Bridge", ""),
		}
		for _, name := range []string{"chunks", "entities", "relations"} {
			v, err := tx.Vectors(name)
			if err != nil {
				return err
			}
			if n, err := v.Len(); err != nil || n == 0 {
				t.Errorf("%s: %d vectors, %v", name, n, err)
			}
			refused[name+": create"] = second(tx.CreateVectors(name, v.Config()))
			refused[name+": drop"] = tx.DropVectors(name)
			refused[name+": put"] = v.Put("x", make([]float32, v.Config().Dim))
			refused[name+": delete"] = v.Delete("Mira Voss")
		}
		for what, err := range refused {
			if !errors.Is(err, db.ErrReserved) {
				t.Errorf("%s: %v, want ErrReserved", what, err)
			}
		}
		return nil
	})
	equalDumps(t, logical(t, d), before)
}

func second[T any](_ T, err error) error { return err }
