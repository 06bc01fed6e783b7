package postings

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Kinds of keys: the byte after an index's prefix. On disk; see doc.go.
const (
	kindConfig   byte = 'c'
	kindMark     byte = 'm'
	kindCounters byte = 'k'
	kindID       byte = 's'
	kindItem     byte = 'i'
	kindSegment  byte = 'y'
	kindBlock    byte = 'p'
)

// layout numbers the meaning of the keys; an index with another number is refused.
const layout = 1

// Limits of what is a key. Several keys must fit one block of the store.
const (
	MaxNameBytes = 1024     // of an index
	MaxTermBytes = 1024     // of a term
	MaxIDBytes   = 64 << 10 // of an item's id
)

// maxLength bounds the terms of an item, repeats included: what fits a posting.
const maxLength = math.MaxInt32

// ordinal is an item's number.
type ordinal uint32

// epochBits is the size of an epoch: a block of a frequent term is a few KiB, and what a removal rewrites of a term.
const (
	epochBits = 10
	epochSize = 1 << epochBits
)

type epoch uint32

func (o ordinal) epoch() epoch      { return epoch(o >> epochBits) }
func (o ordinal) slot() int         { return int(o & (epochSize - 1)) }
func (e epoch) first() ordinal      { return ordinal(e) << epochBits }
func (e epoch) at(slot int) ordinal { return e.first() + ordinal(slot) }

func (x *Index) key(kind byte, room int) []byte {
	b := make([]byte, 0, len(x.prefix)+1+room)
	return append(append(b, x.prefix...), kind)
}

func (x *Index) idKey(id string) []byte { return append(x.key(kindID, len(id)), id...) }

func (x *Index) itemKey(o ordinal) []byte {
	return codec.AppendKeyUint32(x.key(kindItem, 4), uint32(o))
}

func (x *Index) segmentKey(o ordinal) []byte {
	return codec.AppendKeyUint32(x.key(kindSegment, 4), uint32(o))
}

// termKey is the prefix of the blocks of a term.
func (x *Index) termKey(term string) []byte {
	return codec.AppendKeyString(x.key(kindBlock, len(term)+6), term)
}

func (x *Index) blockKey(term string, e epoch) []byte {
	return codec.AppendKeyUint32(x.termKey(term), uint32(e))
}

// numberOf reads the ordinal or epoch at the end of a key that has skip bytes before it.
func numberOf(key []byte, skip int) (uint32, error) {
	if len(key) != skip+4 {
		return 0, fmt.Errorf("%w: postings: key of %d bytes, want %d", kv.ErrCorrupt, len(key), skip+4)
	}
	return binary.BigEndian.Uint32(key[skip:]), nil
}

// blockOf reads a key of a block.
func (x *Index) blockOf(key []byte) (term string, e epoch, err error) {
	term, rest, err := codec.KeyString(key[len(x.prefix)+1:])
	if err != nil {
		return "", 0, corrupt(err)
	}
	n, err := numberOf(rest, 0)
	return term, epoch(n), err
}

func (c Config) encode(layout uint64) []byte {
	return codec.AppendString(codec.AppendUvarint(nil, layout), c.Analyser)
}

func decodeConfig(v []byte, layout uint64) (Config, error) {
	r := codec.NewReader(v)
	if n := r.Uvarint(); r.Err() == nil && n != layout {
		return Config{}, fmt.Errorf("%w: postings layout %d, this version reads %d", kv.ErrCorrupt, n, layout)
	}
	c := Config{Analyser: r.String()}
	return c, corrupt(r.Done())
}

// counters are what key k holds.
type counters struct {
	next     uint64 // the ordinal that the next item gets
	items    uint64
	length   uint64 // of all items
	folded   uint64 // epochs below have blocks
	segments uint64
}

func (c *counters) encode() []byte {
	var b []byte
	for _, n := range []uint64{c.next, c.items, c.length, c.folded, c.segments} {
		b = codec.AppendUvarint(b, n)
	}
	return b
}

