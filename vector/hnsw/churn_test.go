package hnsw_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// The population turns over several times: nothing becomes unreachable, recall stays, memory does not grow.
func TestChurn(t *testing.T) { eachIndex(t, testChurn) }

func testChurn(t *testing.T, v variant) {
	s := v.store(t)
	c := s.create("v", vector.Config{Dim: 16})
	m := model{}
	fill(s, c, m, 0, 1000)
	s.settle()
	fresh := c.Stats().Bytes
	for round := 1; round <= 4; round++ {
		fill(s, c, m, round*1000, 1000)
		s.write(func(b *kv.Batch) error {
			for i := (round - 1) * 1000; i < round*1000; i++ {
				id := fmt.Sprintf("v%05d", i)
				delete(m, id)
				if err := c.Delete(b, id); err != nil {
					return err
				}
			}
			return nil
		})
		s.settle()
		s.check()
		if got := meanRecall(s, c, m, 30); got < 0.98 {
			t.Errorf("recall is %v after %d turns", got, round)
		}
	}
	if got := c.Stats().Bytes; got > 3*fresh {
		t.Errorf("%d bytes for what took %d", got, fresh)
	}
}

// Searches, writers and the indexer run together; every view shows one commit. Meant for the race
// detector.
func TestConcurrency(t *testing.T) {
	eachIndex(t, func(t *testing.T, v variant) {
		concurrently(t, v.options(), vector.Config{Dim: 16, M: 8, EfConstruction: 32})
	})
}

// The same, while the rows leave memory in the middle: of codes whose distances come from rows as long as there
// are some, and of bits.
func TestRowsLeaveMemoryUnderSearches(t *testing.T) {
	eachIndex(t, func(t *testing.T, v variant) {
		for _, c := range []vector.Config{{Metric: vector.L2}, {Quantization: vector.Binary}} {
			t.Run(c.Quantization.String(), func(t *testing.T) {
				c.Dim, c.M, c.EfConstruction = 16, 8, 32
				o := v.options()
				o.MemoryBytes = 256 * 4 * 16 // one segment
				if st := concurrently(t, o, c); st.Memory.Rows != 0 {
					t.Errorf("rows are still in memory: %+v", st.Memory)
				}
			})
		}
	})
}

func concurrently(t *testing.T, o vector.SetOptions, config vector.Config) vector.Stats {
	s := storeOf(t, o)
	c := s.create("v", config)
	fill(s, c, model{}, 0, 200)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := newRand(t, uint64(g))
			for {
				select {
				case <-done:
					return
				default:
				}
				snap := s.view()
				q := random(r, 16)
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
	r := newRand(t, 8)
	for range 60 {
		s.write(func(b *kv.Batch) error {
			for range 30 {
				id := fmt.Sprintf("v%05d", r.IntN(500))
				if r.IntN(2) == 0 {
					if err := c.Put(b, id, random(r, 16)); err != nil {
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
	s.settle()
	s.check()
	return c.Stats()
}

// Equal histories give equal graphs and equal results, whoever did the indexing and when.
func TestDeterministic(t *testing.T) { eachIndex(t, testDeterministic) }

func testDeterministic(t *testing.T, v variant) {
	var stats []vector.IndexStats
	var results []string
	for run := range 2 {
		s := v.store(t)
		c := s.create("v", vector.Config{Dim: 16})
		for part := range 10 {
			fill(s, c, model{}, part*100, 100)
			if run == 1 {
				s.settle()
			}
		}
		s.settle()
		snap := s.view()
		out := ""
		r := newRand(t, 3)
		for range 20 {
			hits, err := c.Search(context.Background(), snap, random(r, 16), vector.SearchOptions{K: 10})
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
func TestThreshold(t *testing.T) { eachIndex(t, testThreshold) }

func testThreshold(t *testing.T, v variant) {
	s := storeOf(t, vector.SetOptions{NewIndex: v.index, ExactBytes: 16 * 500})
	c := s.create("v", vector.Config{Dim: 16})
	m := model{}
	fill(s, c, m, 0, 400)
	s.settle()
	if c.Stats().Index != nil {
		t.Error("index below the threshold")
	}
	fill(s, c, m, 400, 400)
	s.settle()
	if c.Stats().Index == nil {
		t.Error("no index above the threshold")
	}
	s.write(func(b *kv.Batch) error {
		var errs []error
		for i := range 700 {
			id := fmt.Sprintf("v%05d", i)
			delete(m, id)
			errs = append(errs, c.Delete(b, id))
		}
		return errors.Join(errs...)
	})
	s.settle()
	if c.Stats().Index != nil {
		t.Error("index kept for 100 vectors")
	}
	s.reopen()
	c = s.collection("v")
	if st := c.Stats(); st.Index != nil || st.Live != 100 {
		t.Errorf("after reopening: %+v", st)
	}
	fill(s, c, m, 1000, 500)
	s.settle()
	if c.Stats().Index == nil {
		t.Error("no index after growing again")
	}
	s.check()
	if got := meanRecall(s, c, m, 20); got < 0.98 {
		t.Errorf("recall is %v", got)
	}
}
