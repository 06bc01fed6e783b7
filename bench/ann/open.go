package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
)

const (
	// killAt is the share of the rows that are committed when the process is killed.
	killAt = 0.98
	// openQueries are answered exactly after the opening.
	openQueries = 50
)

// openKilled has a process insert the vectors and kills it in the midst of it. What it leaves is opened, and
// searched once, in turn with a pass of the bare engine over its rows, each on a copy of its own that is on
// disk and not in memory. Both have the log of the killed process to read. The times are the wall's: opening
// works on several goroutines.
func openKilled(ctx context.Context, s *session) error {
	dir := filepath.Join(s.temp, "killed")
	acked, err := s.kill(ctx, dir)
	if err != nil {
		return err
	}
	var shares, openings, passes []float64
	for round := range s.rounds {
		copies := [2]string{filepath.Join(s.temp, "ours"), filepath.Join(s.temp, "bare")}
		for _, to := range copies {
			if err := errors.Join(copyFolder(dir, to), dropCached(to)); err != nil {
				return err
			}
		}
		began := time.Now()
		rows, _, err := readBare(copies[1])
		pass := time.Since(began)
		if err != nil {
			return err
		}
		if err := committed(rows, acked); err != nil {
			return err
		}
		took, err := s.openFirst(ctx, copies[0], rows, round == 0)
		if err != nil {
			return err
		}
		shares = append(shares, took.Seconds()/pass.Seconds())
		openings, passes = append(openings, took.Seconds()), append(passes, pass.Seconds())
		for _, gone := range copies {
			if err := os.RemoveAll(gone); err != nil {
				return err
			}
		}
	}
	s.report("open after kill -9, to the end of the first search, against one pass over the rows, wall", "×", spanOf(shares), noMoreThan(0.6))
	s.report("open and first search, wall", "s", spanOf(openings), bar{})
	s.report("one pass of bare Pebble, wall", "s", spanOf(passes), bar{})
	return nil
}

// kill runs the storm and returns the number of rows that it has told of when it was killed.
func (s *session) kill(ctx context.Context, dir string) (acked int, err error) {
	file := filepath.Join(s.temp, "rows.fvecs")
	if err := writeFvecs(file, s.data.base); err != nil {
		return 0, err
	}
	p, err := startChild(ctx, task{Do: "storm", Dir: dir, Rows: file, Config: s.config()})
	if err != nil {
		return 0, err
	}
	killed := false
	for p.out.Scan() {
		if acked, err = strconv.Atoi(p.out.Text()); err != nil {
			return 0, errors.Join(err, p.cmd.Process.Kill(), p.cmd.Wait())
		}
		if !killed && float64(acked) >= killAt*float64(s.data.base.rows()) {
			killed = true
			if err := p.cmd.Process.Kill(); err != nil {
				return 0, err
			}
		}
	}
	if !killed {
		return 0, fmt.Errorf("the storm ended by itself: %w", p.ended())
	}
	if err := p.cmd.Wait(); err == nil {
		return 0, errors.New("the storm was killed and ended well")
	}
	fmt.Fprintf(s.log, "%s: killed after %d vectors\n", s.measure, acked)
	return acked, os.Remove(file)
}

// committed says whether so many rows are what the killed process may have left: all that it told of, and
// one commit more at most.
func committed(rows, acked int) error {
	if rows != acked && rows != acked+writeBatch {
		return fmt.Errorf("%d rows are there after a kill, %d were told of, and a commit is %d", rows, acked, writeBatch)
	}
	return nil
}

// openFirst opens a database, searches once, and returns how long that took; the first time it is asked to,
// it holds everything in the database against the rows that must be there, which are the first n.
func (s *session) openFirst(ctx context.Context, dir string, n int, whole bool) (took time.Duration, err error) {
	began := time.Now()
	d, err := db.Open(dir, alwaysIndexed())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	hits, err := find(ctx, d, collectionName, s.data.queries.row(0), vector.SearchOptions{K: figureK})
	took = time.Since(began)
	if err == nil && len(hits) != min(figureK, n) {
		err = fmt.Errorf("the first search finds %d vectors", len(hits))
	}
	if err == nil && whole {
		err = s.verify(ctx, d, n)
	}
	return took, err
}

// verify holds a database against the first n rows: what it lists, what exact searches find, and its own
// check.
func (s *session) verify(ctx context.Context, d *db.DB, n int) error {
	seen := 0
	err := d.View(ctx, func(tx *db.Tx) error {
		v, err := tx.Vectors(collectionName)
		if err != nil {
			return err
		}
		for row, err := range v.All() {
			if err != nil {
				return err
			}
			if i := rowOf(row.ID); int(i) >= n || !near(row.Vector, s.data.base.row(int(i))) {
				return fmt.Errorf("vector %s is not the one that was committed", row.ID)
			}
			seen++
		}
		return nil
	})
	if err == nil && seen != n { // ids are unique, so that n of them below n are all
		err = fmt.Errorf("%d vectors are there, %d were committed", seen, n)
	}
	if err != nil {
		return err
	}
	part := &dataset{s.data.name, s.data.metric, s.data.base.slice(0, n), s.data.queries.slice(0, min(openQueries, s.data.queries.rows()))}
	exact, out := bruteForce(part), make([][]uint32, part.queries.rows())
	for i := range out {
		hits, err := find(ctx, d, collectionName, part.queries.row(i), vector.SearchOptions{K: figureK, Exact: true})
		if err != nil {
			return err
		}
		out[i] = rowsOf(hits, nil)
	}
	if found := part.recall(exact, out, figureK); found != 1 {
		return fmt.Errorf("exact searches find %.4f of what was committed", found)
	}
	return sound(ctx, d)
}

// sound is the first thing that a database finds wrong with itself.
func sound(ctx context.Context, d *db.DB) error {
	for p, err := range d.Check(ctx) {
		if err != nil {
			return err
		}
		return fmt.Errorf("check: %v", p)
	}
	return nil
}

// near says whether two vectors are the same but for the rounding of a length to 1.
func near(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i, x := range a {
		if math.Abs(float64(x-b[i])) > 1e-5*max(1, math.Abs(float64(x))) {
			return false
		}
	}
	return true
}

// copyFolder copies the files of a folder, which has no other folders in it.
func copyFolder(from, to string) error {
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		in, err := os.Open(filepath.Join(from, f.Name()))
		if err != nil {
			return err
		}
		err = writeWhole(filepath.Join(to, f.Name()), func(w io.Writer) error { _, err := io.Copy(w, in); return err })
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}
