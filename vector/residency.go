package vector

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// ration decides, before a row is read, which of the collections that are about to be loaded keep their rows
// in memory beside those that are there; of these, rows are let go by the background work. Where ordinals alone do not
// show that all may, it costs a pass over the ids of the new ones.
func (s *Set) ration(r kv.Reader, all []*Collection) error {
	if s.o.MemoryBytes == 0 {
		return nil
	}
	size := make(map[*Collection]int64)
	total := int64(0)
	for _, c := range s.collections() {
		if p := c.gen.Load().points; p.resident() || c.arrival.pending.Load() {
			size[c] = c.rowBytes(uint64(p.Len()))
			total += size[c]
		}
	}
	for _, c := range all {
		lo, hi, err := c.ordinalRange(r)
		if err != nil {
			return err
		}
		size[c] = c.rowBytes(hi - lo)
		total += size[c]
	}
	if total <= s.o.MemoryBytes {
		return nil
	}
	for _, c := range all {
		n, err := c.countIDs(r)
		if err != nil {
			return err
		}
		size[c] = c.rowBytes(n)
	}
	large := s.tooLarge(size)
	for _, c := range all {
		if slices.Contains(large, c) {
			c.gen.Store(newGeneration(newPoints(c.config, false), nil))
		}
	}
	return nil
}

// balance lets rows go that memory has no room for.
func (s *Set) balance() {
	if s.o.MemoryBytes == 0 {
		return
	}
	size := make(map[*Collection]int64)
	for _, c := range s.collections() {
		size[c] = c.gen.Load().points.memory().Rows
	}
	for _, c := range s.tooLarge(size) {
		c.release()
	}
}

// tooLarge returns the collections whose rows, of these sizes, may not stay: the largest first, until the
// others fit. What compares nothing but rows keeps them.
func (s *Set) tooLarge(size map[*Collection]int64) []*Collection {
	total := int64(0)
	var large []*Collection
	for c, n := range size {
		total += n
		if c.config.Quantization != Float32 && n > 0 {
			large = append(large, c)
		}
	}
	slices.SortFunc(large, func(a, b *Collection) int {
		return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a.ws, b.ws), cmp.Compare(a.id, b.id))
	})
	n := 0
	for ; n < len(large) && total > s.o.MemoryBytes; n++ {
		total -= size[large[n]]
	}
	return large[:n]
}

// release lets go of the rows for as long as the set is open. Searches that have taken hold of some go on
// with them.
func (c *Collection) release() {
	c.feed.mu.Lock() // points are not being copied
	defer c.feed.mu.Unlock()
	c.mu.Lock() // nor appended to
	defer c.mu.Unlock()
	c.gen.Load().points.rows.Store(nil)
}

// rowBytes is the memory of n rows.
func (c *Collection) rowBytes(n uint64) int64 {
	slots := (n + simd.SegmentRows - 1) / simd.SegmentRows * simd.SegmentRows
	return int64(slots) * int64(4*c.gen.Load().points.stride)
}

// countIDs counts the vectors that r shows.
func (c *Collection) countIDs(r kv.Reader) (n uint64, err error) {
	prefix := collectionPrefix(c.ws, kindID, c.id)
	cur, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for cur.Next() {
		n++
	}
	return n, cur.Err()
}

// blind reports that memory holds nothing from which an exact search could exclude a vector: its rows must all
// be read.
func (p *Points) blind() bool { return p.wordStride > 0 && !p.resident() }

// errReleased: rows were in memory when the search began, which a repetition without a view relies on.
var errReleased = errors.New("rows are no longer in memory")

// rowsKept bounds the rows of one search that the store is asked to keep: candidates, which many questions share. A scan
// reads more, each once.
const rowsKept = 512

// read scores slots by their rows in the store, in the order in which they lie there.
func (t *search) read(ctx context.Context, slots []uint32) (err error) {
	if t.r == nil {
		err = errReleased
	} else {
		slices.Sort(slots)
		if len(slots) <= rowsKept {
			err = t.readKept(slots)
		} else {
			err = t.readAll(ctx, slots)
		}
	}
	if err != nil {
		return fmt.Errorf("vector: search %q: %w", t.c.Name(), err)
	}
	return nil
}

// readKept reads rows of which some may be in memory.
func (t *search) readKept(slots []uint32) error {
	p := t.g.points
	keys := make([][]byte, len(slots))
	for i, slot := range slots {
		keys[i] = t.c.rowKey(p.Ordinal(slot))
	}
	rows, err := t.r.GetMany(keys)
	if err != nil {
		return err
	}
	row := make([]float32, t.c.config.Dim)
	for i, slot := range slots {
		if rows[i] == nil {
			return t.c.lost(p.ID(slot), p.Ordinal(slot))
		}
		if _, err := decodeRow(rows[i], row); err != nil {
			return err
		}
		t.found(slot, row)
	}
	return nil
}

// readAll reads rows with a cursor that moves forward.
func (t *search) readAll(ctx context.Context, slots []uint32) (err error) {
	const ctxEvery = 1024
	p := t.g.points
	key := t.c.rowKey(p.Ordinal(slots[0]))
	prefix := len(key) - 8
	cur, err := t.r.Cursor(key, t.c.rowKey(p.Ordinal(slots[len(slots)-1])+1))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	row := make([]float32, t.c.config.Dim)
	last := uint64(0)
	for i, slot := range slots {
		if i%ctxEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		ord := p.Ordinal(slot)
		key = codec.AppendKeyUint64(key[:prefix], ord)
		found := false
		if i > 0 && ord == last+1 {
			found = cur.Next()
		} else {
			found = cur.SeekGE(key)
		}
		if !found || !bytes.Equal(cur.Key(), key) {
			return errors.Join(cur.Err(), t.c.lost(p.ID(slot), ord))
		}
		if _, err := decodeRow(cur.Value(), row); err != nil {
			return err
		}
		t.found(slot, row)
		last = ord
	}
	return nil
}
