package kv

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/glimdb/db/internal/invariants"
)

// cursor implements Cursor. Its lock is for Store.Close alone, which ends cursors whose owners forgot them;
// between the owner's own calls it is never contended.
type cursor struct {
	store *Store
	moved bool   // the owner's, like key, value and buf
	key   []byte // of the present position; nil at none
	value []byte // decoded; nil until asked for
	buf   []byte // holds a decompressed value

	ended atomic.Bool // closed: what key and value point to is gone

	mu  sync.Mutex
	it  *pebble.Iterator // nil once closed
	err error
}

// newCursor opens a cursor on r, a snapshot or an indexed batch. The caller holds r's lock.
func (s *Store) newCursor(r pebble.Reader, lower, upper []byte) (_ *cursor, err error) {
	defer s.guard("cursor", &err)
	if upper != nil && bytes.Compare(lower, upper) > 0 {
		lower = upper // nothing lies between; the engine wants bounds in order
	}
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: bytes.Clone(lower), UpperBound: bytes.Clone(upper)})
	if err != nil {
		return nil, wrap("cursor", err)
	}
	c := &cursor{store: s, it: it}
	s.handles.addCursor(c)
	return c, nil
}

// step is a movement of the iterator.
type step uint8

const (
	first step = iota
	last
	next
	prev
	seekGE
	seekLT
)

// move runs one step. key is that of the seeks.
func (c *cursor) move(s step, key []byte) (ok bool) {
	c.mu.Lock()
	defer c.leave()
	if invariants.Enabled {
		invariants.Mangle(c.buf)
	}
	c.key, c.value = nil, nil
	if c.it == nil || c.store.closing.Load() {
		c.fail(ErrClosed)
	}
	if c.err != nil {
		return false
	}
	switch s {
	case first:
		ok = c.it.First()
	case last:
		ok = c.it.Last()
	case next:
		ok = c.it.Next()
	case prev:
		ok = c.it.Prev()
	case seekGE:
		ok = c.it.SeekGE(key)
	case seekLT:
		ok = c.it.SeekLT(key)
	}
	c.moved = true
	if !ok {
		c.fail(wrap("cursor", c.it.Error()))
		return false
	}
	c.key = c.it.Key()
	return true
}

// leave ends a call under mu, and makes an error of a panic of the engine. Use it deferred.
func (c *cursor) leave() {
	if r := recover(); r != nil {
		c.store.poison(r)
		c.key, c.value = nil, nil
		c.fail(wrap("cursor", readOnly(panicked(r))))
	}
	c.mu.Unlock()
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *cursor) First() bool            { return c.move(first, nil) }
func (c *cursor) Last() bool             { return c.move(last, nil) }
func (c *cursor) SeekGE(key []byte) bool { return c.move(seekGE, key) }
func (c *cursor) SeekLT(key []byte) bool { return c.move(seekLT, key) }

func (c *cursor) Next() bool {
	if !c.moved {
		return c.move(first, nil)
	}
	return c.move(next, nil)
}

func (c *cursor) Prev() bool {
	if !c.moved {
		return c.move(last, nil)
	}
	return c.move(prev, nil)
}

// Key and Value of a position stay readable while Close waits for the cursor's owner: an owner that was told
// of a position must find it. Only the next move fails.

func (c *cursor) Key() []byte {
	if c.ended.Load() {
		return nil
	}
	return c.key
}

func (c *cursor) Value() []byte {
	if c.ended.Load() {
		return nil
	}
	if c.key == nil || c.value != nil {
		return c.value
	}
	c.mu.Lock()
	defer c.leave()
	if c.it == nil {
		c.fail(ErrClosed)
		return nil
	}
	v, err := c.it.ValueAndErr()
	if err == nil {
		v, err = c.decode(v)
	}
	if err != nil {
		c.fail(wrap("cursor", err))
		return nil
	}
	c.value = v
	return v
}

// decode opens an envelope: a raw value in place, a compressed one into the cursor's buffer. The result is
// never nil.
func (c *cursor) decode(sealed []byte) ([]byte, error) {
	if len(sealed) > 0 && sealed[0] == envelopeRaw {
		return sealed[1:], nil
	}
	if c.buf == nil {
		c.buf = []byte{}
	}
	v, err := open(c.buf[:0], sealed)
	if err == nil {
		c.buf = v
	}
	return v, err
}

func (c *cursor) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close implements Cursor. The iterator's own error was seen by the step that met it.
func (c *cursor) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.it == nil {
		return nil
	}
	if err := c.it.Close(); err != nil {
		c.fail(wrap("cursor", err))
	}
	c.it = nil
	c.ended.Store(true)
	c.store.handles.dropCursor(c)
	return nil
}
