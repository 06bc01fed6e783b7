package postings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Term is a term of an item and how often the item has it, from 1.
type Term struct {
	Text  string
	Count int
}

// staging is what an index keeps beside an open batch: counters, and the terms of items that come and go. They become
// keys when the batch is applied, or when something reads them through it (settle), at once: the items that a batch
// adds share a segment, and what it removes of a block is one change of it.
type staging struct {
	x *Index
	b *kv.Batch
	counters
	loaded bool // the counters were read
	dirty  bool // they changed since the last flush
	added  []change
	gone   []change
}

type change struct {
	ordinal ordinal
	length  uint32
	terms   []Term
}

type stagingOf string // the attachment key of an index's staging: its key prefix

func (x *Index) staged(b *kv.Batch) *staging {
	return b.Attachment(stagingOf(x.prefix), func() any {
		s := &staging{x: x, b: b}
		b.BeforeApply(s.flush)
		return s
	}).(*staging)
}

// reset forgets everything: the index was created or dropped.
func (s *staging) reset() { *s = staging{x: s.x, b: s.b} }

// begin returns the staging that a change updates. It fails when the index was dropped.
func (x *Index) begin(b *kv.Batch) (*staging, error) {
	s := x.staged(b)
	if s.loaded {
		return s, nil
	}
	c, err := x.readCounters(b)
	if err != nil {
		return nil, err
	}
	s.counters, s.loaded = c, true
	return s, nil
}

// settle is called before anything that a batch changes later is read from r: if r is a batch, its keys must show what
// is staged.
func (x *Index) settle(r kv.Reader) error {
	b, ok := r.(*kv.Batch)
	if !ok {
		return nil
	}
	if s, ok := b.Attachment(stagingOf(x.prefix), nil).(*staging); ok {
		return s.flush()
	}
	return nil
}

// Add stages a new item with its terms, in any order, each once; it keeps the slice. An item without terms counts and is
// never found. Errors: ErrExists, ErrInvalid. It costs one look-up and three keys, and its share of the segment.
func (x *Index) Add(b *kv.Batch, id string, terms []Term) error {
	length, err := check(id, terms)
	if err != nil {
		return err
	}
	s, err := x.begin(b)
	if err != nil {
		return x.failed("add", err)
	}
	switch _, exists, err := x.ordinalOf(b, id); {
	case err != nil:
		return err
	case exists:
		return fmt.Errorf("%w: %s", ErrExists, brief.Quote(id))
	case s.next >= math.MaxUint32:
		return &InvalidError{Field: "id", Reason: "no ordinals are left"}
	}
	o := ordinal(s.next)
	if err := b.Set(x.idKey(id), encodeOrdinal(o)); err != nil {
		return x.failed("add", err)
	}
	if err := b.Set(x.itemKey(o), encodeItem(length, id)); err != nil {
		return x.failed("add", err)
	}
	s.next, s.items, s.length, s.dirty = s.next+1, s.items+1, s.length+uint64(length), true
	s.added = append(s.added, change{o, uint32(length), terms})
	return nil
}

// Remove stages the end of an item, which holds exactly terms, in any order, each once; it keeps the slice. An
// absent item is no error and removed is false. That the item holds other terms is an ErrDiffers, at the latest when the
// batch is applied. It costs, for each term, reading and writing the block that has the item, or for all the segment,
// shared among the items that the batch removes there.
func (x *Index) Remove(b *kv.Batch, id string, terms []Term) (removed bool, err error) {
	length, err := check(id, terms)
	if err != nil {
		return false, err
	}
	s, err := x.begin(b)
	if err != nil {
		return false, x.failed("remove", err)
	}
	o, ok, err := x.ordinalOf(b, id)
	if err != nil || !ok {
		return false, err
	}
	v, err := b.Get(x.itemKey(o))
	if err != nil {
		return false, x.failed("remove", corrupt(err))
	}
	switch have, name, err := decodeItem(v); {
	case err != nil:
		return false, err
	case string(name) != id:
		return false, corrupt(fmt.Errorf("ordinal %d is another item than %s", o, brief.Quote(id)))
	case have != uint32(length):
		return false, fmt.Errorf("%w: %s has length %d, was said to have %d", ErrDiffers, brief.Quote(id), have, length)
	case s.items == 0 || s.length < uint64(length):
		return false, corrupt(errors.New("counters are less than an item"))
	}
	if err := b.Delete(x.idKey(id)); err != nil {
		return false, x.failed("remove", err)
	}
	if err := b.Delete(x.itemKey(o)); err != nil {
		return false, x.failed("remove", err)
	}
	s.items, s.length, s.dirty = s.items-1, s.length-uint64(length), true
	if i := slices.IndexFunc(s.added, func(c change) bool { return c.ordinal == o }); i >= 0 {
		if !sameTerms(s.added[i].terms, terms) {
			return false, fmt.Errorf("%w: %s", ErrDiffers, brief.Quote(id))
		}
		s.added = slices.Delete(s.added, i, i+1)
		return true, nil
	}
	s.gone = append(s.gone, change{o, uint32(length), terms})
	return true, nil
}

