package cache

import (
	"fmt"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

func (s sums) encode() []byte {
	var v []byte
	for _, n := range []uint64{s.entries, s.bytes, s.first, s.next} {
		v = codec.AppendUvarint(v, n)
	}
	return v
}

func decodeSums(v []byte) (s sums, err error) {
	r := codec.NewReader(v)
	for _, n := range []*uint64{&s.entries, &s.bytes, &s.first, &s.next} {
		*n = r.Uvarint()
	}
	if s.next-s.first != s.entries || s.next < s.first {
		r.Fail("places and entries of a cache differ in number")
	}
	if err := r.Done(); err != nil {
		return sums{}, fmt.Errorf("%w: sums of a cache: %w", kv.ErrCorrupt, err)
	}
	return s, nil
}

func encodeEntry(key string, value []byte) []byte {
	return append(codec.AppendString(make([]byte, 0, len(key)+len(value)+4), key), value...)
}

// decodeEntry returns the parts of an entry; value is part of v.
func decodeEntry(v []byte) (key string, value []byte, err error) {
	r := codec.NewReader(v)
	key = r.String()
	rest := r.Len()
	if err := r.Err(); err != nil {
		return "", nil, fmt.Errorf("%w: entry of a cache: %w", kv.ErrCorrupt, err)
	}
	return key, v[len(v)-rest:], nil
}
