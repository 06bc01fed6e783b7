package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/wal"
)

// persist compares the processor time of everything that a collection does with what its index spends on
// inserting. The rest is staging and publishing rows, committing them and the index's records, checkpoints,
// flushes and compactions. Then it holds the bytes written to disk against those of the rows.
func persist(ctx context.Context, s *session) (err error) {
	store, err := kv.Open(filepath.Join(s.temp, "store"), kv.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	log, err := wal.Open(store, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	view, err := log.View()
	if err != nil {
		return err
	}
	var inserts time.Duration
	set, err := vector.OpenSet(view, vector.SetOptions{ExactBytes: -1, Update: log.Update, Oldest: store.OldestLSN, Store: store,
		NewIndex: func(o vector.IndexOptions) vector.Index { return &clocked{hnsw.Factory(o), &inserts} }}, "")
	if err = errors.Join(err, view.Close()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	n, rowBytes := s.data.base.rows(), 0
	var shares []float64
	var whole, indexing time.Duration
	for slice := range buildSlices {
		runtime.GC()
		began, before := processTime(), inserts
		from, to := slice*n/buildSlices, (slice+1)*n/buildSlices
		for at := from; at < to; at += loadBatch {
			_, err := log.Update(ctx, "load", nil, func(b *kv.Batch) error {
				c, err := set.Create(b, "", collectionName, s.config())
				if err != nil {
					return err
				}
				for i := at; i < min(at+loadBatch, to); i++ {
					rowBytes += len(rowID(i)) + 4*s.data.base.dim
					if err := c.Put(b, rowID(i), s.data.base.row(i)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		if err := set.Settle(ctx); err != nil {
			return err
		}
		all, index := processTime()-began, inserts-before
		shares = append(shares, 100*(all-index).Seconds()/index.Seconds())
		whole, indexing = whole+all, indexing+index
		fmt.Fprintf(s.log, "%d of %d: %.1f s of inserting, %.1f s of all else\n", to, n, indexing.Seconds(), (whole - indexing).Seconds())
	}
	m, err := quietMetrics(ctx, store)
	if err != nil {
		return err
	}
	written := func(upTo int) float64 {
		bytes := m.LogBytesWritten + m.ValueBytesWritten
		for _, l := range m.Levels[:upTo] {
			bytes += l.BytesWritten
		}
		return float64(bytes) / float64(rowBytes)
	}
	got := spanOf(shares)
	got.mid = 100 * (whole - indexing).Seconds() / indexing.Seconds()
	s.report("processor time of all but indexing, share of indexing", "%", got, noMoreThan(10))
	s.report("write amplification: bytes written over bytes of rows", "×", single(written(len(m.Levels))), noMoreThan(2.8))
	s.report("of these, log and values", "×", single(written(0)), bar{})
	s.report("log, values and first level", "×", single(written(1)), bar{})
	return nil
}

// clocked is an index whose inserts are timed. They are made by one goroutine at a time.
type clocked struct {
	vector.Index
	inserts *time.Duration
}

// Insert takes the slot in.
func (c *clocked) Insert(slot uint32) {
	took, err := timed(func() error { c.Index.Insert(slot); return nil })
	if err == nil {
		*c.inserts += took
	}
}

// Move follows the collection to its new points.
func (c *clocked) Move(p *vector.Points, slots []uint32) vector.Index {
	return &clocked{c.Index.Move(p, slots), c.inserts}
}

// quietMetrics waits until flushes and compactions have stopped.
func quietMetrics(ctx context.Context, store *kv.Store) (m kv.Metrics, err error) {
	_, err = calm(ctx, func() (int64, error) {
		m, err = store.Metrics()
		return m.Flushes + m.Compactions, err
	})
	return m, err
}

// calm waits until a value has stayed the same for half a second, and returns it.
func calm(ctx context.Context, value func() (int64, error)) (int64, error) {
	const quiet, look = 500 * time.Millisecond, 50 * time.Millisecond
	last, err := value()
	for since := time.Now(); err == nil && time.Since(since) < quiet; {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(look):
		}
		var now int64
		if now, err = value(); now != last {
			last, since = now, time.Now()
		}
	}
	return last, err
}
