package vectortest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// The population turns over several times: nothing becomes unreachable, recall stays, memory does not grow.
func (u Suite) churn(t *testing.T) {
	s := u.open(t)
	c := s.Create("v", vector.Config{Dim: 16})
	m := vectorkit.Model{}
	s.Fill(c, m, 0, 1000)
	s.Settle()
	fresh := c.Stats().Bytes
	for round := 1; round <= 4; round++ {
		s.Fill(c, m, round*1000, 1000)
		s.Write(func(b *kv.Batch) error {
			for i := (round - 1) * 1000; i < round*1000; i++ {
				id := fmt.Sprintf("v%05d", i)
				delete(m, id)
				if err := c.Delete(b, id); err != nil {
					return err
				}
			}
			return nil
		})
		s.Settle()
		s.Check()
		if got := s.MeanRecall(c, m, 30); got < 0.98 {
			t.Errorf("recall is %v after %d turns", got, round)
		}
	}
	if got := c.Stats().Bytes; got > 3*fresh {
		t.Errorf("%d bytes for what took %d", got, fresh)
	}
}

// Searches, writers and the indexer run together; every view shows one commit. Meant for the race
// detector.
func (u Suite) concurrency(t *testing.T) {
	concurrently(t, u.options(), vector.Config{Dim: 16, M: 8, EfConstruction: 32})
}

// The same, while the rows leave memory in the middle: of codes whose distances come from rows as long as there
// are some, and of bits.
func (u Suite) rowsLeaveMemory(t *testing.T) {
	for _, c := range []vector.Config{{Metric: vector.L2}, {Quantization: vector.Binary}} {
		t.Run(c.Quantization.String(), func(t *testing.T) {
			c.Dim, c.M, c.EfConstruction = 16, 8, 32
			o := u.options()
			o.MemoryBytes = 256 * 4 * 16 // one segment
			if st := concurrently(t, o, c); st.Memory.Rows != 0 {
				t.Errorf("rows are still in memory: %+v", st.Memory)
			}
		})
	}
}

