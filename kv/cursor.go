package kv

import (
	"bytes"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/glimdb/db/internal/invariants"
)

// cursor implements Cursor. Its lock is for Store.Close alone, which ends cursors whose owners forgot them;
// between the owner's own calls it is never contended.
type cursor struct {
	store *Store

	mu    sync.Mutex
	it    *pebble.Iterator // nil once closed
	moved bool
	value []byte // of the present position, decoded; nil until asked for
	buf   []byte // holds a decompressed value
	err   error
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

// move runs one step of the iterator.
func (c *cursor) move(step func(*pebble.Iterator) bool) (ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.it == nil || c.store.closing.Load() {
		c.fail(ErrClosed)
		return false
	}
	if c.err != nil {
		return false
	}
	if invariants.Enabled {
		invariants.Mangle(c.buf)
	}
	c.value = nil
	var err error
	defer func() {
		if err != nil {
			c.fail(err)
			ok = false
		}
	}()
	defer c.store.guard("cursor", &err)
	ok = step(c.it)
	c.moved = true
	if !ok {
		err = wrap("cursor", c.it.Error())
	}
	return ok
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *cursor) First() bool { return c.move((*pebble.Iterator).First) }
func (c *cursor) Last() bool  { return c.move((*pebble.Iterator).Last) }

func (c *cursor) SeekGE(key []byte) bool {
	return c.move(func(it *pebble.Iterator) bool { return it.SeekGE(key) })
}

func (c *cursor) SeekLT(key []byte) bool {
	return c.move(func(it *pebble.Iterator) bool { return it.SeekLT(key) })
}

func (c *cursor) Next() bool {
	if !c.moved {
		return c.First()
	}
	return c.move((*pebble.Iterator).Next)
}

func (c *cursor) Prev() bool {
	if !c.moved {
		return c.Last()
	}
	return c.move((*pebble.Iterator).Prev)
}

func (c *cursor) Key() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.it == nil || !c.moved || !c.it.Valid() {
		return nil
	}
	return c.it.Key()
}

func (c *cursor) Value() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.value != nil || c.it == nil || !c.moved || !c.it.Valid() || c.err != nil {
		return c.value
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
	c.it, c.value = nil, nil
	c.store.handles.dropCursor(c)
	return nil
}
