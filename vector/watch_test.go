package vector

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/glimdb/db/kv"
)

// lazyIndex is a real Index of poor recall: it looks at the even slots only.
type lazyIndex struct{ p *Points }

func (x *lazyIndex) Search(q Query, out []uint32) []uint32 {
	var all []uint32
	for slot := uint32(0); slot < min(x.p.Len(), q.Probe.Limit()); slot += 2 {
		if q.Admit(slot) {
			all = append(all, slot)
		}
	}
	dist := make(map[uint32]float32)
	for part := range slices.Chunk(all, MaxGather) {
		var d [MaxGather]float32
		q.Probe.Distances(part, d[:])
		for i, slot := range part {
			dist[slot] = d[i]
		}
	}
	slices.SortFunc(all, func(a, b uint32) int { return int(math.Copysign(1, float64(dist[a]-dist[b]))) })
	return append(out, all[:min(q.K, len(all))]...)
}

func (x *lazyIndex) Load(kv.Reader) ([]uint64, uint64, error)      { return nil, 0, nil }
func (x *lazyIndex) Attach(p *Points, _ []uint32)                  { x.p = p }
func (x *lazyIndex) Insert(uint32)                                 {}
func (x *lazyIndex) Remove([]uint32)                               {}
func (x *lazyIndex) Skip(uint64)                                   {}
func (x *lazyIndex) Move(p *Points, _ []uint32) Index              { return &lazyIndex{p} }
func (x *lazyIndex) Drain() []func(*kv.Batch) error                { return nil }
func (x *lazyIndex) Lost()                                         {}
func (x *lazyIndex) Check(func(slot uint32) bool) iter.Seq[string] { return func(func(string) bool) {} }
func (x *lazyIndex) Stats() IndexStats                             { return IndexStats{Kind: "lazy", Nodes: int(x.p.Len())} }

// lazy opens a store whose collection c has n vectors and a lazy index over them.
func lazy(t *testing.T, n int, share float64) (*store, *Collection, map[string][]float32) {
	t.Helper()
	s := open(t, SetOptions{NewIndex: func(IndexOptions) Index { return &lazyIndex{} }, ExactBytes: -1, RecallSample: share})
	s.o.Oldest = s.kv.OldestLSN
	s.reopen()
	r := rand.New(rand.NewPCG(5, 5))
	rows := map[string][]float32{}
	s.must(func(b *kv.Batch) error {
		c, err := s.set.Create(b, "", "c", Config{Dim: 8})
		for i := 0; i < n && err == nil; i++ {
			id := fmt.Sprintf("v%04d", i)
			rows[id] = random(r, 8)
			err = c.Put(b, id, rows[id])
		}
		return err
	})
	if err := s.set.Settle(context.Background()); err != nil {
		t.Fatal(err)
	}
	snap := s.view()
	defer snap.Close()
	c, err := s.set.Collection(snap, "", "c")
	if err != nil {
		t.Fatal(err)
	}
	return s, c, rows
}

// What searches found is held against what there is: the estimate is the recall that brute force sees, and its
// interval holds it.
func TestWatchSeesTheRecall(t *testing.T) {
	const n, k, queries = 600, 10, 40
	s, c, rows := lazy(t, n, 1)
	snap := s.view()
	defer snap.Close()
	r := rand.New(rand.NewPCG(8, 8))
	set := c.IDSetWhere(func(id string) bool { return id[4]%3 > 0 })
	found, wanted := 0, 0
	for i := range queries {
		q, o := random(r, 8), SearchOptions{K: k, Plan: PlanIndex}
		admitted := rows
		if i%4 == 0 {
			o.Set, o.Plan, admitted = set, PlanNarrow, map[string][]float32{}
			for id, v := range rows {
				if set.Has(id) {
					admitted[id] = v
				}
			}
		}
		hits, err := c.Search(context.Background(), snap, q, o)
		if err != nil {
			t.Fatal(err)
		}
		want := brute(admitted, Cosine, q, k)
		for _, h := range hits {
			if slices.ContainsFunc(want, func(w Hit) bool { return w.ID == h.ID }) {
				found++
			}
		}
		wanted += k
		for c.recall.estimate() == nil || c.recall.estimate().Queries <= i { // the queue would drop it
			time.Sleep(time.Millisecond)
		}
	}
	e := *c.Stats().Recall
	truth := float64(found) / float64(wanted)
	if math.Abs(e.Recall-truth) > 1e-9 || e.Queries != queries || e.Dropped != 0 || e.Low >= truth || e.High <= truth || truth > 0.7 || truth < 0.3 {
		t.Errorf("%+v, the recall is %v", e, truth)
	}
	// Exact searches, batches and predicates are none of its business.
	for _, o := range []SearchOptions{{K: k, Exact: true}, {K: k, Filter: func(string) bool { return true }, Plan: PlanNarrow}, {K: k, IDs: []string{"v0001"}}} {
		if _, err := c.Search(context.Background(), snap, random(r, 8), o); err != nil {
			t.Fatal(err)
		}
	}
	s.must(func(b *kv.Batch) error {
		if err := c.Put(b, "new", random(r, 8)); err != nil {
			return err
		}
		_, err := c.Search(context.Background(), b, random(r, 8), SearchOptions{K: k, Plan: PlanIndex})
		return err
	})
	if n := len(s.set.watch.jobs); n != 0 || c.Stats().Recall.Queries != queries {
		t.Errorf("%d samples wait, %d were taken", n, c.Stats().Recall.Queries)
	}
}

