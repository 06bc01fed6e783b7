package postings

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// keyedStaging is what a Keyed index keeps beside an open batch: changes, which become keys together, in the order of the
// keys, when the batch is applied or when something reads them through it.
type keyedStaging struct {
	k       *Keyed
	b       *kv.Batch
	changes map[string]*keyedChange // by id
}

type keyedChange struct {
	what  keyedVerb
	terms []Term // with what is added to their counts
	delta int    // of the length
}

type keyedVerb byte

const (
	keyedAdd keyedVerb = iota
	keyedMore
	keyedRemove
)

type keyedStagingOf string // the attachment key of a Keyed index's staging: its key prefix

func (k *Keyed) staged(b *kv.Batch) *keyedStaging {
	return b.Attachment(keyedStagingOf(k.x.prefix), func() any {
		s := &keyedStaging{k: k, b: b}
		b.BeforeApply(s.flush)
		return s
	}).(*keyedStaging)
}

// settle is called before anything that a batch changes later is read from r.
func (k *Keyed) settle(r kv.Reader) error {
	b, ok := r.(*kv.Batch)
	if !ok {
		return nil
	}
	if s, ok := b.Attachment(keyedStagingOf(k.x.prefix), nil).(*keyedStaging); ok {
		return s.flush()
	}
	return nil
}

// Add stages a new item with its terms, in any order, each once; it keeps the slice. An item without terms counts and is
// never found. Errors: ErrInvalid; that the item exists is an ErrExists, and a term that comes twice an ErrInvalid, at the
// latest when the batch is applied. It costs a key a term, and one.
func (k *Keyed) Add(b *kv.Batch, id string, terms []Term) error {
	return k.stage(b, id, keyedAdd, terms)
}

// Change stages that an item holds terms more often than it did, by their counts, or less often where these are below 0. The
// terms come in any order, each once; it keeps the slice. That the item holds less of a term than is said to go, or is
// absent, is an ErrDiffers, at the latest when the batch is applied. It costs reading the item's length and
// its postings of terms, and writing these.
func (k *Keyed) Change(b *kv.Batch, id string, terms []Term) error {
	return k.stage(b, id, keyedMore, terms)
}

// Remove stages the end of an item, which holds exactly terms, in any order, each once; it keeps the slice. That it is absent,
// or of another length than these terms have, is an ErrDiffers, at the latest when the batch is applied. It costs a
// delete a term.
func (k *Keyed) Remove(b *kv.Batch, id string, terms []Term) error {
	return k.stage(b, id, keyedRemove, terms)
}

func (k *Keyed) stage(b *kv.Batch, id string, what keyedVerb, terms []Term) error {
	if id == "" || len(id) > MaxIDBytes {
		return &InvalidError{Field: "id", Reason: fmt.Sprintf("%d bytes, want 1 to %d", len(id), MaxIDBytes)}
	}
	c := &keyedChange{what: what, terms: terms}
	for _, t := range terms {
		switch {
		case t.Text == "" || len(t.Text) > MaxTermBytes:
			return &InvalidError{Field: "term", Reason: fmt.Sprintf("%d bytes, want 1 to %d", len(t.Text), MaxTermBytes)}
		case t.Count == 0 || what != keyedMore && t.Count < 0 || max(t.Count, -t.Count) > maxLength:
			return &InvalidError{Field: "count", Reason: fmt.Sprintf("%d of %s", t.Count, brief.Quote(t.Text))}
		}
		c.delta += t.Count
	}
	if what == keyedRemove {
		c.delta = -c.delta
	}
	s := k.staged(b)
	if s.changes[id] != nil { // the second one of the batch
		if err := s.flush(); err != nil {
			return err
		}
	}
	if s.changes == nil {
		s.changes = make(map[string]*keyedChange)
	}
	s.changes[id] = c
	return nil
}

// flush stages what changed as keys.
func (s *keyedStaging) flush() error {
	changes := s.changes
	if s.changes = nil; len(changes) == 0 {
		return nil
	}
	err := s.flushItems(changes)
	if err == nil {
		err = s.flushPostings(changes)
	}
	if err != nil {
		return s.k.x.failed("change", err)
	}
	return nil
}

