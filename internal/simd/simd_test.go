package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// both runs f with the assembly of this machine, when there is any, and with the Go twins.
func both(t *testing.T, f func(t *testing.T)) {
	t.Run("native", f)
	t.Run("go", func(t *testing.T) {
		defer forceGo()()
		f(t)
	})
}

const maxLen = 130

// values returns n floats at an odd offset, so that no vector load is aligned.
func values(r *rand.Rand, n, offset int) []float32 {
	v := make([]float32, n+offset)[offset:]
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// within fails when got is further from the exact sum of terms than n·2⁻²⁴·Σ|term| (M1), the last terms
// being products that are rounded once more.
func within(t *testing.T, what string, n int, got float32, terms []float64) {
	t.Helper()
	var sum, abs float64
	for _, x := range terms {
		sum += x
		abs += math.Abs(x)
	}
	bound := float64(n+2) * 0x1p-24 * abs
	if d := math.Abs(float64(got) - sum); !(d <= bound+math.SmallestNonzeroFloat32) {
		t.Errorf("%s of %d values: %v, want %v within %v", what, n, got, sum, bound)
	}
}

func products(a, b []float32) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = float64(a[i]) * float64(b[i])
	}
	return out
}

func squares(a, b []float32) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		d := float64(a[i] - b[i]) // the kernels round the difference, too
		out[i] = d * d
	}
	return out
}

func TestOneRow(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for n := 0; n <= maxLen; n++ {
			for offset := range 3 {
				a, b := values(r, n, offset), values(r, n, 2-offset)
				within(t, "dot", n, Dot(a, b), products(a, b))
				within(t, "l2", n, L2(a, b), squares(a, b))
				want := float32(0)
				for _, f := range a {
					want = max(want, float32(math.Abs(float64(f))))
				}
				if got := AbsMax(a); got != want {
					t.Errorf("abs max of %d values: %v, want %v", n, got, want)
				}
			}
		}
	})
}

func TestSpecialValues(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	both(t, func(t *testing.T) {
		for _, n := range []int{1, 7, 8, 9, 31, 32, 33, 100} {
			for at := range n {
				a, b := make([]float32, n), make([]float32, n)
				for i := range a {
					a[i], b[i] = 1, 1
				}
				a[at] = nan
				if d, l := Dot(a, b), L2(a, b); d == d || l == l {
					t.Errorf("NaN at %d of %d is lost: %v %v", at, n, d, l)
				}
				a[at] = inf
				if d, l := Dot(a, b), L2(a, b); d != inf || l != inf {
					t.Errorf("infinity at %d of %d: %v %v", at, n, d, l)
				}
				a[at], b[at] = inf, 0
				if d := Dot(a, b); d == d {
					t.Errorf("infinity times zero at %d of %d is %v", at, n, d)
				}
			}
		}
		tiny := []float32{math.SmallestNonzeroFloat32, 3e-40, -2e-45, 1e-38, 5e-39, 1e-41, 7e-40, 1e-44, 2e-40}
		one := []float32{1, 1, 1, 1, 1, 1, 1, 1, 1}
		within(t, "dot of denormals", len(tiny), Dot(tiny, one), products(tiny, one))
		if got := AbsMax(tiny); got != 1e-38 {
			t.Errorf("abs max of denormals: %v", got)
		}
	})
}

// segmented lays rows out as the gather kernels want them.
func segmented[T any](rows [][]T, stride int) []*T {
	segs := make([]*T, (len(rows)+SegmentRows-1)/SegmentRows)
	for s := range segs {
		seg := make([]T, SegmentRows*stride)
		for i, row := range rows[s*SegmentRows:min((s+1)*SegmentRows, len(rows))] {
			copy(seg[i*stride:], row)
		}
		segs[s] = &seg[0]
	}
	return segs
}

func flat[T any](rows [][]T, stride int) []T {
	out := make([]T, len(rows)*stride)
	for i, row := range rows {
		copy(out[i*stride:], row)
	}
	return out
}

func TestRowsAndGather(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		const rows = SegmentRows + 20
		for _, dim := range []int{1, 7, 8, 9, 16, 24, 31, 40, 64, 72, 100, 104, 128} {
			stride := dim + r.IntN(9)
			q := values(r, dim, 1)
			all := make([][]float32, rows)
			for i := range all {
				all[i] = values(r, dim, 0)
			}
			segs, block := segmented(all, stride), flat(all, stride)
			for n := range 20 {
				ids := make([]uint32, n)
				for i := range ids {
					ids[i] = uint32(r.IntN(rows))
				}
				out := make([]float32, n+1)
				out[n] = 77
				DotGather(q, segs, stride, ids, out[:n])
				for i, id := range ids {
					within(t, "gathered dot", dim, out[i], products(q, all[id]))
				}
				L2Gather(q, segs, stride, ids, out[:n])
				for i, id := range ids {
					within(t, "gathered l2", dim, out[i], squares(q, all[id]))
				}
				DotRows(q, block, stride, out[:n])
				for i := range n {
					within(t, "dot of rows", dim, out[i], products(q, all[i]))
				}
				L2Rows(q, block, stride, out[:n])
				for i := range n {
					within(t, "l2 of rows", dim, out[i], squares(q, all[i]))
				}
				if out[n] != 77 {
					t.Fatalf("%d results of %d dimensions: written behind the end", n, dim)
				}
			}
		}
	})
}

