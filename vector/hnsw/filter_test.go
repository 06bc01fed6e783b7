package hnsw_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// shares are the parts of a collection that filters admit.
var shares = []float64{0.001, 0.01, 0.1, 0.5, 0.99, 1}

// correlations pick n admitted ids out of all, which are ordered by their distance from the query.
var correlations = map[string]func(all []scored, n int) []scored{
	"nearest":  func(all []scored, n int) []scored { return all[:n] },
	"farthest": func(all []scored, n int) []scored { return all[len(all)-n:] },
	"random": func(all []scored, n int) []scored {
		all = slices.Clone(all)
		slices.SortFunc(all, func(a, b scored) int { return int(mixed(a.id)%1e6) - int(mixed(b.id)%1e6) })
		return all[:n]
	},
}

func mixed(id string) (h uint64) {
	for _, b := range []byte(id) {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	return h ^ h>>29
}

// Filters of every share that admit what is nearest to the query, farthest from it, or anything, as set and
// as predicate, whatever the plan: there are K hits whenever K are admitted, and they are the nearest.
func TestFilteredRecall(t *testing.T) {
	const dim, queries, k = 16, 6, 10
	n := scaled(3000)
	for _, variant := range variants {
		t.Run(variant.name, func(t *testing.T) {
			t.Parallel()
			s := variant.store(t)
			c := s.create("v", vector.Config{Dim: dim})
			vectors := around(newRand(t, 6), n+queries, dim)
			m := load(s, c, vectors[:n])
			snap := s.view()
			defer snap.Close()
			sums, counts := map[string]float64{}, map[string]int{}
			for _, q := range vectors[n:] {
				all := m.brute(vector.Cosine, q)
				for name, pick := range correlations {
					for _, share := range shares {
						in := map[string]bool{}
						var ids []string
						for _, s := range pick(all, int(math.Ceil(share*float64(n)))) {
							in[s.id] = true
							ids = append(ids, s.id)
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
							got := recallOf(t, vector.Cosine, m, all, q, k, filter, hits)
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
				least := variant.recall
				if variant.recall < 1 {
					least = 0.9 // six queries of ten hits, some at a small width
				}
				if mean := sum / float64(counts[what]); mean < least {
					t.Errorf("%s: recall %.3f, want %.2f", what, mean, least)
				}
			}
			s.check()
		})
	}
}

// The plan follows the share that passes, and an index search among filtered vectors gives up where they lie
// far from the query.
func TestPlans(t *testing.T) {
	const n, dim, k = 4000, 16, 10
	s := newStore(t, indexAlways)
	c := s.create("v", vector.Config{Dim: dim, EfConstruction: 32})
	vectors := around(newRand(t, 9), n, dim)
	m := load(s, c, vectors)
	snap := s.view()
	defer snap.Close()
	all := m.brute(vector.Cosine, vectors[0])
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
		for _, s := range correlations[is.correlation](all, int(is.share*n)) {
			in[s.id] = true
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
	for _, s := range correlations["farthest"](all, n*4/10) {
		far[s.id] = true
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

// A set holds ids, not vectors: what is replaced, deleted and put again, or put for the first time later, is
// in it; and the collection's move to new points does not change it.
func TestIDSetHoldsIDs(t *testing.T) {
	for _, variant := range variants {
		t.Run(variant.name, func(t *testing.T) {
			s := variant.store(t)
			c := s.create("v", vector.Config{Dim: 4, Metric: vector.L2})
			other := s.create("other", vector.Config{Dim: 4})
			put := func(b *kv.Batch, x float32, ids ...string) error {
				var errs []error
				for _, id := range ids {
					errs = append(errs, c.Put(b, id, []float32{x, 0, 0, 0}))
				}
				return errors.Join(errs...)
			}
			s.write(func(b *kv.Batch) error { return put(b, 1, "a", "b", "c", "d") })
			set := c.IDSet([]string{"a", "b", "later", "a", "nowhere"})
			old := s.view()
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
			s.write(func(b *kv.Batch) error {
				return errors.Join(put(b, 2, "a", "later"), c.Delete(b, "b"), put(b, 5, "z"))
			})
			now := s.view()
			found(now, set, "a2 later2 ")
			found(old, set, "a1 b1 ")
			s.write(func(b *kv.Batch) error {
				err := put(b, 0.5, "b", "c")
				found(b, set, "b0.5 a2 later2 ")
				return err
			})
			old.Close()
			now.Close()
			for range 20 { // enough garbage for new points
				s.write(func(b *kv.Batch) error {
					var errs []error
					for i := range 300 {
						errs = append(errs, c.Put(b, fmt.Sprint("x", i), random(newRand(t, 1), 4)))
					}
					for i := range 300 {
						errs = append(errs, c.Delete(b, fmt.Sprint("x", i)))
					}
					return errors.Join(errs...)
				})
				s.write(func(b *kv.Batch) error { return put(b, 2, "later") })
				s.write(func(b *kv.Batch) error { return put(b, 3, "later") })
			}
			s.settle()
			last := s.view()
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
			s.reopen()
			again := s.view()
			defer again.Close()
			if _, err := s.collection("v").Search(context.Background(), again, make([]float32, 4), vector.SearchOptions{K: 1, Set: set}); !errors.As(err, &foreign) {
				t.Errorf("a set from before the reopening: %v", err)
			}
			s.check()
		})
	}
}
