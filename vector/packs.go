package vector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// A pack is what memory holds of a segment's worth of vectors beside their rows: ordinals, ids, codes and what bounds
// their error. A collection of codes that has an index writes one for every simd.SegmentRows vectors, once, and is
// opened by them: its rows, four times as many bytes, are read behind the first searches (see bring), or not at all.
//
// Packs are derived data. An ordinal never stands for another vector, so that a pack can be out of date in one way
// only: vectors of it are gone, which the keys of ids tell.
type packs struct {
	to    uint64 // every present vector with an ordinal below it is in a pack
	slots int    // vectors in all packs, deleted ones included
	erase bool   // what is stored is of no use
}

const (
	packVersion = 1
	// packBatch packs are one commit, some megabytes at most dimensions.
	packBatch = 8
)

func (c *Collection) packKey(first uint64) []byte {
	return codec.AppendKeyUint64(collectionPrefix(c.ws, kindPack, c.id), first)
}

// appendPack appends a pack of slots, of which there are simd.SegmentRows.
func (p *Points) appendPack(b []byte, slots []uint32) []byte {
	b = slices.Grow(b, len(slots)*(p.config.Dim+perSlot+16))
	b = codec.AppendUvarint(b, packVersion)
	last := p.Ordinal(slots[0])
	for _, slot := range slots {
		b = codec.AppendUvarint(b, p.Ordinal(slot)-last)
		last = p.Ordinal(slot)
	}
	for _, slot := range slots {
		b = codec.AppendString(b, p.ID(slot))
	}
	for _, slot := range slots {
		s, i := p.seg(slot), slot&(simd.SegmentRows-1)
		f := s.facts[i]
		b = simd.AppendFloat32s(b, []float32{f.resid, f.norm, f.square, s.scales[i]})
	}
	for _, slot := range slots {
		b = simd.AppendInt8s(b, p.packedAt(p.seg(slot).packed, int(slot&(simd.SegmentRows-1))).codes)
	}
	return b
}

// decodePack makes a segment of a pack whose first ordinal is first.
func (p *Points) decodePack(v []byte, first uint64, ids *idArena) (*segment, error) {
	in := codec.NewReader(v)
	if version := in.Uvarint(); in.Err() == nil && version != packVersion {
		return nil, fmt.Errorf("%w: pack of version %d, not %d", kv.ErrCorrupt, version, packVersion)
	}
	s := &segment{packed: p.packedRows(simd.SegmentRows)}
	last := first
	for i := range s.ords {
		step := in.Uvarint()
		if (step == 0) != (i == 0) || step > maxOrdinal-last {
			return nil, fmt.Errorf("%w: ordinals of pack %d", kv.ErrCorrupt, first)
		}
		last += step
		s.ords[i] = last
	}
	for i := range s.ids {
		s.ids[i] = ids.keep(in.Bytes())
	}
	const floats = 4
	if in.Err() != nil || in.Len() != simd.SegmentRows*(4*floats+p.config.Dim) {
		return nil, fmt.Errorf("%w: pack %d of %d bytes for dimension %d", kv.ErrCorrupt, first, len(v), p.config.Dim)
	}
	v = v[len(v)-in.Len():]
	var f [floats]float32
	for i := range s.facts {
		simd.Float32s(f[:], v[:4*floats])
		s.facts[i], s.scales[i] = facts{resid: f[0], norm: f[1], square: f[2]}, f[3]
		v = v[4*floats:]
	}
	for i := range s.ids {
		simd.Int8s(p.packedAt(s.packed, i).codes, v[:p.config.Dim])
		v = v[p.config.Dim:]
	}
	return s, nil
}

// eachPack calls f for the packs whose first ordinal is in [from, to), in their order.
func (c *Collection) eachPack(r kv.Reader, from, to uint64, f func(first uint64, pack []byte) error) (err error) {
	prefix := len(collectionPrefix(c.ws, kindPack, c.id))
	cur, err := r.Cursor(c.packKey(from), c.packKey(to))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for cur.Next() {
		first, err := rowOrdinal(cur.Key(), prefix)
		if err != nil {
			return err
		}
		v, err := codec.Unseal(cur.Key(), cur.Value())
		if err != nil {
			return fmt.Errorf("%w: pack %d: %w", kv.ErrCorrupt, first, err)
		}
		if err := f(first, v); err != nil {
			return err
		}
	}
	return cur.Err()
}

// loadPacked reads the packs, and the rows of the vectors that are in none of them. It returns nil when nothing was
// packed, and an error that is kv.ErrCorrupt when the packs are not those of the vectors that r shows.
func (c *Collection) loadPacked(r kv.Reader) (all *loadedRows, err error) {
	lo, hi, err := c.ordinalRange(r)
	if err != nil {
		return nil, err
	}
	var present []uint64
	done := make(chan error, 1)
	go func() {
		var err error
		present, err = c.presentOrdinals(r)
		done <- err
	}()
	from, found, err := c.firstPack(r)
	if err == nil && found {
		all, err = c.loadRuns(min(from, lo), max(hi, from+1), false, func(from, to uint64) (loadedRows, error) { return c.loadPackRun(r, from, to) })
	}
	if err = errors.Join(err, <-done); err != nil || !found {
		return nil, err
	}
	c.packs = packs{to: all.p.Ordinal(all.n-1) + 1, slots: int(all.n)}
	if all, err = all.only(present, c.packs.to); err != nil {
		return nil, err
	}
	rest, err := c.loadRows(r, c.packs.to, hi, false)
	if err != nil {
		return nil, err
	}
	all.n = all.p.join(all.n, rest.p, rest.n)
	all.next = max(hi, c.packs.to)
	return all, nil
}

