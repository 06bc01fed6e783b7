package kv

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/glimdb/db/internal/codec"
)

// rowCache keeps values that GetMany read, opened, by key; a nil value says that there is none. The same rows are
// read again and again (the hubs of a graph, what many questions find), and finding one in the engine costs a look
// into every level of it, finding it here one hash.
//
// Each change has a number, in order of Apply; a snapshot is labelled with the last one that was complete before it was
// taken. A row has the label of who read it, or the number of the change that wrote it: since a change replaces or drops
// the rows of its keys before the engine has it, a row that is here holds for its label and for every later one. A
// reader with an earlier label does not see it. Nothing is kept of a reader who may have seen less, or more, than a
// change of the same shard: its label is below the number of that change.
//
// Rows leave in order of age, in two generations: a row that is found in the old one moves to the young one, which
// becomes the old one when it is full.
//
// Readers do not wait for each other. One that is suspended inside a lock, which happens when there are more of them than
// processors, would hold up all others: so they share the lock to find a row, and leave it where it is, or do not
// keep what they read, when another has the shard at that moment. Only changes wait.
type rowCache struct {
	limit  int64 // of a generation of one shard, in bytes; 0: nothing is kept
	seed   maphash.Seed
	shards [rowShards]rowShard

	mu      sync.Mutex            // held by changes
	lengths atomic.Pointer[[]int] // of the prefixes whose lists are kept: a change drops those of all prefixes of its keys
	done    atomic.Uint64         // number of the last complete change
}

type rowShard struct {
	mu         sync.RWMutex
	young, old map[uint64]row // by hash of the key
	size       int64          // of young
	changed    uint64         // number of the last change
}

// row is a value under a key, or all rows under a prefix. Nothing of it is ever written.
type row struct {
	key, value []byte
	list       []Pair // of a prefix, which has no value
	at         uint64
}

func (r *row) size() int64 {
	n := len(r.key) + len(r.value) + rowOverhead
	for _, p := range r.list {
		n += len(p.Key) + len(p.Value) + pairOverhead
	}
	return int64(n)
}

const (
	rowShards = 32
	// maxRowBytes is the size of a value that is not kept: texts, which one question reads.
	maxRowBytes = 32 << 10
	// maxRowsAtOnce is how many keys of one call are worth keeping: more are a pass over many rows, which would drive out
	// those that are read again.
	maxRowsAtOnce = 2048
	// rowOverhead is what a row takes beside its key and value, roughly.
	rowOverhead = 120
	// pairOverhead is what a row of a list takes beside its key and value.
	pairOverhead = 48
	// maxPrefixLengths bounds how many lengths of prefixes lists are kept for: each makes every change a little dearer.
	// A graph has two.
	maxPrefixLengths = 16
)

func newRowCache(bytes int64) *rowCache {
	c := &rowCache{limit: bytes / (2 * rowShards), seed: maphash.MakeSeed()}
	c.lengths.Store(new([]int))
	for i := range c.shards {
		c.shards[i].young, c.shards[i].old = map[uint64]row{}, map[uint64]row{}
	}
	return c
}

func (c *rowCache) hash(key []byte) uint64 { return maphash.Bytes(c.seed, key) }

// hashList is the hash of a prefix, other than that of the same key.
func (c *rowCache) hashList(prefix []byte) uint64 { return ^c.hash(prefix) }

func (c *rowCache) shard(hash uint64) *rowShard { return &c.shards[hash%rowShards] }

// get returns what is kept under key, or a prefix, for a reader with a label; ok is false when it has to be read.
func (c *rowCache) get(hash uint64, key []byte, label uint64) (r row, ok bool) {
	s := c.shard(hash)
	s.mu.RLock()
	r, ok = s.young[hash]
	aged := false
	if !ok {
		r, ok = s.old[hash]
		aged = ok
	}
	s.mu.RUnlock()
	if aged && s.mu.TryLock() {
		if r, ok := s.old[hash]; ok { // no change has dropped it since
			delete(s.old, hash)
			s.keep(hash, r, c.limit)
		}
		s.mu.Unlock()
	}
	if !ok || r.at > label || !bytes.Equal(r.key, key) {
		return row{}, false
	}
	return r, true
}

