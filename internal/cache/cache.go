package cache

import (
	"errors"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Parts of the keys.
const (
	kindEntry byte = 'e'
	kindPlace byte = 'o'
	kindSums  byte = 's'
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
}

// New returns the cache below prefix. limit is in bytes of keys and values as they are given, before compression.
// Another limit than last time is reached with the next writes.
func New(prefix []byte, limit int64) Cache {
	return Cache{prefix[:len(prefix):len(prefix)], limit}
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

func (c Cache) entry(key string) []byte      { return append(append(c.prefix, kindEntry), key...) }
func (c Cache) place(n uint64) []byte        { return codec.AppendKeyUint64(append(c.prefix, kindPlace), n) }
func (c Cache) below(kind byte) []byte       { return append(c.prefix, kind) }
func sizeOf(key string, value []byte) uint64 { return uint64(len(key) + len(value)) }

// Get returns the value under key, which is the caller's; false when there is none. It costs one seek.
func (c Cache) Get(r kv.Reader, key string) ([]byte, bool, error) {
	v, err := r.Get(c.entry(key))
	if errors.Is(err, kv.ErrNotFound) {
		return nil, false, nil
	}
	return v, err == nil, err
}

// Put stages values[i] under keys[i] and removes the oldest entries that are over the limit then. A key that is known
// gets its new value and stays in its place. A value that is over the limit alone is not kept. It costs a seek an
// entry and one for each that is removed.
func (c Cache) Put(b *kv.Batch, keys []string, values [][]byte) error {
	s, err := c.sums(b)
	if err != nil {
		return err
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

func (c Cache) put(b *kv.Batch, s *sums, key string, value []byte) error {
	size := sizeOf(key, value)
	if int64(size) > c.limit {
		return nil
	}
	old, known, err := c.Get(b, key)
	if err != nil {
		return err
	}
	if known {
		s.bytes -= sizeOf(key, old)
	} else {
		if err := b.Set(c.place(s.next), []byte(key)); err != nil {
			return err
		}
		s.next++
		s.entries++
	}
	s.bytes += size
	return b.SetText(c.entry(key), value)
}

// evict removes entries, the oldest first, until the cache is within its limit, or most of them.
func (c Cache) evict(b *kv.Batch, s *sums, most int) error {
	for n := 0; n < most && s.entries > 0 && int64(s.bytes) > c.limit; n++ {
		key, err := b.Get(c.place(s.first))
		if err != nil {
			return err
		}
		value, _, err := c.Get(b, string(key))
		if err != nil {
			return err
		}
		if err := b.Delete(c.entry(string(key))); err != nil {
			return err
		}
		if err := b.Delete(c.place(s.first)); err != nil {
			return err
		}
		s.first++
		s.entries--
		s.bytes -= sizeOf(string(key), value)
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
