package vectortest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// shares are the parts of a collection that filters admit.
var shares = []float64{0.001, 0.01, 0.1, 0.5, 0.99, 1}

// Filters of every share that admit what is nearest to the query, farthest from it, or anything, as set and
// as predicate, whatever the plan: there are K hits whenever K are admitted, and they are the nearest.
func (u Suite) filteredRecall(t *testing.T) {
	const dim, queries, k = 16, 6, 10
	n := vectorkit.Scaled(3000)
	t.Parallel()
	s := u.open(t)
	c := s.Create("v", vector.Config{Dim: dim})
	vectors := vectorkit.Around(vectorkit.Rand(t, 6), n+queries, dim)
	m := s.Load(c, vectors[:n])
	snap := s.View()
	defer snap.Close()
	sums, counts := map[string]float64{}, map[string]int{}
	for _, q := range vectors[n:] {
		all := m.Brute(vector.Cosine, q)
		for name, pick := range vectorkit.Correlations() {
			for _, share := range shares {
				in := map[string]bool{}
				var ids []string
				for _, s := range pick(all, int(math.Ceil(share*float64(n)))) {
					in[s.ID] = true
					ids = append(ids, s.ID)
				}
				filter, set := func(id string) bool { return in[id] }, c.IDSet(ids)
				for _, o := range []vector.SearchOptions{
					{Filter: filter}, {Set: set}, {Filter: filter, Ef: 3 * k}, {Set: set, Ef: 3 * k},
					{Set: set, Plan: vector.PlanNarrow}, {Set: set, Plan: vector.PlanWide}, {Filter: filter, Plan: vector.PlanIndex},
				} {
					var info vector.SearchInfo
					o.K, o.Info = k, &info
					hits, err := c.Search(context.Background(), snap, q, o)
					if err != nil {
						t.Fatal(err)
					}
					what := fmt.Sprintf("%s %v set %v ef %d plan %v", name, share, o.Set != nil, o.Ef, o.Plan)
					got := vectorkit.RecallOf(t, vector.Cosine, m, all, q, k, filter, hits)
					sums[what] += got
					counts[what]++
					if info.Plan < vector.PlanIndex && got < 1 {
						t.Errorf("%s: recall %v by plan %v, which is exact", what, got, info.Plan)
					}
				}
			}
		}
	}
	for what, sum := range sums {
		least := u.Recall
		if u.Recall < 1 {
			least = 0.9 // six queries of ten hits, some at a small width
		}
		if mean := sum / float64(counts[what]); mean < least {
			t.Errorf("%s: recall %.3f, want %.2f", what, mean, least)
		}
	}
	s.Check()
}

// A set holds ids, not vectors: what is replaced, deleted and put again, or put for the first time later, is
// in it; and the collection's move to new points does not change it.
func (u Suite) idSetHoldsIDs(t *testing.T) {
	s := u.open(t)
	c := s.Create("v", vector.Config{Dim: 4, Metric: vector.L2})
	other := s.Create("other", vector.Config{Dim: 4})
	put := func(b *kv.Batch, x float32, ids ...string) error {
		var errs []error
		for _, id := range ids {
			errs = append(errs, c.Put(b, id, []float32{x, 0, 0, 0}))
		}
		return errors.Join(errs...)
	}
	s.Write(func(b *kv.Batch) error { return put(b, 1, "a", "b", "c", "d") })
	set := c.IDSet([]string{"a", "b", "later", "a", "nowhere"})
	old := s.View()
	found := func(r kv.Reader, set *vector.IDSet, want string) {
		t.Helper()
		for _, plan := range []vector.Plan{vector.PlanAuto, vector.PlanSet, vector.PlanScan, vector.PlanNarrow} {
			hits, err := c.Search(context.Background(), r, make([]float32, 4), vector.SearchOptions{K: 9, Set: set, Plan: plan})
			got := ""
			for _, h := range hits {
				got += fmt.Sprint(h.ID, -h.Score, " ")
			}
			if err != nil || got != want {
				t.Errorf("plan %v: found %s%v, want %s", plan, got, err, want)
			}
		}
	}
	found(old, set, "a1 b1 ")
	s.Write(func(b *kv.Batch) error {
		return errors.Join(put(b, 2, "a", "later"), c.Delete(b, "b"), put(b, 5, "z"))
	})
	now := s.View()
	found(now, set, "a2 later2 ")
	found(old, set, "a1 b1 ")
	s.Write(func(b *kv.Batch) error {
		err := put(b, 0.5, "b", "c")
		found(b, set, "b0.5 a2 later2 ")
		return err
	})
	old.Close()
	now.Close()
	for range 20 { // enough garbage for new points
		s.Write(func(b *kv.Batch) error {
			var errs []error
			for i := range 300 {
				errs = append(errs, c.Put(b, fmt.Sprint("x", i), vectorkit.Random(vectorkit.Rand(t, 1), 4)))
			}
			for i := range 300 {
				errs = append(errs, c.Delete(b, fmt.Sprint("x", i)))
			}
			return errors.Join(errs...)
		})
		s.Write(func(b *kv.Batch) error { return put(b, 2, "later") })
		s.Write(func(b *kv.Batch) error { return put(b, 3, "later") })
	}
	s.Settle()
	last := s.View()
	defer last.Close()
	found(last, set, "b0.5 a2 later3 ")

	bd := c.IDSetWhere(func(id string) bool { return id == "b" || id == "d" })
	for _, is := range []struct {
		op   func(*vector.IDSet) (*vector.IDSet, error)
		want string
	}{{set.And, "b0.5 "}, {set.Or, "b0.5 d1 a2 later3 "}, {set.AndNot, "a2 later3 "}, {bd.And, "b0.5 "}} {
		with := bd
		if is.want == "b0.5 " {
			with = set
		}
		if is.want == "b0.5 " {
			with = c.IDSet([]string{"b"})
		}
		both, err := is.op(with)
		if err != nil {
			t.Fatal(err)
		}
		found(last, both, is.want)
		if both.Has("nowhere") != (is.want != "b0.5 ") {
			t.Errorf("%s: an id without a vector: %v", is.want, both.Has("nowhere"))
		}
	}
	var foreign *vector.ParameterError
	if _, err := set.And(other.IDSet(nil)); !errors.As(err, &foreign) || foreign.Field != "Set" {
		t.Errorf("sets of two collections: %v", err)
	}
	if _, err := set.Or(nil); !errors.As(err, &foreign) {
		t.Errorf("no set: %v", err)
	}
	if _, err := other.Search(context.Background(), last, []float32{1, 0, 0, 0}, vector.SearchOptions{K: 1, Set: set}); !errors.As(err, &foreign) {
		t.Errorf("another collection's set: %v", err)
	}
	last.Close()
	s.Reopen()
	again := s.View()
	defer again.Close()
	if _, err := s.Collection("v").Search(context.Background(), again, make([]float32, 4), vector.SearchOptions{K: 1, Set: set}); !errors.As(err, &foreign) {
		t.Errorf("a set from before the reopening: %v", err)
	}
	s.Check()
}
