package vectortest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// The power goes at every file operation of a history in which the index saves records and checkpoints and
// removes nodes. What reopens holds the acknowledged vectors, with the commit that was cut off or without
// it, and searches find them before and after the indexer has caught up.
func (u Suite) powerLoss(t *testing.T) {
	crashEverywhere(t, u.saving(), vector.Config{Dim: 4, M: 8, EfConstruction: 16}, 40/vectorkit.Scaled(40))
}

// The same, at every eleventh operation, for collections whose rows are not in memory.
func (u Suite) powerLossWithRowsInTheStore(t *testing.T) {
	for _, q := range []vector.Quantization{vector.Int8, vector.Binary} {
		t.Run(q.String(), func(t *testing.T) {
			o := u.saving()
			o.MemoryBytes = 1
			crashEverywhere(t, o, vector.Config{Dim: 16, M: 8, EfConstruction: 16, Quantization: q}, 11*40/vectorkit.Scaled(40))
		})
	}
}

// crashEverywhere does it at every step-th operation.
func crashEverywhere(t *testing.T, options vector.SetOptions, c vector.Config, step int) {
	base := testkit.NewCrashFS(1)
	m := vectorkit.Model{}
	s := &vectorkit.Store{T: t, FS: base, Options: options}
	s.Open()
	s.Fill(s.Create("v", c), m, 0, 150)
	s.Settle()
	s.Close()

	var acked, tried vectorkit.Model // the states before and after the commit under way
	run := func(fs *testkit.CrashFS) error {
		acked, tried = m, m
		s := &vectorkit.Store{T: t, FS: fs, Options: options}
		if err := s.TryOpen(); err != nil {
			return err
		}
		return errors.Join(storm(s, &acked, &tried), s.TryClose())
	}
	verify := func(fs *testkit.CrashFS, survived bool) {
		s := &vectorkit.Store{T: t, FS: fs, Options: options}
		s.Open()
		defer s.Close()
		want := acked
		if snap := s.View(); !survived && s.Shows(snap, tried) {
			want = tried
			snap.Close()
		} else {
			snap.Close()
		}
		s.Holds(want)
		s.Check()
		s.Settle()
		s.Holds(want)
		s.Check()
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
func storm(s *vectorkit.Store, acked, tried *vectorkit.Model) error {
	ctx := context.Background()
	snap := s.View()
	c, err := s.Set.Collection(snap, "", "v")
	snap.Close()
	if err != nil {
		return err
	}
	r := vectorkit.Rand(s.T, 4)
	for round := range 10 {
		next := acked.Clone()
		*tried = next
		_, err := s.Update(ctx, "", nil, func(b *kv.Batch) error {
			var errs []error
			for i := range 40 {
				id := fmt.Sprintf("v%05d", (round*20+i*3)%200)
				if (round+i)%3 == 0 {
					delete(next, id)
					errs = append(errs, c.Delete(b, id))
					continue
				}
				next[id] = vectorkit.Random(r, c.Config().Dim)
				errs = append(errs, c.Put(b, id, next[id]))
			}
			return errors.Join(errs...)
		})
		if err != nil {
			return err
		}
		*acked = next
		if err := s.Set.Settle(ctx); err != nil {
			return err
		}
	}
	return nil
}
