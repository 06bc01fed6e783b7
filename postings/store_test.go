package postings

import (
	"context"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// store is the real engine on an in-memory file system, with the commit path cut down to apply.
type store struct {
	t   testing.TB
	kv  *kv.Store
	lsn kv.LSN
}

func newStore(t testing.TB) *store {
	t.Helper()
	s, err := kv.Open("db", kv.Options{FS: testkit.MemFS()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &store{t: t, kv: s}
}

// update commits what fn stages.
func (s *store) update(fn func(b *kv.Batch) error) {
	s.t.Helper()
	if err := s.try(fn); err != nil {
		s.t.Fatal(err)
	}
}

// try is update that drops the batch when fn fails, or what is staged at the end.
func (s *store) try(fn func(b *kv.Batch) error) error {
	s.t.Helper()
	b, err := s.kv.NewBatch(s.lsn)
	if err != nil {
		s.t.Fatal(err)
	}
	defer b.Close()
	if err := fn(b); err != nil {
		return err
	}
	if err := s.kv.Apply(b); err != nil {
		return err
	}
	s.lsn++
	b.Committed(s.lsn)
	return nil
}

func (s *store) view() *kv.Snapshot {
	s.t.Helper()
	snap, err := s.kv.Snapshot(s.lsn)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { snap.Close() })
	return snap
}

// create commits an empty index, which is checked when the test ends.
func (s *store) create(name string) *Index {
	s.t.Helper()
	var x *Index
	s.update(func(b *kv.Batch) (err error) {
		x, err = Create(b, "", name, Config{Analyser: "test"})
		return err
	})
	s.t.Cleanup(func() { checkClean(s.t, x, s.view(), nil) })
	return x
}

func checkClean(t testing.TB, x *Index, r kv.Reader, m model) {
	t.Helper()
	terms := func(id string) ([]Term, bool, error) {
		item, ok := m[id]
		return item, ok, nil
	}
	if m == nil {
		terms = nil
	}
	for p, err := range x.Check(r, terms) {
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("check: %v", p)
	}
}

// fold does what there is to fold, and tells how often something was.
func (s *store) fold(x *Index) (n int) {
	s.t.Helper()
	for {
		f, err := x.PlanFold(s.view())
		if err != nil {
			s.t.Fatal(err)
		}
		if f == nil {
			return n
		}
		s.update(func(b *kv.Batch) error {
			done, err := f.Stage(b)
			if err == nil && !done {
				s.t.Fatal("nothing moved, and the folding was not staged")
			}
			return err
		})
		n++
	}
}

func (s *store) search(x *Index, r kv.Reader, q Query) Found {
	s.t.Helper()
	f, err := x.Search(context.Background(), r, q)
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}
