package postings

import (
	"errors"
	"math"

	"github.com/glimdb/db/internal/codec"
)

// head is what a block tells of its list.
type head struct {
	count    int    // postings
	most     uint32 // the largest count of one posting
	shortest uint32 // the least length
}

func headOf(list []posting) head {
	h := head{count: len(list), shortest: math.MaxUint32}
	for _, p := range list {
		h.most, h.shortest = max(h.most, p.count), min(h.shortest, p.length)
	}
	return h
}

// appendBlock encodes the postings of one term in an epoch: the head, then the list from the epoch's first ordinal.
func appendBlock(b []byte, e epoch, list []posting) []byte {
	h := headOf(list)
	b = codec.AppendUvarint(b, uint64(h.count))
	b = codec.AppendUvarint(b, uint64(h.most))
	b = codec.AppendUvarint(b, uint64(h.shortest))
	return appendList(b, e.first(), list)
}

// openBlock reads the head and returns the list.
func openBlock(v []byte) (h head, list []byte, err error) {
	var fields [3]uint32
	for i := range fields {
		n, size := short(v)
		if size == 0 {
			return h, nil, corrupt(errors.New("head of a block"))
		}
		fields[i], v = n, v[size:]
	}
	h = head{int(fields[0]), fields[1], fields[2]}
	if h.count == 0 || h.count > epochSize || h.most == 0 {
		return h, nil, corrupt(errors.New("head of a block"))
	}
	return h, v, nil
}

// decodeBlock appends the postings of a block to dst.
func decodeBlock(dst []posting, e epoch, v []byte) ([]posting, error) {
	h, list, err := openBlock(v)
	if err != nil {
		return dst, err
	}
	n := len(dst)
	if dst, err = decodeList(dst, list, e.first(), e.at(epochSize-1), h.count); err == nil && headOf(dst[n:]) != h {
		err = errors.New("the head of a block is not that of its list")
	}
	return dst, corrupt(err)
}
