package vectortest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// places are where the float32 rows may be: in memory, or in the store as soon as the background work has let
// go of them.
var places = []struct {
	name        string
	memoryBytes int64
}{{"memory", 0}, {"store", 1}}

// randomHistories runs random inserts, replacements and deletes against a model, with views held at old
// commits, uncommitted changes in a batch, and reopening, and compares every kind of search with brute
// force.
func (u Suite) randomHistories(t *testing.T) {
	for _, c := range vectorkit.Comparisons(24) {
		for _, place := range places {
			if place.memoryBytes > 0 && c.Quantization == vector.Float32 {
				continue // stays in memory
			}
			t.Run(fmt.Sprintf("%v/%v/%s", c.Metric, c.Quantization, place.name), func(t *testing.T) {
				t.Parallel()
				o := u.options()
				o.MemoryBytes = place.memoryBytes
				s := vectorkit.Open(t, o)
				run := &machine{t: t, s: s, r: vectorkit.Rand(t, 7), metric: c.Metric, dim: c.Dim, now: vectorkit.Model{}}
				run.c = s.Create("v", c)
				run.set = run.c.IDSetWhere(some)
				for round := range vectorkit.Scaled(18) {
					run.round(round)
				}
				run.release()
				s.Settle()
				s.Check()
				if rows := run.c.Stats().Memory.Rows; (rows == 0) != (place.memoryBytes > 0) {
					t.Errorf("%d bytes of rows in memory", rows)
				}
				if got := run.sum / float64(run.searches); got < u.Recall {
					t.Errorf("mean recall %.4f over %d searches, want %.2f", got, run.searches, u.Recall)
				}
			})
		}
	}
}

// held is a view with the model at its commit.
type held struct {
	snap *kv.Snapshot
	m    vectorkit.Model
}

type machine struct {
	t        *testing.T
	s        *vectorkit.Store
	c        *vector.Collection
	r        *rand.Rand
	set      *vector.IDSet // made early and kept: of the ids that some passes
	metric   vector.Metric
	dim      int
	now      vectorkit.Model
	views    []held
	sum      float64
	searches int
}

func (k *machine) round(round int) {
	next := k.now.Clone()
	drop := k.r.IntN(6) == 0
	stage := func(b *kv.Batch) error {
		for range 1 + k.r.IntN(60) {
			id := fmt.Sprintf("v%03d", k.r.IntN(700))
			if k.r.IntN(3) == 0 {
				delete(next, id)
				if err := k.c.Delete(b, id); err != nil {
					return err
				}
				continue
			}
			v := vectorkit.Random(k.r, k.dim)
			next[id] = v
			if err := k.c.Put(b, id, v); err != nil {
				return err
			}
		}
		k.compare(b, next)
		if drop {
			return errDropped
		}
		return nil
	}
	_, err := k.s.Update(context.Background(), "", nil, stage)
	switch {
	case drop && errors.Is(err, errDropped):
	case err != nil:
		k.t.Fatal(err)
	default:
		k.now = next
	}
	if k.r.IntN(4) == 0 {
		k.views = append(k.views, held{k.s.View(), k.now.Clone()})
	}
	if len(k.views) > 3 {
		k.views[0].snap.Close()
		k.views = k.views[1:]
	}
	for _, v := range k.views {
		k.compare(v.snap, v.m)
	}
	switch k.r.IntN(8) {
	case 0:
		k.s.Settle()
		k.s.Check()
	case 1:
		k.release()
		k.s.Reopen()
		k.c = k.s.Collection("v")
		k.set = k.c.IDSetWhere(some)
		k.s.Check()
	}
	snap := k.s.View()
	defer snap.Close()
	k.compare(snap, k.now)
}

// some passes a third of the ids.
func some(id string) bool { return id[3]%3 == 0 }

var errDropped = errors.New("batch dropped on purpose")

func (k *machine) release() {
	for _, v := range k.views {
		v.snap.Close()
	}
	k.views = nil
}

