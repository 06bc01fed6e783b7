package index

import (
	"errors"
	"fmt"
	"math"
	"slices"
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
		v, bytes, err := metadataValue(v)
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

var errMetadataType = errors.New("a value must be text, a boolean, a number or a list of texts")

// metadataValue returns a value in its stored form, with its size.
func metadataValue(v any) (_ any, bytes int, err error) {
	const scalar = 8
	switch v := v.(type) {
	case string:
		return textValue(v)
	case bool:
		return v, scalar, nil
	case int:
		return int64(v), scalar, nil
	case int8:
		return int64(v), scalar, nil
	case int16:
		return int64(v), scalar, nil
	case int32:
		return int64(v), scalar, nil
	case int64:
		return v, scalar, nil
	case uint8:
		return int64(v), scalar, nil
	case uint16:
		return int64(v), scalar, nil
	case uint32:
		return int64(v), scalar, nil
	case uint:
		return unsigned(uint64(v))
	case uint64:
		return unsigned(v)
	case float32:
		return finite(float64(v))
	case float64:
		return finite(v)
	case []string:
		for _, s := range v {
			_, n, err := textValue(s)
			if err != nil {
				return nil, 0, err
			}
			bytes += n + 1
		}
		return slices.Clone(v), bytes, nil
	case []any: // as JSON has it
		list := make([]string, len(v))
		for i, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, 0, fmt.Errorf("%w, not a list with a %T", errMetadataType, item)
			}
			list[i] = s
		}
		return metadataValue(list)
	}
	return nil, 0, fmt.Errorf("%w, not a %T", errMetadataType, v)
}

func textValue(s string) (any, int, error) {
	if !utf8.ValidString(s) {
		return nil, 0, errors.New("not UTF-8")
	}
	return s, len(s), nil
}

func unsigned(v uint64) (any, int, error) {
	if v > math.MaxInt64 {
		return nil, 0, fmt.Errorf("%w: %d is more than an int64 holds", kv.ErrTooLarge, v)
	}
	return int64(v), 8, nil
}

func finite(v float64) (any, int, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, 0, fmt.Errorf("%v is no number", v)
	}
	return v, 8, nil
}

// hasMetadata reports whether a document's metadata hold every entry of want, as Filter.Metadata says.
func hasMetadata(have map[string]any, want record.Metadata) bool {
	for k, w := range want {
		h, ok := have[k]
		if !ok || !sameValue(h, w) {
			return false
		}
	}
	return true
}

func sameValue(have, want any) bool {
	list, many := have.([]string)
	wanted, all := want.([]string)
	switch {
	case many && all:
		return slices.Equal(list, wanted)
	case many:
		return slices.ContainsFunc(list, func(item string) bool { return sameScalar(item, want) })
	}
	return !all && sameScalar(have, want)
}

// sameScalar compares texts, booleans and numbers. A text is also the number or boolean that it writes.
func sameScalar(have, want any) bool {
	h, text := have.(string)
	w, wanted := want.(string)
	switch {
	case text && wanted:
		return h == w
	case text:
		have = ParseMetadata(h)
	case wanted:
		want = ParseMetadata(w)
	}
	switch h := have.(type) {
	case int64:
		if w, ok := want.(float64); ok {
			return float64(h) == w
		}
	case float64:
		if w, ok := want.(int64); ok {
			return h == float64(w)
		}
	}
	return have == want
}
