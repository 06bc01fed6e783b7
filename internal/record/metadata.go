package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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
