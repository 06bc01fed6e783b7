package hnsw_test

import (
	"context"
	"math"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector"
)

// The plan follows the share that passes, and an index search among filtered vectors gives up where they lie
// far from the query.
func TestPlans(t *testing.T) {
	const n, dim, k = 4000, 16, 10
	s := newStore(t)
	c := s.Create("v", vector.Config{Dim: dim, EfConstruction: 32})
	vectors := vectorkit.Around(vectorkit.Rand(t, 9), n, dim)
	m := s.Load(c, vectors)
	snap := s.View()
	defer snap.Close()
	all := m.Brute(vector.Cosine, vectors[0])
	search := func(o vector.SearchOptions) (info vector.SearchInfo) {
		t.Helper()
		o.K, o.Info = k, &info
		if o.Ef == 0 && o.Plan == vector.PlanAuto {
			o.Ef = k
		}
		hits, err := c.Search(context.Background(), snap, vectors[0], o)
		if err != nil || len(hits) != k {
			t.Fatalf("%d hits, %v", len(hits), err)
		}
		return info
	}
	for _, is := range []struct {
		correlation string
		share       float64
		set, filter vector.Plan
	}{
		{"random", 0.01, vector.PlanSet, vector.PlanScan},
		{"random", 0.4, vector.PlanNarrow, vector.PlanNarrow},
		{"random", 0.7, vector.PlanWide, vector.PlanWide},
		{"random", 1, vector.PlanWide, vector.PlanWide},
		{"nearest", 0.4, vector.PlanNarrow, vector.PlanNarrow},
	} {
		in := map[string]bool{}
		for _, s := range vectorkit.Correlations()[is.correlation](all, int(is.share*n)) {
			in[s.ID] = true
		}
		filter := func(id string) bool { return in[id] }
		if got := search(vector.SearchOptions{Set: c.IDSetWhere(filter)}); got.Plan != is.set || math.Abs(got.Share-is.share) > 1e-9 && is.set > vector.PlanSet {
			t.Errorf("%s %v: a set is searched by %+v, want %v", is.correlation, is.share, got, is.set)
		}
		if got := search(vector.SearchOptions{Filter: filter}); got.Plan != is.filter || math.Abs(got.Share-is.share) > 0.1 {
			t.Errorf("%s %v: a predicate is searched by %+v, want %v", is.correlation, is.share, got, is.filter)
		}
	}
	far := map[string]bool{}
	for _, s := range vectorkit.Correlations()["farthest"](all, n*4/10) {
		far[s.ID] = true
	}
	set := c.IDSetWhere(func(id string) bool { return far[id] })
	if got := search(vector.SearchOptions{Set: set}); got.Plan != vector.PlanSet || got.Tried != vector.PlanNarrow {
		t.Errorf("what is admitted lies far away: %+v", got)
	}
	if got := search(vector.SearchOptions{}); got.Plan != vector.PlanIndex {
		t.Errorf("without a filter: %+v", got)
	}
	if got := search(vector.SearchOptions{Exact: true}); got.Plan != vector.PlanScan {
		t.Errorf("exact: %+v", got)
	}
	if got := search(vector.SearchOptions{Exact: true, Set: set}); got.Plan != vector.PlanSet {
		t.Errorf("exact, of a set: %+v", got)
	}
}
