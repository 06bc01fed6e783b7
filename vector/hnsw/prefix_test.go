package hnsw_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

var errRefused = errors.New("refused on purpose")

// smallStore has an index whose checkpoints are frequent and take several commits; it notices when the
// persisted form is found damaged.
func smallStore(t *testing.T) (s *store, finish func()) {
	t.Helper()
	s = newStore(t, indexAlways)
	s.close()
	var warnings bytes.Buffer
	s.o.NewIndex = hnsw.SmallParts
	s.o.Logger = slog.New(slog.NewTextHandler(&warnings, nil))
	s.open()
	return s, func() {
		t.Helper()
		s.close()
		if strings.Contains(warnings.String(), "will be rebuilt") {
			t.Error(warnings.String())
		}
	}
}

// history grows a collection, deletes and replaces in it, and lets the index save after every step as far
// as it is let.
func history(s *store) model {
	s.t.Helper()
	c := s.create("v", vector.Config{Dim: 4, M: 8, EfConstruction: 16})
	m := model{}
	settle := func() {
		s.t.Helper()
		if err := s.set.Settle(context.Background()); err != nil && !errors.Is(err, errRefused) {
			s.t.Fatal(err)
		}
	}
	for part := range 3 {
		fill(s, c, m, part*150, 150)
		settle()
		s.write(func(b *kv.Batch) error {
			var errs []error
			for i := part; i < part*150+100; i += 7 {
				id := fmt.Sprintf("v%05d", i)
				delete(m, id)
				errs = append(errs, c.Delete(b, id))
			}
			return errors.Join(errs...)
		})
		fill(s, c, m, part*150+100, 20)
		settle()
	}
	return m
}

// loading is what an opened index found.
type loading struct {
	ordinals []uint64
	fed      uint64
	points   *vector.Points
}

// listener records what its index loads; the indexes made after that are none of its business.
type listener struct {
	vector.Index
	loading *loading
	loads   bool
}

func (l *listener) Load(r kv.Reader) (ords []uint64, fed uint64, err error) {
	ords, fed, err = l.Index.Load(r)
	l.loading.ordinals, l.loading.fed, l.loads = ords, fed, true
	return ords, fed, err
}

func (l *listener) Attach(p *vector.Points, slots []uint32) {
	if l.loads {
		l.loading.points = p
	}
	l.Index.Attach(p, slots)
}

// However many of the index's commits go through before they begin to fail, the next opening finds all
// vectors and no other, and a graph of exactly those that the index was fed by then: besides them it may
// hold only some that were deleted since.
func TestEveryPrefixOfTheWritesLoads(t *testing.T) {
	for k, refused := 0, 1; refused > 0; k++ {
		s, finish := smallStore(t)
		refused = 0
		left := k
		s.refuse = func(kind string) error {
			if kind != vector.ChangeKind {
				return nil
			}
			if left == 0 {
				refused++
				return errRefused
			}
			left--
			return nil
		}
		m := history(s)
		s.close()
		s.refuse = nil
		var found loading
		s.o.NewIndex = func(o vector.IndexOptions) vector.Index { return &listener{Index: hnsw.SmallParts(o), loading: &found} }
		s.open()
		holds(s, m)
		fedInTime(t, m, found)
		s.check()
		s.settle()
		holds(s, m)
		s.check()
		finish()
		if t.Failed() {
			t.Fatalf("after %d commits of the index", k)
		}
		if refused == 0 {
			t.Logf("%d commits", k)
			if len(found.ordinals) != len(m) || k < 10 {
				t.Errorf("after all %d commits the graph has %d nodes for %d vectors", k, len(found.ordinals), len(m))
			}
		}
	}
}

// holds compares all vectors of the collection and what searches find with the model.
func holds(s *store, m model) {
	s.t.Helper()
	c := s.collection("v")
	snap := s.view()
	defer snap.Close()
	n := 0
	for row, err := range c.All(snap) {
		if v, ok := m[row.ID]; err != nil || !ok || score(vector.Cosine, v, row.Vector) < 0.9999 {
			s.t.Errorf("row %q: %v, in the model %v", row.ID, err, ok)
		}
		n++
	}
	if n != len(m) {
		s.t.Errorf("%d rows, want %d", n, len(m))
	}
	for id, v := range m {
		hits, err := c.Search(context.Background(), snap, v, vector.SearchOptions{K: 1})
		if err != nil || len(hits) != 1 || hits[0].ID != id && hits[0].Score < 0.9999 {
			s.t.Errorf("nearest to %q is %v, %v", id, hits, err)
		}
	}
	if got := meanRecall(s, c, m, 5); got < 0.95 {
		s.t.Errorf("recall is %v", got)
	}
}

// fedInTime holds what was loaded against the model: of the living, those below fed.
func fedInTime(t *testing.T, m model, found loading) {
	t.Helper()
	loaded := make(map[uint64]bool)
	for _, ord := range found.ordinals {
		loaded[ord] = true
		if ord >= found.fed {
			t.Errorf("ordinal %d is in the graph, fed below %d", ord, found.fed)
		}
	}
	if found.points == nil {
		if len(loaded) > 0 {
			t.Errorf("%d nodes without points", len(loaded))
		}
		return
	}
	for slot := range found.points.Len() {
		ord := found.points.Ordinal(slot)
		if _, lives := m[found.points.ID(slot)]; lives && ord < found.fed && found.points.Ended(slot) == 0 && !loaded[ord] {
			t.Errorf("ordinal %d was fed and is not in the graph", ord)
		}
		delete(loaded, ord)
	}
	if len(loaded) > 0 {
		t.Errorf("%d nodes have no slot", len(loaded))
	}
}

// A graph built anew knows nothing of the one that is stored, and counts its checkpoints from one again.
// Whatever part of its writes is committed, they do not mix with those of the old.
func TestNewGraphReplacesTheStoredOne(t *testing.T) {
	const n, half = 1000, 500
	points, _ := graphOf(t, n)
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

// graphOf returns the points of a collection of n vectors and the index over them.
func graphOf(t *testing.T, n int) (*vector.Points, vector.Index) {
	t.Helper()
	return indexOf(t, vector.Config{Dim: 8, EfConstruction: 32}, around(newRand(t, 6), n, 8))
}

// pointsOf returns vectors as the points of a collection; slot i holds vector i.
func pointsOf(t *testing.T, c vector.Config, vectors [][]float32) *vector.Points {
	t.Helper()
	points, _ := indexOf(t, c, vectors)
	return points
}

func indexOf(t *testing.T, c vector.Config, vectors [][]float32) (points *vector.Points, x vector.Index) {
	t.Helper()
	s := newStore(t, indexAlways)
	s.close()
	s.o.NewIndex = func(o vector.IndexOptions) vector.Index {
		x = hnsw.New(o)
		return &spy{x, func(p *vector.Points) { points = p }}
	}
	s.open()
	load(s, s.create("v", c), vectors)
	s.close()
	return points, x
}
