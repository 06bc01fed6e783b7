package postings

import (
	"errors"
	"fmt"
	"hash/maphash"
	"iter"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Problem is a broken invariant that Check found.
type Problem struct {
	Rule string // "B1".."B5", see the package comment; "key" or "value" for bytes that do not decode; "terms": another analysis
	What string // for people: names ordinals and ids, not terms
}

func (p Problem) String() string { return "postings: " + p.Rule + ": " + p.What }

// Check reads every key of the index and yields what breaks an invariant; an intact index yields nothing. terms tells what an
// item should hold, ok false where there should be no item; with nil that is not compared. A read error comes
// last, and so does one of terms. It is one pass over all keys, and takes some 40 bytes of memory an item.
func (x *Index) Check(r kv.Reader, terms func(id string) (t []Term, ok bool, err error)) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		c := indexChecker{checker: newChecker(x, r, yield, terms), items: make(map[ordinal]*tally)}
		for _, step := range []func() error{c.counters, c.itemKeys, c.ids, c.segments, c.blocks, c.lengths} {
			if err := step(); err != nil {
				if !errors.Is(err, errStop) {
					yield(Problem{}, x.failed("check", err))
				}
				return
			}
		}
	}
}

// errStop ends a check whose consumer has left its loop.
var errStop = errors.New("postings: stop")

// checker is what checks of both kinds of index share.
type checker struct {
	x     *Index
	r     kv.Reader
	yield func(Problem, error) bool
	terms func(id string) ([]Term, bool, error)
	seed  maphash.Seed
}

func newChecker(x *Index, r kv.Reader, yield func(Problem, error) bool, terms func(id string) ([]Term, bool, error)) checker {
	return checker{x: x, r: r, yield: yield, terms: terms, seed: maphash.MakeSeed()}
}

// indexChecker is one check of an Index.
type indexChecker struct {
	checker
	stored   counters
	items    map[ordinal]*tally
	segmentN uint64
}

// tally sums what postings say of an item.
type tally struct {
	length uint32 // as its key says
	sum    uint64 // of counts
	digest uint64 // of terms and counts, in no order
	wanted uint64 // the same, of what it should hold
	named  bool   // its id leads to it
}

func (c *checker) digest(term string, count uint32) uint64 {
	return maphash.Comparable(c.seed, Term{term, int(count)})
}

func (c *checker) report(rule, format string, args ...any) error {
	if !c.yield(Problem{Rule: rule, What: fmt.Sprintf(format, args...)}, nil) {
		return errStop
	}
	return nil
}

// each calls fn for all keys of one kind.
func (c *checker) each(kind byte, fn func(key, value []byte) error) error {
	cur, err := c.x.cursor(c.r, kind)
	if err != nil {
		return err
	}
	defer cur.Close()
	for cur.Next() {
		key, value := cur.Key(), cur.Value()
		if err := cur.Err(); err != nil {
			return err
		}
		if err := fn(key, value); err != nil {
			return err
		}
	}
	return cur.Err()
}

func (c *indexChecker) counters() (err error) {
	c.stored, err = c.x.readCounters(c.r)
	if errors.Is(err, kv.ErrCorrupt) || errors.Is(err, kv.ErrNotFound) {
		return c.report("value", "counters: %v", err)
	}
	return err
}

// itemKeys reads all items, and what they should hold.
func (c *indexChecker) itemKeys() error {
	length := uint64(0)
	err := c.each(kindItem, func(key, value []byte) error {
		n, err := numberOf(key, len(c.x.prefix)+1)
		if err != nil {
			return c.report("key", "item: %v", err)
		}
		o := ordinal(n)
		l, id, err := decodeItem(value)
		if err != nil {
			return c.report("value", "ordinal %d: %v", o, err)
		}
		if uint64(o) >= c.stored.next {
			if err := c.report("B1", "ordinal %d, the next one is %d", o, c.stored.next); err != nil {
				return err
			}
		}
		t := &tally{length: l}
		c.items[o] = t
		length += uint64(l)
		v, err := c.r.Get(c.x.idKey(string(id)))
		if err == nil {
			t.named = string(v) == string(encodeOrdinal(o))
		}
		if err := ignoreAbsent(err); err != nil {
			return err
		}
		if !t.named {
			if err := c.report("B1", "ordinal %d is %q, whose own is %x", o, id, v); err != nil {
				return err
			}
		}
		return c.want(t, string(id))
	})
	if err != nil {
		return err
	}
	if n := uint64(len(c.items)); n != c.stored.items || length != c.stored.length {
		return c.report("B2", "%d items of length %d are counted, %d of %d stored", c.stored.items, c.stored.length, n, length)
	}
	return nil
}

