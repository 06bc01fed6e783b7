package kv

import (
	"bytes"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Limits of what one commit can hold.
const (
	// MaxBatchBytes bounds one commit. The engine keeps a whole batch in memory twice while it is applied
	// and writes it as one log record; a larger change must be cut into stages by its owner.
	MaxBatchBytes = 512 << 20
	// MaxKeyBytes bounds one key: every level of the engine's index repeats keys whole.
	MaxKeyBytes = 256 << 10
)

// entryOverhead bounds what one change costs in a batch beside its key and value: a kind byte and two
// lengths.
const entryOverhead = 1 + 2*5

// Batch collects changes that become visible together. It is a Reader over its own changes on top of the
// state it was created on. It belongs to one goroutine. Staging costs a copy and an insertion into an
// index in memory, reading one look-up there before that in the store.
type Batch struct {
	store   *Store
	b       *pebble.Batch // nil once closed
	base    LSN
	applied bool
	size    int // once applied
	log     int // once applied: number of the log that holds it
	before  []func() error
	hooks   []func(LSN)
	att     map[any]any
	cursors []*cursor
	buf     []byte

	touched map[uint64]struct{} // hashes of the keys that it changes
	ranged  bool                // it deletes ranges
}

// enter begins a call that touches the engine through the batch.
func (b *Batch) enter() error {
	if b.b == nil || b.applied {
		return ErrClosed
	}
	return b.store.enter()
}

// Get implements Reader.
func (b *Batch) Get(key []byte) ([]byte, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.store.leave()
	return b.store.get(b.b, key)
}

// GetMany implements Reader.
func (b *Batch) GetMany(keys [][]byte) ([][]byte, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.store.leave()
	through := func(lower, upper []byte) (*cursor, error) { return b.store.newCursor(b.b, lower, upper) }
	values := make([][]byte, len(keys))
	var changed, below []int // those that the batch may have changed, and the others
	for i, key := range keys {
		if b.touches(key) {
			changed = append(changed, i)
		} else {
			below = append(below, i)
		}
	}
	if len(changed) > 0 {
		if err := readMissed(keys, changed, through, func(i int, value []byte) { values[i] = value }); err != nil {
			return nil, err
		}
	}
	if len(below) == 0 {
		return values, nil
	}
	rest := make([][]byte, len(below))
	for at, i := range below {
		rest[at] = keys[i]
	}
	found, err := b.store.getMany(rest, b.store.rows.done.Load(), through)
	for at, i := range below {
		values[i] = found[at]
	}
	return values, err
}

// ScanMany implements Reader. It keeps nothing.
func (b *Batch) ScanMany(prefixes [][]byte, limit int) ([][]Pair, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.store.leave()
	lists := make([][]Pair, len(prefixes))
	err := scanMissed(prefixes, limit, everything(len(prefixes)), func(lower, upper []byte) (*cursor, error) {
		return b.store.newCursor(b.b, lower, upper)
	}, func(i int, list []Pair, _ bool) { lists[i] = list })
	return lists, err
}

// touch notes that the batch changes key.
func (b *Batch) touch(key []byte) {
	if b.touched == nil {
		b.touched = make(map[uint64]struct{})
	}
	b.touched[b.store.rows.hash(key)] = struct{}{}
}

// touches reports whether the batch may change key.
func (b *Batch) touches(key []byte) bool {
	_, ok := b.touched[b.store.rows.hash(key)]
	return ok || b.ranged
}

// Cursor implements Reader. A cursor opened before a change does not see it. Closing the batch closes it.
func (b *Batch) Cursor(lower, upper []byte) (Cursor, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.store.leave()
	c, err := b.store.newCursor(b.b, lower, upper)
	if err != nil {
		return nil, err
	}
	b.cursors = append(b.cursors, c)
	return c, nil
}

// LSN implements Reader: the commit below this batch.
func (b *Batch) LSN() LSN { return b.base }

// Set stages value under key. Both are copied. An error (ErrTooLarge, ErrClosed) stages nothing.
func (b *Batch) Set(key, value []byte) error {
	if err := b.room(len(key), len(value)+1); err != nil {
		return err
	}
	b.touch(key)
	op := b.b.SetDeferred(len(key), len(value)+1)
	copy(op.Key, key)
	op.Value[0] = envelopeRaw
	copy(op.Value[1:], value)
	return wrap("set", op.Finish())
}

// SetText is Set for texts and model replies: the value is compressed when that pays.
func (b *Batch) SetText(key, value []byte) error {
	if err := b.room(len(key), len(value)+1); err != nil {
		return err
	}
	b.touch(key)
	b.buf = sealText(b.buf[:0], value)
	return wrap("set", b.b.Set(key, b.buf, nil))
}

// Delete stages the removal of key; an absent key is no error.
func (b *Batch) Delete(key []byte) error {
	if err := b.room(len(key), 0); err != nil {
		return err
	}
	b.touch(key)
	return wrap("delete", b.b.Delete(key, nil))
}

// DeleteRange stages the removal of all keys in [lower, upper), those staged before included. It is one
// entry whatever it covers. An empty range stages nothing; an open bound is not possible here.
func (b *Batch) DeleteRange(lower, upper []byte) error {
	if err := b.room(len(lower), len(upper)); err != nil {
		return err
	}
	if len(upper) > MaxKeyBytes {
		return fmt.Errorf("%w: key of %d bytes, limit %d", ErrTooLarge, len(upper), MaxKeyBytes)
	}
	if bytes.Compare(lower, upper) >= 0 {
		return nil
	}
	b.ranged = true
	return wrap("delete range", b.b.DeleteRange(lower, upper, nil))
}

// room checks the limits for one more entry.
func (b *Batch) room(key, value int) error {
	if b.b == nil || b.applied {
		return ErrClosed
	}
	if key > MaxKeyBytes {
		return fmt.Errorf("%w: key of %d bytes, limit %d", ErrTooLarge, key, MaxKeyBytes)
	}
	if n := b.b.Len() + key + value + entryOverhead; n > MaxBatchBytes {
		return fmt.Errorf("%w: batch of %d bytes, limit %d", ErrTooLarge, n, MaxBatchBytes)
	}
	return nil
}

// Empty reports whether nothing was staged.
func (b *Batch) Empty() bool { return b.b == nil || !b.applied && b.b.Empty() }

// Len is the size of the staged changes in bytes.
func (b *Batch) Len() int {
	if b.b == nil || b.applied {
		return b.size
	}
	return b.b.Len()
}

// BeforeApply registers f to run once, in order of registration, when the batch is about to be applied: an
// owner that keeps changes in an Attachment stages them there, once, whatever the number of changes. An
// error keeps the batch from being applied. f must not register another.
func (b *Batch) BeforeApply(f func() error) { b.before = append(b.before, f) }

// complete runs what BeforeApply registered.
func (b *Batch) complete() error {
	before := b.before
	b.before = nil
	for _, f := range before {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// OnCommit registers f to run once, in order of registration, after the batch was applied and before any
// later view can be taken; it publishes in-memory state at the commit's LSN. f must not fail, block or
// call the store. It is not run when the batch is dropped.
func (b *Batch) OnCommit(f func(LSN)) { b.hooks = append(b.hooks, f) }

// Committed runs the hooks. Only wal calls it.
func (b *Batch) Committed(lsn LSN) {
	hooks := b.hooks
	b.hooks = nil
	for _, f := range hooks {
		f(lsn)
	}
}

// Attachment returns the batch-scoped value under key, made by mk on first use: an owner's staged
// in-memory state (for example vectors not yet published). key should be a private type's value. With a
// nil mk it only looks, and returns nil when there is none.
func (b *Batch) Attachment(key any, mk func() any) any {
	if v, ok := b.att[key]; ok {
		return v
	}
	if mk == nil {
		return nil
	}
	if b.att == nil {
		b.att = make(map[any]any)
	}
	v := mk()
	b.att[key] = v
	return v
}

// Close drops the batch and its resources, open cursors included. After Apply it waits for the sync, for the
// engine may still write from the batch's memory. It is idempotent.
func (b *Batch) Close() error {
	if b.b == nil {
		return nil
	}
	if b.applied {
		_ = b.store.syncWait(b.b) // its outcome is Durable's to tell
	}
	for _, c := range b.cursors {
		_ = c.Close() // never fails
	}
	b.size = b.Len()
	err := b.b.Close()
	b.b, b.cursors = nil, nil
	return wrap("close batch", err)
}
