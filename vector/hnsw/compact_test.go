package hnsw_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// After the population turned over five times, a compacted collection takes what a fresh one takes in memory and
// on disk, finds as much, and keeps nothing dead; but a view that was held all the time still sees its vectors.
func TestCompact(t *testing.T) { eachIndex(t, testCompact) }

func testCompact(t *testing.T, v variant) {
	const turns, dim, k, queries = 5, 24, 10, 300
	n := scaled(1500)
	ctx := context.Background()
	open := func() (*store, *vector.Collection) {
		s := v.store(t)
		c := s.create("v", vector.Config{Dim: dim, M: 8, EfConstruction: 48})
		s.settle()
		return s, c
	}
	compact := func(s *store) {
		t.Helper()
		if err := s.set.Compact(ctx); err != nil {
			t.Fatal(err)
		}
		s.check()
	}
	s, c := open()
	m := model{}
	fill(s, c, m, 0, n)
	s.settle()
	first, held := m.clone(), s.view()
	for turn := 1; turn <= turns; turn++ {
		fill(s, c, m, turn*n, n)
		s.write(func(b *kv.Batch) error {
			var errs []error
			for i := (turn - 1) * n; i < turn*n; i++ {
				id := fmt.Sprintf("v%05d", i)
				delete(m, id)
				errs = append(errs, c.Delete(b, id))
			}
			return errors.Join(errs...)
		})
		s.settle()
	}
	compact(s)
	q := random(newRand(t, 5), dim)
	hits, err := c.Search(ctx, held, q, vector.SearchOptions{K: k, Exact: true})
	if err != nil || recall(t, vector.Cosine, first, q, k, nil, hits) < 1 {
		t.Errorf("the held view: %v, %v", hits, err)
	}
	held.Close()
	compact(s)

	fresh, f := open()
	fresh.write(func(b *kv.Batch) error {
		var errs []error
		for _, id := range slices.Sorted(maps.Keys(m)) { // the order in which the others came
			errs = append(errs, f.Put(b, id, m[id]))
		}
		return errors.Join(errs...)
	})
	compact(fresh)

	got, want := c.Stats(), f.Stats()
	if got.Live != n || got.Dead != 0 || got.Tail != 0 || got.Index == nil || got.Index.Nodes != n || want.Disk == 0 {
		t.Errorf("%+v, index %+v", got, got.Index)
	}
	if got.Bytes*10 > want.Bytes*13 || got.Disk*10 > want.Disk*13 {
		t.Errorf("%d bytes in memory and %d on disk, a fresh one takes %d and %d", got.Bytes, got.Disk, want.Bytes, want.Disk)
	}
	t.Logf("memory %d of %d, disk %d of %d", got.Bytes, want.Bytes, got.Disk, want.Disk)
	tight := func(s *store, c *vector.Collection) (sum float64) {
		snap := s.view()
		defer snap.Close()
		r := newRand(t, 77)
		for range queries {
			q := random(r, dim)
			hits, err := c.Search(ctx, snap, q, vector.SearchOptions{K: k, Ef: 2 * k})
			if err != nil {
				t.Fatal(err)
			}
			sum += recall(t, vector.Cosine, m, q, k, nil, hits)
		}
		return sum / queries
	}
	churned, new := tight(s, c), tight(fresh, f)
	t.Logf("recall %.3f, of a fresh one %.3f", churned, new)
	if churned < new-0.03 { // 3,000 neighbours: 0.01 with two standard errors, and what the seeds of cells decide
		t.Errorf("recall is %.3f, that of a fresh one %.3f", churned, new)
	}
	s.reopen()
	s.check()
	if st := s.collection("v").Stats(); st.Live != n || st.Dead != 0 || st.Tail != 0 {
		t.Errorf("after reopening: %+v", st)
	}
}

// A cancelled Compact leaves the collection as it was; a closed set refuses.
func TestCompactIsCancelled(t *testing.T) {
	s := newStore(t, indexAlways)
	c := s.create("v", vector.Config{Dim: 8})
	m := model{}
	fill(s, c, m, 0, 300)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.set.Compact(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got := meanRecall(s, c, m, 5); got < 0.98 {
		t.Errorf("recall %v", got)
	}
	s.check()
	set := s.set
	s.reopen()
	if err := set.Compact(context.Background()); !errors.Is(err, vector.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