// put keeps a row that a reader with the label r.at found, if nobody else is in its shard. Its slices are the cache's from
// then on.
func (c *rowCache) put(hash uint64, r row) {
	if c.limit == 0 || r.size() > maxRowBytes {
		return
	}
	s := c.shard(hash)
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if s.changed <= r.at {
		s.keep(hash, r, c.limit)
	}
}

// putList keeps the rows under a prefix that a reader with a label found.
func (c *rowCache) putList(prefix []byte, list []Pair, label uint64) {
	if c.limit > 0 && c.admits(len(prefix)) {
		c.put(c.hashList(prefix), row{key: bytes.Clone(prefix), list: list, at: label})
	}
}

// admits reports whether changes drop the lists of prefixes of a length, from now on. What readers found before is not
// kept: a change may have gone by that did not look for it.
func (c *rowCache) admits(length int) bool {
	if slices.Contains(*c.lengths.Load(), length) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	have := *c.lengths.Load()
	if slices.Contains(have, length) || len(have) >= maxPrefixLengths {
		return slices.Contains(have, length)
	}
	more := append(slices.Clone(have), length)
	c.lengths.Store(&more)
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.changed = max(s.changed, c.done.Load())
		s.mu.Unlock()
	}
	return true
}

// keep adds a row to the young generation, in place of one of the same hash.
func (s *rowShard) keep(hash uint64, r row, limit int64) {
	if s.size+r.size() > limit {
		s.old, s.young, s.size = s.young, s.old, 0
		clear(s.young) // and not a new one: who makes one may have to wait for the collector
	}
	if was, ok := s.young[hash]; ok {
		s.size -= was.size()
	}
	s.young[hash] = r
	s.size += r.size()
}

// apply brings the rows of b's keys up to date and lets the engine apply it.
func (c *rowCache) apply(b *pebble.Batch, apply func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	number := c.done.Load() + 1
	whole := false
	defer func() {
		if !whole {
			c.clear(number) // who knows what the engine has
		}
		c.done.Store(number)
	}()
	if !c.change(b, number) {
		c.clear(number)
	}
	err := apply()
	whole = err == nil
	return err
}

// change replaces the rows of b's keys, and drops the lists that they belong to. It reports false when it cannot: b
// deletes ranges.
func (c *rowCache) change(b *pebble.Batch, number uint64) bool {
	lengths := *c.lengths.Load()
	for r := b.Reader(); ; {
		kind, key, value, ok, err := r.Next()
		switch {
		case err != nil:
			return false
		case !ok:
			return true
		}
		switch kind {
		case pebble.InternalKeyKindLogData:
			continue
		case pebble.InternalKeyKindSet:
			c.write(c.hash(key), key, value, number)
		case pebble.InternalKeyKindDelete:
			c.write(c.hash(key), key, nil, number)
		default:
			return false
		}
		for _, length := range lengths {
			if length <= len(key) {
				c.write(c.hashList(key[:length]), nil, nil, number)
			}
		}
	}
}

// write takes over the sealed value that a change gives to a key, nil: none, where the key's row is kept. What is not
// the key's own row, a list that has one more or less, is dropped.
func (c *rowCache) write(hash uint64, key, sealed []byte, number uint64) {
	s := c.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = number
	delete(s.old, hash)
	was, ok := s.young[hash]
	if !ok {
		return
	}
	delete(s.young, hash)
	s.size -= was.size()
	if key == nil || !bytes.Equal(was.key, key) {
		return
	}
	switch {
	case sealed == nil:
		s.keep(hash, row{key: was.key, at: number}, c.limit)
	case sealed[0] == envelopeRaw && len(sealed) <= maxRowBytes:
		s.keep(hash, row{key: was.key, value: bytes.Clone(sealed[1:]), at: number}, c.limit)
	}
}

func (c *rowCache) clear(number uint64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		clear(s.young)
		clear(s.old)
		s.size, s.changed = 0, number
		s.mu.Unlock()
	}
}

