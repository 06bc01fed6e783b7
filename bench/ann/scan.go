package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
)

// scan compares exact searches with what memory gives: the bytes of codes, or of rows where there are no
// codes, that a search goes through in a second, as a share of what a thread reads.
func scan(ctx context.Context, s *session) (err error) {
	exact, err := s.exact()
	if err != nil {
		return err
	}
	d, err := db.Open(filepath.Join(s.temp, "db"), db.WithOptions(db.Options{Vectors: db.VectorOptions{ExactBytes: math.MaxInt64}}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	kinds := []struct {
		quantization vector.Quantization
		perValue     int // bytes that are read
		bar          bar
		shares       []float64
	}{
		{vector.Int8, 1, atLeast(0.75), nil},
		{vector.Float32, 4, atLeast(0.75), nil},
	}
	for _, k := range kinds {
		c := s.config()
		c.Quantization = k.quantization
		if err := put(ctx, d, k.quantization.String(), c, s.data.base, 0, loadBatch); err != nil {
			return err
		}
	}
	memory := newReader(4 * len(s.data.base.values))
	const passes = 20 // queries a round
	out := make([][]uint32, min(passes, s.data.queries.rows()))
	var rates []float64
	for range s.rounds {
		rate, err := memory.measure()
		if err != nil {
			return err
		}
		rates = append(rates, rate)
		for i := range kinds {
			k := &kinds[i]
			took, err := timed(func() error {
				for q := range out {
					hits, err := find(ctx, d, k.quantization.String(), s.data.queries.row(q), vector.SearchOptions{K: figureK, Exact: true})
					if err != nil {
						return err
					}
					out[q] = rowsOf(hits, out[q][:0])
				}
				return nil
			})
			if err != nil {
				return err
			}
			if found := s.data.recall(exact, out, figureK); found != 1 {
				return fmt.Errorf("an exact search over %v finds %.4f of what there is", k.quantization, found)
			}
			bytes := float64(len(out) * k.perValue * len(s.data.base.values))
			k.shares = append(k.shares, bytes/took.Seconds()/rate)
		}
	}
	for _, k := range kinds {
		s.report(fmt.Sprintf("exact scan over %v, share of %.1f GB/s read by one thread", k.quantization, median(rates)/1e9), "×", spanOf(k.shares), k.bar)
	}
	return nil
}
