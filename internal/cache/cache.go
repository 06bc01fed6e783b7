package cache

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Parts of the keys.
const (
	kindKey   byte = 'i'
	kindPlace byte = 'n'
	kindSums  byte = 't'
)

// A Put removes at most evictPerEntry entries for each one it stores, and evictBeside besides.
const (
	evictPerEntry = 2
	evictBeside   = 16
)

// Cache is a bounded cache below one key prefix.
type Cache struct {
	prefix []byte
	limit  int64
	raw    bool
}

// New returns the cache below prefix. limit is in bytes of keys and values as they are given, before compression.
// Another limit than last time is reached with the next writes.
func New(prefix []byte, limit int64) Cache {
	return Cache{prefix: prefix[:len(prefix):len(prefix)], limit: limit}
}

// Raw returns c for values that do not shrink, such as vectors: compression is not tried.
func (c Cache) Raw() Cache {
	c.raw = true
	return c
}

// Size is what a cache holds.
type Size struct {
	Entries int
	Bytes   int64 // of keys and values, before compression
}

// sums is what is stored beside the entries.
type sums struct {
	entries, bytes uint64
	first, next    uint64 // numbers of places: those in use are in [first, next)
}

func (c Cache) key(key string) []byte        { return append(append(c.prefix, kindKey), key...) }
func (c Cache) place(n uint64) []byte        { return codec.AppendKeyUint64(append(c.prefix, kindPlace), n) }
func (c Cache) below(kind byte) []byte       { return append(c.prefix, kind) }
func sizeOf(key string, value []byte) uint64 { return uint64(len(key) + len(value)) }

// Get returns the value under key, which is the caller's; false when there is none. It costs two seeks, one when there
// is none.
func (c Cache) Get(r kv.Reader, key string) ([]byte, bool, error) {
	n, ok, err := c.placeOf(r, key)
	if !ok || err != nil {
		return nil, false, err
	}
	at, value, err := c.at(r, n)
	if err == nil && at != key {
		err = fmt.Errorf("%w: place %d of a cache holds another entry", kv.ErrCorrupt, n)
	}
	return value, err == nil, err
}

// placeOf returns the number of the place that key leads to.
func (c Cache) placeOf(r kv.Reader, key string) (n uint64, ok bool, err error) {
	v, err := r.Get(c.key(key))
	if errors.Is(err, kv.ErrNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	n, rest, err := codec.KeyUint64(v)
	if err != nil || len(rest) > 0 {
		return 0, false, fmt.Errorf("%w: place of an entry of a cache", kv.ErrCorrupt)
	}
	return n, true, nil
}

// at returns the entry at a place.
func (c Cache) at(r kv.Reader, n uint64) (key string, value []byte, err error) {
	v, err := r.Get(c.place(n))
	if errors.Is(err, kv.ErrNotFound) {
		return "", nil, fmt.Errorf("%w: place %d of a cache is empty", kv.ErrCorrupt, n)
	}
	if err != nil {
		return "", nil, err
	}
	return decodeEntry(v)
}

// Put stages values[i] under keys[i] and removes the oldest entries that are over the limit then. A key that is known
// gets its new value and stays in its place. A value that is over the limit alone is not kept. It costs a seek an
// entry and one for each that is removed.
func (c Cache) Put(b *kv.Batch, keys []string, values [][]byte) error {
	s, err := c.sums(b)
	if err != nil {
		return err
	}
	if s == (sums{}) {
		if err := c.removeEarlier(b); err != nil {
			return err
		}
	}
	for i, key := range keys {
		if err := c.put(b, &s, key, values[i]); err != nil {
			return err
		}
	}
	if err := c.evict(b, &s, evictPerEntry*len(keys)+evictBeside); err != nil {
		return err
	}
	return b.Set(c.below(kindSums), s.encode())
}

// removeEarlier removes what an earlier build left in a cache that has no sums.
func (c Cache) removeEarlier(b *kv.Batch) error {
	end := codec.PrefixEnd(c.prefix)
	cur, err := b.Cursor(c.prefix, end)
	if err != nil {
		return err
	}
	some := cur.First()
	if err := errors.Join(cur.Err(), cur.Close()); err != nil || !some {
		return err
	}
	return b.DeleteRange(c.prefix, end)
}

func (c Cache) put(b *kv.Batch, s *sums, key string, value []byte) error {
	size := sizeOf(key, value)
	if int64(size) > c.limit {
		return nil
	}
	n, known, err := c.placeOf(b, key)
	if err != nil {
		return err
	}
	if known {
		_, old, err := c.at(b, n)
		if err != nil {
			return err
		}
		s.bytes -= sizeOf(key, old)
	} else {
		n = s.next
		if err := b.Set(c.key(key), codec.AppendKeyUint64(nil, n)); err != nil {
			return err
		}
		s.next++
		s.entries++
	}
	s.bytes += size
	if c.raw {
		return b.Set(c.place(n), encodeEntry(key, value))
	}
	return b.SetText(c.place(n), encodeEntry(key, value))
}

// evict removes entries, the oldest first, until the cache is within its limit, or most of them.
func (c Cache) evict(b *kv.Batch, s *sums, most int) error {
	for n := 0; n < most && s.entries > 0 && int64(s.bytes) > c.limit; n++ {
		key, value, err := c.at(b, s.first)
		if err != nil {
			return err
		}
		if err := b.Delete(c.key(key)); err != nil {
			return err
		}
		if err := b.Delete(c.place(s.first)); err != nil {
			return err
		}
		s.first++
		s.entries--
		s.bytes -= sizeOf(key, value)
	}
	return nil
}

// Clear stages the removal of everything, at a cost that does not depend on how much it is. It returns what was
// there; of a cache whose sums are damaged, nothing.
func (c Cache) Clear(b *kv.Batch) (Size, error) {
	had, err := c.Size(b)
	if err != nil && !errors.Is(err, kv.ErrCorrupt) {
		return Size{}, err
	}
	return had, b.DeleteRange(c.prefix, codec.PrefixEnd(c.prefix))
}

// Size tells what the cache holds, as r shows it. It costs one seek.
func (c Cache) Size(r kv.Reader) (Size, error) {
	s, err := c.sums(r)
	return Size{int(s.entries), int64(s.bytes)}, err
}

func (c Cache) sums(r kv.Reader) (s sums, err error) {
	v, err := r.Get(c.below(kindSums))
	if errors.Is(err, kv.ErrNotFound) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	return decodeSums(v)
}
