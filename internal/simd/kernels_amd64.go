//go:build !purego

package simd

import "golang.org/x/sys/cpu"

// useAVX2 is changed by tests only.
var useAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

//go:noescape
func dotAVX2(a, b *float32, n int) float32

//go:noescape
func l2AVX2(a, b *float32, n int) float32

//go:noescape
func dotGatherAVX2(q *float32, segs **float32, stride uintptr, ids *uint32, n int, out *float32, dim int)

//go:noescape
func l2GatherAVX2(q *float32, segs **float32, stride uintptr, ids *uint32, n int, out *float32, dim int)

//go:noescape
func dotI8GatherAVX2(q *int16, segs **int8, stride uintptr, ids *uint32, n int, out *int32, dim int)

//go:noescape
func dotRowsAVX2(q, rows *float32, stride uintptr, n int, out *float32, dim int)

//go:noescape
func dotI8RowsAVX2(q *int16, rows *int8, stride uintptr, n int, out *int32, dim int)

//go:noescape
func absMaxAVX2(v *float32, n int) float32

//go:noescape
func quantizeAVX2(v *float32, c *int8, n int, inv float32) float32

// dot computes whole registers in assembly and the rest in Go.
func dot(a, b []float32) float32 {
	n := len(a) &^ (FloatPad - 1)
	if !useAVX2 || n == 0 {
		return dotGo(a, b)
	}
	s := dotAVX2(&a[0], &b[0], n)
	for i := n; i < len(a); i++ {
		s += a[i] * b[i]
	}
	return s
}

func l2(a, b []float32) float32 {
	n := len(a) &^ (FloatPad - 1)
	if !useAVX2 || n == 0 {
		return l2Go(a, b)
	}
	s := l2AVX2(&a[0], &b[0], n)
	for i := n; i < len(a); i++ {
		d := a[i] - b[i]
		s += d * d
	}
	return s
}

// padded reports whether rows of n elements can be computed in assembly.
func padded(n, pad int) bool { return useAVX2 && n > 0 && n%pad == 0 }

func dotRows(q, rows []float32, stride int, out []float32) {
	n := len(out) &^ 3
	if !padded(len(q), FloatPad) {
		n = 0
	}
	if n > 0 {
		dotRowsAVX2(&q[0], &rows[0], uintptr(stride)*4, n, &out[0], len(q))
	}
	for i := n; i < len(out); i++ {
		out[i] = dot(q, rows[i*stride:i*stride+len(q)])
	}
}

func l2Rows(q, rows []float32, stride int, out []float32) {
	for i := range out {
		out[i] = l2(q, rows[i*stride:i*stride+len(q)])
	}
}

func dotI8Rows(q []int16, rows []int8, stride int, out []int32) {
	n := len(out) &^ 3
	if !padded(len(q), CodePad) {
		n = 0
	}
	if n > 0 {
		dotI8RowsAVX2(&q[0], &rows[0], uintptr(stride), n, &out[0], len(q))
	}
	for i := n; i < len(out); i++ {
		out[i] = dotWide(q, rows[i*stride:i*stride+len(q)])
	}
}

// dotWide computes one row as a gather of one.
func dotWide(q []int16, row []int8) (out int32) {
	if !padded(len(q), CodePad) {
		return dotWideGo(q, row)
	}
	base, id := &row[0], uint32(0)
	dotI8GatherAVX2(&q[0], &base, 0, &id, 1, &out, len(q))
	return out
}

func dotGather(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	if !padded(len(q), FloatPad) {
		dotGatherGo(q, segs, stride, ids, out)
		return
	}
	dotGatherAVX2(&q[0], &segs[0], uintptr(stride)*4, &ids[0], len(ids), &out[0], len(q))
}

func l2Gather(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	if !padded(len(q), FloatPad) {
		l2GatherGo(q, segs, stride, ids, out)
		return
	}
	l2GatherAVX2(&q[0], &segs[0], uintptr(stride)*4, &ids[0], len(ids), &out[0], len(q))
}

func dotI8Gather(q []int16, segs []*int8, stride int, ids []uint32, out []int32) {
	if !padded(len(q), CodePad) {
		dotI8GatherGo(q, segs, stride, ids, out)
		return
	}
	dotI8GatherAVX2(&q[0], &segs[0], uintptr(stride), &ids[0], len(ids), &out[0], len(q))
}

func absMax(v []float32) float32 {
	n := len(v) &^ 7
	if !useAVX2 || n == 0 {
		return absMaxGo(v)
	}
	return max(absMaxAVX2(&v[0], n), absMaxGo(v[n:]))
}

func quantize(v []float32, codes []int8, inv float32) float32 {
	n := len(v) &^ (CodePad - 1)
	if !useAVX2 || n == 0 {
		return quantizeGo(v, codes, inv)
	}
	err := quantizeAVX2(&v[0], &codes[0], n, inv)
	return err + quantizeGo(v[n:], codes[n:], inv)
}
