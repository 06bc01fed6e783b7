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

// AppendProps appends p in order of key. Values are string, int64, float64, bool or []string; the owner checks
// that, and what else it finds is stored as an empty string.
func AppendProps(b []byte, p map[string]any) []byte {
	b = AppendUvarint(b, uint64(len(p)))
	for _, k := range slices.Sorted(maps.Keys(p)) {
		b = AppendString(b, k)
		switch v := p[k].(type) {
		case int64:
			b = AppendVarint(append(b, tagInt), v)
		case float64:
			b = AppendFloat64(append(b, tagFloat), v)
		case bool:
			if v {
				b = append(b, tagTrue)
			} else {
				b = append(b, tagFalse)
			}
		case []string:
			b = AppendStrings(append(b, tagStrings), v)
		default:
			s, _ := v.(string)
			b = AppendString(append(b, tagString), s)
		}
	}
	return b
}

// Props consumes what AppendProps wrote; an empty map is nil. Keys out of order are corrupt, for the encoding of a
// map is one string of bytes, and so is a float64 that is no finite number.
func (r *Reader) Props() map[string]any {
	n := r.Uvarint()
	if r.err != nil || n == 0 {
		return nil
	}
	const least = 2 // bytes: the length of a key, and a tag
	if n > uint64(len(r.b)/least) {
		r.fail("count beyond the input")
		return nil
	}
	p, last := make(map[string]any, min(n, 64)), ""
	for i := range n {
		k := r.String()
		if i > 0 && k <= last {
			r.fail(fmt.Sprintf("property %q after %q", k, last))
		}
		last = k
		switch tag := r.Byte(); tag {
		case tagString:
			p[k] = r.String()
		case tagInt:
			p[k] = r.Varint()
		case tagFloat:
			f := r.Float64()
			if math.IsNaN(f) || math.IsInf(f, 0) {
				r.fail(fmt.Sprintf("property %q is no number", k))
			}
			p[k] = f
		case tagTrue, tagFalse:
			p[k] = tag == tagTrue
		case tagStrings:
			p[k] = r.Strings()
		default:
			r.fail(fmt.Sprintf("property %q has unknown tag %#x", k, tag))
		}
		if r.err != nil {
			return nil
		}
	}
	return p
}
