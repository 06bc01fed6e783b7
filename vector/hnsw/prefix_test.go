package hnsw_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

var errRefused = errors.New("refused on purpose")

// smallStore has an index whose checkpoints are frequent and take several commits; it notices when the
// persisted form is found damaged.
func smallStore(t *testing.T) (s *vectorkit.Store, finish func()) {
	t.Helper()
	s = newStore(t)
	s.Close()
	var warnings bytes.Buffer
	s.Options.NewIndex = hnsw.SmallParts
	s.Options.Logger = slog.New(slog.NewTextHandler(&warnings, nil))
	s.Open()
	return s, func() {
		t.Helper()
		s.Close()
		if strings.Contains(warnings.String(), "will be rebuilt") {
			t.Error(warnings.String())
		}
	}
}

// history grows a collection, deletes and replaces in it, and lets the index save after every step as far
// as it is let.
func history(s *vectorkit.Store) vectorkit.Model {
	s.T.Helper()
	c := s.Create("v", vector.Config{Dim: 4, M: 8, EfConstruction: 16})
	m := vectorkit.Model{}
	settle := func() {
		s.T.Helper()
		if err := s.Set.Settle(context.Background()); err != nil && !errors.Is(err, errRefused) {
			s.T.Fatal(err)
		}
	}
	for part := range 3 {
		s.Fill(c, m, part*150, 150)
		settle()
		s.Write(func(b *kv.Batch) error {
			var errs []error
			for i := part; i < part*150+100; i += 7 {
				id := fmt.Sprintf("v%05d", i)
				delete(m, id)
				errs = append(errs, c.Delete(b, id))
			}
			return errors.Join(errs...)
		})
		s.Fill(c, m, part*150+100, 20)
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
	for k, refused := 0, 1; refused > 0; k += 5 / vectorkit.Scaled(5) {
		s, finish := smallStore(t)
		refused = 0
		left := k
		s.Refuse = func(kind string) error {
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
		s.Close()
		s.Refuse = nil
		var found loading
		s.Options.NewIndex = func(o vector.IndexOptions) vector.Index { return &listener{Index: hnsw.SmallParts(o), loading: &found} }
		s.Open()
		s.Holds(m)
		fedInTime(t, m, found)
		s.Check()
		s.Settle()
		s.Holds(m)
		s.Check()
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

// fedInTime holds what was loaded against the vectorkit.Model: of the living, those below fed.
func fedInTime(t *testing.T, m vectorkit.Model, found loading) {
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
	s := vectorkit.Open(t, vector.SetOptions{ExactBytes: vectorkit.ExactAlways})
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
			s.Write(w)
		}
		for _, w := range fresh[:k] {
			s.Write(w)
		}
		snap := s.View()
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
