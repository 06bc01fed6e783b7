package graph

import (
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

// try is update that drops the batch when fn fails.
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
		s.t.Fatal(err)
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

// create commits an empty graph, which is checked when the test ends.
func (s *store) create(name string, cfg Config) *Graph {
	s.t.Helper()
	var g *Graph
	s.update(func(b *kv.Batch) (err error) {
		g, err = Create(b, "", name, cfg)
		return err
	})
	s.t.Cleanup(func() { checkClean(s.t, g, s.view()) })
	return g
}

func checkClean(t testing.TB, g *Graph, r kv.Reader) {
	t.Helper()
	for p, err := range g.Check(r) {
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("check: %v", p)
	}
}

// build commits an undirected graph of weight-1 edges; nodes are made in the order of their mention.
func (s *store) build(name string, nodes []string, edges ...[2]string) *Graph {
	s.t.Helper()
	g := s.create(name, Config{})
	s.update(func(b *kv.Batch) error {
		return putAll(g, b, nodes, edges)
	})
	return g
}

func putAll(g *Graph, b *kv.Batch, nodes []string, edges [][2]string) error {
	made := map[string]bool{}
	put := func(n string) error {
		if made[n] {
			return nil
		}
		made[n] = true
		return g.PutNode(b, Node{Name: n})
	}
	for _, n := range nodes {
		if err := put(n); err != nil {
			return err
		}
	}
	for _, e := range edges {
		if err := put(e[0]); err != nil {
			return err
		}
		if err := put(e[1]); err != nil {
			return err
		}
		if err := g.PutEdge(b, Edge{Src: e[0], Dst: e[1], Weight: 1}); err != nil {
			return err
		}
	}
	return nil
}
