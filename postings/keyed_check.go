package postings

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/glimdb/db/kv"
)

// Check is Index.Check for a Keyed index; its rules are B2 and B3, "key", "value" and "terms". It takes some 100 bytes of
// memory an item.
func (k *Keyed) Check(r kv.Reader, terms func(id string) (t []Term, ok bool, err error)) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		c := &keyedChecker{checker: newChecker(k.x, r, yield, terms), k: k, items: make(map[string]*tally)}
		for _, step := range []func() error{c.lengths, c.postings, c.sums} {
			if err := step(); err != nil {
				if !errors.Is(err, errStop) {
					yield(Problem{}, k.x.failed("check", err))
				}
				return
			}
		}
	}
}

type keyedChecker struct {
	checker
	k     *Keyed
	items map[string]*tally
}

// lengths reads all items, and what they should hold, and compares them with the counters.
func (c *keyedChecker) lengths() error {
	stored, err := c.k.readCounters(c.r)
	if errors.Is(err, kv.ErrCorrupt) || errors.Is(err, kv.ErrNotFound) {
		return c.report("value", "counters: %v", err)
	}
	if err != nil {
		return err
	}
	var sum keyedCounters
	err = c.each(kindLength, func(key, value []byte) error {
		id := string(key[len(c.x.prefix)+1:])
		length, err := decodeNumber(value, 0)
		if err != nil {
			return c.report("value", "length of %q: %v", id, err)
		}
		t := &tally{length: length}
		c.items[id] = t
		sum.items++
		sum.length += uint64(length)
		return c.want(t, id)
	})
	if err == nil && sum != stored {
		err = c.report("B2", "%d items of length %d are counted, %d of %d stored", stored.items, stored.length, sum.items, sum.length)
	}
	return err
}

func (c *keyedChecker) postings() error {
	return c.each(kindPosting, func(key, value []byte) error {
		term, id, err := c.k.postingOf(key)
		if err != nil {
			return c.report("key", "posting: %v", err)
		}
		count, err := decodeNumber(value, 1)
		if err != nil {
			return c.report("value", "a posting of %q: %v", id, err)
		}
		t := c.items[string(id)]
		if t == nil {
			return c.report("B3", "a posting of %q, which is no item", id)
		}
		t.sum += uint64(count)
		t.digest += c.digest(term, count)
		return nil
	})
}

func (c *keyedChecker) sums() error {
	for _, id := range slices.Sorted(maps.Keys(c.items)) {
		if err := c.compare(c.items[id], strconv.Quote(id)); err != nil {
			return err
		}
	}
	return nil
}
