package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"
)

// buildSlices is the number of turns in which contenders build.
const buildSlices = 20

// enough recall ends a contender's ladder of widths.
const enough = 0.998

// racer is a contender with what was measured of it.
type racer struct {
	spec
	contender

	build   time.Duration
	perRow  float64 // bytes
	series  map[int]*series
	scratch [][]uint32
}

// series is a contender's measurements for one k.
type series struct {
	widths []int
	recall []float64
	micros [][]float64 // by width, then round
}

// curve returns the curve of one round, or of the medians of all for a negative round.
func (s *series) curve(round int) curve {
	var points []point
	for i := range s.widths {
		m := median(s.micros[i])
		if round >= 0 {
			m = s.micros[i][round]
		}
		points = append(points, point{s.recall[i], m})
	}
	return newCurve(points)
}

// race is one data set with all contenders.
type race struct {
	e      *env
	truth  truth
	ks     []int
	rounds int
	log    io.Writer
	racers []*racer
}

// open makes the contenders; those that are not on this machine are named and left out.
func (r *race) open(specs []spec) error {
	for _, s := range specs {
		c, err := s.open(r.e)
		if gone := (*absentError)(nil); errors.As(err, &gone) {
			fmt.Fprintln(r.log, gone)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		queries := r.e.data.queries.rows()
		if s.slow {
			queries = max(min(queries, 20), queries/10)
		}
		r.racers = append(r.racers, &racer{spec: s, contender: c, series: map[int]*series{}, scratch: make([][]uint32, queries)})
	}
	if len(r.racers) == 0 {
		return errors.New("no contender is left to measure")
	}
	return nil
}

// close ends all contenders.
func (r *race) close() error {
	var errs []error
	for _, x := range r.racers {
		errs = append(errs, x.close())
	}
	return errors.Join(errs...)
}

// run builds, finds each contender's widths, and measures the rounds.
func (r *race) run(ctx context.Context) error {
	if err := r.buildAll(ctx); err != nil {
		return err
	}
	for _, k := range r.ks {
		for _, x := range r.racers {
			if err := r.explore(ctx, x, k); err != nil {
				return fmt.Errorf("%s: %w", x.name, err)
			}
		}
		fmt.Fprintf(r.log, "k = %d: widths chosen\n", k)
	}
	for round := range r.rounds {
		for _, k := range r.ks {
			if err := r.round(ctx, k); err != nil {
				return err
			}
		}
		fmt.Fprintf(r.log, "round %d of %d done\n", round+1, r.rounds)
	}
	return nil
}

// buildAll lets the contenders build in turns.
func (r *race) buildAll(ctx context.Context) error {
	n := r.e.data.base.rows()
	for i := range buildSlices {
		from, to := i*n/buildSlices, (i+1)*n/buildSlices
		for _, x := range r.racers {
			if err := ctx.Err(); err != nil {
				return err
			}
			took, err := x.add(ctx, from, to)
			if err != nil {
				return fmt.Errorf("%s: build: %w", x.name, err)
			}
			x.build += took
		}
		fmt.Fprintf(r.log, "built %d of %d:", to, n)
		for _, x := range r.racers {
			if x.builds {
				fmt.Fprintf(r.log, "  %s %.1f s", x.name, x.build.Seconds())
			}
		}
		fmt.Fprintln(r.log)
	}
	for _, x := range r.racers {
		var err error
		if x.perRow, err = x.bytes(); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
	}
	runtime.GC() // what building left behind is not collected while searches are measured
	return nil
}

// explore tries widths until recall is enough.
func (r *race) explore(ctx context.Context, x *racer, k int) error {
	s := &series{}
	for _, w := range x.widths(k) {
		if _, err := x.search(ctx, w, k, x.scratch); err != nil {
			return err
		}
		rec := r.e.data.recall(r.truth, x.scratch, k)
		if math.IsNaN(rec) {
			return errors.New("no exact answer to compare with")
		}
		s.widths, s.recall = append(s.widths, w), append(s.recall, rec)
		if rec >= enough {
			break
		}
	}
	s.micros = make([][]float64, len(s.widths))
	x.series[k] = s
	return nil
}

// round measures every contender at every width once, in turns.
func (r *race) round(ctx context.Context, k int) error {
	for at, more := 0, true; more; at++ {
		more = false
		for _, x := range r.racers {
			s := x.series[k]
			if at >= len(s.widths) {
				continue
			}
			more = true
			if err := ctx.Err(); err != nil {
				return err
			}
			took, err := x.search(ctx, s.widths[at], k, x.scratch)
			if err != nil {
				return fmt.Errorf("%s: width %d: %w", x.name, s.widths[at], err)
			}
			s.micros[at] = append(s.micros[at], float64(took.Nanoseconds())/1e3/float64(len(x.scratch)))
		}
	}
	return nil
}

// find returns the racer of a name, or nil.
func (r *race) find(name string) *racer {
	for _, x := range r.racers {
		if x.name == name {
			return x
		}
	}
	return nil
}

// ratio is how many times as fast as base x is at a recall: the span over rounds, and whether the value is
// only a bound, because one of the two has no point as poor as that recall.
func (r *race) ratio(base, x *racer, k int, recall float64) (sp span, how bound) {
	var values []float64
	how = between
	for round := range r.rounds {
		b, bHow := base.series[k].curve(round).cost(recall)
		c, cHow := x.series[k].curve(round).cost(recall)
		if bHow == unreached || cHow == unreached {
			return spanOf(nil), unreached
		}
		if bHow == atMost || cHow == atMost {
			how = atMost
		}
		values = append(values, b/c)
	}
	return spanOf(values), how
}

// atEqualWidth is how many times as fast as base x is at equal widths, over all that both have.
func (r *race) atEqualWidth(base, x *racer, k int) span {
	var values []float64
	b, c := base.series[k], x.series[k]
	for round := range r.rounds {
		for i, w := range b.widths {
			for j, v := range c.widths {
				if w == v {
					values = append(values, b.micros[i][round]/c.micros[j][round])
				}
			}
		}
	}
	return spanOf(values)
}
