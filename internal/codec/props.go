package codec

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Tags of property values. On disk.
const (
	tagString  byte = 's'
	tagInt     byte = 'i'
	tagFloat   byte = 'f'
	tagTrue    byte = 't'
	tagFalse   byte = 'n'
	tagStrings byte = 'l'
)

// Value is the value of a property, without a box around it.
type Value struct {
	tag  byte
	text string
	list []string
	bits uint64 // of an int64 or a float64
}

// ValueOf is v, which is of a kind that AppendProps takes; anything else is an empty string.
func ValueOf(v any) Value {
	switch v := v.(type) {
	case int64:
		return Value{tag: tagInt, bits: uint64(v)}
	case float64:
		return Value{tag: tagFloat, bits: math.Float64bits(v)}
	case bool:
		if v {
			return Value{tag: tagTrue}
		}
		return Value{tag: tagFalse}
	case []string:
		return Value{tag: tagStrings, list: v}
	default:
		s, _ := v.(string)
		return Value{tag: tagString, text: s}
	}
}

// Any is the value as a map holds it.
func (v Value) Any() any {
	switch v.tag {
	case tagInt:
		return int64(v.bits)
	case tagFloat:
		return math.Float64frombits(v.bits)
	case tagTrue, tagFalse:
		return v.tag == tagTrue
	case tagStrings:
		return v.list
	default:
		return v.text
	}
}

// Text returns a string; ok is false when the value is none.
func (v Value) Text() (s string, ok bool) { return v.text, v.tag == tagString }

// Int returns an int64; ok is false when the value is none.
func (v Value) Int() (i int64, ok bool) { return int64(v.bits), v.tag == tagInt }

// List returns a list of strings; ok is false when the value is none.
func (v Value) List() (l []string, ok bool) { return v.list, v.tag == tagStrings }

func (v Value) append(b []byte) []byte {
	b = append(b, v.tag)
	switch v.tag {
	case tagInt:
		return AppendVarint(b, int64(v.bits))
	case tagFloat:
		return AppendFloat64(b, math.Float64frombits(v.bits))
	case tagStrings:
		return AppendStrings(b, v.list)
	case tagString:
		return AppendString(b, v.text)
	default:
		return b
	}
}

// AppendProps appends p in order of key. Values are string, int64, float64, bool or []string; the owner checks
// that, and what else it finds is stored as an empty string.
func AppendProps(b []byte, p map[string]any) []byte {
	b = AppendUvarint(b, uint64(len(p)))
	for _, k := range slices.Sorted(maps.Keys(p)) {
		b = ValueOf(p[k]).append(AppendString(b, k))
	}
	return b
}

// Props consumes what AppendProps wrote; an empty map is nil. Keys out of order are corrupt, for the encoding of a
// map is one string of bytes, and so is a float64 that is no finite number.
func (r *Reader) Props() map[string]any {
	var p map[string]any
	r.EachProp(func(key string, v Value) {
		if p == nil {
			p = make(map[string]any)
		}
		p[key] = v.Any()
	})
	if r.err != nil {
		return nil
	}
	return p
}

// EachProp is Props for a caller who needs no map. What fn was told counts only when Err is nil afterwards.
func (r *Reader) EachProp(fn func(key string, v Value)) {
	n := r.Uvarint()
	const least = 2 // bytes: the length of a key, and a tag
	if n > uint64(len(r.b)/least) {
		r.fail("count beyond the input")
	}
	last := ""
	for i := uint64(0); i < n && r.err == nil; i++ {
		k := r.String()
		if i > 0 && k <= last {
			r.fail(fmt.Sprintf("property %q after %q", k, last))
		}
		last = k
		v := r.value(k)
		if r.err == nil {
			fn(k, v)
		}
	}
}

// value consumes the value of property k.
func (r *Reader) value(k string) Value {
	v := Value{tag: r.Byte()}
	switch v.tag {
	case tagString:
		v.text = r.String()
	case tagInt:
		v.bits = uint64(r.Varint())
	case tagFloat:
		f := r.Float64()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			r.fail(fmt.Sprintf("property %q is no number", k))
		}
		v.bits = math.Float64bits(f)
	case tagTrue, tagFalse:
	case tagStrings:
		v.list = r.Strings()
	default:
		r.fail(fmt.Sprintf("property %q has unknown tag %#x", k, v.tag))
	}
	return v
}
