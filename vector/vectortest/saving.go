package vectortest

import (
	"context"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// What was indexed before closing is loaded, not built again; what was not is tail.
func (u Suite) reopenLoadsTheIndex(t *testing.T) {
	s := u.open(t)
	c := s.Create("v", vector.Config{Dim: 16})
	m := vectorkit.Model{}
	s.Fill(c, m, 0, 1500)
	s.Settle()
	s.Fill(c, m, 1500, 500)
	s.Settle() // beyond the checkpoint: replayed from the log
	before := c.Stats().Index
	s.Close()
	s.Options.Logger = nil
	quiet := s.Options.NewIndex
	s.Options.NewIndex = nil // nothing may be indexed while we look
	s.Open()
	if st := s.Collection("v").Stats(); st.Index != nil || st.Live != 2000 {
		t.Errorf("without an index: %+v", st)
	}
	s.Options.NewIndex = quiet
	s.Reopen()
	c = s.Collection("v")
	after := c.Stats().Index
	if after == nil || after.Nodes != 2000 || after.Links != before.Links || after.Entry != before.Entry || after.Levels != before.Levels {
		t.Errorf("loaded %+v, saved %+v", after, before)
	}
	s.Check()
	if got := s.MeanRecall(c, m, 50); got < 0.98 {
		t.Errorf("recall after reopening is %v", got)
	}
}

// Vectors deleted while no indexer ran leave ghosts in the saved graph; they vanish at the first chance.
func (u Suite) reopenAfterUnseenDeletes(t *testing.T) {
	s := u.open(t)
	c := s.Create("v", vector.Config{Dim: 16})
	m := vectorkit.Model{}
	s.Fill(c, m, 0, 1000)
	s.Settle()
	for round := range 3 {
		s.Close()
		with := s.Options.NewIndex
		s.Options.NewIndex = nil
		s.Open()
		c = s.Collection("v")
		s.Write(func(b *kv.Batch) error {
			for i := round; i < 1000; i += 7 {
				id := fmt.Sprintf("v%05d", i)
				delete(m, id)
				if err := c.Delete(b, id); err != nil {
					return err
				}
			}
			return nil
		})
		s.Close()
		s.Options.NewIndex = with
		s.Open()
		c = s.Collection("v")
		if got := s.MeanRecall(c, m, 20); got < 0.98 {
			t.Errorf("recall with ghosts is %v", got)
		}
		s.Settle()
		s.Check()
		if got := c.Stats().Index.Nodes; got != len(m) {
			t.Errorf("%d nodes for %d vectors", got, len(m))
		}
	}
}

// A store is killed during an insert and delete storm, between commits and while the indexer runs; what
// reopens holds exactly the vectors of the acknowledged commits.
func (u Suite) unsyncedWritesAreLost(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s := &vectorkit.Store{T: t, FS: mem, Options: vector.SetOptions{NewIndex: u.New, ExactBytes: vectorkit.IndexAlways}}
	s.Open()
	defer s.Close()
	c := s.Create("v", vector.Config{Dim: 8})
	r := vectorkit.Rand(t, 5)
	states := map[kv.LSN]vectorkit.Model{}
	m := vectorkit.Model{}
	for round := range 60 {
		next := m.Clone()
		lsn, err := s.Update(context.Background(), "", nil, func(b *kv.Batch) error {
			for range 20 {
				id := fmt.Sprintf("v%03d", r.IntN(300))
				if r.IntN(3) == 0 {
					delete(next, id)
					if err := c.Delete(b, id); err != nil {
						return err
					}
					continue
				}
				next[id] = vectorkit.Random(r, 8)
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
			s.Settle()
		}
		if round%3 != 0 {
			continue
		}
		clone := &vectorkit.Store{T: t, Options: s.Options, FS: mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: r})}
		clone.Open()
		snap := clone.View()
		at := snap.LSN()
		for at > 0 && states[at] == nil {
			at-- // commits of index data change no vector
		}
		if at < lsn {
			t.Errorf("round %d: commit %d was acknowledged, %d is the last one left", round, lsn, at)
		}
		want := states[at]
		if got, err := clone.Set.Collection(snap, "", "v"); err == nil {
			if n, err := got.Len(snap); err != nil || n != len(want) {
				t.Errorf("round %d: %d vectors at LSN %d, want %d: %v", round, n, at, len(want), err)
			}
			if got := clone.MeanRecall(got, want, 5); got < 0.97 {
				t.Errorf("round %d: recall %v after the crash", round, got)
			}
		} else if len(want) > 0 {
			t.Errorf("round %d: %v", round, err)
		}
		snap.Close()
		clone.Settle()
		clone.Check()
		clone.Close()
	}
}
