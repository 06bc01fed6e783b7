package kv

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

type cursor struct {
	it    *pebble.Iterator
	moved bool
	buf   []byte
	err   error
}

func newCursor(r pebble.Reader, lower, upper []byte) (Cursor, error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: append([]byte(nil), lower...), UpperBound: clone(upper)})
	if err != nil {
		return nil, fmt.Errorf("kv: cursor: %w", err)
	}
	return &cursor{it: it}, nil
}

func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}

func (c *cursor) First() bool            { c.moved = true; return c.it.First() }
func (c *cursor) Last() bool             { c.moved = true; return c.it.Last() }
func (c *cursor) SeekGE(key []byte) bool { c.moved = true; return c.it.SeekGE(key) }
func (c *cursor) SeekLT(key []byte) bool { c.moved = true; return c.it.SeekLT(key) }

func (c *cursor) Next() bool {
	if !c.moved {
		return c.First()
	}
	return c.it.Next()
}

func (c *cursor) Prev() bool {
	if !c.moved {
		return c.Last()
	}
	return c.it.Prev()
}

func (c *cursor) Key() []byte { return c.it.Key() }

func (c *cursor) Value() []byte {
	v, err := c.it.ValueAndErr()
	if err == nil {
		if len(v) > 0 && v[0] == envelopeRaw {
			return v[1:]
		}
		v, err = open(c.buf[:0], v)
		c.buf = v
	}
	if err != nil && c.err == nil {
		c.err = err
	}
	return v
}

func (c *cursor) Err() error {
	if c.err != nil {
		return c.err
	}
	return c.it.Error()
}

func (c *cursor) Close() error { return c.it.Close() }