// A sample is judged by the view of its search, whatever is committed, reclaimed and moved until its turn comes;
// it holds no snapshot. What finds no room is dropped and counted.
func TestWatchJudgesByTheView(t *testing.T) {
	const n, k = 700, 10
	s, c, rows := lazy(t, n, 0)
	s.set.watch = &watch{share: 1, jobs: make(chan sample, 2)} // nothing takes its samples
	defer func() { s.set.watch = nil }()
	r := rand.New(rand.NewPCG(3, 3))
	q := random(r, 8)
	search := func() {
		t.Helper()
		snap := s.view()
		defer snap.Close()
		if _, err := c.Search(context.Background(), snap, q, SearchOptions{K: k, Plan: PlanIndex}); err != nil {
			t.Fatal(err)
		}
	}
	search()
	before := c.gen.Load().points
	s.must(func(b *kv.Batch) error { // all but some go, and nearer ones come
		var errs []error
		for id := range rows {
			if id > "v0099" {
				errs = append(errs, c.Delete(b, id))
			}
		}
		for i := range 50 {
			errs = append(errs, c.Put(b, fmt.Sprint("near", i), q))
		}
		return errors.Join(errs...)
	})
	if err := s.set.Settle(context.Background()); err != nil {
		t.Fatal(err)
	}
	if c.gen.Load().points == before {
		t.Fatal("the collection did not move")
	}
	search()
	search() // no room
	want := brute(rows, Cosine, q, k)
	job := <-s.set.watch.jobs
	found := 0
	for _, h := range job.hits {
		if slices.ContainsFunc(want, func(w Hit) bool { return w.ID == h.ID }) {
			found++
		}
	}
	if got, err := job.tally(context.Background()); err != nil || int(got.found) != found || got.wanted != k {
		t.Errorf("tally %+v, %v, found %d", got, err, found)
	}
	if got := c.recall.dropped.Load(); got != 1 {
		t.Errorf("%d dropped", got)
	}
}

func TestRecallWindowSlides(t *testing.T) {
	var r recalls
	for range recallWindow {
		r.add(tally{0, 10})
	}
	for range recallWindow - 1 {
		r.add(tally{10, 10})
	}
	r.add(tally{0, 0}) // nothing there to be found
	if e := r.estimate(); e.Queries != recallWindow || e.Recall != 1-1.0/recallWindow {
		t.Errorf("%+v", e)
	}
	r.add(tally{10, 10})
	if e := r.estimate(); e.Recall != 1 {
		t.Errorf("%+v", e)
	}
}

func TestEstimateRecall(t *testing.T) {
	const n, k = 500, 5
	s, c, rows := lazy(t, n, 0)
	snap := s.view()
	defer snap.Close()
	// An even slot finds the even half of its neighbours, an odd one the same; itself does not count.
	found, wanted := 0, 0
	for id, q := range rows {
		others := map[string][]float32{}
		for other, v := range rows {
			if other != id {
				others[other] = v
			}
		}
		for _, h := range brute(others, Cosine, q, k) {
			if (h.ID[4]-'0')%2 == 0 {
				found++
			}
			wanted++
		}
	}
	all, err := c.EstimateRecall(context.Background(), snap, EstimateOptions{Queries: 2 * n, K: k})
	if truth := float64(found) / float64(wanted); err != nil || math.Abs(all.Recall-truth) > 0.002 || all.Queries != n {
		t.Errorf("%+v, %v; the recall is %v", all, err, truth)
	}
	some, err := c.EstimateRecall(context.Background(), snap, EstimateOptions{Queries: 60, K: k, Seed: 1})
	if err != nil || some.Queries != 60 || some.Low > all.Recall || some.High < all.Recall {
		t.Errorf("%+v, %v", some, err)
	}
	again, err := c.EstimateRecall(context.Background(), snap, EstimateOptions{Queries: 60, K: k, Seed: 1})
	if err != nil || again != some {
		t.Errorf("the same seed: %+v, %v", again, err)
	}
	other, err := c.EstimateRecall(context.Background(), snap, EstimateOptions{Queries: 60, K: k, Seed: 2})
	if err != nil || other == some {
		t.Errorf("another seed: %+v, %v", other, err)
	}
	for field, o := range map[string]EstimateOptions{"Queries": {}, "K": {Queries: 1, K: -1}} {
		var e *ParameterError
		if _, err := c.EstimateRecall(context.Background(), snap, o); !errors.As(err, &e) || e.Field != field {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.EstimateRecall(ctx, snap, EstimateOptions{Queries: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	plain := open(t, SetOptions{})
	plain.must(func(b *kv.Batch) error { _, err := plain.set.Create(b, "", "c", Config{Dim: 2}); return err })
	view := plain.view()
	defer view.Close()
	exact, err := plain.set.Collection(view, "", "c")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := exact.EstimateRecall(context.Background(), view, EstimateOptions{Queries: 9}); err != nil || e != (RecallEstimate{Recall: 1, Low: 1, High: 1}) {
		t.Errorf("without an index: %+v, %v", e, err)
	}
	for _, share := range []float64{-0.1, 1.1, math.NaN()} {
		var e *ParameterError
		if _, err := OpenSet(view, SetOptions{RecallSample: share}); !errors.As(err, &e) || e.Field != "RecallSample" {
			t.Errorf("share %v: %v", share, err)
		}
	}
}
