package vectorkit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// Load puts vectors[i] under v<i> in one commit, waits for the index, and returns the model of it.
func (s *Store) Load(c *vector.Collection, vectors [][]float32) Model {
	s.T.Helper()
	m := Model{}
	s.Write(func(b *kv.Batch) error {
		var errs []error
		for i, v := range vectors {
			id := ID(i)
			m[id] = v
			errs = append(errs, c.Put(b, id, v))
		}
		return errors.Join(errs...)
	})
	s.Settle()
	return m
}

// ID is what Load and Fill name the i-th vector.
func ID(i int) string { return fmt.Sprintf("v%05d", i) }

// Fill puts n random vectors, numbered from from on, into c and m, a hundred in a commit.
func (s *Store) Fill(c *vector.Collection, m Model, from, n int) {
	s.T.Helper()
	r := Rand(s.T, uint64(from))
	for at := from; at < from+n; at += 100 {
		s.Write(func(b *kv.Batch) error {
			for i := at; i < min(at+100, from+n); i++ {
				m[ID(i)] = Random(r, c.Config().Dim)
				if err := c.Put(b, ID(i), m[ID(i)]); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// Delete takes numbered vectors out of c and m, in one commit.
func (s *Store) Delete(c *vector.Collection, m Model, numbers iter.Seq[int]) {
	s.T.Helper()
	s.Write(func(b *kv.Batch) error {
		var errs []error
		for i := range numbers {
			delete(m, ID(i))
			errs = append(errs, c.Delete(b, ID(i)))
		}
		return errors.Join(errs...)
	})
}

// Every yields from, from+step and so on, below to.
func Every(from, to, step int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := from; i < to && yield(i); i += step {
		}
	}
}

// MeanRecall is that of searches for ten neighbours of random vectors, at the default width.
func (s *Store) MeanRecall(c *vector.Collection, m Model, queries int) float64 {
	s.T.Helper()
	r := Rand(s.T, 99)
	random := make([][]float32, queries)
	for i := range random {
		random[i] = Random(r, c.Config().Dim)
	}
	return s.RecallOfEach(c, m, random, vector.SearchOptions{K: 10})
}

// RecallOfEach is the mean recall of searches for queries.
func (s *Store) RecallOfEach(c *vector.Collection, m Model, queries [][]float32, o vector.SearchOptions) (sum float64) {
	s.T.Helper()
	snap := s.View()
	defer snap.Close()
	for _, q := range queries {
		hits, err := c.Search(context.Background(), snap, q, o)
		if err != nil {
			s.T.Fatal(err)
		}
		sum += Recall(s.T, c.Config().Metric, m, q, o.K, nil, hits)
	}
	return sum / float64(len(queries))
}

// Holds compares all vectors of the collection v, under cosine, and what searches find with the model.
func (s *Store) Holds(m Model) {
	s.T.Helper()
	c := s.Collection("v")
	snap := s.View()
	defer snap.Close()
	if !s.Shows(snap, m) {
		s.T.Errorf("the collection does not hold the %d vectors of the model", len(m))
	}
	for id, v := range m {
		hits, err := c.Search(context.Background(), snap, v, vector.SearchOptions{K: 1})
		if err != nil || len(hits) != 1 || hits[0].ID != id && hits[0].Score < same {
			s.T.Errorf("nearest to %q is %v, %v", id, hits, err)
		}
	}
	if got := s.MeanRecall(c, m, 5); got < 0.95 {
		s.T.Errorf("recall is %v", got)
	}
}

// same is the least cosine of a vector with itself.
const same = 0.9999

// Shows reports whether the collection v holds the vectors of m, but for their lengths, and no other, as snap
// shows it.
func (s *Store) Shows(snap *kv.Snapshot, m Model) bool {
	s.T.Helper()
	c, err := s.Set.Collection(snap, "", "v")
	if err != nil {
		s.T.Fatal(err)
	}
	n := 0
	for row, err := range c.All(snap) {
		if v, ok := m[row.ID]; err != nil || !ok || Score(vector.Cosine, v, row.Vector) < same {
			return false
		}
		n++
	}
	return n == len(m)
}

// Points returns vectors as the points of a collection; slot i holds vector i.
func Points(t testing.TB, c vector.Config, vectors [][]float32) *vector.Points {
	t.Helper()
	var of collector
	s := Open(t, vector.SetOptions{ExactBytes: IndexAlways, NewIndex: func(vector.IndexOptions) vector.Index { return &of }})
	s.Load(s.Create("v", c), vectors)
	s.Close()
	if of.points == nil || int(of.points.Len()) != len(vectors) {
		t.Fatal("the collection has other points")
	}
	return of.points
}

// collector is an index that holds nothing: it lets a test have the points of a collection.
type collector struct{ points *vector.Points }

func (c *collector) Search(_ vector.Query, out []uint32) []uint32   { return out }
func (c *collector) Load(kv.Reader) ([]uint64, uint64, error)       { return nil, 0, nil }
func (c *collector) Attach(p *vector.Points, _ []uint32)            { c.points = p }
func (c *collector) Insert(uint32)                                  {}
func (c *collector) Remove([]uint32)                                {}
func (c *collector) Skip(uint64)                                    {}
func (c *collector) Move(p *vector.Points, _ []uint32) vector.Index { c.points = p; return c }
func (c *collector) Drain() []func(*kv.Batch) error                 { return nil }
func (c *collector) Lost()                                          {}
func (c *collector) Check(func(slot uint32) bool) iter.Seq[string]  { return func(func(string) bool) {} }
func (c *collector) Stats() vector.IndexStats                       { return vector.IndexStats{} }
