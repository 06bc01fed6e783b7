package vector

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glimdb/db/kv"
)

const (
	// watchQueue sampled searches may wait; those drawn beyond are dropped and counted.
	watchQueue = 64
	// watchRest is how often the time of its work the watch rests after it: it takes a tenth of one core at most.
	watchRest = 9
	// recallWindow is the number of the latest samples that the estimate of a collection is made of.
	recallWindow = 1000
)

// watch repeats a sample of the searches exactly, in the background, and keeps per collection how much of the
// result they had found. A sample needs no snapshot, which would hold reclaim up: it keeps the points that the
// search read, whose slots never change but for their end, and an end that comes after the search's commit is
// none to it. At most watchQueue generations that were left meanwhile are kept alive by that. Only where rows
// are not in memory a sample shares the search's snapshot, to read them.
type watch struct {
	share float64
	rest  int
	jobs  chan sample

	mu     sync.Mutex // held to add jobs
	closed bool
	cancel context.CancelFunc
	done   chan struct{}
}

// sample is a search with what it found.
type sample struct {
	t    search // its query lies in vec, not in the scratch
	vec  []float32
	hits []Hit
	snap *kv.Snapshot // nil where rows are in memory
}

func (s *sample) close() {
	if s.snap != nil {
		s.snap.Close()
	}
}

// startWatch returns a watch of the share of all index searches, or nil when that is 0.
func startWatch(share float64) *watch {
	if share == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{share: share, rest: watchRest, jobs: make(chan sample, watchQueue), cancel: cancel, done: make(chan struct{})}
	go w.run(ctx)
	return w
}

func (w *watch) close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.cancel()
	<-w.done
	for len(w.jobs) > 0 {
		s := <-w.jobs
		s.close()
	}
}

func (w *watch) run(ctx context.Context) {
	defer close(w.done)
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-w.jobs:
			began := time.Now()
			if found, err := s.tally(ctx); err == nil {
				s.t.c.recall.add(found)
			} else { // the store is being closed, or rows were let go of meanwhile
				s.t.c.recall.dropped.Add(1)
			}
			s.close()
			rest := time.NewTimer(time.Duration(w.rest) * time.Since(began))
			select {
			case <-ctx.Done():
				rest.Stop()
				return
			case <-rest.C:
			}
		}
	}
}

// look draws t for the sample, or does not. hits is what t found, best first. A search that was exact anyway
// tells nothing, one in a batch sees what only its goroutine may, and a predicate is the caller's to call.
func (w *watch) look(t *search, hits []Hit) {
	if w == nil || t.info.Plan < PlanIndex || t.ch != nil || t.o.Filter != nil || rand.Float64() >= w.share {
		return
	}
	s := sample{t: *t, vec: slices.Clone(t.s.vec), hits: slices.Clone(hits)}
	s.t.r, s.t.s, s.t.o.Info = nil, nil, nil
	if !t.g.points.resident() {
		snap, ok := t.r.(*kv.Snapshot)
		if !ok {
			return
		}
		var err error
		if s.snap, err = snap.Share(); err != nil {
			return
		}
		s.t.r = s.snap
	}
	if !w.add(s) {
		s.close()
		t.c.recall.dropped.Add(1)
	}
}

func (w *watch) add(s sample) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	select {
	case w.jobs <- s:
		return true
	default:
		return false
	}
}

// tally repeats the search exactly.
func (s *sample) tally(ctx context.Context) (tally, error) {
	t := &s.t
	t.s = t.c.getScratch(t.g.points)
	defer t.c.scratch.Put(t.s)
	t.s.probe.Set(s.vec)
	plan, _ := t.exactPlan()
	t.exact(plan, t.o.K)
	if err := t.score(ctx, t.o.K); err != nil {
		return tally{}, err
	}
	slices.SortFunc(t.s.hits, order)
	return tallied(s.hits, t.s.hits[:min(t.o.K, len(t.s.hits))]), nil
}

// recalls are the latest samples of one collection.
type recalls struct {
	dropped atomic.Uint64

	mu   sync.Mutex
	ring []tally
	next int
}

func (r *recalls) add(t tally) {
	if t.wanted == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ring) < recallWindow {
		r.ring = append(r.ring, t)
		return
	}
	r.ring[r.next] = t
	r.next = (r.next + 1) % recallWindow
}

// estimate is that of the samples in the window, nil when there are none.
func (r *recalls) estimate() *RecallEstimate {
	r.mu.Lock()
	sample := slices.Clone(r.ring)
	r.mu.Unlock()
	if len(sample) == 0 {
		return nil
	}
	e := estimate(sample)
	e.Dropped = r.dropped.Load()
	return &e
}
