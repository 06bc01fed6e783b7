package simd

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// FuzzTwins gives any bits to both implementations. Where nothing overflows each keeps within the bound of
// M1 of the exact sum; NaN and infinities come out alike; int8 results, codes and magnitudes are equal.
func FuzzTwins(f *testing.F) {
	bytes := func(v []float32) []byte {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 7, 8, 16, 40, 100} {
		f.Add(bytes(values(r, 2*n, 0)), float32(40), uint8(n))
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	f.Add(bytes([]float32{inf, -inf, nan, 0, 1, 2, 3, 4, 5, 6, 7, 8, inf, 1, -1, inf}), float32(1), uint8(2))
	f.Add(bytes(make([]float32, 64)), inf, uint8(33))
	f.Add(bytes([]float32{1e38, 1e38, -1e38, 1e-45, 1e-38, 3e38, 1e20, -1e20}), float32(1e-38), uint8(4))
	f.Add(bytes([]float32{inf, -1e-10, -5e19, -1e28}), float32(156), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, inv float32, picked uint8) {
		n := len(data) / 8
		a, b := make([]float32, n), make([]float32, n)
		for i := range n {
			a[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[8*i:]))
			b[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[8*i+4:]))
		}
		agree(t, "dot", dot(a, b), dotGo(a, b), exactDot(a, b))
		agree(t, "l2", l2(a, b), l2Go(a, b), exactL2(a, b))
		if x, y := absMax(a), absMaxGo(a); x != y && (x == x || y == y) {
			t.Errorf("abs max of %v: %v, in Go %v", a, x, y)
		}
		agreeQuantize(t, a, inv)
		agreeRows(t, a, b, int(picked))

		q, row := make([]int8, len(data)/2), make([]int8, len(data)/2)
		for i := range q {
			q[i], row[i] = max(int8(data[2*i]), -127), max(int8(data[2*i+1]), -127) // −128 is no code
		}
		agreeCodes(t, q, row, int(picked))
		agreeBits(t, a, b, int(picked))
	})
}

func agree(t *testing.T, what string, native, twin float32, want exact) {
	t.Helper()
	switch {
	case math.IsNaN(want.sum):
		if native == native || twin == twin {
			t.Errorf("%s: %v, in Go %v, want NaN", what, native, twin)
		}
	case math.IsInf(want.sum, 0) && want.finite > math.MaxFloat32/4: // in float32 it may meet the other infinity
	case math.IsInf(want.sum, 0):
		if float64(native) != want.sum || float64(twin) != want.sum {
			t.Errorf("%s: %v, in Go %v, want %v", what, native, twin, want.sum)
		}
	case want.overflows():
	case !want.holds(native) || !want.holds(twin):
		t.Errorf("%s of %d values: %v, in Go %v, want %v", what, want.n, native, twin, want.sum)
	}
}

func agreeQuantize(t *testing.T, v []float32, inv float32) {
	t.Helper()
	native, twin := make([]int8, len(v)), make([]int8, len(v))
	x, y := quantize(v, native, inv), quantizeGo(v, twin, inv)
	want := exact{n: len(v)}
	for i, f := range v {
		steps := float32(f * inv)
		if steps == steps && native[i] != twin[i] {
			t.Errorf("%v steps rounded to %d, in Go to %d", steps, native[i], twin[i])
		}
		d := float64(steps) - min(max(math.RoundToEven(float64(steps)), -127), 127)
		want.sum += d * d
	}
	want.abs = want.sum
	agree(t, "rounding error", x, y, want)
}

// agreeRows asks for rows of b, laid out from a picked place on.
func agreeRows(t *testing.T, q, b []float32, picked int) {
	t.Helper()
	stride := len(q) + picked&7
	n, seg := 1+picked%9, make([]float32, max(1, SegmentRows*stride))
	ids, dots, dists := make([]uint32, n), make([]float32, n), make([]float32, n)
	for i := range ids {
		ids[i] = uint32((picked + i*i) % SegmentRows)
		copy(seg[int(ids[i])*stride:], b)
	}
	DotGather(q, []*float32{&seg[0]}, stride, ids, dots)
	L2Gather(q, []*float32{&seg[0]}, stride, ids, dists)
	for i := range ids {
		agree(t, "gathered dot", dots[i], dotGo(q, b), exactDot(q, b))
		agree(t, "gathered l2", dists[i], l2Go(q, b), exactL2(q, b))
	}
	for i := range n {
		copy(seg[i*stride:], b)
	}
	DotRows(q, seg, stride, dots)
	L2Rows(q, seg, stride, dists)
	for i := range n {
		agree(t, "dot of rows", dots[i], dotGo(q, b), exactDot(q, b))
		agree(t, "l2 of rows", dists[i], l2Go(q, b), exactL2(q, b))
	}
}

func agreeCodes(t *testing.T, q, row []int8, picked int) {
	t.Helper()
	if len(q) > MaxCodes {
		return
	}
	want := dotI8Go(q, row)
	if got := dotI8(q, row); got != want {
		t.Errorf("product of codes: %d, in Go %d", got, want)
	}
	stride := len(q) + picked&7
	n, seg := 1+picked%9, make([]int8, max(1, SegmentRows*stride))
	ids, sums := make([]uint32, n), make([]int32, n)
	for i := range ids {
		ids[i] = uint32((picked + i*i) % SegmentRows)
		copy(seg[int(ids[i])*stride:], row)
	}
	DotI8Gather(q, []*int8{&seg[0]}, stride, ids, sums)
	for i, got := range sums {
		if got != want {
			t.Errorf("gathered product of codes, %d of %d: %d, in Go %d", i, n, got, want)
		}
	}
	for i := range n {
		copy(seg[i*stride:], row)
	}
	DotI8Rows(q, seg, stride, sums)
	for i, got := range sums {
		if got != want {
			t.Errorf("row product of codes, %d of %d: %d, in Go %d", i, n, got, want)
		}
	}
}

// agreeBits compares the signs of any floats, and their bits as if each were two signs.
func agreeBits(t *testing.T, a, b []float32, picked int) {
	t.Helper()
	native, twin := make([]uint64, Words(len(a))), make([]uint64, Words(len(a)))
	Signs(a, native)
	if signsGo(a, twin); !slices.Equal(native, twin) {
		t.Errorf("signs of %v: %x, in Go %x", a, native, twin)
	}
	q, row := make([]uint64, len(a)/2), make([]uint64, len(a)/2)
	for i := range q {
		q[i] = uint64(math.Float32bits(a[2*i]))<<32 | uint64(math.Float32bits(a[2*i+1]))
		row[i] = uint64(math.Float32bits(b[2*i]))<<32 | uint64(math.Float32bits(b[2*i+1]))
	}
	want := hammingGo(q, row)
	stride := len(q) + picked&7
	n, seg := 1+picked%9, make([]uint64, max(1, SegmentRows*stride))
	ids, sums := make([]uint32, n), make([]int32, n)
	for i := range ids {
		ids[i] = uint32((picked + i*i) % SegmentRows)
		copy(seg[int(ids[i])*stride:], row)
	}
	HammingGather(q, []*uint64{&seg[0]}, stride, ids, sums)
	for i, got := range sums {
		if got != want {
			t.Errorf("gathered row, %d of %d: %d bits differ, in Go %d", i, n, got, want)
		}
	}
	for i := range n {
		copy(seg[i*stride:], row)
	}
	HammingRows(q, seg, stride, sums)
	for i, got := range sums {
		if got != want {
			t.Errorf("row, %d of %d: %d bits differ, in Go %d", i, n, got, want)
		}
	}
}
