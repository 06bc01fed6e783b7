package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// curves measures recall against time, builds and bytes of all contenders.
func curves(ctx context.Context, s *session) (err error) {
	chosen, err := specsNamed(s.contenders)
	if err != nil {
		return err
	}
	exact, err := s.exact()
	if err != nil {
		return err
	}
	r := &race{e: s.env(ctx), truth: exact, ks: s.ks, rounds: s.rounds, log: s.log}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.open(chosen); err != nil {
		return err
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	if err := r.print(s.out); err != nil {
		return err
	}
	s.results.curves = append(s.results.curves, r.rows()...)
	r.report(s)
	if err := writeWhole(filepath.Join(s.folder, s.data.name+".png"), r.writeChart); err != nil {
		return err
	}
	if s.profile == "" {
		return nil
	}
	return writeWhole(filepath.Join(s.folder, s.data.name+".pprof"), func(w io.Writer) error { return r.profile(ctx, s.profile, w) })
}

// report adds what has a bar to the table at the end.
func (r *race) report(s *session) {
	k := r.k()
	base, bare, coder := r.find(nameHnswlib), r.find(nameBare), r.find(nameCoder)
	float32Bar, int8Bar := searchBars(r.e.data.base.dim)
	for _, of := range []struct {
		name          string
		search, build bar
	}{
		{nameFloat32, float32Bar, atLeast(1.45)},
		{nameBare, int8Bar, atLeast(1.8)},
		{nameBare + defaultWidth, bar{}, atLeast(3)},
	} {
		if x := r.find(of.name); x != nil && base != nil {
			what, got := r.worst(base, x, k)
			s.report(of.name+what, "×", got, of.search)
			s.report(of.name+", build against hnswlib", "×", single(base.build.Seconds()/x.build.Seconds()), of.build)
		}
	}
	if whole := r.find(nameBare + throughDB); whole != nil && bare != nil {
		s.report(fmt.Sprintf("through the database, share of the bare index, k = %d", k), "×", r.atEqualWidth(bare, whole, k), atLeast(0.85))
	}
	if coder != nil && bare != nil {
		best := slices.Max(coder.series[k].recall)
		got, _ := r.ratio(coder, bare, k, best)
		s.report(fmt.Sprintf("%s against coder/hnsw at its best recall@%d, %.3f", nameBare, k, best), "×", got, atLeast(30))
	}
}

// k is the number of neighbours that figures are about.
func (r *race) k() int {
	if slices.Contains(r.ks, 10) {
		return 10
	}
	return r.ks[0]
}

// worst returns the least advantage over base at the recalls that both curves have points around, and says at which.
func (r *race) worst(base, x *racer, k int) (what string, least span) {
	least = spanOf(nil)
	what = fmt.Sprintf(", search against hnswlib at equal recall@%d", k)
	for _, recall := range targets() {
		got, how := r.ratio(base, x, k, recall)
		if how == between && !(got.mid >= least.mid) {
			least, what = got, fmt.Sprintf(", search against hnswlib at recall@%d, worst of 0.90 to 0.99: %.2f", k, recall)
		}
	}
	return what, least
}

// searchBars are how many times as fast as hnswlib searches must be at equal recall, by dimension.
func searchBars(dim int) (float32Bar, int8Bar bar) {
	switch {
	case dim >= 1536:
		return atLeast(1.4), atLeast(2.3)
	case dim >= 768:
		return atLeast(1.4), atLeast(2.5)
	}
	return atLeast(1.4), atLeast(2.0)
}
