package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

const (
	// watchQueue samples may wait; each holds a view. Those drawn beyond are dropped and counted.
	watchQueue = 16
	// watchRest is how often the time of its work the watch rests after it: it takes a tenth of one core at most.
	watchRest = 9
	// watchWindow is the number of samples that recall is the mean of: chance moves it by a point, not by three.
	watchWindow = 200
	// lostRecall is the drop of recall that calls for new clusters.
	lostRecall = 0.03
)

// Monitored is what the watch has found out about questions that were routed by vector within the limits of the
// generation.
type Monitored struct {
	// Recall is the mean share of the passages of an exact search of everything that the route found, over the last
	// Queries of its samples, 200 at most.
	Recall  float64 `json:"recall"`
	Queries int     `json:"queries"`
	// First is that of the first 200 samples since the clusters were made or tuned; 0: there are not so many yet. A Recall
	// of 200 samples that is more than 0.03 below makes a rebuild due.
	First float64 `json:"first"`
	// Dropped is the number of samples that the watch had no time for.
	Dropped int `json:"dropped,omitempty"`
}

// watch repeats a sample of the routed searches exactly, in the background.
type watch struct {
	share float64
	rest  time.Duration // times the work
	jobs  chan sample

	mu     sync.Mutex // held to add jobs, and for closed
	closed bool
}

// sample is a routed search with what it found, and its own handle on the view.
type sample struct {
	n    *Navigation
	snap *kv.Snapshot
	q    []float32
	o    vector.SearchOptions
	hits []vector.Hit
}

func newWatch(share float64) *watch {
	return &watch{share: share, rest: watchRest, jobs: make(chan sample, watchQueue)}
}

// Watch repeats samples of the routed searches exactly until ctx ends, Config.RecallSample of them, to know how much of what
// there is they find. It takes a tenth of one core at most. Without RecallSample it returns at once. It is called
// once.
func (l *Layer) Watch(ctx context.Context) {
	w := l.watch
	if w.share == 0 {
		return
	}
	defer w.close()
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-w.jobs:
			began := time.Now()
			l.compare(ctx, s)
			rest := time.NewTimer(w.rest * time.Since(began))
			select {
			case <-ctx.Done():
				rest.Stop()
				return
			case <-rest.C:
			}
		}
	}
}

func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.closed = true; len(w.jobs) > 0; {
		(<-w.jobs).snap.Close()
	}
}

// Routed may draw a search for the watch: q was compared with the chunks of the clusters that Limits choose, as r shows
// them, and found hits, best first. It keeps none of its arguments.
func (n *Navigation) Routed(r *kv.Snapshot, q []float32, o vector.SearchOptions, hits []vector.Hit) {
	w := n.seen.watch
	if w.share == 0 || rand.Float64() >= w.share {
		return
	}
	snap, err := r.Share()
	if err != nil { // the view is being closed
		return
	}
	s := sample{n: n, snap: snap, q: slices.Clone(q), o: o, hits: slices.Clone(hits)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		select {
		case w.jobs <- s:
			return
		default:
			n.seen.drop()
		}
	}
	snap.Close()
}

// compare searches everything for a sample, and notes what the route found of it.
func (l *Layer) compare(ctx context.Context, s sample) {
	defer s.snap.Close()
	s.o.Exact = true
	want, err := s.n.coll.Search(ctx, s.snap, s.q, s.o)
	if err != nil || len(want) == 0 { // the store is being closed, or there is nothing to find
		return
	}
	found := 0
	for _, h := range s.hits {
		if found < len(want) && h.Score >= want[len(want)-1].Score {
			found++
		}
	}
	first, done := s.n.seen.add(float64(found) / float64(len(want)))
	if done {
		if err := l.setFirst(ctx, s.n, first); err != nil && ctx.Err() == nil && !errors.Is(err, kv.ErrReadOnly) {
			l.cfg.Logger.Warn("cluster: the first recall of routed questions is not stored, and measured anew after the next start", "error", err)
		}
	}
	if n := l.nav.Load(); n != nil && n.seen == s.n.seen {
		l.nudge(n)
	}
}

// setFirst stores what the first samples found.
func (l *Layer) setFirst(ctx context.Context, of *Navigation, first float64) error {
	return l.setHead(ctx, func(n *Navigation, h *head) bool {
		h.First = first
		return n.seen == of.seen
	})
}

// seen are the latest samples of one generation under one set of limits.
type seen struct {
	watch *watch

	mu      sync.Mutex
	ring    []float64
	next    int
	first   float64 // 0: not yet
	dropped int
}

// newSeen begins anew; first is what was stored.
func (w *watch) newSeen(first float64) *seen { return &seen{watch: w, first: first} }

func (s *seen) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped++
}

// add notes the recall of a sample. done tells that it completes the first ones, whose mean is returned.
func (s *seen) add(recall float64) (first float64, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ring) < watchWindow {
		s.ring = append(s.ring, recall)
	} else {
		s.ring[s.next] = recall
		s.next = (s.next + 1) % watchWindow
	}
	if s.first > 0 || len(s.ring) < watchWindow {
		return 0, false
	}
	s.first = mean(s.ring)
	return s.first, s.first > 0
}

// monitored is what is known; nil when nothing is.
func (s *seen) monitored() *Monitored {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ring) == 0 && s.first == 0 && s.dropped == 0 {
		return nil
	}
	return &Monitored{Recall: mean(s.ring), Queries: len(s.ring), First: s.first, Dropped: s.dropped}
}

// Monitored is what the watch knows of the generation; nil: nothing.
func (n *Navigation) Monitored() *Monitored { return n.seen.monitored() }

// lost reports whether a rebuild is due.
func (s *seen) lost() bool {
	m := s.monitored()
	return m != nil && m.Queries == watchWindow && m.Recall < m.First-lostRecall
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(max(1, len(all)))
}
