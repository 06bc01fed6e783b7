package hnsw_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

// around returns n vectors near few centres.
func around(r *rand.Rand, n, dim int) [][]float32 {
	centres := make([][]float32, 30)
	for i := range centres {
		centres[i] = random(r, dim)
	}
	out := make([][]float32, n)
	for i := range out {
		out[i] = random(r, dim)
		for j, x := range centres[r.IntN(len(centres))] {
			out[i][j] = x + 0.3*out[i][j]
		}
	}
	return out
}

// load puts vectors[i] under v<i> and waits for the index.
func load(s *store, c *vector.Collection, vectors [][]float32) model {
	s.t.Helper()
	m := model{}
	s.write(func(b *kv.Batch) error {
		var errs []error
		for i, v := range vectors {
			id := fmt.Sprintf("v%05d", i)
			m[id] = v
			errs = append(errs, c.Put(b, id, v))
		}
		return errors.Join(errs...)
	})
	s.settle()
	return m
}

// At the default width the graph finds nearly all of ten neighbours, and all vectors find themselves.
func TestRecall(t *testing.T) { eachIndex(t, testRecall) }

func testRecall(t *testing.T, v variant) {
	const queries = 50
	n := scaled(2000)
	for _, metric := range metrics {
		dims := []int{32}
		if metric == vector.Cosine {
			dims = []int{4, 32, 100}
		}
		for _, dim := range dims {
			for _, shape := range []string{"random", "clustered"} {
				t.Run(fmt.Sprintf("%v/%d/%s", metric, dim, shape), func(t *testing.T) {
					t.Parallel()
					r := newRand(t, uint64(dim))
					vectors := around(r, n+queries, dim)
					if shape == "random" {
						for i := range vectors {
							vectors[i] = random(r, dim)
						}
					}
					s := v.store(t)
					c := s.create("v", vector.Config{Metric: metric, Dim: dim})
					m := load(s, c, vectors[:n])
					snap := s.view()
					defer snap.Close()
					sum := 0.0
					for _, q := range vectors[n:] {
						hits, err := c.Search(context.Background(), snap, q, vector.SearchOptions{K: 10})
						if err != nil {
							t.Fatal(err)
						}
						sum += recall(t, metric, m, q, 10, nil, hits)
					}
					if mean := sum / queries; mean < 0.95 {
						t.Errorf("recall at 10 is %.4f", mean)
					}
					s.check()
				})
			}
		}
	}
}

// A search of the warm graph allocates nothing, however wide.
func TestSearchAllocatesNothing(t *testing.T) {
	var x vector.Index
	s := newStore(t, indexAlways)
	s.close()
	var points *vector.Points
	s.o.NewIndex = func(o vector.IndexOptions) vector.Index {
		x = hnsw.New(o)
		return &spy{x, func(p *vector.Points) { points = p }}
	}
	s.open()
	r := newRand(t, 4)
	load(s, s.create("v", vector.Config{Dim: 16}), around(r, 1000, 16))
	probe := points.NewProbe()
	probe.Set(random(r, 16))
	out := make([]uint32, 0, 100)
	for _, narrow := range []bool{false, true} {
		q := vector.Query{Probe: probe, K: 20, Ef: 100, Narrow: narrow, Admit: func(slot uint32) bool { return !narrow || slot%2 == 0 }}
		if n := testing.AllocsPerRun(100, func() { out = x.Search(q, out[:0]) }); n >= 1 && !raceDetector {
			t.Errorf("narrow %v: %v allocations a search", narrow, n)
		}
		if len(out) != 20 {
			t.Errorf("narrow %v: %d results", narrow, len(out))
		}
	}
}

// spy tells which points an index is attached to.
type spy struct {
	vector.Index
	attached func(*vector.Points)
}

func (s *spy) Attach(p *vector.Points, slots []uint32) {
	s.attached(p)
	s.Index.Attach(p, slots)
}

// BenchmarkSearch is each searcher at its default width, through the collection; the indexes tell what an insert cost, too.
func BenchmarkSearch(b *testing.B) {
	const n, queries = 10000, 100
	for _, dim := range []int{100, 768} {
		vectors := around(newRand(b, 1), n+queries, dim)
		for _, v := range variants {
			b.Run(fmt.Sprintf("%d/%s", dim, v.name), func(b *testing.B) {
				s := v.store(b)
				c := s.create("v", vector.Config{Dim: dim})
				start := time.Now()
				m := load(s, c, vectors[:n])
				built := time.Since(start)
				snap := s.view()
				defer snap.Close()
				sum, i := 0.0, 0
				for _, q := range vectors[n:] {
					hits, err := c.Search(context.Background(), snap, q, vector.SearchOptions{K: 10})
					if err != nil {
						b.Fatal(err)
					}
					sum += recall(b, vector.Cosine, m, q, 10, nil, hits)
				}
				for b.Loop() {
					if _, err := c.Search(context.Background(), snap, vectors[n+i%queries], vector.SearchOptions{K: 10}); err != nil {
						b.Fatal(err)
					}
					i++
				}
				b.ReportMetric(sum/queries, "recall@10")
				b.ReportMetric(float64(built.Microseconds())/n, "µs/insert")
				b.ReportMetric(float64(c.Stats().Bytes)/n, "B/vector")
			})
		}
	}
}
