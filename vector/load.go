package vector

import (
	"errors"
	"fmt"
	"sync"

	"github.com/glimdb/db/kv"
)

// load reads the collection's rows and, beside them, the persisted form of its index.
//
// Slots follow the ordinals of the rows. The index may hold ordinals whose rows are gone: deletes that it had
// not heard of when the store was closed or killed. They get slots, too, in their places, dead from the start
// and without a vector: ghosts. They are rare; making room for them may cost a copy of the rows.
func (c *Collection) load(r kv.Reader) error {
	var index loadedIndex
	var indexErr error
	var beside sync.WaitGroup
	beside.Go(func() { index, indexErr = c.loadIndex(r) })
	rows, awaited, err := c.loadPoints(r)
	beside.Wait()
	if err = errors.Join(err, indexErr); err != nil {
		if awaited != nil {
			err = errors.Join(err, awaited.Close())
		}
		return fmt.Errorf("collection %q: %w", c.Name(), err)
	}
	c.count.Store(&counted{lsn: r.LSN(), n: int(rows.n)})
	slots, first, whole := rows.place(index.known)
	var ghosts []uint32
	if !whole {
		rows, ghosts = rows.haunted(index.known)
		slots, first, _ = rows.place(index.known)
	}
	rows.p.publish(rows.n)
	c.next = max(rows.next, index.fed)
	if awaited != nil {
		c.arrival.expect(rows.p, rows.n, awaited)
	}
	g := newGeneration(rows.p, index.x)
	if index.x != nil {
		index.x.Attach(rows.p, slots)
		g.fed.Store(first)
		g.doomed = ghosts
		g.whole.Store(len(ghosts) == 0)
	}
	c.gen.Store(g)
	return nil
}

// loadPoints reads packs, as far as there are any, or rows. awaited is the view from which the rows that are to be in
// memory are still to be read, nil when there are none.
func (c *Collection) loadPoints(r kv.Reader) (rows *loadedRows, awaited *kv.Snapshot, err error) {
	resident := c.gen.Load().points.resident()
	view, lasts := r.(*kv.Snapshot)
	if c.config.Quantization == Int8 && (lasts || !resident) {
		rows, err = c.loadPacked(r)
		if errors.Is(err, kv.ErrCorrupt) {
			c.set.log.Warn("vector: packed codes cannot be used and will be rebuilt", "collection", c.Name(), "err", err)
			c.packs, rows, err = packs{erase: true}, nil, nil
		}
		if err == nil && rows != nil && resident {
			awaited, err = view.Share()
		}
		if err != nil || rows != nil {
			return rows, awaited, err
		}
	}
	lo, hi, err := c.ordinalRange(r)
	if err != nil {
		return nil, nil, err
	}
	rows, err = c.loadRows(r, lo, hi, resident)
	return rows, nil, err
}

// loadedIndex is an index as it was persisted.
type loadedIndex struct {
	x     Index    // nil: there is none
	known []uint64 // the ordinals it holds
	fed   uint64   // the first ordinal it was not fed
}

// loadIndex returns the collection's index as it was persisted, or no index where none was or where it
// cannot be used: it is derived data, made again from the rows.
func (c *Collection) loadIndex(r kv.Reader) (loadedIndex, error) {
	if c.set.o.NewIndex == nil {
		return loadedIndex{}, nil
	}
	x := c.newIndex()
	known, fed, err := x.Load(r)
	if errors.Is(err, kv.ErrCorrupt) {
		c.set.log.Warn("vector: index data cannot be used and will be rebuilt", "collection", c.Name(), "err", err)
		x = c.newIndex()
		x.Lost()
		return loadedIndex{x: x}, nil
	}
	if err != nil {
		return loadedIndex{}, err
	}
	if len(known) == 0 {
		return loadedIndex{fed: fed}, nil
	}
	return loadedIndex{x, known, fed}, nil
}

func (c *Collection) newIndex() Index {
	return c.set.o.NewIndex(IndexOptions{Config: c.config, Prefix: indexPrefix(c.ws, c.id), Persist: c.set.o.Update != nil})
}