func sameTerms(a, b []Term) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	byText := func(a, b Term) int { return cmp.Compare(a.Text, b.Text) }
	slices.SortFunc(a, byText)
	slices.SortFunc(b, byText)
	return slices.Equal(a, b)
}

// check validates an item and sums its length.
func check(id string, terms []Term) (length int, err error) {
	if id == "" || len(id) > MaxIDBytes {
		return 0, &InvalidError{Field: "id", Reason: fmt.Sprintf("%d bytes, want 1 to %d", len(id), MaxIDBytes)}
	}
	seen := make(map[string]struct{}, len(terms))
	for _, t := range terms {
		if t.Text == "" || len(t.Text) > MaxTermBytes {
			return 0, &InvalidError{Field: "term", Reason: fmt.Sprintf("%d bytes, want 1 to %d", len(t.Text), MaxTermBytes)}
		}
		if seen[t.Text] = struct{}{}; t.Count < 1 || t.Count > maxLength {
			return 0, &InvalidError{Field: "count", Reason: fmt.Sprintf("%d of %s, want 1 up", t.Count, brief.Quote(t.Text))}
		}
		length += t.Count
	}
	if len(seen) < len(terms) {
		return 0, &InvalidError{Field: "term", Reason: "one comes twice"}
	}
	if length > maxLength {
		return 0, &InvalidError{Field: "count", Reason: fmt.Sprintf("%d terms, want at most %d", length, maxLength)}
	}
	return length, nil
}

// flush stages what changed as keys: removals first, which read what is stored.
func (s *staging) flush() error {
	if err := s.flushGone(); err != nil {
		return s.x.failed("remove", err)
	}
	if err := s.flushAdded(); err != nil {
		return s.x.failed("add", err)
	}
	if !s.dirty {
		return nil
	}
	s.dirty = false
	return s.b.Set(s.x.key(kindCounters, 0), s.counters.encode())
}

// flushAdded stages a segment for each epoch that new items are in.
func (s *staging) flushAdded() error {
	added := s.added
	s.added = nil
	for len(added) > 0 {
		n := 1
		for n < len(added) && added[n].ordinal.epoch() == added[0].ordinal.epoch() {
			n++
		}
		g := &segment{terms: make(map[string][]posting, len(added[0].terms))}
		for _, c := range added[:n] {
			g.items = append(g.items, member{c.ordinal, c.length})
			for _, t := range c.terms {
				g.terms[t.Text] = append(g.terms[t.Text], posting{c.ordinal, uint32(t.Count), c.length})
			}
		}
		if err := s.b.Set(s.x.segmentKey(g.items[0].ordinal), g.encode()); err != nil {
			return err
		}
		s.segments++
		added = added[n:]
	}
	return nil
}

func (s *staging) flushGone() error {
	gone := s.gone
	s.gone = nil
	slices.SortFunc(gone, func(a, b change) int { return cmp.Compare(a.ordinal, b.ordinal) })
	folded := ordinal(s.folded << epochBits)
	n, _ := slices.BinarySearchFunc(gone, folded, func(c change, o ordinal) int { return cmp.Compare(c.ordinal, o) })
	if err := s.removeFromBlocks(gone[:n]); err != nil {
		return err
	}
	return s.removeFromSegments(gone[n:])
}

