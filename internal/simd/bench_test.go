package simd

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkGather(b *testing.B) {
	const dim, rows, n = 768, 4 * SegmentRows, 32
	r := rand.New(rand.NewPCG(1, 1))
	floats, bytes := make([][]float32, rows), make([][]int8, rows)
	for i := range floats {
		floats[i], bytes[i] = values(r, dim, 0), codes(r, dim)
	}
	fs, cs := segmented(floats, dim), segmented(bytes, dim)
	q, wide := values(r, dim, 0), make([]int16, dim)
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(r.IntN(rows))
	}
	out, sums := make([]float32, n), make([]int32, n)
	b.Run("dot", func(b *testing.B) {
		b.SetBytes(4 * dim * n)
		for b.Loop() {
			DotGather(q, fs, dim, ids, out)
		}
	})
	b.Run("l2", func(b *testing.B) {
		b.SetBytes(4 * dim * n)
		for b.Loop() {
			L2Gather(q, fs, dim, ids, out)
		}
	})
	b.Run("codes", func(b *testing.B) {
		b.SetBytes(dim * n)
		for b.Loop() {
			DotI8Gather(wide, cs, dim, ids, sums)
		}
	})
	b.Run("one", func(b *testing.B) {
		b.SetBytes(4 * dim)
		for b.Loop() {
			Dot(q, floats[0])
		}
	})
}
