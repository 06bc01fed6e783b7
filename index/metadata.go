package index

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// Limits of a document's metadata.
const (
	MaxMetadata      = 256      // entries
	MaxMetadataBytes = 64 << 10 // of all keys and values; numbers and booleans count 8
)

// metadataOf makes the stored form of a caller's metadata: integers become int64, floats float64. It refuses what
// documents do not carry.
func metadataOf(given map[string]any) (record.Metadata, error) {
	if len(given) > MaxMetadata {
		return nil, fmt.Errorf("%w: %d entries, limit %d", kv.ErrTooLarge, len(given), MaxMetadata)
	}
	var m record.Metadata
	size := 0
	for k, v := range given {
		if k == "" || !utf8.ValidString(k) {
			return nil, fmt.Errorf("key %s is empty or not UTF-8", brief.Quote(k))
		}
		v, bytes, err := record.MetadataValue(v)
		if errors.Is(err, record.ErrIntRange) {
			err = fmt.Errorf("%w: %w", kv.ErrTooLarge, err)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %s: %w", brief.Quote(k), err)
		}
		if m == nil {
			m = make(record.Metadata, len(given))
		}
		m[k] = v
		size += len(k) + bytes
	}
	if size > MaxMetadataBytes {
		return nil, fmt.Errorf("%w: %d bytes, limit %d", kv.ErrTooLarge, size, MaxMetadataBytes)
	}
	return m, nil
}
