package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/wal"
)

// variant is one configuration of an index of ours.
type variant struct {
	name      string
	database  bool // it is measured through the whole database, too
	index     vector.NewIndex
	configure func(c *vector.Config)
}

// config is the configuration of the variant's collection.
func (v variant) config(e *env) vector.Config {
	c := vector.Config{Metric: e.data.metric, Dim: e.data.base.dim, M: e.m, EfConstruction: e.efConstruction}
	v.configure(&c)
	return c
}

// bare is an index over points, fed and searched without a collection around it.
type bare struct {
	data   *dataset
	points *loadedPoints
	index  vector.Index
}

// openBare makes the contender that searches the index directly: no collection, no view, no ids.
func (v variant) openBare(e *env) (contender, error) {
	c := v.config(e)
	p, err := e.pointsOf(c)
	if err != nil {
		return nil, err
	}
	x := v.index(vector.IndexOptions{Config: c})
	x.Attach(p.points, nil)
	return &bare{e.data, p, x}, nil
}

// add feeds slots. The rows lie in the points already: copying and encoding one, some microseconds, is
// measured with the database.
func (b *bare) add(_ context.Context, from, to int) (time.Duration, error) {
	return timed(func() error {
		for slot := from; slot < to; slot++ {
			b.index.Insert(uint32(slot))
		}
		return nil
	})
}

// search does what a collection does with an index: more candidates than wanted, compared anew by their
// float32 rows.
func (b *bare) search(_ context.Context, width, k int, out [][]uint32) (time.Duration, error) {
	p := b.points.points
	probe := p.NewProbe()
	q := vector.Query{Probe: probe, K: min(p.Candidates(k), width), Ef: width, Admit: func(uint32) bool { return true }}
	var slots []uint32
	var hits []neighbour
	find := func(i int) {
		probe.Set(b.data.queries.row(i))
		slots = b.index.Search(q, slots[:0])
		hits = hits[:0]
		for i, s := range slots {
			if i+2 < len(slots) {
				simd.PrefetchRow(p.Vector(slots[i+2]))
			}
			hits = append(hits, neighbour{s, float64(score(b.data.metric, probe.Vector(), p.Vector(s)))})
		}
		slices.SortFunc(hits, compareNeighbours)
		ids := out[i][:0]
		for _, h := range hits[:min(k, len(hits))] {
			ids = append(ids, h.id)
		}
		out[i] = ids
	}
	for i := range min(warmUp, len(out)) {
		find(i)
	}
	return timed(func() error {
		for i := range out {
			find(i)
		}
		return nil
	})
}

// score is the exact distance of two rows in float32.
func score(m vector.Metric, a, b []float32) float32 {
	if m == vector.L2 {
		return simd.L2(a, b)
	}
	return -simd.Dot(a, b)
}

func (b *bare) bytes() (float64, error) {
	return b.points.bytes + float64(b.index.Stats().Bytes)/float64(b.data.base.rows()), nil
}

func (b *bare) close() error { return nil }

// loadedPoints are the vectors of a data set as a collection holds them; slot i is base row i.
type loadedPoints struct {
	points *vector.Points
	bytes  float64 // of one vector
}

// pointsOf returns the points of a configuration. Variants that differ in how they build share them.
func (e *env) pointsOf(c vector.Config) (*loadedPoints, error) {
	c.M, c.EfConstruction = 0, 0
	if p := e.points[c]; p != nil {
		return p, nil
	}
	p, err := loadPoints(e.ctx, c, e.data.base)
	if err != nil {
		return nil, fmt.Errorf("load points: %w", err)
	}
	if e.points == nil {
		e.points = map[vector.Config]*loadedPoints{}
	}
	e.points[c] = p
	return p, nil
}

// loadBatch is the number of vectors in one commit.
const loadBatch = 500

// loadPoints commits rows to a collection on a file system in memory and returns the points it made; the
// store is closed again.
func loadPoints(ctx context.Context, c vector.Config, rows matrix) (_ *loadedPoints, err error) {
	store, err := kv.Open("points", kv.Options{FS: vfs.NewMem()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	log, err := wal.Open(store, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	view, err := log.View()
	if err != nil {
		return nil, err
	}
	listen := &listener{}
	set, err := vector.OpenSet(view, vector.SetOptions{ExactBytes: -1,
		NewIndex: func(vector.IndexOptions) vector.Index { return listen }}, "")
	if err = errors.Join(err, view.Close()); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	var coll *vector.Collection
	for at := 0; at < rows.rows(); at += loadBatch {
		_, err := log.Update(ctx, "load", nil, func(b *kv.Batch) (err error) {
			if coll, err = set.Create(b, "", "points", c); err != nil {
				return err
			}
			for i := at; i < min(at+loadBatch, rows.rows()); i++ {
				if err := coll.Put(b, rowID(i), rows.row(i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if err := set.Settle(ctx); err != nil {
		return nil, err
	}
	p := listen.points
	if p == nil || int(p.Len()) != rows.rows() {
		return nil, errors.New("the collection's points are not the rows that were put")
	}
	for i := range rows.rows() {
		if p.ID(uint32(i)) != rowID(i) {
			return nil, fmt.Errorf("slot %d holds row %s", i, p.ID(uint32(i)))
		}
	}
	return &loadedPoints{p, float64(coll.Stats().Bytes) / float64(rows.rows())}, nil
}

// rowID is the id under which base row i is stored.
func rowID(i int) string { return strconv.Itoa(i) }

// rowOf returns the base row of an id, or one that does not exist.
func rowOf(id string) uint32 {
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return math.MaxUint32
	}
	return uint32(n)
}

// listener is an index that holds nothing: it lets the benchmark have a collection's points.
type listener struct{ points *vector.Points }

// Search finds nothing.
func (l *listener) Search(_ vector.Query, out []uint32) []uint32 { return out }

// Load has nothing to load.
func (l *listener) Load(kv.Reader) ([]uint64, uint64, error) { return nil, 0, nil }

// Attach keeps the points.
func (l *listener) Attach(p *vector.Points, _ []uint32) { l.points = p }

// Insert ignores the slot.
func (l *listener) Insert(uint32) {}

// Remove ignores the slots.
func (l *listener) Remove([]uint32) {}

// Skip ignores the ordinal.
func (l *listener) Skip(uint64) {}

// Move follows the collection to its new points.
func (l *listener) Move(p *vector.Points, _ []uint32) vector.Index { l.points = p; return l }

// Drain writes nothing.
func (l *listener) Drain() []func(*kv.Batch) error { return nil }

// Lost has nothing to lose.
func (l *listener) Lost() {}

// Check finds nothing wrong.
func (l *listener) Check(func(uint32) bool) iter.Seq[string] { return func(func(string) bool) {} }

// Stats are empty.
func (l *listener) Stats() vector.IndexStats { return vector.IndexStats{Kind: "listener"} }