func concurrently(t *testing.T, o vector.SetOptions, config vector.Config) vector.Stats {
	s := vectorkit.Open(t, o)
	c := s.Create("v", config)
	s.Fill(c, vectorkit.Model{}, 0, 200)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := vectorkit.Rand(t, uint64(g))
			for {
				select {
				case <-done:
					return
				default:
				}
				snap := s.View()
				q := vectorkit.Random(r, 16)
				n, err := c.Len(snap)
				if err != nil {
					t.Error(err)
				}
				hits, err := c.Search(context.Background(), snap, q, vector.SearchOptions{K: 10})
				if err != nil || len(hits) != min(10, n) {
					t.Errorf("%d hits of %d vectors: %v", len(hits), n, err)
				}
				for _, h := range hits {
					if _, err := c.Get(snap, h.ID); err != nil {
						t.Errorf("hit %q: %v", h.ID, err)
					}
				}
				snap.Close()
			}
		}()
	}
	r := vectorkit.Rand(t, 8)
	for range 60 {
		s.Write(func(b *kv.Batch) error {
			for range 30 {
				id := fmt.Sprintf("v%05d", r.IntN(500))
				if r.IntN(2) == 0 {
					if err := c.Put(b, id, vectorkit.Random(r, 16)); err != nil {
						return err
					}
				} else if err := c.Delete(b, id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	close(done)
	wg.Wait()
	s.Settle()
	s.Check()
	return c.Stats()
}

// Equal histories give equal graphs and equal results, whoever did the indexing and when.
func (u Suite) deterministic(t *testing.T) {
	var stats []vector.IndexStats
	var results []string
	for run := range 2 {
		s := u.open(t)
		c := s.Create("v", vector.Config{Dim: 16})
		for part := range 10 {
			s.Fill(c, vectorkit.Model{}, part*100, 100)
			if run == 1 {
				s.Settle()
			}
		}
		s.Settle()
		snap := s.View()
		out := ""
		r := vectorkit.Rand(t, 3)
		for range 20 {
			hits, err := c.Search(context.Background(), snap, vectorkit.Random(r, 16), vector.SearchOptions{K: 10})
			if err != nil {
				t.Fatal(err)
			}
			out += fmt.Sprintln(hits)
		}
		snap.Close()
		x := *c.Stats().Index
		x.Log, x.Written = 0, 0
		stats, results = append(stats, x), append(results, out)
	}
	if stats[0] != stats[1] {
		t.Errorf("graphs differ: %+v, %+v", stats[0], stats[1])
	}
	if results[0] != results[1] {
		t.Error("results differ")
	}
}

// A collection that shrinks far below the threshold gives its index up, and takes one again when it grows.
func (u Suite) threshold(t *testing.T) {
	s := vectorkit.Open(t, vector.SetOptions{NewIndex: u.New, ExactBytes: 16 * 500})
	c := s.Create("v", vector.Config{Dim: 16})
	m := vectorkit.Model{}
	s.Fill(c, m, 0, 400)
	s.Settle()
	if c.Stats().Index != nil {
		t.Error("index below the threshold")
	}
	s.Fill(c, m, 400, 400)
	s.Settle()
	if c.Stats().Index == nil {
		t.Error("no index above the threshold")
	}
	s.Write(func(b *kv.Batch) error {
		var errs []error
		for i := range 700 {
			id := fmt.Sprintf("v%05d", i)
			delete(m, id)
			errs = append(errs, c.Delete(b, id))
		}
		return errors.Join(errs...)
	})
	s.Settle()
	if c.Stats().Index != nil {
		t.Error("index kept for 100 vectors")
	}
	s.Reopen()
	c = s.Collection("v")
	if st := c.Stats(); st.Index != nil || st.Live != 100 {
		t.Errorf("after reopening: %+v", st)
	}
	s.Fill(c, m, 1000, 500)
	s.Settle()
	if c.Stats().Index == nil {
		t.Error("no index after growing again")
	}
	s.Check()
	if got := s.MeanRecall(c, m, 20); got < 0.98 {
		t.Errorf("recall is %v", got)
	}
}

// After the population turned over five times, a compacted collection takes what a fresh one takes in memory and
// on disk, finds as much, and keeps nothing dead; but a view that was held all the time still sees its vectors.
func (u Suite) compact(t *testing.T) {
	const turns, dim, k, queries = 5, 24, 10, 300
	n := vectorkit.Scaled(1500)
	ctx := context.Background()
	open := func() (*vectorkit.Store, *vector.Collection) {
		s := u.open(t)
		c := s.Create("v", vector.Config{Dim: dim, M: 8, EfConstruction: 48})
		s.Settle()
		return s, c
	}
	compact := func(s *vectorkit.Store) {
		t.Helper()
		if err := s.Set.Compact(ctx); err != nil {
			t.Fatal(err)
		}
		s.Check()
	}
	s, c := open()
	m := vectorkit.Model{}
	s.Fill(c, m, 0, n)
	s.Settle()
	first, held := m.Clone(), s.View()
	for turn := 1; turn <= turns; turn++ {
		s.Fill(c, m, turn*n, n)
		s.Write(func(b *kv.Batch) error {
			var errs []error
			for i := (turn - 1) * n; i < turn*n; i++ {
				id := fmt.Sprintf("v%05d", i)
				delete(m, id)
				errs = append(errs, c.Delete(b, id))
			}
			return errors.Join(errs...)
		})
		s.Settle()
	}
	compact(s)
	q := vectorkit.Random(vectorkit.Rand(t, 5), dim)
	hits, err := c.Search(ctx, held, q, vector.SearchOptions{K: k, Exact: true})
	if err != nil || vectorkit.Recall(t, vector.Cosine, first, q, k, nil, hits) < 1 {
		t.Errorf("the held view: %v, %v", hits, err)
	}
	held.Close()
	compact(s)

	fresh, f := open()
	fresh.Write(func(b *kv.Batch) error {
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
	tight := func(s *vectorkit.Store, c *vector.Collection) (sum float64) {
		snap := s.View()
		defer snap.Close()
		r := vectorkit.Rand(t, 77)
		for range queries {
			q := vectorkit.Random(r, dim)
			hits, err := c.Search(ctx, snap, q, vector.SearchOptions{K: k, Ef: 2 * k})
			if err != nil {
				t.Fatal(err)
			}
			sum += vectorkit.Recall(t, vector.Cosine, m, q, k, nil, hits)
		}
		return sum / queries
	}
	churned, new := tight(s, c), tight(fresh, f)
	t.Logf("recall %.3f, of a fresh one %.3f", churned, new)
	if churned < new-0.03 { // 3,000 neighbours: 0.01 with two standard errors, and what the seeds of cells decide
		t.Errorf("recall is %.3f, that of a fresh one %.3f", churned, new)
	}
	s.Reopen()
	s.Check()
	if st := s.Collection("v").Stats(); st.Live != n || st.Dead != 0 || st.Tail != 0 {
		t.Errorf("after reopening: %+v", st)
	}
}
