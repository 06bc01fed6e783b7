//go:build amd64 && !purego

package simd

import "golang.org/x/sys/cpu"

// useAVX2 selects the assembly. Only tests change it, to run both twins. The processor and the operating
// system must support both extensions: there are machines with AVX2 and no FMA.
var useAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// group is the number of rows that one pass of the row kernels computes side by side.
const group = 4

// block bounds the rows of one call into assembly, which the scheduler cannot interrupt: about 5 µs of
// 768 float32 from the cache.
const block = 64

func dot(a, b []float32) float32 {
	n := len(a) &^ (FloatPad - 1)
	if !useAVX2 || n == 0 {
		return dotGo(a, b)
	}
	s := dotAVX2(&a[0], &b[0], n)
	if n < len(a) {
		s += dotGo(a[n:], b[n:])
	}
	return s
}

func l2(a, b []float32) float32 {
	n := len(a) &^ (FloatPad - 1)
	if !useAVX2 || n == 0 {
		return l2Go(a, b)
	}
	s := l2AVX2(&a[0], &b[0], n)
	if n < len(a) {
		s += l2Go(a[n:], b[n:])
	}
	return s
}

func dotI8(a, b []int8) int32 {
	n := len(a) &^ (CodePad - 1)
	if !useAVX2 || n == 0 {
		return dotI8Go(a, b)
	}
	return dotI8AVX2(&a[0], &b[0], n) + dotI8Go(a[n:], b[n:])
}

func absMax(v []float32) float32 {
	n := len(v) &^ (FloatPad - 1)
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
	if n < len(v) {
		err += quantizeGo(v[n:], codes[n:], inv)
	}
	return err
}

func dotRows(q, rows []float32, stride int, out []float32) {
	if !useAVX2 || !whole(len(q), FloatPad) {
		dotRowsGo(q, rows, stride, out)
		return
	}
	for len(out) >= group {
		n := min(len(out), block) &^ (group - 1)
		dotRowsAVX2(&q[0], &rows[0], 4*stride, n, &out[0], len(q))
		rows, out = rows[min(n*stride, len(rows)):], out[n:]
	}
	for i := range out {
		out[i] = dotAVX2(&q[0], &rows[i*stride], len(q))
	}
}

func l2Rows(q, rows []float32, stride int, out []float32) {
	if !useAVX2 || !whole(len(q), FloatPad) {
		l2RowsGo(q, rows, stride, out)
		return
	}
	for len(out) >= group {
		n := min(len(out), block) &^ (group - 1)
		l2RowsAVX2(&q[0], &rows[0], 4*stride, n, &out[0], len(q))
		rows, out = rows[min(n*stride, len(rows)):], out[n:]
	}
	for i := range out {
		out[i] = l2AVX2(&q[0], &rows[i*stride], len(q))
	}
}

func dotI8Rows(q, rows []int8, stride int, out []int32) {
	if !useAVX2 || !whole(len(q), CodePad) {
		dotI8RowsGo(q, rows, stride, out)
		return
	}
	for len(out) >= group {
		n := min(len(out), block) &^ (group - 1)
		dotI8RowsAVX2(&q[0], &rows[0], stride, n, &out[0], len(q))
		rows, out = rows[min(n*stride, len(rows)):], out[n:]
	}
	for i := range out {
		out[i] = dotI8AVX2(&q[0], &rows[i*stride], len(q))
	}
}

func dotGather(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	if !useAVX2 || !whole(len(q), FloatPad) {
		dotGatherGo(q, segs, stride, ids, out)
		return
	}
	for len(ids) >= group {
		n := min(len(ids), block) &^ (group - 1)
		dotGatherAVX2(&q[0], &segs[0], 4*stride, &ids[0], &ids[len(ids)-group], n, &out[0], len(q))
		ids, out = ids[n:], out[n:]
	}
	if len(ids) == 1 {
		out[0] = dotAVX2(&q[0], &row(segs, stride, ids[0], len(q))[0], len(q))
	} else if len(ids) > 1 {
		few, res := fill(ids), [group]float32{}
		dotGatherAVX2(&q[0], &segs[0], 4*stride, &few[0], &few[0], group, &res[0], len(q))
		copy(out, res[:])
	}
}