// compare searches r in several ways and holds the results against m.
func (k *machine) compare(r kv.Reader, m vectorkit.Model) {
	k.t.Helper()
	ctx := context.Background()
	if n, err := k.c.Len(r); err != nil || n != len(m) {
		k.t.Errorf("length %d, %v, want %d", n, err, len(m))
	}
	q := vectorkit.Random(k.r, k.dim)
	all := m.Brute(k.metric, q)
	few := func(id string) bool { return id[2:] == "07" }
	for _, o := range []vector.SearchOptions{
		{K: 10}, {K: 1}, {K: 10, Exact: true}, {K: 10, Filter: some}, {K: 10, Filter: few}, {K: 2000},
		{K: 10, Filter: some, Plan: vector.PlanNarrow}, {K: 10, Filter: some, Plan: vector.PlanWide}, {K: 10, Filter: few, Plan: vector.PlanNarrow},
	} {
		hits, err := k.c.Search(ctx, r, q, o)
		if err != nil {
			k.t.Fatal(err)
		}
		k.sum += vectorkit.RecallOf(k.t, k.metric, m, all, q, o.K, o.Filter, hits)
		k.searches++
	}
	both := func(id string) bool { return some(id) && few(id) }
	for _, o := range []vector.SearchOptions{
		{K: 10, Set: k.set}, {K: 10, Set: k.set, Plan: vector.PlanSet}, {K: 10, Set: k.set, Plan: vector.PlanNarrow},
		{K: 10, Set: k.set, Plan: vector.PlanWide}, {K: 10, Set: k.set, Filter: few},
	} {
		filter := some
		if o.Filter != nil {
			filter = both
		}
		hits, err := k.c.Search(ctx, r, q, o)
		if err != nil {
			k.t.Fatal(err)
		}
		k.sum += vectorkit.RecallOf(k.t, k.metric, m, all, q, o.K, filter, hits)
		k.searches++
	}
	ids := []string{"v001", "v002", "v001", "nowhere", "v100", "v300", "v699"}
	allowed := func(id string) bool {
		return id == "v001" || id == "v002" || id == "v100" || id == "v300" || id == "v699"
	}
	hits, err := k.c.Search(ctx, r, q, vector.SearchOptions{K: 3, IDs: ids})
	if err != nil {
		k.t.Fatal(err)
	}
	if got := vectorkit.RecallOf(k.t, k.metric, m, all, q, 3, allowed, hits); got < 1 {
		k.t.Errorf("recall %v among given ids", got)
	}
	if len(all) > 5 {
		least := (all[4].Score + all[5].Score) / 2
		hits, err := k.c.Search(ctx, r, q, vector.SearchOptions{K: 50, MinScore: &least, Exact: true})
		if err != nil || len(hits) != 5 && math.Abs(all[4].Score-all[5].Score) > 1e-3 {
			k.t.Errorf("%d hits above the score of five: %v", len(hits), err)
		}
	}
	k.compareRows(r, m)
}

func (k *machine) compareRows(r kv.Reader, m vectorkit.Model) {
	k.t.Helper()
	last, n := "", 0
	for row, err := range k.c.All(r) {
		if err != nil {
			k.t.Fatal(err)
		}
		if n > 0 && row.ID <= last {
			k.t.Errorf("%q comes after %q", row.ID, last)
		}
		last = row.ID
		n++
		v, ok := m[row.ID]
		if !ok || vectorkit.Score(vector.Cosine, v, row.Vector) < 0.9999 {
			k.t.Errorf("row %q: stored %v, vector %v, want %v", row.ID, ok, row.Vector, v)
		}
	}
	if n != len(m) {
		k.t.Errorf("%d rows, want %d", n, len(m))
	}
}

// Every one of thousands of equal vectors must stay reachable, and equal scores must come in order of id
// where the search is exact.
func (u Suite) identicalVectors(t *testing.T) {
	t.Parallel()
	n := vectorkit.Scaled(3000)
	s := u.open(t)
	c := s.Create("v", vector.Config{Dim: 8, EfConstruction: 32})
	v := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	s.Write(func(b *kv.Batch) error {
		for i := range n {
			if err := c.Put(b, fmt.Sprintf("v%05d", i), v); err != nil {
				return err
			}
		}
		return nil
	})
	s.Settle()
	s.Check()
	snap := s.View()
	hits, err := c.Search(context.Background(), snap, v, vector.SearchOptions{K: 20})
	if err != nil || len(hits) != 20 {
		t.Fatalf("%d hits, %v", len(hits), err)
	}
	hits, err = c.Search(context.Background(), snap, v, vector.SearchOptions{K: 20, Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hits {
		if h.ID != fmt.Sprintf("v%05d", i) {
			t.Errorf("hit %d is %q", i, h.ID)
		}
	}
	snap.Close()
	s.Write(func(b *kv.Batch) error {
		for i := 0; i < n; i += 3 {
			if err := c.Delete(b, fmt.Sprintf("v%05d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	s.Settle()
	s.Check()
}
