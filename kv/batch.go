package kv

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// MaxBatchBytes bounds one commit. The engine keeps a whole batch in memory twice while it is applied
// and writes it as one log record; a larger change must be cut into stages by its owner.
const MaxBatchBytes = 512 << 20

// Batch collects changes that become visible together. It is a Reader over its own changes on top of the
// state it was created on. It belongs to one goroutine.
type Batch struct {
	b     *pebble.Batch
	base  LSN
	hooks []func(LSN)
	att   map[any]any
	buf   []byte
}

// Get implements Reader.
func (b *Batch) Get(key []byte) ([]byte, error) { return get(b.b, key) }

// Cursor implements Reader. A cursor opened before a change does not see it.
func (b *Batch) Cursor(lower, upper []byte) (Cursor, error) { return newCursor(b.b, lower, upper) }

// LSN implements Reader: the commit below this batch.
func (b *Batch) LSN() LSN { return b.base }

// Set stages value under key. Both are copied.
func (b *Batch) Set(key, value []byte) error {
	b.buf = sealRaw(b.buf[:0], value)
	return b.set(key)
}

// SetText is Set for texts and model replies: the value is compressed when that pays.
func (b *Batch) SetText(key, value []byte) error {
	b.buf = sealText(b.buf[:0], value)
	return b.set(key)
}

func (b *Batch) set(key []byte) error {
	if n := b.b.Len() + len(key) + len(b.buf); n > MaxBatchBytes {
		return fmt.Errorf("%w: batch of %d bytes, limit %d", ErrTooLarge, n, MaxBatchBytes)
	}
	return b.b.Set(key, b.buf, nil)
}

// Delete stages the removal of key; an absent key is no error.
func (b *Batch) Delete(key []byte) error { return b.b.Delete(key, nil) }

// DeleteRange stages the removal of all keys in [lower, upper).
func (b *Batch) DeleteRange(lower, upper []byte) error { return b.b.DeleteRange(lower, upper, nil) }

// Empty reports whether nothing was staged.
func (b *Batch) Empty() bool { return b.b.Empty() }

// Len is the size of the staged changes in bytes.
func (b *Batch) Len() int { return b.b.Len() }

// OnCommit registers f to run once, in order of registration, after the batch was applied and before any
// later view can be taken; it publishes in-memory state at the commit's LSN. f must not fail, block or
// call the store. It is not run when the batch is dropped.
func (b *Batch) OnCommit(f func(LSN)) { b.hooks = append(b.hooks, f) }

// Committed runs the hooks. Only wal calls it.
func (b *Batch) Committed(lsn LSN) {
	for _, f := range b.hooks {
		f(lsn)
	}
}

// Attachment returns the batch-scoped value under key, made by mk on first use: an owner's staged
// in-memory state (for example vectors not yet published). key should be a private type's value.
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

// Close drops the batch and its resources; it is idempotent and needed after Apply, too.
func (b *Batch) Close() error {
	if b.b == nil {
		return nil
	}
	err := b.b.Close()
	b.b = nil
	return err
}
