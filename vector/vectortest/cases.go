package vectortest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// HC-17 (a): one vector is added, deleted and added again.
func (u Suite) deleteTheOnlyVector(t *testing.T) {
	s := u.open(t)
	c := s.Create("v", vector.Config{Dim: 3})
	put := func(b *kv.Batch) error { return c.Put(b, "a", []float32{1, 2, 3}) }
	find := func(want int) {
		t.Helper()
		snap := s.View()
		defer snap.Close()
		hits, err := c.Search(context.Background(), snap, []float32{1, 2, 3}, vector.SearchOptions{K: 5})
		if err != nil || len(hits) != want {
			t.Errorf("hits %v, %v, want %d", hits, err, want)
		}
	}
	for range 3 {
		s.Write(put)
		find(1)
		s.Settle()
		find(1)
		s.Write(func(b *kv.Batch) error { return c.Delete(b, "a") })
		find(0)
		s.Settle()
		find(0)
		s.Check()
	}
	s.Write(put)
	find(1)
}

// HC-17 (b): of 300 vectors the current entry point is deleted 60 times; every living vector stays its own
// nearest, before and after reopening.
func (u Suite) deleteTheEntryPoint(t *testing.T) {
	const dim = 8
	s := u.open(t)
	r := vectorkit.Rand(t, 17)
	c := s.Create("v", vector.Config{Dim: dim})
	m := vectorkit.Model{}
	s.Write(func(b *kv.Batch) error {
		for i := range 300 {
			id := fmt.Sprintf("v%03d", i)
			m[id] = vectorkit.Random(r, dim)
			if err := c.Put(b, id, m[id]); err != nil {
				return err
			}
		}
		return nil
	})
	s.Settle()
	every := func(compare bool) {
		t.Helper()
		snap := s.View()
		defer snap.Close()
		sum := 0.0
		for id, v := range m {
			hits, err := c.Search(context.Background(), snap, v, vector.SearchOptions{K: 10})
			if err != nil || len(hits) != 10 || hits[0].ID != id {
				t.Fatalf("nearest to %q is %v, %v", id, hits, err)
			}
			for _, h := range hits {
				if m[h.ID] == nil {
					t.Errorf("%q was deleted", h.ID)
				}
			}
			if compare {
				sum += vectorkit.Recall(t, vector.Cosine, m, v, 10, nil, hits)
			}
		}
		if mean := sum / float64(len(m)); compare && mean < 0.99 {
			t.Errorf("recall at 10 is %v", mean)
		}
	}
	for i := range 60 {
		victim := entryOf(c, m)
		delete(m, victim)
		s.Write(func(b *kv.Batch) error { return c.Delete(b, victim) })
		s.Settle()
		if tenth := i%10 == 9; tenth || !vectorkit.Race {
			every(tenth)
		}
	}
	s.Check()
	s.Reopen()
	c = s.Collection("v")
	every(true)
	s.Check()
}

// HC-16 (f) and (g), and what else may be asked of a collection.
func (u Suite) smallAndOddSearches(t *testing.T) {
	s := u.open(t)
	ctx := context.Background()
	c := s.Create("v", vector.Config{Dim: 2})
	empty := s.View()
	if hits, err := c.Search(ctx, empty, []float32{1, 0}, vector.SearchOptions{K: 10}); err != nil || len(hits) != 0 {
		t.Errorf("empty store: %v, %v", hits, err)
	}
	empty.Close()
	s.Write(func(b *kv.Batch) error {
		for _, id := range []string{"c", "a", "b"} {
			if err := c.Put(b, id, []float32{1, 1}); err != nil {
				return err
			}
		}
		return nil
	})
	s.Settle()
	snap := s.View()
	defer snap.Close()
	hits, err := c.Search(ctx, snap, []float32{1, 0}, vector.SearchOptions{K: 10})
	if err != nil || len(hits) != 3 || hits[0].ID != "a" || hits[1].ID != "b" || hits[2].ID != "c" {
		t.Errorf("three equal vectors: %v, %v", hits, err)
	}
	below := math.NaN()
	for field, o := range map[string]vector.SearchOptions{
		"K": {}, "K ": {K: -1}, "Ef": {K: 10, Ef: 9}, "Ef ": {K: 1, Ef: -1}, "Ef  ": {K: 1, Ef: vector.MaxEf + 1},
		"MinScore": {K: 1, MinScore: &below}, "Plan": {K: 1, Plan: 99}, "Plan ": {K: 1, Plan: vector.PlanNarrow, Exact: true},
		"Plan  ": {K: 1, Plan: vector.PlanSet}, "Plan   ": {K: 1, Plan: vector.PlanIDs},
	} {
		_, err := c.Search(ctx, snap, []float32{1, 0}, o)
		var e *vector.ParameterError
		if !errors.As(err, &e) || !errors.Is(err, vector.ErrParameter) || e.Field != strings.TrimSpace(field) || e.Collection != "v" || e.Want == "" {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if hits, err := c.Search(ctx, snap, []float32{0, 0}, vector.SearchOptions{K: 3}); err != nil || hits != nil {
		t.Errorf("zero query: %v, %v", hits, err)
	}
	nan := float32(math.NaN())
	if _, err := c.Search(ctx, snap, []float32{nan, 0}, vector.SearchOptions{K: 3}); !errors.Is(err, vector.ErrVector) {
		t.Errorf("NaN query: %v", err)
	}
	if _, err := c.Search(ctx, snap, []float32{1}, vector.SearchOptions{K: 3}); !errors.Is(err, vector.ErrDimension) {
		t.Errorf("short query: %v", err)
	}
	top := float64(hits[0].Score)
	if hits, err := c.Search(ctx, snap, []float32{1, 0}, vector.SearchOptions{K: 3, MinScore: &top}); err != nil || len(hits) != 3 {
		t.Errorf("score limit is inclusive: %v, %v", hits, err)
	}
	over := math.Nextafter(top, 2)
	if hits, err := c.Search(ctx, snap, []float32{1, 0}, vector.SearchOptions{K: 3, MinScore: &over}); err != nil || len(hits) != 0 {
		t.Errorf("above the score: %v, %v", hits, err)
	}
}

// entryOf returns the id at the entry point of c's index, or the least id when it has none.
func entryOf(c *vector.Collection, m vectorkit.Model) string {
	if x := c.Stats().Index; x != nil && x.Entry != "" {
		return x.Entry
	}
	ids := make([]string, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	return slices.Min(ids)
}
