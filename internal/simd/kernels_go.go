package simd

import (
	"math"
	"unsafe"
)

// The Go twins: compiled everywhere, the reference in tests. Eight running sums keep the rounding error
// near that of the vector kernels and let the processor overlap the additions.

func dotGo(a, b []float32) float32 {
	var s [8]float32
	for len(a) >= 8 && len(b) >= 8 {
		s[0] += a[0] * b[0]
		s[1] += a[1] * b[1]
		s[2] += a[2] * b[2]
		s[3] += a[3] * b[3]
		s[4] += a[4] * b[4]
		s[5] += a[5] * b[5]
		s[6] += a[6] * b[6]
		s[7] += a[7] * b[7]
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s[i&7] += a[i] * b[i]
	}
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

func l2Go(a, b []float32) float32 {
	var s [8]float32
	for len(a) >= 8 && len(b) >= 8 {
		for i := range s {
			d := a[i] - b[i]
			s[i] += d * d
		}
		a, b = a[8:], b[8:]
	}
	for i := range a {
		d := a[i] - b[i]
		s[i&7] += d * d
	}
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

func dotI8Go(q, row []int8) int32 {
	row = row[:len(q)]
	var s0, s1, s2, s3 int32
	n := len(q) &^ 3
	for i := 0; i < n; i += 4 {
		s0 += int32(q[i]) * int32(row[i])
		s1 += int32(q[i+1]) * int32(row[i+1])
		s2 += int32(q[i+2]) * int32(row[i+2])
		s3 += int32(q[i+3]) * int32(row[i+3])
	}
	for i := n; i < len(q); i++ {
		s0 += int32(q[i]) * int32(row[i])
	}
	return s0 + s1 + s2 + s3
}

func dotRowsGo(q, rows []float32, stride int, out []float32) {
	for i := range out {
		out[i] = dotGo(q, rows[i*stride:i*stride+len(q)])
	}
}

func l2RowsGo(q, rows []float32, stride int, out []float32) {
	for i := range out {
		out[i] = l2Go(q, rows[i*stride:i*stride+len(q)])
	}
}

func dotI8RowsGo(q, rows []int8, stride int, out []int32) {
	for i := range out {
		out[i] = dotI8Go(q, rows[i*stride:i*stride+len(q)])
	}
}

// row returns row id of the segments.
func row[T float32 | int8 | uint64](segs []*T, stride int, id uint32, n int) []T {
	base := unsafe.Slice(segs[id>>SegmentShift], SegmentRows*stride)
	at := int(id&(SegmentRows-1)) * stride
	return base[at : at+n]
}

func dotGatherGo(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	for i, id := range ids {
		out[i] = dotGo(q, row(segs, stride, id, len(q)))
	}
}

func l2GatherGo(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	for i, id := range ids {
		out[i] = l2Go(q, row(segs, stride, id, len(q)))
	}
}

func dotI8GatherGo(q []int8, segs []*int8, stride int, ids []uint32, out []int32) {
	for i, id := range ids {
		out[i] = dotI8Go(q, row(segs, stride, id, len(q)))
	}
}

func absMaxGo(v []float32) float32 {
	var m float32
	for _, f := range v {
		m = max(m, max(f, -f))
	}
	return m
}

func quantizeGo(v []float32, codes []int8, inv float32) float32 {
	var err float32
	for i, f := range v {
		x := float32(f * inv) // the conversion keeps it from being fused into x - r
		r := float32(math.RoundToEven(float64(x)))
		r = min(max(r, -127), 127)
		codes[i] = int8(r)
		err += (x - r) * (x - r)
	}
	return err
}
