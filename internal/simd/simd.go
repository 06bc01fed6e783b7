package simd

import "math/bits"

const (
	// FloatPad is the multiple of len(q) for which float rows are computed in assembly: one AVX register.
	FloatPad = 8
	// CodePad is the same for int8 rows: half an AVX register.
	CodePad = 16
	// SegmentShift turns the number of a gathered row into that of its segment.
	SegmentShift = 8
	// SegmentRows is the number of rows of a segment. 256 keep a small collection small (768 float32:
	// 768 KiB) and the pointer table of a million rows within the second-level cache.
	SegmentRows = 1 << SegmentShift
)

// MaxCodes bounds the length of int8 vectors, whose values are −127 to 127: 127² · MaxCodes still fits
// the int32 result.
const MaxCodes = 1 << 17

// Dot returns Σ aᵢbᵢ. The slices have the same length.
func Dot(a, b []float32) float32 {
	checkSame(len(a), len(b))
	return dot(a, b)
}

// L2 returns Σ (aᵢ−bᵢ)². The slices have the same length.
func L2(a, b []float32) float32 {
	checkSame(len(a), len(b))
	return l2(a, b)
}

// DotI8 returns Σ aᵢbᵢ exactly. The slices have the same length, at most MaxCodes.
func DotI8(a, b []int8) int32 {
	checkSame(len(a), len(b))
	checkCodes(len(a))
	return dotI8(a, b)
}

// DotRows sets out[i] to the dot product of q and row i of rows, which begins at i·stride.
func DotRows(q, rows []float32, stride int, out []float32) {
	checkRows(len(q), len(rows), stride, len(out))
	dotRows(q, rows, stride, out)
}

// L2Rows is DotRows for the squared distance.
func L2Rows(q, rows []float32, stride int, out []float32) {
	checkRows(len(q), len(rows), stride, len(out))
	l2Rows(q, rows, stride, out)
}

// DotI8Rows is DotRows over codes, exact; q has at most MaxCodes.
func DotI8Rows(q, rows []int8, stride int, out []int32) {
	checkCodes(len(q))
	checkRows(len(q), len(rows), stride, len(out))
	dotI8Rows(q, rows, stride, out)
}

// DotGather sets out[i] to the dot product of q and row ids[i] of the segments; out is as long as ids.
// Every segment holds SegmentRows rows of stride elements and len(q) ≤ stride.
func DotGather(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	checkGather(len(q), segs, stride, ids, len(out))
	if len(ids) > 0 {
		dotGather(q, segs, stride, ids, out)
	}
}

// L2Gather is DotGather for the squared distance.
func L2Gather(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	checkGather(len(q), segs, stride, ids, len(out))
	if len(ids) > 0 {
		l2Gather(q, segs, stride, ids, out)
	}
}

// DotI8Gather is DotGather over codes, exact; q has at most MaxCodes.
func DotI8Gather(q []int8, segs []*int8, stride int, ids []uint32, out []int32) {
	checkCodes(len(q))
	checkGather(len(q), segs, stride, ids, len(out))
	if len(ids) > 0 {
		dotI8Gather(q, segs, stride, ids, out)
	}
}

// AbsMax returns max |vᵢ|: 0 for an empty slice, NaN when v holds one.
func AbsMax(v []float32) float32 { return absMax(v) }

// Quantize sets codes[i] to v[i]·inv rounded to the nearest even integer and returns
// Σ (v[i]·inv − codes[i])², the squared rounding error in code steps. The slices have the same length and
// |v[i]·inv| ≤ 127 up to rounding: larger values saturate at ±127. The codes are the same on every machine;
// that of a NaN is unspecified and the result then NaN.
func Quantize(v []float32, codes []int8, inv float32) float32 {
	checkSame(len(v), len(codes))
	return quantize(v, codes, inv)
}

func checkSame(a, b int) {
	if a != b {
		panic("simd: slices of different lengths")
	}
}

func checkCodes(dim int) {
	if dim > MaxCodes {
		panic("simd: more than MaxCodes codes")
	}
}

func checkRows(dim, rows, stride, n int) {
	if stride < dim {
		panic("simd: stride below the length of a row")
	}
	if n == 0 {
		return
	}
	// The product may exceed an int: a stride is any number.
	high, last := bits.Mul64(uint64(n-1), uint64(stride))
	if rows < dim || high != 0 || last > uint64(rows-dim) {
		panic("simd: fewer rows than results")
	}
}

func checkGather[T float32 | int8 | uint64](dim int, segs []*T, stride int, ids []uint32, n int) {
	if stride < dim {
		panic("simd: stride below the length of a row")
	}
	if len(ids) != n {
		panic("simd: ids and results of different lengths")
	}
	for _, id := range ids {
		if at := id >> SegmentShift; uint64(at) >= uint64(len(segs)) || segs[at] == nil {
			panic("simd: id beyond the segments")
		}
	}
}
