package cluster

import (
	"errors"
	"testing"

	"github.com/glimdb/db/internal/testkit"
)

// A build whose store loses power leaves the generation that was there, or the new one, whole; so do upkeep and documents
// after it.
func TestCrashes(t *testing.T) {
	live := topics(seeded(t, 5), 3, 12, 64, 0.2)
	more := topics(seeded(t, 6), 2, 30, 64, 0.2)
	built := uint64(0) // acknowledged
	run := func(fs *testkit.CrashFS) error {
		built = 0
		s := &store{t: t, fs: fs, dim: 64}
		if err := s.open(); err != nil {
			return err
		}
		err := s.update(live)
		for range 2 {
			if err == nil {
				var rep Report
				if rep, err = s.layer.Build(ctx, Options{K: 3}); err == nil {
					built = rep.Generation
				}
			}
		}
		if err == nil {
			err = s.update(more)
		}
		if err == nil {
			_, err = s.layer.Tend(ctx)
		}
		return errors.Join(err, s.vectors.Close(), s.log.Close(), s.kv.Close())
	}
	verify := func(fs *testkit.CrashFS, survived bool) {
		s := &store{t: t, fs: fs, dim: 64}
		if err := s.open(); err != nil {
			t.Fatal(err)
		}
		s.check()
		n := s.layer.Current()
		if built > 0 && (n == nil || n.Generation() < built) {
			t.Errorf("generation %d was acknowledged, found %+v", built, n)
		}
		s.put(topics(seeded(t, 8), 1, 3, 64, 0.2)) // the store goes on
		s.check()
		s.close()
	}
	if points := testkit.EveryCrashPoint(t, testkit.Loop{Seed: 1}, run, verify); points < 10 {
		t.Errorf("%d points: the build is not in the loop", points)
	}
}