// getMany reads keys for a reader with a label: those that are not in the cache with open's cursor, in order.
func (s *Store) getMany(keys [][]byte, label uint64, open func(lower, upper []byte) (*cursor, error)) ([][]byte, error) {
	values := make([][]byte, len(keys))
	if len(keys) > maxRowsAtOnce {
		return values, readMissed(keys, everything(len(keys)), open, func(i int, value []byte) { values[i] = value })
	}
	var missed []int
	hashes := make([]uint64, len(keys))
	for i, key := range keys {
		hashes[i] = s.rows.hash(key)
		r, ok := s.rows.get(hashes[i], key, label)
		if values[i] = r.value; !ok {
			missed = append(missed, i)
		}
	}
	return values, readMissed(keys, missed, open, func(i int, value []byte) {
		values[i] = value
		s.rows.put(hashes[i], row{key: bytes.Clone(keys[i]), value: value, at: label})
	})
}

// scanMany is getMany for prefixes.
func (s *Store) scanMany(prefixes [][]byte, limit int, label uint64, open func(lower, upper []byte) (*cursor, error)) ([][]Pair, error) {
	lists := make([][]Pair, len(prefixes))
	var missed []int
	for i, prefix := range prefixes {
		r, ok := s.rows.get(s.rows.hashList(prefix), prefix, label)
		if lists[i] = r.list; !ok {
			missed = append(missed, i)
		} else if limit > 0 && len(r.list) > limit {
			lists[i] = r.list[:limit:limit]
		}
	}
	return lists, scanMissed(prefixes, limit, missed, open, func(i int, list []Pair, whole bool) {
		if lists[i] = list; whole {
			s.rows.putList(prefixes[i], list, label)
		}
	})
}

// everything lists 0 to n-1.
func everything(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// readMissed reads some of keys with one cursor, and tells found of each, with a value of its own or nil.
func readMissed(keys [][]byte, missed []int, open func(lower, upper []byte) (*cursor, error), found func(i int, value []byte)) error {
	return inOrder(keys, missed, func(key []byte) []byte { return append(bytes.Clone(key), 0) }, open, func(c *cursor, i int) {
		var value []byte
		if c.SeekGE(keys[i]) && bytes.Equal(c.Key(), keys[i]) {
			value = append([]byte{}, c.Value()...)
		}
		if c.Err() == nil {
			found(i, value)
		}
	})
}

// scanMissed is readMissed for prefixes; whole tells that a list was not cut off at limit.
func scanMissed(prefixes [][]byte, limit int, missed []int, open func(lower, upper []byte) (*cursor, error), found func(i int, list []Pair, whole bool)) error {
	return inOrder(prefixes, missed, codec.PrefixEnd, open, func(c *cursor, i int) {
		var list []Pair
		prefix, whole := prefixes[i], true
		for ok := c.SeekGE(prefix); ok && bytes.HasPrefix(c.Key(), prefix); ok = c.Next() {
			if limit > 0 && len(list) == limit {
				whole = false
				break
			}
			list = append(list, Pair{append([]byte{}, c.Key()[len(prefix):]...), append([]byte{}, c.Value()...)})
		}
		if c.Err() == nil {
			found(i, list, whole)
		}
	})
}

// inOrder calls read for some of keys in their order, with one cursor that reaches as far as the ends of all.
func inOrder(keys [][]byte, some []int, end func(key []byte) []byte, open func(lower, upper []byte) (*cursor, error), read func(c *cursor, i int)) error {
	if len(some) == 0 {
		return nil
	}
	slices.SortFunc(some, func(x, y int) int { return bytes.Compare(keys[x], keys[y]) })
	upper := end(keys[some[0]]) // nil: there is no end
	for _, i := range some[1:] {
		if e := end(keys[i]); upper != nil && (e == nil || bytes.Compare(e, upper) > 0) {
			upper = e
		}
	}
	c, err := open(keys[some[0]], upper)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // never fails
	for _, i := range some {
		if read(c, i); c.Err() != nil {
			return c.Err()
		}
	}
	return nil
}
