package kv

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
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
type rowCache struct {
	limit  int64 // of a generation of one shard, in bytes; 0: nothing is kept
	seed   maphash.Seed
	shards [rowShards]rowShard

	mu   sync.Mutex    // held by changes
	done atomic.Uint64 // number of the last complete change
}

type rowShard struct {
	mu         sync.Mutex
	young, old map[uint64]row // by hash of the key
	size       int64          // of young
	changed    uint64         // number of the last change
}

type row struct {
	key, value []byte // never written
	at         uint64
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
)

func newRowCache(bytes int64) *rowCache {
	c := &rowCache{limit: bytes / (2 * rowShards), seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].young = map[uint64]row{}
	}
	return c
}

func (c *rowCache) hash(key []byte) uint64 { return maphash.Bytes(c.seed, key) }

func (c *rowCache) shard(hash uint64) *rowShard { return &c.shards[hash%rowShards] }

// get returns the value under key for a reader with a label; ok is false when it has to be read.
func (c *rowCache) get(hash uint64, key []byte, label uint64) (value []byte, ok bool) {
	s := c.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.young[hash]
	if !ok {
		if r, ok = s.old[hash]; ok {
			delete(s.old, hash)
			s.keep(hash, r, c.limit)
		}
	}
	if !ok || r.at > label || !bytes.Equal(r.key, key) {
		return nil, false
	}
	return r.value, true
}

// put keeps what a reader with a label found under key. Both slices are the cache's from then on.
func (c *rowCache) put(hash uint64, key, value []byte, label uint64) {
	if c.limit == 0 || len(value) > maxRowBytes {
		return
	}
	s := c.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed <= label {
		s.keep(hash, row{key: key, value: value, at: label}, c.limit)
	}
}

// keep adds a row to the young generation, in place of one of the same hash.
func (s *rowShard) keep(hash uint64, r row, limit int64) {
	size := int64(len(r.key) + len(r.value) + rowOverhead)
	if s.size+size > limit {
		s.old, s.young, s.size = s.young, make(map[uint64]row, len(s.young)), 0
	}
	if was, ok := s.young[hash]; ok {
		s.size -= int64(len(was.key) + len(was.value) + rowOverhead)
	}
	s.young[hash] = r
	s.size += size
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

// change replaces the rows of b's keys. It reports false when it cannot: b deletes ranges.
func (c *rowCache) change(b *pebble.Batch, number uint64) bool {
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
		case pebble.InternalKeyKindSet:
			c.write(key, value, number)
		case pebble.InternalKeyKindDelete:
			c.write(key, nil, number)
		default:
			return false
		}
	}
}

// write takes over the sealed value that a change gives to a key, nil: none, where the key's row is kept.
func (c *rowCache) write(key, sealed []byte, number uint64) {
	hash := c.hash(key)
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
	s.size -= int64(len(was.key) + len(was.value) + rowOverhead)
	if !bytes.Equal(was.key, key) {
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
	var missed []int
	if len(keys) > maxRowsAtOnce {
		missed = make([]int, len(keys))
		for i := range missed {
			missed[i] = i
		}
		return values, readMissed(keys, missed, open, func(i int, value []byte) { values[i] = value })
	}
	hashes := make([]uint64, len(keys))
	for i, key := range keys {
		hashes[i] = s.rows.hash(key)
		var ok bool
		if values[i], ok = s.rows.get(hashes[i], key, label); !ok {
			missed = append(missed, i)
		}
	}
	if len(missed) == 0 {
		return values, nil
	}
	err := readMissed(keys, missed, open, func(i int, value []byte) {
		values[i] = value
		s.rows.put(hashes[i], bytes.Clone(keys[i]), value, label)
	})
	return values, err
}

// readMissed reads some of keys with one cursor, and tells found of each, with a value of its own or nil.
func readMissed(keys [][]byte, missed []int, open func(lower, upper []byte) (*cursor, error), found func(i int, value []byte)) error {
	slices.SortFunc(missed, func(x, y int) int { return bytes.Compare(keys[x], keys[y]) })
	last := keys[missed[len(missed)-1]]
	c, err := open(keys[missed[0]], append(bytes.Clone(last), 0))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // never fails
	for n, i := range missed {
		if n > 0 && bytes.Equal(keys[i], keys[missed[n-1]]) {
			found(i, valueAt(c, keys[i]))
			continue
		}
		if !c.SeekGE(keys[i]) && c.Err() != nil {
			return c.Err()
		}
		found(i, valueAt(c, keys[i]))
		if c.Err() != nil {
			return c.Err()
		}
	}
	return nil
}

// valueAt returns a copy of the value under key when the cursor stands there, else nil.
func valueAt(c *cursor, key []byte) []byte {
	if !bytes.Equal(c.Key(), key) {
		return nil
	}
	return append([]byte{}, c.Value()...)
}
