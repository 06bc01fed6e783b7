package hnsw_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/vector/ivf"
)

// fill puts n random vectors, batch by batch, and returns them.
func fill(s *store, c *vector.Collection, m model, from, n int) {
	s.t.Helper()
	r := newRand(s.t, uint64(from))
	for at := from; at < from+n; at += 100 {
		s.write(func(b *kv.Batch) error {
			for i := at; i < min(at+100, from+n); i++ {
				id := fmt.Sprintf("v%05d", i)
				m[id] = random(r, c.Config().Dim)
				if err := c.Put(b, id, m[id]); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func meanRecall(s *store, c *vector.Collection, m model, queries int) float64 {
	s.t.Helper()
	r := newRand(s.t, 99)
	snap := s.view()
	defer snap.Close()
	sum := 0.0
	for range queries {
		q := random(r, c.Config().Dim)
		hits, err := c.Search(context.Background(), snap, q, vector.SearchOptions{K: 10})
		if err != nil {
			s.t.Fatal(err)
		}
		sum += recall(s.t, c.Config().Metric, m, q, 10, nil, hits)
	}
	return sum / float64(queries)
}

// What was indexed before closing is loaded, not built again; what was not is tail.
func TestReopenLoadsTheGraph(t *testing.T) { eachIndex(t, testReopenLoadsTheGraph) }

func testReopenLoadsTheGraph(t *testing.T, v variant) {
	s := v.store(t)
	c := s.create("v", vector.Config{Dim: 16})
	m := model{}
	fill(s, c, m, 0, 1500)
	s.settle()
	fill(s, c, m, 1500, 500)
	s.settle() // beyond the checkpoint: replayed from the log
	before := c.Stats().Index
	s.close()
	s.o.Logger = nil
	quiet := s.o.NewIndex
	s.o.NewIndex = nil // nothing may be indexed while we look
	s.open()
	if st := s.collection("v").Stats(); st.Index != nil || st.Live != 2000 {
		t.Errorf("without an index: %+v", st)
	}
	s.o.NewIndex = quiet
	s.reopen()
	c = s.collection("v")
	after := c.Stats().Index
	if after == nil || after.Nodes != 2000 || after.Links != before.Links || after.Entry != before.Entry || after.Levels != before.Levels {
		t.Errorf("loaded %+v, saved %+v", after, before)
	}
	s.check()
	if got := meanRecall(s, c, m, 50); got < 0.98 {
		t.Errorf("recall after reopening is %v", got)
	}
}

// Vectors deleted while no indexer ran leave ghosts in the saved graph; they vanish at the first chance.
func TestReopenAfterUnseenDeletes(t *testing.T) { eachIndex(t, testReopenAfterUnseenDeletes) }

func testReopenAfterUnseenDeletes(t *testing.T, v variant) {
	s := v.store(t)
	c := s.create("v", vector.Config{Dim: 16})
	m := model{}
	fill(s, c, m, 0, 1000)
	s.settle()
	for round := range 3 {
		s.close()
		with := s.o.NewIndex
		s.o.NewIndex = nil
		s.open()
		c = s.collection("v")
		s.write(func(b *kv.Batch) error {
			for i := round; i < 1000; i += 7 {
				id := fmt.Sprintf("v%05d", i)
				delete(m, id)
				if err := c.Delete(b, id); err != nil {
					return err
				}
			}
			return nil
		})
		s.close()
		s.o.NewIndex = with
		s.open()
		c = s.collection("v")
		if got := meanRecall(s, c, m, 20); got < 0.98 {
			t.Errorf("recall with ghosts is %v", got)
		}
		s.settle()
		s.check()
		if got := c.Stats().Index.Nodes; got != len(m) {
			t.Errorf("%d nodes for %d vectors", got, len(m))
		}
	}
}

// Damaged or missing index data is noticed, and costs only work.
func TestDamagedIndexData(t *testing.T) { eachIndex(t, testDamagedIndexData) }

func testDamagedIndexData(t *testing.T, v variant) {
	prefix := space.In("", space.HNSW)
	damage := map[string]func(b *kv.Batch, key, value []byte) error{
		"cut":     func(b *kv.Batch, key, value []byte) error { return b.Set(key, value[:len(value)/2]) },
		"missing": func(b *kv.Batch, key, _ []byte) error { return b.Delete(key) },
		"garbage": func(b *kv.Batch, key, value []byte) error {
			for i := range value {
				value[i] ^= byte(i*31 + 7)
			}
			return b.Set(key, value)
		},
	}
	for name, f := range damage {
		t.Run(name, func(t *testing.T) {
			s := v.store(t)
			c := s.create("v", vector.Config{Dim: 8})
			m := model{}
			fill(s, c, m, 0, 400)
			s.settle()
			keys := 0
			snap := s.view()
			cur, err := snap.Cursor(prefix, codec.PrefixEnd(prefix))
			if err != nil {
				t.Fatal(err)
			}
			s.write(func(b *kv.Batch) error {
				var errs []error
				for cur.Next() {
					keys++
					errs = append(errs, f(b, cur.Key(), append([]byte(nil), cur.Value()...)))
				}
				return errors.Join(errs...)
			})
			cur.Close()
			snap.Close()
			if keys < 2 {
				t.Fatalf("only %d keys of index data", keys)
			}
			s.reopen()
			c = s.collection("v")
			if got := meanRecall(s, c, m, 20); got < 0.98 {
				t.Errorf("recall before rebuilding is %v", got)
			}
			s.settle()
			if got := c.Stats().Index.Nodes; got != len(m) {
				t.Errorf("%d nodes for %d vectors", got, len(m))
			}
			s.reopen()
			s.check()
		})
	}
}

// A store is killed during an insert and delete storm, between commits and while the indexer runs; what
// reopens holds exactly the vectors of the acknowledged commits.
func TestCrash(t *testing.T) { eachIndex(t, testCrash) }

func testCrash(t *testing.T, v variant) {
	mem := vfs.NewCrashableMem()
	s := &store{t: t, fs: mem, o: vector.SetOptions{NewIndex: v.store(t).o.NewIndex, ExactBytes: indexAlways}}
	s.open()
	defer s.close()
	c := s.create("v", vector.Config{Dim: 8})
	r := newRand(t, 5)
	states := map[kv.LSN]model{}
	m := model{}
	for round := range 60 {
		next := m.clone()
		lsn, err := s.update(context.Background(), "", nil, func(b *kv.Batch) error {
			for range 20 {
				id := fmt.Sprintf("v%03d", r.IntN(300))
				if r.IntN(3) == 0 {
					delete(next, id)
					if err := c.Delete(b, id); err != nil {
						return err
					}
					continue
				}
				next[id] = random(r, 8)
				if err := c.Put(b, id, next[id]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m = next
		states[lsn] = m
		if round%4 == 1 {
			s.settle()
		}
		if round%3 != 0 {
			continue
		}
		clone := &store{t: t, o: s.o, fs: mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: r})}
		clone.open()
		snap := clone.view()
		at := snap.LSN()
		for at > 0 && states[at] == nil {
			at-- // commits of index data change no vector
		}
		if at < lsn {
			t.Errorf("round %d: commit %d was acknowledged, %d is the last one left", round, lsn, at)
		}
		want := states[at]
		if got, err := clone.set.Collection(snap, "", "v"); err == nil {
			if n, err := got.Len(snap); err != nil || n != len(want) {
				t.Errorf("round %d: %d vectors at LSN %d, want %d: %v", round, n, at, len(want), err)
			}
			if got := meanRecall(clone, got, want, 5); got < 0.97 {
				t.Errorf("round %d: recall %v after the crash", round, got)
			}
		} else if len(want) > 0 {
			t.Errorf("round %d: %v", round, err)
		}
		snap.Close()
		clone.settle()
		clone.check()
		clone.close()
	}
}

// What one kind of index saved is damage to the other: it says so and begins anew.
func TestKindsDoNotReadEachOther(t *testing.T) {
	for _, kinds := range [][2]vector.NewIndex{{hnsw.Factory, ivf.Factory}, {ivf.Factory, hnsw.Factory}} {
		s := storeOf(t, vector.SetOptions{NewIndex: kinds[0], ExactBytes: indexAlways})
		m := model{}
		fill(s, s.create("v", vector.Config{Dim: 8}), m, 0, 300)
		s.settle()
		s.close()
		var warnings bytes.Buffer
		s.o.NewIndex, s.o.Logger = kinds[1], slog.New(slog.NewTextHandler(&warnings, nil))
		s.open()
		s.settle()
		c := s.collection("v")
		if got := c.Stats().Index.Nodes; got != len(m) {
			t.Errorf("%d nodes for %d vectors", got, len(m))
		}
		if got := meanRecall(s, c, m, 10); got < 0.98 {
			t.Errorf("recall %v", got)
		}
		s.check()
		s.close()
		if !strings.Contains(warnings.String(), "will be rebuilt") {
			t.Error("nobody noticed")
		}
	}
}
