package db_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
)

// Every read of a collection inside a transaction sees that transaction: its own writes in an update, and its
// commit in a view that is held while others write. A set made in one serves the others.
func TestVectorsSeeTheirTransaction(t *testing.T) {
	d := openTest(t, testOptions(nil))
	var set *vector.IDSet
	see := func(tx *db.Tx, want map[string]float32) {
		t.Helper()
		v, err := tx.Vectors("points")
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{"a", "b", "c", "d"}
		many, err := v.GetMany(ids)
		if err != nil {
			t.Fatal(err)
		}
		found, err := v.Range([]float32{0, 0}, vector.RangeOptions{MinScore: -3})
		if err != nil {
			t.Fatal(err)
		}
		some, err := v.Search([]float32{0, 0}, vector.SearchOptions{K: 9, Set: set})
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			at, stored := want[id]
			one, err := v.Get(id)
			if stored != (err == nil) || stored != (many[i] != nil) || stored && (one[0] != at || many[i][0] != at) || !stored && !errors.Is(err, db.ErrNotFound) {
				t.Errorf("%s: %v and %v, %v; want %v %v", id, one, many[i], err, stored, at)
			}
			is := func(h vector.Hit) bool { return h.ID == id && h.Score == -at }
			if got := slices.ContainsFunc(found.Hits, is); got != (stored && at <= 3) {
				t.Errorf("%s in range: %v", id, got)
			}
			if got := slices.ContainsFunc(some, is); got != (stored && set.Has(id)) {
				t.Errorf("%s among the set: %v", id, got)
			}
		}
		if n, err := v.Len(); err != nil || n != len(want) {
			t.Errorf("%d vectors, %v, want %d", n, err, len(want))
		}
	}
	put := func(tx *db.Tx, vectors map[string]float32) error {
		v, err := tx.CreateVectors("points", vector.Config{Metric: vector.L2, Dim: 2})
		for id, x := range vectors {
			err = errors.Join(err, v.Put(id, []float32{x, 0}))
		}
		return err
	}
	update(t, d, func(tx *db.Tx) error {
		if err := put(tx, map[string]float32{"a": 1, "b": 2, "c": 5}); err != nil {
			return err
		}
		v, err := tx.Vectors("points")
		if err != nil {
			return err
		}
		set = v.IDSet([]string{"a", "c", "d"})
		see(tx, map[string]float32{"a": 1, "b": 2, "c": 5})
		return nil
	})
	view(t, d, func(tx *db.Tx) {
		update(t, d, func(tx *db.Tx) error {
			v, err := tx.Vectors("points")
			if err != nil {
				return err
			}
			err = errors.Join(put(tx, map[string]float32{"a": 4, "d": 3}), v.Delete("b"))
			see(tx, map[string]float32{"a": 4, "c": 5, "d": 3})
			return err
		})
		see(tx, map[string]float32{"a": 1, "b": 2, "c": 5})
	})
	view(t, d, func(tx *db.Tx) {
		see(tx, map[string]float32{"a": 4, "c": 5, "d": 3})
		if names, err := tx.VectorNames(); err != nil || fmt.Sprint(names) != "[points]" {
			t.Errorf("collections %v, %v", names, err)
		}
		v, err := tx.Vectors("points")
		if err != nil {
			t.Fatal(err)
		}
		if st := v.Stats(); st.Live != 3 || st.Bytes <= 0 {
			t.Errorf("stats %+v", st)
		}
		other, err := tx.Vectors("nothing")
		if !errors.Is(err, db.ErrNotFound) {
			t.Errorf("unknown collection: %v, %v", other, err)
		}
	})
}

// Compact gives back what deleted and replaced vectors, records and documents took, and changes nothing else.
func TestCompact(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.Vectors.ExactBytes = -1
	d := openTest(t, o)
	turn := func(n, vectors int) {
		t.Helper()
		update(t, d, func(tx *db.Tx) error {
			v, err := tx.CreateVectors("v", vector.Config{Dim: 64, Metric: vector.L2, M: 4, EfConstruction: 16})
			for i := range vectors {
				vec := make([]float32, 64)
				for j := range vec {
					vec[j] = float32((i*7+j*n)%31) - 15
				}
				err = errors.Join(err, v.Put(fmt.Sprint(i), vec), tx.KV("k").Put(fmt.Append(nil, i), vecBytes(vec)))
			}
			return err
		})
	}
	compact := func() vector.Stats {
		t.Helper()
		if err := d.Compact(ctx); err != nil {
			t.Fatal(err)
		}
		return collection(t, d, "v")
	}
	turn(1, 200)
	first := compact()
	for n := range 5 {
		turn(n, 200)
	}
	settle := func() {
		t.Helper()
		if err := d.Settle(ctx); err != nil {
			t.Fatal(err)
		}
	}
	settle()
	turn(7, 50) // too few to be given back at once
	insert(t, d, doc("a", "E Ada (counts)"))
	before := logical(t, d)
	settle()
	if st := collection(t, d, "v"); st.Dead == 0 {
		t.Fatalf("nothing to compact: %+v", st)
	}
	last := compact()
	const block = 4 << 10 // what is on disk is estimated in blocks of tables, of which so few vectors fill four
	if last.Dead != 0 || last.Live != 200 || last.Bytes > first.Bytes || last.Disk == 0 || last.Disk > first.Disk*13/10+block {
		t.Errorf("after five more turns %+v, after one %+v", last, first)
	}
	equalDumps(t, logical(t, d), before)
	closeChecked(t, d)
	o.ReadOnly = true
	d, err := db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Compact(ctx); !errors.Is(err, db.ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
	closeChecked(t, d)
}

func vecBytes(v []float32) (b []byte) {
	for _, x := range v {
		b = fmt.Appendf(b, "%v ", x)
	}
	return b
}

// The watch's estimate reaches the statistics; one on demand needs no watch.
func TestRecallIsTold(t *testing.T) {
	o := testOptions(nil)
	o.Vectors.ExactBytes, o.Vectors.RecallSample = -1, 1
	d := openTest(t, o)
	update(t, d, func(tx *db.Tx) error {
		v, err := tx.CreateVectors("v", vector.Config{Dim: 4, Metric: vector.L2})
		for i := range 300 {
			err = errors.Join(err, v.Put(fmt.Sprint(i), []float32{float32(i % 17), float32(i % 23), float32(i), 1}))
		}
		return err
	})
	if err := d.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	view(t, d, func(tx *db.Tx) {
		v, err := tx.Vectors("v")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Search([]float32{1, 2, 3, 4}, vector.SearchOptions{K: 5}); err != nil {
			t.Fatal(err)
		}
		e, err := v.EstimateRecall(vector.EstimateOptions{Queries: 20})
		if err != nil || e.Queries != 20 || e.Recall < 0.9 || e.Low >= e.Recall {
			t.Errorf("on demand: %+v, %v", e, err)
		}
	})
	for collection(t, d, "v").Recall == nil {
		time.Sleep(time.Millisecond)
	}
	if e := collection(t, d, "v").Recall; e.Queries < 1 || e.Recall < 0.5 {
		t.Errorf("the watch: %+v", e)
	}
	o.Vectors.RecallSample = 2
	var bad *db.OptionError
	if _, err := db.Open("x.db", db.WithOptions(o)); !errors.As(err, &bad) || bad.Field != "Vectors.RecallSample" {
		t.Errorf("a share of 2: %v", err)
	}
}

// collection is what the statistics say of one.
func collection(t *testing.T, d *db.DB, name string) vector.Stats {
	t.Helper()
	s, err := d.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s.Collections[name]
}
