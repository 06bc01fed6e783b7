package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
)

// weighCache is the smallest block cache: what is weighed are the vectors.
const weighCache = 1 << 20

// memory weighs a process that has the database open and has searched it, against what rows, codes and links
// must take; and again when rows may not stay in memory, against the rows.
func memory(ctx context.Context, s *session) error {
	d, err := s.settled(ctx, "db", s.data.base.rows())
	if err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return err
	}
	queries := filepath.Join(s.temp, "queries.fvecs")
	if err := writeFvecs(queries, s.data.queries); err != nil {
		return err
	}
	weighed := func(limit int64) (w weight, err error) {
		p, err := startChild(ctx, task{Do: "memory", Dir: filepath.Join(s.temp, "db"), Rows: queries, Limit: limit})
		if err != nil {
			return w, err
		}
		if !p.out.Scan() {
			return w, fmt.Errorf("a process with the database open: %w", p.ended())
		}
		err = json.Unmarshal(p.out.Bytes(), &w)
		if err == nil && w.Live != s.data.base.rows() {
			err = fmt.Errorf("%d of %d vectors are there", w.Live, s.data.base.rows())
		}
		return w, errors.Join(err, p.cmd.Wait())
	}
	n := float64(s.data.base.rows())
	rows, all := n*4*float64(s.data.base.dim), n*s.arithmeticBytes()
	whole, err := weighed(0)
	if err != nil {
		return err
	}
	s.report(fmt.Sprintf("heap in use against rows, codes and links, %.0f bytes a vector", all/n), "×", single(float64(whole.Heap)/all), noMoreThan(1.08))
	s.report("resident set without block cache against the same", "×", single(float64(whole.Set-whole.Cache)/all), bar{})
	s.report("what the database itself tells of, against the same", "×", single(float64(whole.Bytes)/all), bar{})
	without, err := weighed(1)
	if err != nil {
		return err
	}
	if without.Rows != 0 {
		return errors.New("rows are in memory although they may not be")
	}
	s.report("rows not in memory: heap in use against the rows", "×", single(float64(without.Heap)/rows), noMoreThan(0.3))
	s.report("resident set without block cache against the same", "×", single(float64(without.Set-without.Cache)/rows), bar{})
	s.report("of these, codes", "×", single(float64(without.Codes)/rows), bar{})
	s.report("links and what else the index has", "×", single(float64(without.Links)/rows), bar{})
	return nil
}

// arithmeticBytes of a vector are its row, a code a value, and room for its links: 2 M of them on the
// ground level and M on each level above, which an M-th of the vectors of the level below reaches.
func (s *session) arithmeticBytes() float64 {
	const link = 4
	m := float64(s.m)
	return 5*float64(s.data.base.dim) + link*(2*m+m/(m-1))
}
