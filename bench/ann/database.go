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
		d, err := db.Open(filepath.Join(e.temp, "db"), alwaysIndexed())
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

// alwaysIndexed gives every collection its index from the first vector on.
func alwaysIndexed() db.Option {
	return db.WithOptions(db.Options{Vectors: db.VectorOptions{ExactBytes: -1}})
}

// fill commits rows up to to, as a loader would, and waits until they are indexed. The time is that of the
// whole process, because the index is fed on a goroutine of its own.
func (b *database) fill(ctx context.Context, name string, to int) (time.Duration, error) {
	began, f := processTime(), b.collections[name]
	if err := put(ctx, b.d, name, f.config, b.data.base.slice(f.rows, to), f.rows, loadBatch); err != nil {
		return 0, err
	}
	f.rows = to
	if err := b.d.Settle(ctx); err != nil {
		return 0, err
	}
	return processTime() - began, nil
}

// put commits rows, the first of which has number first, under their ids, so many in a commit.
func put(ctx context.Context, d *db.DB, name string, c vector.Config, rows matrix, first, batch int) error {
	for at := 0; at < rows.rows(); at += batch {
		err := d.Update(ctx, func(tx *db.Tx) error {
			v, err := tx.CreateVectors(name, c)
			if err != nil {
				return err
			}
			for i := at; i < min(at+batch, rows.rows()); i++ {
				if err := v.Put(rowID(first+i), rows.row(i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// find is one search as a program does it: a transaction, its view, the collection by name.
func find(ctx context.Context, d *db.DB, name string, q []float32, o vector.SearchOptions) (hits []vector.Hit, err error) {
	err = d.View(ctx, func(tx *db.Tx) error {
		v, err := tx.Vectors(name)
		if err != nil {
			return err
		}
		hits, err = v.Search(q, o)
		return err
	})
	return hits, err
}

// statsOf describes a collection.
func statsOf(ctx context.Context, d *db.DB, name string) (st vector.Stats, err error) {
	err = d.View(ctx, func(tx *db.Tx) error {
		v, err := tx.Vectors(name)
		if err != nil {
			return err
		}
		st = v.Stats()
		return nil
	})
	return st, err
}

// rowsOf appends the base rows that hits name.
func rowsOf(hits []vector.Hit, out []uint32) []uint32 {
	for _, h := range hits {
		out = append(out, rowOf(h.ID))
	}
	return out
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
	run := func(n int) error {
		for i := range n {
			var err error
			if hits[i], err = find(ctx, t.db.d, t.name, t.db.data.queries.row(i), o); err != nil {
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
		out[i] = rowsOf(hs, out[i][:0])
	}
	return took, err
}

// bytes is the memory of the collection with its index.
func (t *throughDatabase) bytes() (float64, error) {
	st, err := statsOf(context.Background(), t.db.d, t.name)
	return float64(st.Bytes) / float64(t.db.collections[t.name].rows), err
}
