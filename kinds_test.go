package db_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
)

// Each collection gets the index that its configuration names, finds it again after reopening, and one of the
// other kind when it is dropped and created anew.
func TestKindsOfIndexes(t *testing.T) {
	const n, dim = 300, 8
	o := testOptions(vfs.NewMem())
	o.Vectors.ExactBytes = -1
	d := openTest(t, o)
	kinds := map[string]vector.Kind{"graph": vector.HNSW, "cells": vector.IVF}
	vec := func(i int) []float32 {
		v := make([]float32, dim)
		for j := range v {
			v[j] = float32((i*7+j*i*i)%61) - 30.5
		}
		return v
	}
	fill := func() {
		t.Helper()
		update(t, d, func(tx *db.Tx) error {
			var errs []error
			for name, kind := range kinds {
				v, err := tx.CreateVectors(name, vector.Config{Dim: dim, Kind: kind})
				errs = append(errs, err)
				for i := range n {
					errs = append(errs, v.Put(fmt.Sprintf("v%03d", i), vec(i)))
				}
			}
			return errors.Join(errs...)
		})
		if err := d.Settle(ctx); err != nil {
			t.Fatal(err)
		}
	}
	indexed := func() {
		t.Helper()
		for name, kind := range kinds {
			st := collection(t, d, name)
			if st.Index == nil || st.Index.Kind != kind.String() || st.Index.Nodes != n || st.Tail != 0 {
				t.Errorf("%s: %+v, index %+v, want %v", name, st, st.Index, kind)
			}
		}
	}
	found := func() (out []string) {
		t.Helper()
		err := d.View(ctx, func(tx *db.Tx) error {
			for _, name := range []string{"cells", "graph"} {
				v, err := tx.Vectors(name)
				if err != nil {
					return err
				}
				hits, err := v.Search(vec(77), vector.SearchOptions{K: 5})
				if err != nil {
					return err
				}
				out = append(out, fmt.Sprint(hits))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	fill()
	indexed()
	before := found()
	if before[0] != before[1] {
		t.Errorf("cells and graph find %q", before)
	}
	closeChecked(t, d)
	d = openTest(t, o)
	indexed() // loaded: nobody has settled
	if after := found(); !slices.Equal(after, before) {
		t.Errorf("found %q, before closing %q", after, before)
	}
	update(t, d, func(tx *db.Tx) error { return errors.Join(tx.DropVectors("graph"), tx.DropVectors("cells")) })
	kinds["graph"], kinds["cells"] = kinds["cells"], kinds["graph"]
	fill()
	indexed()
	closeChecked(t, d)
	d = openTest(t, o)
	indexed()
	closeChecked(t, d)
}
