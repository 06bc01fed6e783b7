package postings

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/glimdb/db/internal/codec"
)

// segment is the items that a batch added, or several batches after Fold, by term.
type segment struct {
	items []member             // ascending, in one epoch
	terms map[string][]posting // ascending
}

type member struct {
	ordinal ordinal
	length  uint32
}

// stride is the number of terms that share an entry of the directory: a look-up is a binary search over the
// directory and at most as many steps.
const stride = 16

// encode: the number of items; of each the gap to the one before, as in a list, and its length; the number of terms; the
// directory, where every 16th term begins behind it, 4 bytes each; the terms, ascending: text, the number of postings,
// their bytes. A posting is the gap in the number of the item, and the count.
func (s *segment) encode() []byte {
	b := codec.AppendUvarint(nil, uint64(len(s.items)))
	at := make(map[ordinal]uint32, len(s.items))
	base := s.items[0].ordinal
	for i, m := range s.items {
		at[m.ordinal] = uint32(i)
		b = codec.AppendUvarint(b, uint64(m.ordinal-base))
		b = codec.AppendUvarint(b, uint64(m.length))
		base = m.ordinal + 1
	}
	b = codec.AppendUvarint(b, uint64(len(s.terms)))
	directory := len(b)
	b = append(b, make([]byte, 4*((len(s.terms)+stride-1)/stride))...)
	terms := len(b)
	var list []byte
	for i, text := range slices.Sorted(maps.Keys(s.terms)) {
		if i%stride == 0 {
			binary.LittleEndian.PutUint32(b[directory+4*(i/stride):], uint32(len(b)-terms))
		}
		b = codec.AppendString(b, text)
		b = codec.AppendUvarint(b, uint64(len(s.terms[text])))
		list = list[:0]
		next := uint32(0)
		for _, p := range s.terms[text] {
			n := at[p.ordinal]
			list = codec.AppendUvarint(list, uint64(n-next))
			list = codec.AppendUvarint(list, uint64(p.count))
			next = n + 1
		}
		b = codec.AppendUvarint(b, uint64(len(list)))
		b = append(b, list...)
	}
	return b
}

// view is an encoded segment, opened for look-ups. Its slices are part of the value.
type view struct {
	items     []member
	count     int // of terms
	directory []byte
	terms     []byte
}

var errSegment = errors.New("segment")

// open reads the items of a segment, whose first is base, into v, whose slice it uses again.
func (v *view) open(base ordinal, value []byte) error {
	n, size := short(value)
	if value = value[size:]; size == 0 || n == 0 || n > epochSize || int(n) > len(value)/2 {
		return corrupt(errSegment)
	}
	v.items = v.items[:0]
	e, first := base.epoch(), base
	for range n {
		gap, g := short(value)
		length, l := short(value[g:])
		o := base + ordinal(gap)
		if g == 0 || l == 0 || length > maxLength || o < base || o.epoch() != e || len(v.items) == 0 && o != first {
			return corrupt(errSegment)
		}
		v.items = append(v.items, member{o, length})
		base, value = o+1, value[g+l:]
	}
	count, size := short(value)
	if value = value[size:]; size == 0 || uint64(count) > uint64(len(value)) {
		return corrupt(errSegment)
	}
	d := 4 * ((int(count) + stride - 1) / stride)
	if d > len(value) {
		return corrupt(errSegment)
	}
	v.count, v.directory, v.terms = int(count), value[:d], value[d:]
	return nil
}

// entry reads the term at the beginning of b.
func entry(b []byte) (text []byte, n int, list, rest []byte, err error) {
	length, size := short(b)
	if size == 0 || uint64(length) > uint64(len(b)-size) {
		return nil, 0, nil, nil, corrupt(errSegment)
	}
	text, b = b[size:size+int(length)], b[size+int(length):]
	count, size := short(b)
	if b = b[size:]; size == 0 || count == 0 {
		return nil, 0, nil, nil, corrupt(errSegment)
	}
	length, size = short(b)
	if size == 0 || uint64(length) > uint64(len(b)-size) || uint64(count) > uint64(length)/2 {
		return nil, 0, nil, nil, corrupt(errSegment)
	}
	end := size + int(length)
	return text, int(count), b[size:end], b[end:], nil
}

// from returns the terms from the i-th entry of the directory on.
func (v *view) from(i int) ([]byte, error) {
	at := binary.LittleEndian.Uint32(v.directory[4*i:])
	if uint64(at) > uint64(len(v.terms)) {
		return nil, corrupt(errSegment)
	}
	return v.terms[at:], nil
}

// seek returns the terms from the first of a directory entry on that lies before term, or from the beginning.
func (v *view) seek(term string) (rest []byte, err error) {
	lo, hi := 0, len(v.directory)/4
	for lo < hi { // the number of entries that begin at or before term
		mid := (lo + hi) / 2
		b, err := v.from(mid)
		if err != nil {
			return nil, err
		}
		text, _, _, _, err := entry(b)
		if err != nil {
			return nil, err
		}
		if string(text) <= term {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return v.terms, nil
	}
	return v.from(lo - 1)
}

// find appends the postings of term to dst.
func (v *view) find(dst []posting, term string) ([]posting, error) {
	rest, err := v.seek(term)
	for err == nil && len(rest) > 0 {
		var (
			text, list []byte
			n          int
		)
		if text, n, list, rest, err = entry(rest); err != nil {
			break
		}
		switch {
		case string(text) == term:
			return v.list(dst, list, n)
		case string(text) > term:
			return dst, nil
		}
	}
	return dst, err
}

// list appends n postings to dst.
func (v *view) list(dst []posting, b []byte, n int) ([]posting, error) {
	next := uint64(0)
	for range n {
		gap, g := short(b)
		count, c := short(b[g:])
		at := next + uint64(gap)
		if g == 0 || c == 0 || count == 0 || at >= uint64(len(v.items)) || count > v.items[at].length {
			return dst, corrupt(errSegment)
		}
		dst = append(dst, posting{v.items[at].ordinal, count, v.items[at].length})
		b, next = b[g+c:], at+1
	}
	if len(b) > 0 {
		return dst, corrupt(errSegment)
	}
	return dst, nil
}

// decodeSegment reads all of a segment and verifies it as far as it can be without others.
func decodeSegment(base ordinal, value []byte) (*segment, error) {
	var v view
	if err := v.open(base, value); err != nil {
		return nil, err
	}
	s := &segment{items: v.items, terms: make(map[string][]posting, v.count)}
	rest, last := v.terms, ""
	for i := range v.count {
		if i%stride == 0 {
			at, err := v.from(i / stride)
			if err != nil || len(at) != len(rest) {
				return nil, corrupt(errSegment)
			}
		}
		text, n, list, after, err := entry(rest)
		if err != nil {
			return nil, err
		}
		term := string(text)
		if i > 0 && term <= last {
			return nil, corrupt(errSegment)
		}
		if s.terms[term], err = v.list(nil, list, n); err != nil {
			return nil, err
		}
		rest, last = after, term
	}
	if len(rest) > 0 {
		return nil, corrupt(errSegment)
	}
	return s, nil
}

// join appends what o holds, all of it after what s holds.
func (s *segment) join(o *segment) {
	s.items = append(s.items, o.items...)
	for term, list := range o.terms {
		s.terms[term] = append(s.terms[term], list...)
	}
}

// item returns the number of an item, ok false when s has none of it.
func (s *segment) item(o ordinal) (int, bool) {
	return slices.BinarySearchFunc(s.items, o, func(m member, o ordinal) int { return cmp.Compare(m.ordinal, o) })
}
