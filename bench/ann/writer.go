package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
)

const (
	// writeBatch is the number of vectors in a commit of the writer.
	writeBatch = 100
	// checkEvery is the number of searches of which one is repeated exactly, on the same view.
	checkEvery = 40
	// steady vectors at least are inserted in a round: more than may wait for the index, so that most of them
	// come when as many wait as ever do.
	steady = 10_000
)

// besideWriter compares searches while one writer inserts as fast as it can with searches in silence, before
// and after. The last fifth of the vectors is what is inserted.
func besideWriter(ctx context.Context, s *session) (err error) {
	n := s.data.base.rows()
	at := n - n/5
	d, err := s.settled(ctx, "db", at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	var shares, losses, rates []float64
	before, err := s.idle(ctx, d, nil)
	if err != nil {
		return err
	}
	rounds := max(1, min(s.rounds, (n-at)/steady))
	for round := range rounds {
		to := n - (rounds-1-round)*(n-at)/rounds
		during, rate, err := s.busy(ctx, d, at, to)
		if err = errors.Join(err, d.Settle(ctx)); err != nil {
			return err
		}
		runtime.GC()
		after, err := s.idle(ctx, d, during.samples)
		if err != nil {
			return err
		}
		shares = append(shares, (before.micros()+after.micros())/2/during.micros())
		losses = append(losses, 100*(after.recall()-during.recall()))
		rates = append(rates, rate)
		fmt.Fprintf(s.log, "round %d: %.0f µs before, %.0f beside the writer, %.0f after\n", round+1, before.micros(), during.micros(), after.micros())
		before, at = after, to
	}
	s.report("searches beside a writer, share of idle ones per core", "×", spanOf(shares), atLeast(0.7))
	s.report("recall@10 that they lose, in points", "", spanOf(losses), noMoreThan(0.5))
	s.report("vectors committed meanwhile, by wall clock", "/s", spanOf(rates), bar{})
	return nil
}

// watched is what searches cost, and what those that were repeated exactly have found.
type watched struct {
	searches      int
	took          time.Duration
	samples       []int // queries that were repeated
	found, wanted int
}

func (w *watched) micros() float64 {
	return float64(w.took.Nanoseconds()) / 1e3 / float64(w.searches)
}

func (w *watched) recall() float64 { return float64(w.found) / float64(w.wanted) }

// busy searches on this thread while another goroutine commits the rows [from, to), which it does at rate
// vectors a second.
func (s *session) busy(ctx context.Context, d *db.DB, from, to int) (w watched, rate float64, err error) {
	var done atomic.Bool
	failed, began := make(chan error, 1), time.Now()
	go func() {
		err := put(ctx, d, collectionName, s.config(), s.data.base.slice(from, to), from, writeBatch)
		rate = float64(to-from) / time.Since(began).Seconds()
		done.Store(true)
		failed <- err
	}()
	queries := s.data.queries.rows()
	for i := 0; err == nil && !(done.Load() && len(w.samples) > 0); i++ {
		q := (i + i/queries) % queries // other samples in every turn of all
		err = s.search(ctx, d, q, i%checkEvery == 0, &w)
	}
	return w, rate, errors.Join(err, <-failed)
}

// idle searches with every query, and then repeats samples.
func (s *session) idle(ctx context.Context, d *db.DB, samples []int) (w watched, err error) {
	for q := range s.data.queries.rows() {
		if err := s.search(ctx, d, q, false, &w); err != nil {
			return w, err
		}
	}
	for _, q := range samples {
		if err := s.search(ctx, d, q, true, &w); err != nil {
			return w, err
		}
	}
	return w, nil
}

// search is one search; a sample is repeated exactly, on the same view and outside the clock.
func (s *session) search(ctx context.Context, d *db.DB, query int, sample bool, w *watched) error {
	return d.View(ctx, func(tx *db.Tx) error {
		v, err := tx.Vectors(collectionName)
		if err != nil {
			return err
		}
		q := s.data.queries.row(query)
		var hits []vector.Hit
		cost, err := timed(func() (err error) {
			hits, err = v.Search(q, vector.SearchOptions{K: figureK, Plan: vector.PlanIndex})
			return err
		})
		w.took += cost
		w.searches++
		if err != nil || !sample {
			return err
		}
		exact, err := v.Search(q, vector.SearchOptions{K: figureK, Exact: true})
		w.samples, w.wanted = append(w.samples, query), w.wanted+len(exact)
		for _, h := range exact {
			if slices.ContainsFunc(hits, func(o vector.Hit) bool { return o.ID == h.ID }) {
				w.found++
			}
		}
		return err
	})
}
