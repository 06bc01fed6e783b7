package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// benchDim is the dimension of common embedding models.
const benchDim = 768

// twins runs loop as this machine would and with the Go twins, and checks the answer of each.
func twins(b *testing.B, name string, bytes int64, call func(), right func() bool) {
	run := func(b *testing.B) {
		call()
		if !right() {
			b.Fatal("wrong answer")
		}
		b.SetBytes(bytes)
		b.ReportAllocs()
		for b.Loop() {
			call()
		}
	}
	b.Run(name+"/native", run)
	b.Run(name+"/go", func(b *testing.B) {
		defer forceGo()()
		run(b)
	})
}

func BenchmarkOneRow(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	x, y := values(r, benchDim, 0), values(r, benchDim, 0)
	var got float32
	twins(b, "dot", 4*benchDim, func() { got = Dot(x, y) }, func() bool { return exactDot(x, y).holds(got) })
	twins(b, "l2", 4*benchDim, func() { got = L2(x, y) }, func() bool { return exactL2(x, y).holds(got) })

	c, d, sum := codes(r, benchDim), codes(r, benchDim), int32(0)
	twins(b, "codes", benchDim, func() { sum = DotI8(c, d) }, func() bool { return sum == dotI8Go(c, d) })

	signed := make([]uint64, Words(benchDim))
	twins(b, "signs", 4*benchDim, func() { Signs(x, signed) }, func() bool {
		return signed[7]>>52&1 == uint64(math.Float32bits(x[500])>>31)
	})

	x[500] = -9
	twins(b, "absmax", 4*benchDim, func() { got = AbsMax(x) }, func() bool { return got == 9 })
	twins(b, "quantize", 4*benchDim, func() { got = Quantize(x, c, 127.0/9) }, func() bool {
		return c[500] == -127 && got > 0 && got <= benchDim/4
	})
}

// BenchmarkGather reads rows from the cache, and cold: at random from more rows than any cache holds, as a
// graph search does.
func BenchmarkGather(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	q, coded, signs := values(r, benchDim, 0), codes(r, benchDim), words(r, benchDim/64)
	for _, size := range []struct {
		name string
		segs int
	}{{"cache", 1}, {"cold", 200}} {
		// Filling so many rows with their own values takes long; segments share those of the first.
		floats, bytes, bits := make([]*float32, size.segs), make([]*int8, size.segs), make([]*uint64, size.segs)
		first, firstCodes, firstBits := values(r, SegmentRows*benchDim, 0), codes(r, SegmentRows*benchDim), words(r, SegmentRows*benchDim/64)
		for i := range floats {
			f, c, w := slices.Clone(first), slices.Clone(firstCodes), slices.Clone(firstBits)
			floats[i], bytes[i], bits[i] = &f[0], &c[0], &w[0]
		}
		ids := make([]uint32, 1<<14)
		for i := range ids {
			ids[i] = uint32(r.IntN(size.segs * SegmentRows))
		}
		for _, n := range []int{3, 32} {
			out, sums, at, list := make([]float32, n), make([]int32, n), 0, ids[:n]
			next := func() {
				list = ids[at : at+n]
				at += n
				if at+n > len(ids) {
					at = 0
				}
			}
			of := func(i int) []float32 {
				at := int(list[i]%SegmentRows) * benchDim
				return first[at : at+benchDim]
			}
			name := func(kernel string) string { return fmt.Sprintf("%s/%s/rows=%d", kernel, size.name, n) }
			all := func(right func(i int) bool) func() bool {
				return func() bool {
					for i := range n {
						if !right(i) {
							return false
						}
					}
					return true
				}
			}
			twins(b, name("dot"), int64(4*benchDim*n), func() { next(); DotGather(q, floats, benchDim, list, out) },
				all(func(i int) bool { return exactDot(q, of(i)).holds(out[i]) }))
			twins(b, name("l2"), int64(4*benchDim*n), func() { next(); L2Gather(q, floats, benchDim, list, out) },
				all(func(i int) bool { return exactL2(q, of(i)).holds(out[i]) }))
			twins(b, name("codes"), int64(benchDim*n), func() { next(); DotI8Gather(coded, bytes, benchDim, list, sums) },
				all(func(i int) bool {
					at := int(list[i]%SegmentRows) * benchDim
					return sums[i] == dotI8Go(coded, firstCodes[at:at+benchDim])
				}))
			twins(b, name("bits"), int64(benchDim/8*n), func() { next(); HammingGather(signs, bits, benchDim/64, list, sums) },
				all(func(i int) bool {
					at := int(list[i]%SegmentRows) * benchDim / 64
					return sums[i] == hammingGo(signs, firstBits[at:at+benchDim/64])
				}))
		}
	}
}

// BenchmarkRows scans one segment.
func BenchmarkRows(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = SegmentRows
	q, coded := values(r, benchDim, 0), codes(r, benchDim)
	rows, bytes := values(r, n*benchDim, 0), codes(r, n*benchDim)
	out, sums := make([]float32, n), make([]int32, n)
	last := (n - 1) * benchDim
	twins(b, "dot", 4*benchDim*n, func() { DotRows(q, rows, benchDim, out) },
		func() bool { return exactDot(q, rows[last:]).holds(out[n-1]) })
	twins(b, "l2", 4*benchDim*n, func() { L2Rows(q, rows, benchDim, out) },
		func() bool { return exactL2(q, rows[last:]).holds(out[n-1]) })
	twins(b, "codes", benchDim*n, func() { DotI8Rows(coded, bytes, benchDim, sums) },
		func() bool { return sums[n-1] == dotI8Go(coded, bytes[last:]) })
	signs, bits := words(r, benchDim/64), words(r, n*benchDim/64)
	twins(b, "bits", benchDim/8*n, func() { HammingRows(signs, bits, benchDim/64, sums) },
		func() bool { return sums[n-1] == hammingGo(signs, bits[last/64:]) })
}
