package postings

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/glimdb/db/kv"
)

// manySegments is the number of small segments from which Due asks to join them, and of items up to which one is small:
// an epoch has 16 large segments and as many small ones at most, and its terms are written three times in all.
const manySegments = 64

// Due reports whether Fold would do something that is worth a commit: an epoch is full, or there are many small
// segments. It costs one get.
func (x *Index) Due(r kv.Reader) (bool, error) {
	c, err := x.readCounters(r)
	if err != nil {
		return false, x.failed("fold", err)
	}
	return c.next>>epochBits > c.folded || c.segments >= 2*manySegments, nil
}

// Folding is work that PlanFold prepared: segments read on a view, and what takes their places.
type Folding struct {
	x      *Index
	until  uint64 // epochs below are full
	read   map[ordinal][]byte
	blocks []block // ascending
	joined map[ordinal][]byte
}

type block struct {
	key, value []byte
}

// PlanFold reads what there is to fold on a view, outside the writer turn: the segments of the oldest epoch that is full,
// or the small segments of the open one. nil: there is nothing to do. It takes memory for one epoch.
func (x *Index) PlanFold(r kv.Reader) (*Folding, error) {
	c, err := x.readCounters(r)
	if err != nil {
		return nil, x.failed("fold", err)
	}
	f := &Folding{x: x, until: c.folded, read: map[ordinal][]byte{}, joined: map[ordinal][]byte{}}
	all := &segment{terms: map[string][]posting{}}
	full := c.next>>epochBits > c.folded
	lower, upper := x.segmentKey(epoch(c.folded).first()), x.segmentKey(epoch(c.folded+1).first())
	cur, err := r.Cursor(lower, upper)
	if err != nil {
		return nil, x.failed("fold", err)
	}
	defer cur.Close()
	for cur.Next() {
		o, err := numberOf(cur.Key(), len(x.prefix)+1)
		if err != nil {
			return nil, err
		}
		g, err := decodeSegment(ordinal(o), cur.Value())
		if err != nil {
			return nil, fmt.Errorf("%w: segment %d", err, o)
		}
		if !full && len(g.items) >= manySegments {
			f.join(all) // segments that are not neighbours stay apart
			all = &segment{terms: map[string][]posting{}}
			continue
		}
		f.read[ordinal(o)] = bytes.Clone(cur.Value())
		all.join(g)
	}
	if err := cur.Err(); err != nil {
		return nil, x.failed("fold", err)
	}
	switch {
	case full:
		f.until = c.folded + 1
		for _, term := range slices.Sorted(maps.Keys(all.terms)) {
			e := epoch(c.folded)
			f.blocks = append(f.blocks, block{x.blockKey(term, e), appendBlock(nil, e, all.terms[term])})
		}
	default:
		f.join(all)
		if len(f.read) <= len(f.joined) {
			return nil, nil
		}
	}
	return f, nil
}

// join puts a segment that others were joined to among those to be stored.
func (f *Folding) join(g *segment) {
	if len(g.items) > 0 {
		f.joined[g.items[0].ordinal] = g.encode()
	}
}

// Stage puts the result into b, unless the index moved since the view: then done is false and nothing is staged. Segments
// that were added since stay as they are.
func (f *Folding) Stage(b *kv.Batch) (done bool, err error) {
	x := f.x
	s, err := x.begin(b)
	if err != nil {
		return false, x.failed("fold", err)
	}
	if err := s.flush(); err != nil {
		return false, err
	}
	if f.until < s.folded || len(f.blocks) > 0 && f.until != s.folded+1 {
		return false, nil
	}
	for o, was := range f.read {
		if now, err := b.Get(x.segmentKey(o)); err != nil || !bytes.Equal(now, was) {
			return false, ignoreAbsent(err)
		}
	}
	for _, o := range slices.Sorted(maps.Keys(f.read)) {
		if err := b.Delete(x.segmentKey(o)); err != nil {
			return false, x.failed("fold", err)
		}
	}
	for _, o := range slices.Sorted(maps.Keys(f.joined)) {
		if err := b.Set(x.segmentKey(o), f.joined[o]); err != nil {
			return false, x.failed("fold", err)
		}
	}
	for _, k := range f.blocks {
		if err := b.Set(k.key, k.value); err != nil {
			return false, x.failed("fold", err)
		}
	}
	s.segments, s.folded, s.dirty = s.segments-uint64(len(f.read)-len(f.joined)), f.until, true
	return true, nil
}
