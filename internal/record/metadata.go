package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/glimdb/db/internal/codec"
)

// Metadata are a document's own keys and values. A value is a string, bool, int64, finite float64 or []string.
type Metadata map[string]any

// Equal reports whether both have the same keys and the same values of the same types.
func (m Metadata) Equal(other Metadata) bool {
	return maps.EqualFunc(m, other, func(a, b any) bool {
		x, isList := a.([]string)
		y, both := b.([]string)
		if isList && both {
			return slices.Equal(x, y)
		}
		return !isList && !both && a == b
	})
}

// Type tags of stored values. They are on disk.
const (
	metaString byte = 's'
	metaBool   byte = 'b'
	metaInt    byte = 'i'
	metaFloat  byte = 'f'
	metaList   byte = 'l'
)

// appendMetadata stores m, sorted by key. Values of other types are stored as empty strings; package index lets
// none in.
func appendMetadata(b []byte, m Metadata) []byte {
	b = codec.AppendUvarint(b, uint64(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = codec.AppendString(b, k)
		switch v := m[k].(type) {
		case bool:
			b = codec.AppendBool(append(b, metaBool), v)
		case int64:
			b = codec.AppendVarint(append(b, metaInt), v)
		case float64:
			b = codec.AppendFloat64(append(b, metaFloat), v)
		case []string:
			b = codec.AppendStrings(append(b, metaList), v)
		default:
			s, _ := v.(string)
			b = codec.AppendString(append(b, metaString), s)
		}
	}
	return b
}

// readMetadata reads what appendMetadata wrote.
func readMetadata(r *codec.Reader) (m Metadata) {
	n := r.Int()
	for i := 0; i < n && r.Err() == nil; i++ {
		if m == nil {
			m = make(Metadata)
		}
		k := r.String()
		switch r.Byte() {
		case metaString:
			m[k] = r.String()
		case metaBool:
			m[k] = r.Bool()
		case metaInt:
			m[k] = r.Varint()
		case metaFloat:
			f := r.Float64()
			if math.IsNaN(f) || math.IsInf(f, 0) {
				r.Fail("metadata that is no number")
			}
			m[k] = f
		case metaList:
			m[k] = r.Strings()
		default:
			r.Fail("metadata of an unknown type")
		}
	}
	return m
}

// MarshalJSON writes values as JSON has them. A float64 always has a point or an exponent, so that UnmarshalJSON
// tells it from an int64.
func (m Metadata) MarshalJSON() ([]byte, error) {
	out := make(map[string]any, len(m))
	for k, v := range m {
		switch x := v.(type) {
		case float64:
			s := strconv.FormatFloat(x, 'g', -1, 64)
			if !strings.ContainsAny(s, ".e") {
				s += ".0"
			}
			v = json.RawMessage(s)
		case []string:
			if x == nil {
				v = []string{}
			}
		}
		out[k] = v
	}
	return json.Marshal(out)
}

var errMetadata = errors.New("metadata of a type that documents do not carry")

// UnmarshalJSON reads what MarshalJSON wrote, and any other object whose values are strings, booleans, numbers and
// lists of strings.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	var raw map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		return err
	}
	*m = nil
	for k, v := range raw {
		value, err := fromJSON(v)
		if err != nil {
			return fmt.Errorf("entry %q: %w", k, err)
		}
		if *m == nil {
			*m = make(Metadata, len(raw))
		}
		(*m)[k] = value
	}
	return nil
}

func fromJSON(v any) (any, error) {
	switch v := v.(type) {
	case string, bool:
		return v, nil
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			return v.Int64()
		}
		return v.Float64()
	case []any:
		list := make([]string, len(v))
		for i, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, errMetadata
			}
			list[i] = s
		}
		return list, nil
	}
	return nil, errMetadata
}
