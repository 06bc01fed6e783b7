package cache

import (
	"context"
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Check tells how the cache breaks C1, one line a finding; nil when it is sound. It reads all of it and keeps the
// keys in memory.
func (c Cache) Check(ctx context.Context, r kv.Reader) (problems []string, err error) {
	want, err := c.sums(r)
	if errors.Is(err, kv.ErrCorrupt) {
		return []string{err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	found := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	places := make(map[string]uint64)
	have := sums{first: want.first, next: want.first}
	err = c.each(ctx, r, kindKey, func(key string, value []byte) {
		n, rest, err := codec.KeyUint64(value)
		if err != nil || len(rest) > 0 {
			found("key %q leads to no place", key)
			return
		}
		places[key] = n
	})
	if err != nil {
		return nil, err
	}
	err = c.each(ctx, r, kindPlace, func(place string, v []byte) {
		if n, rest, err := codec.KeyUint64([]byte(place)); err != nil || len(rest) > 0 || n != have.next {
			found("place %x instead of %d", place, have.next)
			return
		}
		have.next++
		key, value, err := decodeEntry(v)
		if err != nil {
			found("place %d: %v", have.next-1, err)
			return
		}
		have.entries++
		have.bytes += sizeOf(key, value)
		if n, ok := places[key]; !ok || n != have.next-1 {
			found("the key of place %d does not lead to it", have.next-1)
		}
		delete(places, key)
	})
	if err != nil {
		return nil, err
	}
	if len(places) > 0 {
		found("%d keys lead to no entry", len(places))
	}
	if have != want {
		found("sums are %+v, want %+v", want, have)
	}
	return problems, nil
}

// each calls f with what follows the prefix of one kind, and the value.
func (c Cache) each(ctx context.Context, r kv.Reader, kind byte, f func(rest string, value []byte)) (err error) {
	prefix := c.below(kind)
	cur, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for cur.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		f(string(cur.Key()[len(prefix):]), cur.Value())
	}
	return cur.Err()
}
