package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/vector"
)

const (
	millionRows, millionDim, millionQueries = 1_000_000, 384, 200
	// millionBlock vectors are in memory of the benchmark at a time.
	millionBlock = 10_000
	// tie is how far two scores of the same vector may be apart.
	tie = 1e-5
)

// million loads as many vectors as -n says, a million by default, which are made block by block and never
// all in memory; then it measures searches, bytes and an opening.
func million(ctx context.Context, s *session) (err error) {
	l := &load{session: s, n: millionRows, path: filepath.Join(s.temp, "db")}
	if s.n > 0 {
		l.n = s.n
	}
	d, err := db.Open(l.path, alwaysIndexed())
	if err != nil {
		return err
	}
	defer func() {
		if d != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if err := l.fill(ctx, d); err != nil {
		return err
	}
	if err := l.search(ctx, d); err != nil {
		return err
	}
	if err := l.weigh(ctx, d); err != nil {
		return err
	}
	open := d
	d = nil
	if err := open.Close(); err != nil {
		return err
	}
	return l.reopen(ctx)
}

// load is a database that is filled and measured.
type load struct {
	*session
	n       int
	path    string
	queries matrix
	best    []nearest // by query, from comparing it with every vector
}

func (l *load) config() vector.Config {
	return vector.Config{Metric: vector.Cosine, Dim: millionDim, M: l.m, EfConstruction: l.efConstruction}
}

func (l *load) figure(what, unit string, value float64) {
	l.report(fmt.Sprintf("%s × %d: %s", sizeText(l.n), millionDim, what), unit, single(value), bar{})
}

// fill loads the vectors. The queries are the first that are made, and not loaded.
func (l *load) fill(ctx context.Context, d *db.DB) error {
	queries := min(millionQueries, l.settings.queries, max(1, l.n/9))
	g := newGenerator(clusteredSeed, l.n+queries, millionDim)
	l.queries = newMatrix(queries, millionDim)
	g.fill(0, l.queries)
	if err := l.queries.normalise(); err != nil {
		return err
	}
	l.best = make([]nearest, queries)
	for i := range l.best {
		l.best[i].room = figureK
	}
	var wall, cpu time.Duration
	for at := 0; at < l.n; at += millionBlock {
		block := newMatrix(min(millionBlock, l.n-at), millionDim)
		g.fill(queries+at, block)
		if err := block.normalise(); err != nil {
			return err
		}
		l.compare(block, at)
		began, spent := time.Now(), processTime()
		if err := errors.Join(put(ctx, d, collectionName, l.config(), block, at, loadBatch), d.Settle(ctx)); err != nil {
			return err
		}
		wall, cpu = wall+time.Since(began), cpu+processTime()-spent
		fmt.Fprintf(l.log, "%d of %d: %.0f s, %.0f s of processors\n", at+block.rows(), l.n, wall.Seconds(), cpu.Seconds())
	}
	l.figure("load and index, wall", "s", wall.Seconds())
	l.figure("load and index, processors", "s", cpu.Seconds())
	return nil
}

// compare offers the rows of a block, the first of which has number first, to every query.
func (l *load) compare(block matrix, first int) {
	far := make([]float32, block.rows())
	for i := range l.best {
		simd.DotRows(l.queries.row(i), block.values, block.dim, far)
		for j, x := range far {
			l.best[i].offer(uint32(first+j), -float64(x))
		}
	}
}

// search draws the curve of recall against time up to 0.99.
func (l *load) search(ctx context.Context, d *db.DB) error {
	for i, want := range l.best {
		hits, err := find(ctx, d, collectionName, l.queries.row(i), vector.SearchOptions{K: figureK, Exact: true})
		if err != nil {
			return err
		}
		for k, h := range hits {
			if len(hits) != len(want.found) || math.Abs(float64(h.Score)+want.found[k].far) > tie {
				return fmt.Errorf("an exact search for query %d finds other vectors than a comparison with all", i)
			}
		}
	}
	var points []point
	for _, width := range ladder(figureK) {
		p, err := l.pass(ctx, d, width)
		if err != nil {
			return err
		}
		fmt.Fprintf(l.log, "width %d: recall@%d %.4f, %.0f µs\n", width, figureK, p.recall, p.micros)
		if points = append(points, p); p.recall >= 0.99 {
			break
		}
	}
	micros, how := newCurve(points).cost(0.95)
	if how == unreached {
		micros = math.NaN()
	}
	l.figure("queries per second of one thread at recall@10 0.95", "/s", 1e6/micros)
	usual, err := l.pass(ctx, d, 0)
	if err != nil {
		return err
	}
	l.figure("recall@10 at the default width", "", usual.recall)
	l.figure("time of a search at the default width", "µs", usual.micros)
	return nil
}

// pass answers all queries at one width, the better of two times.
func (l *load) pass(ctx context.Context, d *db.DB, width int) (p point, err error) {
	p.micros = math.Inf(1)
	for range 2 {
		found := 0
		took, err := timed(func() error {
			for i := range l.best {
				hits, err := find(ctx, d, collectionName, l.queries.row(i), vector.SearchOptions{K: figureK, Ef: width, Plan: vector.PlanIndex})
				if err != nil {
					return err
				}
				last := l.best[i].found[len(l.best[i].found)-1].far
				for _, h := range hits {
					if -float64(h.Score) <= last+tie/10 {
						found++
					}
				}
			}
			return nil
		})
		if err != nil {
			return p, err
		}
		p.recall = float64(found) / float64(len(l.best)*len(l.best[0].found))
		p.micros = min(p.micros, float64(took.Nanoseconds())/1e3/float64(len(l.best)))
	}
	return p, nil
}

// weigh reports the bytes of a vector.
func (l *load) weigh(ctx context.Context, d *db.DB) error {
	st, err := statsOf(ctx, d, collectionName)
	if err != nil {
		return err
	}
	if st.Live != l.n || st.Tail != 0 {
		return fmt.Errorf("%d vectors are there and %d not indexed, want %d and none", st.Live, st.Tail, l.n)
	}
	disk, err := calm(ctx, func() (int64, error) { return folderBytes(l.path) })
	if err != nil {
		return err
	}
	l.figure("memory of a vector with everything", "bytes", float64(st.Bytes)/float64(l.n))
	l.figure("disk of a vector with everything", "bytes", float64(disk)/float64(l.n))
	return nil
}

// reopen opens the database from disk, and lets the bare engine pass over its rows.
func (l *load) reopen(ctx context.Context) (err error) {
	other := filepath.Join(l.temp, "bare")
	if err := errors.Join(copyFolder(l.path, other), dropCached(l.path), dropCached(other)); err != nil {
		return err
	}
	began := time.Now()
	rows, _, err := readBare(other)
	pass := time.Since(began)
	if err == nil && rows != l.n {
		err = fmt.Errorf("the bare engine reads %d rows of %d", rows, l.n)
	}
	if err = errors.Join(err, os.RemoveAll(other)); err != nil {
		return err
	}
	began = time.Now()
	d, err := db.Open(l.path, alwaysIndexed())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	_, err = find(ctx, d, collectionName, l.queries.row(0), vector.SearchOptions{K: figureK})
	took := time.Since(began)
	l.figure("open and first search, wall", "s", took.Seconds())
	l.figure("the same against one pass of bare Pebble, wall", "×", took.Seconds()/pass.Seconds())
	return err
}
