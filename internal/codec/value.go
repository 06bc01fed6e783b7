package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// AppendUvarint appends v in variable-length form.
func AppendUvarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// AppendVarint appends v in zig-zag variable-length form.
func AppendVarint(b []byte, v int64) []byte { return binary.AppendVarint(b, v) }

// AppendString appends s behind its length.
func AppendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// AppendStrings appends the number of strings and each of them.
func AppendStrings(b []byte, ss []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(ss)))
	for _, s := range ss {
		b = AppendString(b, s)
	}
	return b
}

// AppendFloat64 appends the eight little-endian bytes of f.
func AppendFloat64(b []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
}

// AppendBool appends one byte.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// Reader consumes a value part by part. The first failure sticks: later calls return zero values and
// Err tells what went wrong. It keeps the slice it was made from; strings it returns are copies.
type Reader struct {
	b    []byte
	text string // of the whole input, empty unless strings are to be parts of it
	err  error
}

// NewReader reads b.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// NewTextReader reads b, which is mostly strings: those that it returns are parts of one copy of b.
func NewTextReader(b []byte) *Reader { return &Reader{b: b, text: string(b)} }

// Share makes r read b, which nobody ever writes again: the strings that it returns are parts of b itself.
func (r *Reader) Share(b []byte) {
	*r = Reader{b: b, text: unsafe.String(unsafe.SliceData(b), len(b))}
}

func (r *Reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrCorrupt, what)
	}
	r.b = nil
}

// Fail makes the input count as corrupt, for what only its owner can judge.
func (r *Reader) Fail(what string) { r.fail(what) }

// Err returns the first failure, or nil.
func (r *Reader) Err() error { return r.err }

// Done returns the first failure, or an error when bytes are left over.
func (r *Reader) Done() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("trailing bytes")
	}
	return r.err
}

// Len returns the number of bytes not yet consumed.
func (r *Reader) Len() int { return len(r.b) }

// Uvarint consumes a value written by AppendUvarint.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail("bad uvarint")
		return 0
	}
	r.b = r.b[n:]
	return v
}

// Varint consumes a value written by AppendVarint.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail("bad varint")
		return 0
	}
	r.b = r.b[n:]
	return v
}

// maxInt bounds what AppendInt writes and Int accepts: it fits an int of every platform, and no count or
// length of one record comes near it.
const maxInt = math.MaxInt32

// AppendInt appends a count. A count from outside (a provider's usage, a caller's tokenizer) may be any
// number: what is below 0 becomes 0, what is above 2^31-1 that, so that whatever was written can be read.
func AppendInt(b []byte, n int) []byte {
	return AppendUvarint(b, uint64(min(max(n, 0), maxInt)))
}

// Int consumes a value written by AppendInt.
func (r *Reader) Int() int {
	v := r.Uvarint()
	if v > maxInt {
		r.fail("number out of range")
		return 0
	}
	return int(v)
}

// Uvarint32s consumes len(dst) values written by AppendUvarint, none above 32 bits. It is for long lists:
// one call costs a fraction of as many of Uvarint. After a failure dst holds anything.
func (r *Reader) Uvarint32s(dst []uint32) {
	b := r.b
	for i := range dst {
		v, n := uint32(0), 0
		switch {
		case len(b) >= 3 && b[0] >= 0x80 && b[1] >= 0x80 && b[2] < 0x80:
			v, n = uint32(b[0]&0x7F)|uint32(b[1]&0x7F)<<7|uint32(b[2])<<14, 3
		case len(b) >= 2 && b[0] >= 0x80 && b[1] < 0x80:
			v, n = uint32(b[0]&0x7F)|uint32(b[1])<<7, 2
		case len(b) >= 1 && b[0] < 0x80:
			v, n = uint32(b[0]), 1
		default:
			w, size := binary.Uvarint(b)
			if size <= 0 || w > math.MaxUint32 {
				r.fail("bad list of numbers")
				return
			}
			v, n = uint32(w), size
		}
		dst[i], b = v, b[n:]
	}
	r.b = b
}

// Bytes consumes what AppendString wrote; the slice is part of the input.
func (r *Reader) Bytes() []byte {
	n := r.Uvarint()
	if r.err != nil {
		return nil
	}
	if n > uint64(len(r.b)) {
		r.fail("length beyond the input")
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

// String consumes what AppendString wrote.
func (r *Reader) String() string {
	b := r.Bytes()
	if r.text == "" || len(b) == 0 {
		return string(b)
	}
	end := len(r.text) - len(r.b)
	return r.text[end-len(b) : end]
}

// Strings consumes what AppendStrings wrote; an empty list is nil.
func (r *Reader) Strings() []string {
	n := r.Uvarint()
	if r.err != nil || n == 0 {
		return nil
	}
	if n > uint64(len(r.b)) { // each string takes at least its length byte
		r.fail("count beyond the input")
		return nil
	}
	out := make([]string, 0, n)
	for range n {
		out = append(out, r.String())
	}
	if r.err != nil {
		return nil
	}
	return out
}

// Float64 consumes a value written by AppendFloat64.
func (r *Reader) Float64() float64 {
	if len(r.b) < 8 {
		r.fail("short float64")
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(r.b))
	r.b = r.b[8:]
	return v
}

// Byte consumes one byte.
func (r *Reader) Byte() byte {
	if len(r.b) < 1 {
		r.fail("short byte")
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

// Bool consumes one byte that must be 0 or 1.
func (r *Reader) Bool() bool {
	if len(r.b) < 1 || r.b[0] > 1 {
		r.fail("bad bool")
		return false
	}
	v := r.b[0] == 1
	r.b = r.b[1:]
	return v
}
