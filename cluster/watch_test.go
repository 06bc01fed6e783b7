package cluster

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// route searches as a query routed by vector does, within the limits of the generation.
func (s *store) route(r *kv.Snapshot, q []float32, o vector.SearchOptions) []vector.Hit {
	s.t.Helper()
	n := s.layer.Current()
	near := n.Nearest(unit(q))
	chosen, _ := n.Limits().WithDefaults().Choose(near)
	var cells []uint32
	for _, c := range near[:chosen] {
		cells = append(cells, c.ID)
	}
	hits, _, err := n.Search(ctx, r, q, cells, o)
	if err != nil {
		s.t.Fatal(err)
	}
	n.Routed(r, q, o, hits)
	return hits
}

// watched routes as many questions as fill the window, each compared at once, and returns the recall that the test itself
// computes of them.
func (s *store) watched(question func(i int) []float32) float64 {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	sum := 0.0
	for i := range watchWindow {
		q, o := question(i), vector.SearchOptions{K: 10}
		got := s.route(v, q, o)
		want, err := s.layer.Current().coll.Search(ctx, v, q, vector.SearchOptions{K: 10, Exact: true})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, h := range got {
			if slices.ContainsFunc(want, func(w vector.Hit) bool { return w.ID == h.ID }) {
				sum += 1 / float64(len(want))
			}
		}
		s.layer.compare(ctx, <-s.layer.watch.jobs)
	}
	return sum / watchWindow
}

// TestRecallLost: when routed questions find less than at first, a rebuild is due, also when the store was opened anew
// meanwhile; what was seen begins anew with it.
func TestRecallLost(t *testing.T) {
	r := seeded(t, 8)
	s := openStore(t, vfs.NewMem(), 64)
	s.watch(1)
	live := topics(r, 8, 60, 64, 0.2)
	s.put(live)
	s.build(Options{K: 8})
	if m := s.layer.Current().Monitored(); m != nil {
		t.Fatalf("nothing was asked: %+v", m)
	}
	vectors := make([][]float32, 0, len(live))
	for _, v := range live {
		vectors = append(vectors, v)
	}
	seen := func(want float64) Monitored {
		t.Helper()
		m := s.layer.Current().Monitored()
		if m == nil || m.Queries != watchWindow || math.Abs(m.Recall-want) > 1e-9 {
			t.Fatalf("%+v, want a recall of %v", m, want)
		}
		return *m
	}
	question := func(i int) []float32 { return vectors[i] }
	first := s.watched(question)
	if m := seen(first); m.First != m.Recall || m.First < 0.9 {
		t.Fatalf("%+v", m)
	}
	s.reopen()
	s.watch(1)
	if m := s.layer.Current().Monitored(); m == nil || math.Abs(m.First-first) > 1e-9 || m.Queries != 0 {
		t.Fatalf("after a restart: %+v, want a first recall of %v", m, first)
	}
	s.watched(question)
	if due := s.layer.Current().Info().Due; slices.Contains(due, "rebuild") {
		t.Fatalf("nothing changed, and due is %v", due)
	}
	for id := range live { // now there is no structure any more
		live[id] = gauss(r, 64)
	}
	s.put(live)
	if due := s.layer.Current().Info().Due; slices.Contains(due, "rebuild") {
		t.Fatalf("nobody asked, and due is %v", due)
	}
	select {
	case <-s.layer.Wake():
	default:
	}
	late := s.watched(func(int) []float32 { return gauss(r, 64) })
	if seen(late); late > first-2*lostRecall || !slices.Contains(s.layer.Current().Info().Due, "rebuild") {
		t.Fatalf("recall fell from %v to %v, and due is %v", first, late, s.layer.Current().Info().Due)
	}
	select {
	case <-s.layer.Wake():
	default:
		t.Error("nobody is woken")
	}
	rep, err := s.layer.Tend(ctx)
	if err != nil || !rep.Rebuilt || s.layer.Current().Monitored() != nil || slices.Contains(s.layer.Current().Info().Due, "rebuild") {
		t.Errorf("%+v, %v; seen %+v, due %v", rep, err, s.layer.Current().Monitored(), s.layer.Current().Info().Due)
	}
	s.watched(question)
	if _, err := s.layer.Tune(ctx, TuneOptions{}); err != nil || s.layer.Current().Monitored() != nil {
		t.Errorf("other limits: %v, seen %+v", err, s.layer.Current().Monitored())
	}
}

// watch sets the share of searches that are watched.
func (s *store) watch(share float64) { s.layer.watch.share = share }

// TestWatchEnds: what waits when the watch ends, and what comes later, keeps no view open; without a share nothing is
// drawn; what is too much is counted.
func TestWatchEnds(t *testing.T) {
	s := openStore(t, vfs.NewMem(), 64)
	s.put(topics(seeded(t, 1), 3, 20, 64, 0.2))
	s.build(Options{K: 3})
	v := s.view()
	defer v.Close()
	q := gauss(seeded(t, 9), 64)
	s.route(v, q, vector.SearchOptions{K: 3})
	s.layer.Watch(ctx) // returns: there is nothing to watch
	if n := len(s.layer.watch.jobs); n != 0 {
		t.Fatalf("%d drawn without a share", n)
	}
	s.watch(1)
	for range watchQueue + 3 {
		s.route(v, q, vector.SearchOptions{K: 3})
	}
	if m := s.layer.Current().Monitored(); len(s.layer.watch.jobs) != watchQueue || m == nil || m.Dropped != 3 {
		t.Fatalf("%d wait, %+v", len(s.layer.watch.jobs), m)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	s.layer.Watch(ended)
	s.route(v, q, vector.SearchOptions{K: 3})
	if n := len(s.layer.watch.jobs); n != 0 {
		t.Errorf("%d wait for a watch that has ended", n)
	}
}
