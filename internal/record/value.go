package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

var errValueType = errors.New("a value must be text, a boolean, a number or a list of texts")

// ErrIntRange tells that a number is too large for what documents carry.
var ErrIntRange = errors.New("more than an int64 holds")

// MetadataValue returns a value of metadata in its stored form, with its size in bytes: integers become int64, floats
// float64, lists []string. It refuses what documents do not carry.
func MetadataValue(v any) (_ any, bytes int, err error) {
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
				return nil, 0, fmt.Errorf("%w, not a list with a %T", errValueType, item)
			}
			list[i] = s
		}
		return MetadataValue(list)
	}
	return nil, 0, fmt.Errorf("%w, not a %T", errValueType, v)
}

func textValue(s string) (any, int, error) {
	if !utf8.ValidString(s) {
		return nil, 0, errors.New("not UTF-8")
	}
	return s, len(s), nil
}

func unsigned(v uint64) (any, int, error) {
	if v > math.MaxInt64 {
		return nil, 0, fmt.Errorf("%w: %d", ErrIntRange, v)
	}
	return int64(v), 8, nil
}

func finite(v float64) (any, int, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, 0, fmt.Errorf("%v is no number", v)
	}
	return v, 8, nil
}

// SameValue compares two values of metadata in their stored form: of a list any item is the wanted one, or the whole
// list. Numbers compare as numbers; a text is also the number or boolean that it writes as JSON does.
func SameValue(have, want any) bool {
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

func sameScalar(have, want any) bool {
	have, want = alike(have, want)
	if n, numbers := compareNumbers(have, want); numbers {
		return n == 0
	}
	return have == want
}

// CompareValues orders two numbers, or two texts by code points; a text that writes a number is one beside a number.
// ok is false for values without a common order.
func CompareValues(a, b any) (n int, ok bool) {
	a, b = alike(a, b)
	if n, ok := compareNumbers(a, b); ok {
		return n, true
	}
	x, text := a.(string)
	y, both := b.(string)
	return strings.Compare(x, y), text && both
}

// alike reads a text beside another value as ParseMetadata does.
func alike(a, b any) (any, any) {
	x, text := a.(string)
	y, other := b.(string)
	switch {
	case text && !other:
		a = ParseMetadata(x)
	case other && !text:
		b = ParseMetadata(y)
	}
	return a, b
}

func compareNumbers(a, b any) (n int, ok bool) {
	x, whole := a.(int64)
	y, both := b.(int64)
	if whole && both {
		return cmp.Compare(x, y), true
	}
	f, ok := float(a)
	g, too := float(b)
	return cmp.Compare(f, g), ok && too
}

func float(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// ParseMetadata reads a value of metadata as people write it: a number, true, false, a quoted text or a list of quoted
// texts as JSON has them, anything else as the text that it is. Numbers are int64 or, where that does not hold them,
// float64.
func ParseMetadata(text string) any {
	if v, err := UnmarshalValue([]byte(text)); err == nil {
		return v
	}
	return text
}

// UnmarshalValue reads one value of metadata in JSON.
func UnmarshalValue(data []byte) (any, error) {
	if !json.Valid(data) { // a decoder would stop after the first value
		return nil, errMetadata
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if n, isNumber := v.(json.Number); isNumber {
		if i, err := n.Int64(); err == nil {
			return i, nil
		}
		return n.Float64()
	}
	return fromJSON(v)
}
