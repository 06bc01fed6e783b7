package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/vector"
)

const (
	// collectionName is that of the one collection of a measure's database.
	collectionName = "vectors"
	// figureK is the number of neighbours that figures are about.
	figureK = 10
)

// config is that of a measure's collection: a graph over codes.
func (s *session) config() vector.Config {
	return vector.Config{Metric: s.data.metric, Dim: s.data.base.dim, M: s.m, EfConstruction: s.efConstruction}
}

// settled makes a database that holds the first n base rows, indexed.
func (s *session) settled(ctx context.Context, dir string, n int) (*db.DB, error) {
	d, err := db.Open(filepath.Join(s.temp, dir), alwaysIndexed())
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := errors.Join(put(ctx, d, collectionName, s.config(), s.data.base.slice(0, n), 0, loadBatch), d.Settle(ctx)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	fmt.Fprintf(s.log, "%s: %d vectors loaded in %.0f s\n", s.measure, n, time.Since(began).Seconds())
	return d, nil
}

// asked is what a thread has got for its queries.
type asked struct {
	answers [][]uint32
	took    time.Duration
}

// ask answers all queries at the default width, one after the other on this thread.
func (s *session) ask(ctx context.Context, d *db.DB, name string) (a asked, err error) {
	a.took, err = timed(func() error {
		for i := range s.data.queries.rows() {
			hits, err := find(ctx, d, name, s.data.queries.row(i), vector.SearchOptions{K: figureK, Plan: vector.PlanIndex})
			if err != nil {
				return err
			}
			a.answers = append(a.answers, rowsOf(hits, nil))
		}
		return nil
	})
	return a, err
}

// threads compares two searching threads with one, in turn. Arithmetic that shares nothing is measured the
// same way: it tells what the machine's second processor is worth.
func threads(ctx context.Context, s *session) (err error) {
	d, err := s.settled(ctx, "db", s.data.base.rows())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	want, err := s.ask(ctx, d, collectionName)
	if err != nil {
		return err
	}
	search := func() (time.Duration, error) {
		got, err := s.ask(ctx, d, collectionName)
		if err == nil && !slices.EqualFunc(got.answers, want.answers, slices.Equal) {
			err = errors.New("threads that search at once find other vectors than one does")
		}
		return got.took, err
	}
	var byClock, byWall, sums []float64
	for range s.rounds {
		cpu, wall, err := gain(search)
		if err != nil {
			return err
		}
		byClock, byWall = append(byClock, cpu), append(byWall, wall)
		if cpu, _, err = gain(arithmetic); err != nil {
			return err
		}
		sums = append(sums, cpu)
	}
	s.report("two searching threads against one", "×", spanOf(byClock), atLeast(1.8))
	s.report("the same by wall clock, on what the machine had left", "×", spanOf(byWall), bar{})
	s.report("arithmetic in two threads against one", "×", spanOf(sums), bar{})
	return nil
}

// gain is how many times as much two threads do as one, by their own clocks, which do not see them wait, and
// by the wall's. work returns the processor time of its thread.
func gain(work func() (time.Duration, error)) (cpu, wall float64, err error) {
	run := func(n int) (mean, lasted time.Duration, err error) {
		took, errs := make([]time.Duration, n), make([]error, n)
		began := time.Now()
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { took[i], errs[i] = work() })
		}
		wg.Wait()
		lasted = time.Since(began)
		for _, t := range took {
			mean += t / time.Duration(n)
		}
		return mean, lasted, errors.Join(errs...)
	}
	one, oneLasted, err := run(1)
	if err != nil {
		return 0, 0, err
	}
	two, twoLasted, err := run(2)
	if err != nil {
		return 0, 0, err
	}
	again, againLasted, err := run(1) // what drifts in between cancels out
	return (one + again).Seconds() / two.Seconds(), (oneLasted + againLasted).Seconds() / twoLasted.Seconds(), err
}

// arithmetic is work within a processor's own cache.
func arithmetic() (time.Duration, error) {
	const dim, times = 768, 500_000
	a, b := make([]float32, dim), make([]float32, dim)
	sum := float32(0)
	took, err := timed(func() error {
		for range times {
			sum += simd.Dot(a, b)
		}
		return nil
	})
	if sum != 0 {
		err = errors.Join(err, errors.New("the product of zeros is not zero"))
	}
	return took, err
}