func decodeCounters(v []byte) (counters, error) {
	r := codec.NewReader(v)
	c := counters{next: r.Uvarint(), items: r.Uvarint(), length: r.Uvarint(), folded: r.Uvarint(), segments: r.Uvarint()}
	if r.Err() == nil && (c.next > math.MaxUint32 || c.items > c.next || c.folded > c.next>>epochBits) {
		r.Fail("counters")
	}
	return c, corrupt(r.Done())
}

func encodeOrdinal(o ordinal) []byte { return codec.AppendKeyUint32(nil, uint32(o)) }

func decodeOrdinal(v []byte) (ordinal, error) {
	n, rest, err := codec.KeyUint32(v)
	if err == nil && len(rest) > 0 {
		err = errors.New("ordinal with trailing bytes")
	}
	return ordinal(n), corrupt(err)
}

func encodeItem(length int, id string) []byte {
	return append(codec.AppendInt(make([]byte, 0, len(id)+3), length), id...)
}

// decodeItem reads what encodeItem wrote. id aliases v.
func decodeItem(v []byte) (length uint32, id []byte, err error) {
	n, size := binary.Uvarint(v)
	if size <= 0 || n > maxLength || size == len(v) {
		return 0, nil, corrupt(errors.New("item"))
	}
	return uint32(n), v[size:], nil
}

// posting is one item that holds a term.
type posting struct {
	ordinal ordinal
	count   uint32 // how often, from 1
	length  uint32 // of the item: the sum over its terms
}

// A list is the postings of a term: pairs of (gap << 1 | many) and the length, and the count less 2 between them where many
// is set. The gap is the distance to the ordinal before, less one; that of the first to the list's base.

func appendPosting(b []byte, gap uint32, p posting) []byte {
	if p.count == 1 {
		b = codec.AppendUvarint(b, uint64(gap)<<1)
	} else {
		b = codec.AppendUvarint(b, uint64(gap)<<1|1)
		b = codec.AppendUvarint(b, uint64(p.count-2))
	}
	return codec.AppendUvarint(b, uint64(p.length))
}

func appendList(b []byte, base ordinal, list []posting) []byte {
	for _, p := range list {
		b = appendPosting(b, uint32(p.ordinal-base), p)
		base = p.ordinal + 1
	}
	return b
}

// short reads a number of at most 32 bits that mostly takes a byte or two. size is 0 where there is none.
func short(b []byte) (v uint32, size int) {
	if len(b) >= 1 && b[0] < 0x80 {
		return uint32(b[0]), 1
	}
	return long(b)
}

func long(b []byte) (v uint32, size int) {
	if len(b) >= 2 && b[1] < 0x80 {
		return uint32(b[0]&0x7F) | uint32(b[1])<<7, 2
	}
	n, size := binary.Uvarint(b)
	if size <= 0 || n > math.MaxUint32 {
		return 0, 0
	}
	return uint32(n), size
}

var errList = errors.New("list of postings")

// decodeList appends the n postings of b to dst; nothing may be left over, and none lies before base or beyond end.
// It is where a search spends its time: what takes a byte or two is read in place.
func decodeList(dst []posting, b []byte, base, end ordinal, n int) ([]posting, error) {
	if n > len(b)/2 { // a posting takes two bytes at least
		return dst, errList
	}
	dst = slices.Grow(dst, n)
	o, i := uint64(base), 0
	for range n {
		gap, size := short(b[i:])
		i += size
		p := posting{count: 1}
		if gap&1 != 0 {
			many, s := short(b[i:])
			if s == 0 || many > maxLength-2 {
				return dst, errList
			}
			p.count, i = many+2, i+s
		}
		length, s := short(b[i:])
		o += uint64(gap >> 1)
		if size == 0 || s == 0 || length < p.count || length > maxLength || o > uint64(end) {
			return dst, errList
		}
		p.ordinal, p.length = ordinal(o), length
		dst, i, o = append(dst, p), i+s, o+1
	}
	if i < len(b) {
		return dst, errList
	}
	return dst, nil
}
