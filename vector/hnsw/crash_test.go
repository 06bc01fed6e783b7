package hnsw_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

// The power goes at every file operation of a history in which the index saves records and checkpoints and
// removes nodes. What reopens holds the acknowledged vectors, with the commit that was cut off or without
// it, and searches find them before and after the indexer has caught up.
func TestCrashAtEveryFileOperation(t *testing.T) {
	eachIndex(t, func(t *testing.T, v variant) {
		crashEverywhere(t, v.small(), vector.Config{Dim: 4, M: 8, EfConstruction: 16}, 40/scaled(40))
	})
}

// The same, at every seventh operation, for collections whose rows are not in memory.
func TestCrashWithRowsInTheStore(t *testing.T) {
	eachIndex(t, func(t *testing.T, v variant) {
		for _, q := range []vector.Quantization{vector.Int8, vector.Binary} {
			t.Run(q.String(), func(t *testing.T) {
				o := v.small()
				o.MemoryBytes = 1
				crashEverywhere(t, o, vector.Config{Dim: 16, M: 8, EfConstruction: 16, Quantization: q}, 7*40/scaled(40))
			})
		}
	})
}

// small makes the graph's checkpoints frequent, with many parts.
func (v variant) small() vector.SetOptions {
	o := v.options()
	if v.name == "hnsw" {
		o.NewIndex = hnsw.SmallParts
	}
	return o
}

// crashEverywhere does it at every step-th operation.
func crashEverywhere(t *testing.T, options vector.SetOptions, c vector.Config, step int) {
	base := testkit.NewCrashFS(1)
	m := model{}
	s := &store{t: t, fs: base, o: options}
	s.open()
	fill(s, s.create("v", c), m, 0, 150)
	s.settle()
	s.close()

	var acked, tried model // the states before and after the commit under way
	run := func(fs *testkit.CrashFS) error {
		acked, tried = m, m
		s := &store{t: t, fs: fs, o: options}
		if err := s.tryOpen(); err != nil {
			return err
		}
		return errors.Join(s.storm(&acked, &tried), s.tryClose())
	}
	verify := func(fs *testkit.CrashFS, survived bool) {
		s := &store{t: t, fs: fs, o: options}
		s.open()
		defer s.close()
		want := acked
		if snap := s.view(); !survived && s.shows(snap, tried) {
			want = tried
			snap.Close()
		} else {
			snap.Close()
		}
		holds(s, want)
		s.check()
		s.settle()
		holds(s, want)
		s.check()
	}
	loop := testkit.Loop{Seed: 3, Base: base, Step: step}
	points := testkit.EveryCrashPoint(t, loop, run, verify)
	t.Logf("%d points", points)
	if points < 40/step { // the indexer may join its saves, so the number varies
		t.Errorf("only %d crash points", points)
	}
}

// storm commits changes one after the other until one fails, keeping the model's state before and after
// the last in acked and tried, and lets the index save after each.
func (s *store) storm(acked, tried *model) error {
	ctx := context.Background()
	snap := s.view()
	c, err := s.set.Collection(snap, "", "v")
	snap.Close()
	if err != nil {
		return err
	}
	r := newRand(s.t, 4)
	for round := range 10 {
		next := acked.clone()
		*tried = next
		_, err := s.update(ctx, "", nil, func(b *kv.Batch) error {
			var errs []error
			for i := range 40 {
				id := fmt.Sprintf("v%05d", (round*20+i*3)%200)
				if (round+i)%3 == 0 {
					delete(next, id)
					errs = append(errs, c.Delete(b, id))
					continue
				}
				next[id] = random(r, c.Config().Dim)
				errs = append(errs, c.Put(b, id, next[id]))
			}
			return errors.Join(errs...)
		})
		if err != nil {
			return err
		}
		*acked = next
		if err := s.set.Settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// shows reports whether the collection holds the vectors of m, as snap shows it.
func (s *store) shows(snap *kv.Snapshot, m model) bool {
	c, err := s.set.Collection(snap, "", "v")
	if err != nil {
		s.t.Fatal(err)
	}
	n := 0
	for row, err := range c.All(snap) {
		if v, ok := m[row.ID]; err != nil || !ok || score(vector.Cosine, v, row.Vector) < 0.9999 {
			return false
		}
		n++
	}
	return n == len(m)
}