// removeFromBlocks rewrites the block of each term and epoch once.
func (s *staging) removeFromBlocks(gone []change) error {
	type cell struct {
		term string
		epoch
	}
	cells := make(map[cell][]posting) // what must be there
	for _, c := range gone {
		for _, t := range c.terms {
			k := cell{t.Text, c.ordinal.epoch()}
			cells[k] = append(cells[k], posting{c.ordinal, uint32(t.Count), c.length})
		}
	}
	keys := slices.SortedFunc(maps.Keys(cells), func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.epoch, b.epoch))
	})
	var (
		list []posting
		out  []byte
	)
	for _, k := range keys {
		key := s.x.blockKey(k.term, k.epoch)
		v, err := s.b.Get(key)
		if errors.Is(err, kv.ErrNotFound) {
			return fmt.Errorf("%w: no item of epoch %d holds %s", ErrDiffers, k.epoch, brief.Quote(k.term))
		}
		if err != nil {
			return err
		}
		if list, err = decodeBlock(list[:0], k.epoch, v); err != nil {
			return err
		}
		left := without(list, cells[k])
		if len(left) != len(list)-len(cells[k]) {
			return fmt.Errorf("%w: items of epoch %d hold %s otherwise", ErrDiffers, k.epoch, brief.Quote(k.term))
		}
		if len(left) == 0 {
			err = s.b.Delete(key)
		} else {
			out = appendBlock(out[:0], k.epoch, left)
			err = s.b.Set(key, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// without returns list less the postings of gone, both ascending. The result uses the memory of list.
func without(list, gone []posting) []posting {
	kept, i := list[:0:len(list)], 0
	n := len(list)
	for _, p := range list[:n] {
		for i < len(gone) && gone[i].ordinal < p.ordinal {
			i++
		}
		if i < len(gone) && gone[i] == p {
			i++
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// removeFromSegments rewrites the segments of the items, which ascend.
func (s *staging) removeFromSegments(gone []change) error {
	if len(gone) == 0 {
		return nil
	}
	skip := len(s.x.prefix) + 1
	lower := s.x.segmentKey(ordinal(s.folded << epochBits))
	c, err := s.b.Cursor(lower, codec.PrefixEnd(s.x.key(kindSegment, 0)))
	if err != nil {
		return err
	}
	defer c.Close()
	for len(gone) > 0 {
		if !c.SeekLT(s.x.segmentKey(gone[0].ordinal + 1)) {
			return errors.Join(c.Err(), corrupt(fmt.Errorf("no segment holds ordinal %d", gone[0].ordinal)))
		}
		n, err := numberOf(c.Key(), skip)
		if err != nil {
			return err
		}
		g, err := decodeSegment(ordinal(n), c.Value())
		if err := errors.Join(err, c.Err()); err != nil {
			return err
		}
		if gone, err = s.shrink(g, gone); err != nil {
			return err
		}
	}
	return nil
}

// shrink stages a segment without the items of gone that are in its range, at least one, and returns the others.
func (s *staging) shrink(g *segment, gone []change) ([]change, error) {
	key, last := s.x.segmentKey(g.items[0].ordinal), g.items[len(g.items)-1].ordinal
	for first := true; len(gone) > 0 && (first || gone[0].ordinal <= last); first = false {
		c := gone[0]
		i, ok := g.item(c.ordinal)
		if !ok || g.items[i].length != c.length {
			return nil, corrupt(fmt.Errorf("no segment holds ordinal %d as it is stored", c.ordinal))
		}
		g.items = slices.Delete(g.items, i, i+1)
		for _, t := range c.terms {
			list := g.terms[t.Text]
			left := without(list, []posting{{c.ordinal, uint32(t.Count), c.length}})
			switch {
			case len(left) == len(list):
				return nil, fmt.Errorf("%w: ordinal %d holds %s otherwise", ErrDiffers, c.ordinal, brief.Quote(t.Text))
			case len(left) == 0:
				delete(g.terms, t.Text)
			default:
				g.terms[t.Text] = left
			}
		}
		gone = gone[1:]
	}
	if err := s.b.Delete(key); err != nil {
		return nil, err
	}
	if len(g.items) == 0 {
		s.segments--
		s.dirty = true
		return gone, nil
	}
	return gone, s.b.Set(s.x.segmentKey(g.items[0].ordinal), g.encode())
}
