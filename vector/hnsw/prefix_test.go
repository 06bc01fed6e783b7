package hnsw_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

var errRefused = errors.New("refused on purpose")

// prefixRun is a store whose checkpoints take many commits, and whose index commits can be made to fail.
type prefixRun struct {
	*store
	c        *vector.Collection
	m        model
	refused  int
	warnings bytes.Buffer
}

func newPrefixRun(t *testing.T) *prefixRun {
	p := &prefixRun{store: newStore(t, indexAlways), m: model{}}
	p.close()
	p.o.NewIndex = hnsw.SmallParts
	p.o.Logger = slog.New(slog.NewTextHandler(&p.warnings, nil))
	p.open()
	p.c = p.create("v", vector.Config{Dim: 4, M: 4, EfConstruction: 16})
	return p
}

// after lets n commits of the index through and refuses the rest.
func (p *prefixRun) after(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = func(kind string) error {
		if kind != vector.ChangeKind {
			return nil
		}
		if n == 0 {
			p.refused++
			return errRefused
		}
		n--
		return nil
	}
}

// reload settles as far as it is let, and holds what the next opening finds against the model.
func (p *prefixRun) reload() {
	p.t.Helper()
	if err := p.set.Settle(p.t.Context()); err != nil && !errors.Is(err, errRefused) {
		p.t.Fatal(err)
	}
	p.close()
	p.refuse = nil
	p.open()
	p.c = p.collection("v")
	p.check()
	if got := meanRecall(p.store, p.c, p.m, 3); got < 0.9 {
		p.t.Errorf("recall is %v", got)
	}
}

// finish reports index data that was found damaged.
func (p *prefixRun) finish() {
	p.t.Helper()
	p.close()
	if strings.Contains(p.warnings.String(), "damaged") {
		p.t.Error(p.warnings.String())
	}
}

// However many of the index's commits go through before they begin to fail, what they left loads as a
// whole graph, or as none, and the vectors are all there.
func TestEveryPrefixOfTheWritesLoads(t *testing.T) {
	p := newPrefixRun(t)
	for k := range 20 {
		p.after(k % 10)
		fill(p.store, p.c, p.m, k*200, 200)
		p.reload()
	}
	p.finish()
	if p.refused == 0 {
		t.Error("nothing was refused")
	}
}

// A graph built anew knows nothing of the one that is stored, and counts its checkpoints from one again.
// Whatever part of its writes is committed, they do not mix with those of the old.
func TestNewGraphReplacesTheStoredOne(t *testing.T) {
	const n, half = 1000, 500
	points := pointsOf(t, n)
	s := newStore(t, exactAlways)
	o := vector.IndexOptions{Config: points.Config(), Prefix: []byte("p/"), Persist: true}
	grown := func(from, to uint32) []func(*kv.Batch) error {
		x := hnsw.SmallParts(o)
		x.Attach(points, nil)
		for slot := from; slot < to; slot++ {
			x.Insert(slot)
			x.Skip(points.Ordinal(slot))
		}
		return x.Drain()
	}
	old, fresh := grown(0, n), grown(half, n)
	if len(fresh) < 3 {
		t.Fatalf("a checkpoint of %d commits", len(fresh))
	}
	for k := range len(fresh) + 1 {
		for _, w := range old {
			s.write(w)
		}
		for _, w := range fresh[:k] {
			s.write(w)
		}
		snap := s.view()
		ords, fed, err := hnsw.New(o).Load(snap)
		snap.Close()
		want := 0
		switch k {
		case 0:
			want = n
		case len(fresh):
			want = half
		}
		if err != nil || len(ords) != want || (fed != 0) != (want > 0) {
			t.Errorf("after %d of %d commits: %d nodes, fed %d, %v; want %d nodes", k, len(fresh), len(ords), fed, err, want)
		}
	}
}

// pointsOf returns the points of a collection of n vectors that has no index.
func pointsOf(t *testing.T, n int) *vector.Points {
	t.Helper()
	var points *vector.Points
	s := newStore(t, indexAlways)
	s.close()
	s.o.NewIndex = func(o vector.IndexOptions) vector.Index {
		return &spy{hnsw.New(o), func(p *vector.Points) { points = p }}
	}
	s.open()
	load(s, s.create("v", vector.Config{Dim: 8}), around(newRand(t, 6), n, 8))
	s.close()
	return points
}
