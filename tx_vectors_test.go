package db_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

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