// flushItems changes lengths and counters, and sees that items are there, or not.
func (s *keyedStaging) flushItems(changes map[string]*keyedChange) error {
	total, err := s.k.storedCounters(s.b)
	if err != nil {
		return err
	}
	ids := make([]string, 0, len(changes))
	keys := make([][]byte, 0, len(changes))
	for id := range changes {
		ids, keys = append(ids, id), append(keys, s.k.itemKey(id))
	}
	values, err := s.b.GetMany(keys)
	if err != nil {
		return err
	}
	for i, v := range values {
		c := changes[ids[i]]
		length, err := c.length(ids[i], v)
		if err != nil {
			return err
		}
		if c.delta < 0 && total.length < uint64(-c.delta) || c.what == keyedRemove && total.items == 0 || total.items == math.MaxUint64 {
			return corrupt(errors.New("counters are less than an item"))
		}
		total.length += uint64(int64(c.delta)) // below 0 it wraps around as it should
		switch c.what {
		case keyedAdd:
			total.items++
		case keyedRemove:
			total.items--
			if err := s.b.Delete(keys[i]); err != nil {
				return err
			}
			continue
		}
		if err := s.b.Set(keys[i], codec.AppendUvarint(nil, length)); err != nil {
			return err
		}
	}
	return s.b.Set(s.k.x.key(kindCounters, 0), total.encode())
}

// length is that of the item after the change; v is what is stored of it, nil for nothing.
func (c *keyedChange) length(id string, v []byte) (uint64, error) {
	if (v == nil) != (c.what == keyedAdd) {
		if v == nil {
			return 0, fmt.Errorf("%w: %s is no item", ErrDiffers, brief.Quote(id))
		}
		return 0, fmt.Errorf("%w: %s", ErrExists, brief.Quote(id))
	}
	var had uint32
	if v != nil {
		var err error
		if had, err = decodeNumber(v, 0); err != nil {
			return 0, err
		}
	}
	length := int64(had) + int64(c.delta)
	switch {
	case length > maxLength:
		return 0, &InvalidError{Field: "count", Reason: fmt.Sprintf("%d terms, want at most %d", length, maxLength)}
	case length < 0 || c.what == keyedRemove && length != 0:
		return 0, fmt.Errorf("%w: %s has length %d, and is to change by %d", ErrDiffers, brief.Quote(id), had, c.delta)
	}
	return uint64(length), nil
}

// cell is one posting that changes.
type cell struct {
	start, end int // of its key, less what all have
	what       keyedVerb
	delta      int
}

// cells lists the postings that change, by key; keys holds what their keys end with.
func cells(changes map[string]*keyedChange) (list []cell, keys []byte) {
	n := 0
	for _, c := range changes {
		n += len(c.terms)
	}
	list, keys = make([]cell, 0, n), make([]byte, 0, 32*n)
	for id, c := range changes {
		for _, t := range c.terms {
			start := len(keys)
			keys = append(codec.AppendKeyString(keys, t.Text), id...)
			list = append(list, cell{start, len(keys), c.what, t.Count})
		}
	}
	slices.SortFunc(list, func(a, b cell) int { return bytes.Compare(keys[a.start:a.end], keys[b.start:b.end]) })
	return list, keys
}

func (s *keyedStaging) flushPostings(changes map[string]*keyedChange) error {
	list, keys := cells(changes)
	key := s.k.x.key(kindPosting, 64)
	c, err := s.b.Cursor(key, codec.PrefixEnd(key))
	if err != nil {
		return err
	}
	defer c.Close()
	prefix := len(key)
	var value []byte
	for _, e := range list {
		end := keys[e.start:e.end]
		if len(key) > prefix && bytes.Equal(key[prefix:], end) {
			return &InvalidError{Field: "term", Reason: "one comes twice"}
		}
		key = append(key[:prefix], end...)
		count := e.delta
		switch e.what {
		case keyedRemove:
			count = 0
		case keyedMore:
			if count, err = more(c, key, e.delta); err != nil {
				return err
			}
		}
		if count == 0 {
			err = s.b.Delete(key)
		} else {
			value = codec.AppendUvarint(value[:0], uint64(count))
			err = s.b.Set(key, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// more is the count of a posting after a change by delta.
func more(c kv.Cursor, key []byte, delta int) (count int, err error) {
	if c.SeekGE(key) && bytes.Equal(c.Key(), key) {
		had, err := decodeNumber(c.Value(), 1)
		if err != nil {
			return 0, err
		}
		count = int(had)
	}
	if count += delta; count < 0 || count > maxLength {
		return 0, errors.Join(c.Err(), fmt.Errorf("%w: an item holds a term %d times after a change by %d", ErrDiffers, count, delta))
	}
	return count, c.Err()
}