func codes(r *rand.Rand, n int) []int8 {
	v := make([]int8, n)
	for i := range v {
		switch r.IntN(4) {
		case 0:
			v[i] = -127
		case 1:
			v[i] = 127
		default:
			v[i] = int8(r.IntN(255) - 127)
		}
	}
	return v
}

func TestCodes(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		const rows = SegmentRows + 20
		for dim := 0; dim <= maxLen; dim++ {
			stride := dim + r.IntN(9)
			q := codes(r, dim)
			wide := make([]int16, dim)
			for i, c := range q {
				wide[i] = int16(c)
			}
			all := make([][]int8, rows)
			want := make([]int32, rows)
			for i := range all {
				all[i] = codes(r, dim)
				for j := range q {
					want[i] += int32(q[j]) * int32(all[i][j])
				}
				if got := DotI8(q, all[i]); got != want[i] {
					t.Fatalf("product of %d codes: %d, want %d", dim, got, want[i])
				}
			}
			if stride == 0 {
				continue
			}
			segs, block := segmented(all, stride), flat(all, stride)
			for n := range 14 {
				ids := make([]uint32, n)
				for i := range ids {
					ids[i] = uint32(r.IntN(rows))
				}
				out := make([]int32, n+1)
				out[n] = 77
				DotI8Gather(wide, segs, stride, ids, out[:n])
				for i, id := range ids {
					if out[i] != want[id] {
						t.Fatalf("gathered product of %d codes: %d, want %d", dim, out[i], want[id])
					}
				}
				DotI8Rows(wide, block, stride, out[:n])
				for i := range n {
					if out[i] != want[i] {
						t.Fatalf("row product of %d codes: %d, want %d", dim, out[i], want[i])
					}
				}
				if out[n] != 77 {
					t.Fatalf("%d results of %d codes: written behind the end", n, dim)
				}
			}
		}
	})
}

// The largest product of MaxCodes codes must not overflow.
func TestCodesDoNotOverflow(t *testing.T) {
	both(t, func(t *testing.T) {
		q, row := make([]int16, MaxCodes), make([]int8, MaxCodes)
		for i := range q {
			q[i], row[i] = -127, 127
		}
		out := make([]int32, 1)
		DotI8Rows(q, row, MaxCodes, out)
		if want := int32(-127 * 127 * MaxCodes); out[0] != want {
			t.Errorf("got %d, want %d", out[0], want)
		}
	})
}

func TestQuantize(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for n := 0; n <= maxLen; n++ {
			v := values(r, n, n%3)
			inv := float32(1)
			if m := AbsMax(v); m > 0 {
				inv = 127 / m
			}
			got := make([]int8, n+1)
			got[n] = 77
			err := Quantize(v, got[:n], inv)
			var want float64
			for i, f := range v {
				x := float64(f * inv)
				c := math.RoundToEven(x)
				if float64(got[i]) != c {
					t.Errorf("%v steps rounded to %d", x, got[i])
				}
				want += (x - c) * (x - c)
			}
			if math.Abs(float64(err)-want) > 1e-4*(1+want) {
				t.Errorf("error of %d values: %v, want %v", n, err, want)
			}
			if got[n] != 77 {
				t.Fatalf("%d codes: written behind the end", n)
			}
		}
		out := make([]int8, 20)
		Quantize([]float32{1000, -1000, 127.4, -127.4, 0.5, 1.5, 2.5, -0.5, 1e9, -1e9, 0, 1, 2, 3, 4, 5, 1000, -1000, 0.4, 7}, out, 1)
		for i, want := range []int8{127, -127, 127, -127, 0, 2, 2, 0, 127, -127, 0, 1, 2, 3, 4, 5, 127, -127, 0, 7} {
			if out[i] != want {
				t.Errorf("code %d is %d, want %d", i, out[i], want)
			}
		}
	})
}

func TestLengthsAreChecked(t *testing.T) {
	seg := make([]float32, SegmentRows*8)
	segs := []*float32{&seg[0]}
	q, out := make([]float32, 8), make([]float32, 1)
	for name, f := range map[string]func(){
		"dot":            func() { Dot(q, q[:7]) },
		"l2":             func() { L2(q[:7], q) },
		"codes":          func() { DotI8(make([]int8, 3), make([]int8, 4)) },
		"quantize":       func() { Quantize(q, make([]int8, 7), 1) },
		"stride":         func() { DotRows(q, seg, 7, out) },
		"rows":           func() { L2Rows(q, seg[:7], 8, out) },
		"ids":            func() { DotGather(q, segs, 8, []uint32{0, 1}, out) },
		"segment":        func() { DotGather(q, segs, 8, []uint32{SegmentRows}, out) },
		"segment of l2":  func() { L2Gather(q, nil, 8, []uint32{0}, out) },
		"segment, codes": func() { DotI8Gather(make([]int16, 8), nil, 8, []uint32{0}, make([]int32, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			f()
		})
	}
}
