package simd

const (
	// FloatPad is the multiple of len(q) for which float rows are computed in assembly: one AVX register.
	FloatPad = 8
	// CodePad is the same for int8 rows: sixteen codes widen to one AVX register of int16.
	CodePad = 16
	// SegmentShift and SegmentRows shape gathered storage. 256 rows keep a small collection small (768
	// float32: 768 KiB) and the pointer table of a million rows within the second-level cache.
	SegmentShift = 8
	SegmentRows  = 1 << SegmentShift
)

// MaxCodes bounds the length of int8 vectors: 127² · MaxCodes still fits the int32 result.
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
	return dotI8Go(a, b)
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

// DotI8Rows is DotRows over codes; q holds int8 values, widened once by the caller.
func DotI8Rows(q []int16, rows []int8, stride int, out []int32) {
	checkRows(len(q), len(rows), stride, len(out))
	dotI8Rows(q, rows, stride, out)
}

// DotGather sets out[i] to the dot product of q and row ids[i] of the segments; out is as long as ids.
// Every segment holds SegmentRows rows of stride elements and len(q) ≤ stride.
func DotGather(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	checkGather(len(q), len(segs), stride, ids, len(out))
	if len(ids) > 0 {
		dotGather(q, segs, stride, ids, out)
	}
}

// L2Gather is DotGather for the squared distance.
func L2Gather(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	checkGather(len(q), len(segs), stride, ids, len(out))
	if len(ids) > 0 {
		l2Gather(q, segs, stride, ids, out)
	}
}

// DotI8Gather is DotGather over codes; q holds int8 values, widened once by the caller.
func DotI8Gather(q []int16, segs []*int8, stride int, ids []uint32, out []int32) {
	checkGather(len(q), len(segs), stride, ids, len(out))
	if len(ids) > 0 {
		dotI8Gather(q, segs, stride, ids, out)
	}
}

// AbsMax returns max |vᵢ|, 0 for an empty slice. v holds no NaN.
func AbsMax(v []float32) float32 { return absMax(v) }

// Quantize sets codes[i] to v[i]·inv rounded to the nearest even integer and returns
// Σ (v[i]·inv − codes[i])², the squared rounding error in code steps. The slices have the same length and
// |v[i]·inv| ≤ 127 up to rounding: larger values saturate at ±127.
func Quantize(v []float32, codes []int8, inv float32) float32 {
	checkSame(len(v), len(codes))
	return quantize(v, codes, inv)
}

func checkSame(a, b int) {
	if a != b {
		panic("simd: slices of different lengths")
	}
}

func checkRows(dim, rows, stride, n int) {
	if stride < dim {
		panic("simd: stride below the length of a row")
	}
	if n > 0 && rows < (n-1)*stride+dim {
		panic("simd: fewer rows than results")
	}
}

func checkGather(dim, segs, stride int, ids []uint32, n int) {
	if stride < dim {
		panic("simd: stride below the length of a row")
	}
	if len(ids) != n {
		panic("simd: ids and results of different lengths")
	}
	top := uint32(0)
	for _, id := range ids {
		top = max(top, id)
	}
	if n > 0 && int(top>>SegmentShift) >= segs {
		panic("simd: id beyond the segments")
	}
}
