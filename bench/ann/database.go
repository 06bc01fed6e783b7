package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
)

// database is a whole database on disk. Each collection in it holds the data set under one configuration.
type database struct {
	d           *db.DB
	data        *dataset
	collections map[string]*filled
	users       int
}

// filled is a collection and the number of rows that are in it.
type filled struct {
	config vector.Config
	rows   int
}

// throughDatabase searches a collection by the public API: a transaction, its view, ids for results.
type throughDatabase struct {
	e    *env
	db   *database
	name string // of the collection
	plan vector.Plan
}

func (v variant) openThroughDatabase(e *env) (contender, error) {
	return e.openCollection(v.name, v.config(e), vector.PlanIndex)
}

// openExact searches the collection of the first variant, whether that is measured or not.
func openExact(e *env) (contender, error) {
	v := variants()[0]
	return e.openCollection(v.name, v.config(e), vector.PlanScan)
}

// openCollection opens a collection in the one database of the data set.
func (e *env) openCollection(name string, c vector.Config, plan vector.Plan) (contender, error) {
	if e.db == nil {
		d, err := db.Open(filepath.Join(e.temp, "db"), db.WithOptions(db.Options{Vectors: db.VectorOptions{ExactBytes: -1}}))
		if err != nil {
			return nil, err
		}
		e.db = &database{d: d, data: e.data, collections: map[string]*filled{}}
	}
	e.db.users++
	if e.db.collections[name] == nil {
		e.db.collections[name] = &filled{config: c}
	}
	return &throughDatabase{e, e.db, name, plan}, nil
}

// fill commits rows up to to, as a loader would, and waits until they are indexed. The time is that of the
// whole process, because the index is fed on a goroutine of its own.
func (b *database) fill(ctx context.Context, name string, to int) (time.Duration, error) {
	began, f := processTime(), b.collections[name]
	for f.rows < to {
		end := min(f.rows+loadBatch, to)
		err := b.d.Update(ctx, func(tx *db.Tx) error {
			v, err := tx.CreateVectors(name, f.config)
			if err != nil {
				return err
			}
			for i := f.rows; i < end; i++ {
				if err := v.Put(rowID(i), b.data.base.row(i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		f.rows = end
	}
	if err := b.d.Settle(ctx); err != nil {
		return 0, err
	}
	return processTime() - began, nil
}

// close lets go of the database; the last contender closes it.
func (t *throughDatabase) close() error {
	if t.db.users--; t.db.users > 0 {
		return nil
	}
	t.e.db = nil
	return t.db.d.Close()
}

func (t *throughDatabase) add(ctx context.Context, _, to int) (time.Duration, error) {
	return t.db.fill(ctx, t.name, to)
}

func (t *throughDatabase) search(ctx context.Context, width, k int, out [][]uint32) (time.Duration, error) {
	o := vector.SearchOptions{K: k, Ef: width, Plan: t.plan}
	hits := make([][]vector.Hit, len(out))
	find := func(i int) error {
		return t.db.d.View(ctx, func(tx *db.Tx) error {
			v, err := tx.Vectors(t.name)
			if err != nil {
				return err
			}
			hits[i], err = v.Search(t.db.data.queries.row(i), o)
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

// bytes is the memory of the collection with its index.
func (t *throughDatabase) bytes() (bytes float64, err error) {
	err = t.db.d.View(context.Background(), func(tx *db.Tx) error {
		v, err := tx.Vectors(t.name)
		if err != nil {
			return err
		}
		bytes = float64(v.Stats().Bytes) / float64(t.db.collections[t.name].rows)
		return nil
	})
	return bytes, err
}
