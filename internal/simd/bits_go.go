package simd

import (
	"math"
	"math/bits"
)

func hammingGo(q, row []uint64) int32 {
	row = row[:len(q)]
	n := 0
	for i, w := range q {
		n += bits.OnesCount64(w ^ row[i])
	}
	return int32(n)
}

func hammingRowsGo(q, rows []uint64, stride int, out []int32) {
	for i := range out {
		out[i] = hammingGo(q, rows[i*stride:])
	}
}

func hammingGatherGo(q []uint64, segs []*uint64, stride int, ids []uint32, out []int32) {
	for i, id := range ids {
		out[i] = hammingGo(q, row(segs, stride, id, len(q)))
	}
}

func signsGo(v []float32, words []uint64) {
	for i := range words {
		var w uint64
		for j, f := range v[i*wordBits : min((i+1)*wordBits, len(v))] {
			w |= uint64(math.Float32bits(f)>>31) << j
		}
		words[i] = w
	}
}