// want asks what an item should hold.
func (c *checker) want(t *tally, id string) error {
	if c.terms == nil {
		return nil
	}
	terms, ok, err := c.terms(id)
	if err != nil {
		return err
	}
	if !ok {
		return c.report("terms", "item %q should not be there", id)
	}
	for _, term := range terms {
		t.wanted += c.digest(term.Text, uint32(term.Count))
	}
	return nil
}

func (c *indexChecker) ids() error {
	n := 0
	err := c.each(kindID, func(key, value []byte) error {
		n++
		o, err := decodeOrdinal(value)
		if err != nil {
			return c.report("value", "id key %x: %v", key[len(c.x.prefix)+1:], err)
		}
		if c.items[o] == nil {
			return c.report("B1", "an id leads to ordinal %d, which is no item", o)
		}
		return nil
	})
	if err == nil && n != len(c.items) {
		err = c.report("B1", "%d ids, %d items", n, len(c.items))
	}
	return err
}

// note sums one posting.
func (c *indexChecker) note(term string, p posting) error {
	t := c.items[p.ordinal]
	if t == nil {
		return c.report("B3", "a posting of ordinal %d, which is no item", p.ordinal)
	}
	if t.length != p.length {
		if err := c.report("B3", "a posting gives ordinal %d length %d, it has %d", p.ordinal, p.length, t.length); err != nil {
			return err
		}
	}
	t.sum += uint64(p.count)
	t.digest += c.digest(term, p.count)
	return nil
}

func (c *indexChecker) segments() error {
	end := ordinal(0) // of the segment before
	err := c.each(kindSegment, func(key, value []byte) error {
		n, err := numberOf(key, len(c.x.prefix)+1)
		if err != nil {
			return c.report("key", "segment: %v", err)
		}
		c.segmentN++
		o := ordinal(n)
		if uint64(o.epoch()) < c.stored.folded {
			if err := c.report("B4", "segment %d lies in an epoch that is folded", o); err != nil {
				return err
			}
		}
		g, err := decodeSegment(o, value)
		if err != nil {
			return c.report("value", "segment %d: %v", o, err)
		}
		if o < end {
			if err := c.report("B4", "segment %d begins within another", o); err != nil {
				return err
			}
		}
		end = g.items[len(g.items)-1].ordinal + 1
		for _, m := range g.items {
			if t := c.items[m.ordinal]; t == nil || t.length != m.length {
				if err := c.report("B3", "segment %d holds ordinal %d, which is no item of length %d", o, m.ordinal, m.length); err != nil {
					return err
				}
			}
		}
		for term, list := range g.terms {
			for _, p := range list {
				if err := c.note(term, p); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && c.segmentN != c.stored.segments {
		err = c.report("B2", "%d segments are counted, %d stored", c.stored.segments, c.segmentN)
	}
	return err
}

func (c *indexChecker) blocks() error {
	var list []posting
	return c.each(kindBlock, func(key, value []byte) error {
		term, e, err := c.x.blockOf(key)
		if err != nil {
			return c.report("key", "block: %v", err)
		}
		if uint64(e) >= c.stored.folded {
			if err := c.report("B4", "a block of epoch %d, which is not folded", e); err != nil {
				return err
			}
		}
		if list, err = decodeBlock(list[:0], e, value); err != nil {
			return c.report("value", "block %x of epoch %d: %v", codec.AppendKeyString(nil, term), e, err)
		}
		for _, p := range list {
			if err := c.note(term, p); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *indexChecker) lengths() error {
	for o, t := range c.items {
		if err := c.compare(t, fmt.Sprintf("ordinal %d", o)); err != nil {
			return err
		}
	}
	return nil
}

// compare compares what postings say of an item with its length and its terms.
func (c *checker) compare(t *tally, name string) error {
	switch {
	case t.sum != uint64(t.length):
		return c.report("B3", "the postings of %s add up to %d, its length is %d", name, t.sum, t.length)
	case c.terms != nil && t.digest != t.wanted:
		return c.report("terms", "%s holds other terms than its text", name)
	}
	return nil
}