func l2Gather(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	if !useAVX2 || !whole(len(q), FloatPad) {
		l2GatherGo(q, segs, stride, ids, out)
		return
	}
	for len(ids) >= group {
		n := min(len(ids), block) &^ (group - 1)
		l2GatherAVX2(&q[0], &segs[0], 4*stride, &ids[0], &ids[len(ids)-group], n, &out[0], len(q))
		ids, out = ids[n:], out[n:]
	}
	if len(ids) == 1 {
		out[0] = l2AVX2(&q[0], &row(segs, stride, ids[0], len(q))[0], len(q))
	} else if len(ids) > 1 {
		few, res := fill(ids), [group]float32{}
		l2GatherAVX2(&q[0], &segs[0], 4*stride, &few[0], &few[0], group, &res[0], len(q))
		copy(out, res[:])
	}
}

func dotI8Gather(q []int8, segs []*int8, stride int, ids []uint32, out []int32) {
	if !useAVX2 || !whole(len(q), CodePad) {
		dotI8GatherGo(q, segs, stride, ids, out)
		return
	}
	for len(ids) >= group {
		n := min(len(ids), block) &^ (group - 1)
		dotI8GatherAVX2(&q[0], &segs[0], stride, &ids[0], &ids[len(ids)-group], n, &out[0], len(q))
		ids, out = ids[n:], out[n:]
	}
	if len(ids) == 1 {
		out[0] = dotI8AVX2(&q[0], &row(segs, stride, ids[0], len(q))[0], len(q))
	} else if len(ids) > 1 {
		few, res := fill(ids), [group]int32{}
		dotI8GatherAVX2(&q[0], &segs[0], stride, &few[0], &few[0], group, &res[0], len(q))
		copy(out, res[:])
	}
}

// whole reports whether rows of n elements are computed in assembly.
func whole(n, pad int) bool { return n > 0 && n&(pad-1) == 0 }

// fill returns two or three ids as a group, the last one repeated: rows that wait for memory side by side
// are faster than one after the other, and a repeated row is in the cache.
func fill(ids []uint32) (g [group]uint32) {
	last := ids[len(ids)-1]
	g = [group]uint32{last, last, last, last}
	copy(g[:], ids)
	return g
}

// The kernels check nothing. n and dim count elements and are positive multiples of FloatPad or, for int8,
// of CodePad; strides count bytes; the number of rows is a positive multiple of group.

//go:noescape
func dotAVX2(a, b *float32, n int) float32

//go:noescape
func l2AVX2(a, b *float32, n int) float32

//go:noescape
func dotI8AVX2(a, b *int8, n int) int32

//go:noescape
func absMaxAVX2(v *float32, n int) float32

//go:noescape
func quantizeAVX2(v *float32, codes *int8, n int, inv float32) float32

//go:noescape
func dotRowsAVX2(q, rows *float32, stride, n int, out *float32, dim int)

//go:noescape
func l2RowsAVX2(q, rows *float32, stride, n int, out *float32, dim int)

//go:noescape
func dotI8RowsAVX2(q, rows *int8, stride, n int, out *int32, dim int)

// The gather kernels prefetch the group of rows after the one they compute; last points at the last group
// of ids that may be read for that, which may lie beyond the n ids computed.

//go:noescape
func dotGatherAVX2(q *float32, segs **float32, stride int, ids, last *uint32, n int, out *float32, dim int)

//go:noescape
func l2GatherAVX2(q *float32, segs **float32, stride int, ids, last *uint32, n int, out *float32, dim int)

//go:noescape
func dotI8GatherAVX2(q *int8, segs **int8, stride int, ids, last *uint32, n int, out *int32, dim int)
