package main

import (
	"encoding/binary"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
)

// bareOptions are the bare engine's, with the sizes that ours has.
func bareOptions() *pebble.Options {
	return &pebble.Options{MemTableSize: ourMemTable, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}}
}

// quiet is a logger that says nothing.
type quiet struct{}

// Infof says nothing.
func (quiet) Infof(string, ...any) {}

// Errorf says nothing: the operation returns the error.
func (quiet) Errorf(string, ...any) {}

// Fatalf says nothing; a benchmark that goes on after it fails by its answer.
func (quiet) Fatalf(string, ...any) {}

// vectorKeys begins the keys of one kind of a collection: 'r' for rows, 'i' for ids.
func vectorKeys(kind byte) []byte { return append(space.In("", space.Vector), kind) }

// rowKeys are keys and values of the size and order that a collection gives to rows of which the first
// has the id of that number.
func rowKeys(rows matrix, first int) (keys, values [][]byte) {
	const collection = 1 << 16
	for i := range rows.rows() {
		ordinal, id := uint64(first+i), rowID(first+i)
		value := codec.AppendString(nil, id)
		for _, x := range rows.row(i) {
			value = binary.LittleEndian.AppendUint32(value, math.Float32bits(x))
		}
		keys = append(keys, codec.AppendKeyUint64(codec.AppendKeyUint64(vectorKeys('r'), collection), ordinal),
			append(codec.AppendKeyUint64(vectorKeys('i'), collection), id...))
		values = append(values, value, codec.AppendKeyUint64(nil, ordinal))
	}
	return keys, values
}

// readBare opens a directory with the bare engine and copies every vector row into one buffer. It returns
// their number and bytes.
func readBare(dir string) (rows, bytes int, err error) {
	store, err := pebble.Open(dir, bareOptions())
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if cerr := store.Close(); err == nil {
			err = cerr
		}
	}()
	lower := vectorKeys('r')
	it, err := store.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: codec.PrefixEnd(lower)})
	if err != nil {
		return 0, 0, err
	}
	var buf []byte
	for it.First(); it.Valid(); it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return 0, 0, err
		}
		buf = append(buf[:0], v...)
		rows++
		bytes += len(buf)
	}
	return rows, bytes, it.Close()
}