// firstPack returns the first ordinal of the first pack.
func (c *Collection) firstPack(r kv.Reader) (first uint64, found bool, err error) {
	prefix := collectionPrefix(c.ws, kindPack, c.id)
	cur, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	if !cur.First() {
		return 0, false, cur.Err()
	}
	first, err = rowOrdinal(cur.Key(), len(prefix))
	return first, err == nil, err
}

// loadPackRun reads the packs that begin with an ordinal in [from, to).
func (c *Collection) loadPackRun(r kv.Reader, from, to uint64) (loadedRows, error) {
	run, ids := loadedRows{p: newPoints(c.config, false)}, idArena{}
	err := c.eachPack(r, from, to, func(first uint64, pack []byte) error {
		s, err := run.p.decodePack(pack, first, &ids)
		if err == nil {
			run.p.add([]*segment{s}, nil)
			run.n += simd.SegmentRows
		}
		return err
	})
	return run, err
}

// presentOrdinals returns the ordinals to which the ids lead, ascending.
func (c *Collection) presentOrdinals(r kv.Reader) (list []uint64, err error) {
	prefix := collectionPrefix(c.ws, kindID, c.id)
	cur, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for cur.Next() {
		ord, err := decodeOrdinal(cur.Value())
		if err != nil {
			return nil, err
		}
		list = append(list, ord)
	}
	slices.Sort(list)
	return list, cur.Err()
}

// only returns l without the slots whose ordinals are not in present, which ascends; l itself, changed. It is an error that is
// kv.ErrCorrupt when the slots do not ascend or lack one that is below to.
func (l *loadedRows) only(present []uint64, to uint64) (*loadedRows, error) {
	n, _ := slices.BinarySearch(present, to)
	present = present[:n]
	keep := make([]uint32, 0, l.n)
	for slot := range l.n {
		ord := l.p.Ordinal(slot)
		if slot > 0 && ord <= l.p.Ordinal(slot-1) {
			return nil, fmt.Errorf("%w: packs hold vector %d twice or in another order", kv.ErrCorrupt, ord)
		}
		if len(present) > 0 && present[0] == ord {
			keep = append(keep, slot)
			present = present[1:]
		}
	}
	if len(present) > 0 {
		return nil, fmt.Errorf("%w: vector %d is in no pack", kv.ErrCorrupt, present[0])
	}
	if len(keep) == int(l.n) {
		return l, nil
	}
	for to, from := range keep { // nobody has seen them yet: they move down, and no other memory is touched
		if uint32(to) != from {
			l.p.copy(uint32(to), l.p, from)
		}
	}
	l.n = uint32(len(keep))
	l.p.cut(int(l.n+simd.SegmentRows-1) >> simd.SegmentShift)
	return l, nil
}

// savePacks writes the packs that are due, and removes them where they are of no use any more. persist is held.
func (c *Collection) savePacks(ctx context.Context) error {
	for {
		g, k := c.gen.Load(), &c.packs
		packed := g.index != nil && g.points.codeStride > 0
		if k.erase || k.slots > 0 && (!packed || k.slots > 2*c.count.Load().n+simd.SegmentRows) {
			prefix := collectionPrefix(c.ws, kindPack, c.id)
			err := c.update(ctx, func(b *kv.Batch) error { return b.DeleteRange(prefix, codec.PrefixEnd(prefix)) })
			if err != nil {
				return err
			}
			*k = packs{}
			continue
		}
		if !packed {
			return nil
		}
		p := g.points
		due := p.unpacked(k.to)
		if len(due) == 0 {
			return nil
		}
		err := c.update(ctx, func(b *kv.Batch) error {
			for slots := range slices.Chunk(due, simd.SegmentRows) {
				key := c.packKey(p.Ordinal(slots[0]))
				if err := b.Set(key, codec.Seal(key, p.appendPack(nil, slots))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		k.to, k.slots = p.Ordinal(due[len(due)-1])+1, k.slots+len(due)
	}
}

// unpacked returns the slots for the next packs: whole packs of living vectors whose ordinals are from on, at most
// packBatch.
func (p *Points) unpacked(from uint64) []uint32 {
	n := p.Len()
	slot := uint32(sort.Search(int(n), func(i int) bool { return p.Ordinal(uint32(i)) >= from }))
	var due []uint32
	for ; slot < n && len(due) < packBatch*simd.SegmentRows; slot++ {
		if p.Ended(slot) == 0 {
			due = append(due, slot)
		}
	}
	return due[:len(due)/simd.SegmentRows*simd.SegmentRows]
}
