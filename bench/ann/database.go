package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
)

// database is a whole database on disk that holds the data set in one collection.
type database struct {
	e     *env
	d     *db.DB
	rows  int // that are in it
	users int
}

// vectorsName is the collection.
const vectorsName = "ann"

// openDatabase opens the one database of the run, or returns it.
func (e *env) openDatabase() (*database, error) {
	if e.db == nil {
		d, err := db.Open(filepath.Join(e.temp, "db"), db.WithOptions(db.Options{Vectors: db.VectorOptions{ExactBytes: -1}}))
		if err != nil {
			return nil, err
		}
		e.db = &database{e: e, d: d}
	}
	e.db.users++
	return e.db, nil
}

// fill commits rows up to to, as a loader would, and waits until they are indexed. The time is that of the
// whole process, because the index is fed on a goroutine of its own.
func (b *database) fill(ctx context.Context, to int) (time.Duration, error) {
	began := processTime()
	for b.rows < to {
		end := min(b.rows+loadBatch, to)
		err := b.d.Update(ctx, func(tx *db.Tx) error {
			v, err := tx.CreateVectors(vectorsName, b.e.config())
			if err != nil {
				return err
			}
			for i := b.rows; i < end; i++ {
				if err := v.Put(rowID(i), b.e.data.base.row(i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		b.rows = end
	}
	if err := b.d.Settle(ctx); err != nil {
		return 0, err
	}
	return processTime() - began, nil
}

// close lets go of the database; the last user closes it.
func (b *database) close() error {
	if b.users--; b.users > 0 {
		return nil
	}
	b.e.db = nil
	return b.d.Close()
}

// throughDatabase searches by the public API: a transaction, its view, ids for results.
type throughDatabase struct {
	*database
	exact bool
}

func openDatabaseGraph(e *env) (contender, error) {
	b, err := e.openDatabase()
	return throughDatabase{b, false}, err
}

func openDatabaseExact(e *env) (contender, error) {
	b, err := e.openDatabase()
	return throughDatabase{b, true}, err
}

func (t throughDatabase) add(ctx context.Context, _, to int) (time.Duration, error) {
	return t.fill(ctx, to)
}

func (t throughDatabase) search(ctx context.Context, width, k int, out [][]uint32) (time.Duration, error) {
	o := vector.SearchOptions{K: k, Ef: width, Exact: t.exact}
	hits := make([][]vector.Hit, len(out))
	find := func(i int) error {
		return t.d.View(ctx, func(tx *db.Tx) error {
			v, err := tx.Vectors(vectorsName)
			if err != nil {
				return err
			}
			hits[i], err = v.Search(t.e.data.queries.row(i), o)
			return err
		})
	}
	run := func(n int) error {
		for i := range n {
			if err := find(i); err != nil {
				return err
			}
		}
		return nil
	}
	if err := run(min(warmUp, len(out))); err != nil {
		return 0, err
	}
	took, err := timed(func() error { return run(len(out)) })
	for i, hs := range hits {
		out[i] = out[i][:0]
		for _, h := range hs {
			out[i] = append(out[i], rowOf(h.ID))
		}
	}
	return took, err
}

// bytes are those of the vectors in memory with their index.
func (t throughDatabase) bytes() (float64, error) {
	s, err := t.d.Stats(context.Background())
	if err != nil {
		return 0, err
	}
	if t.rows == 0 {
		return 0, errors.New("the database is empty")
	}
	return float64(s.VectorBytes) / float64(t.rows), nil
}
