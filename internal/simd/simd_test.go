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

// lengths are all those around the widths of the kernels and some of real vectors.
func lengths() []int {
	all := make([]int, 0, 140)
	for n := range 131 {
		all = append(all, n)
	}
	return append(all, 383, 384, 768, 1536, 16384, 16387)
}

// values returns n normal floats, offset floats after the start of their array: vector loads of them are
// not aligned, and those of two offsets not alike.
func values(r *rand.Rand, n, offset int) []float32 {
	v := make([]float32, n+offset)[offset:]
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// exact is a sum in float64 with the error that M1 allows.
type exact struct {
	n        int
	sum, abs float64
	finite   float64 // the part of abs that is finite
}

func (e *exact) add(x float64) {
	e.sum, e.abs = e.sum+x, e.abs+math.Abs(x)
	if !math.IsInf(x, 0) && x == x {
		e.finite += math.Abs(x)
	}
}

func exactDot(a, b []float32) exact {
	e := exact{n: len(a)}
	for i := range a {
		e.add(float64(a[i]) * float64(b[i]))
	}
	return e
}

func exactL2(a, b []float32) exact {
	e := exact{n: len(a)}
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		e.add(d * d)
	}
	return e
}

// overflows reports whether a float32 kernel may leave the range, where M1 promises nothing.
func (e exact) overflows() bool { return !(e.abs < math.MaxFloat32/4) }

func (e exact) holds(got float32) bool {
	const secondOrder = 1 + 1e-6
	bound := float64(e.n+2)*0x1p-24*e.abs*secondOrder + float64(e.n)*0x1p-149
	return math.Abs(float64(got)-e.sum) <= bound
}

func within(t *testing.T, what string, got float32, want exact) {
	t.Helper()
	if !want.holds(got) {
		t.Errorf("%s of %d values: %v, want %v, Σ|t| = %v", what, want.n, got, want.sum, want.abs)
	}
}

func TestOneRow(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range lengths() {
			for offset := range 3 {
				a, b := values(r, n, offset), values(r, n, 2-offset)
				within(t, "dot", Dot(a, b), exactDot(a, b))
				within(t, "l2", L2(a, b), exactL2(a, b))
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

// A NaN or infinity at any place, in any lane, must reach the result.
func TestNaNAndInfinity(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	isNaN := func(f float32) bool { return f != f }
	both(t, func(t *testing.T) {
		for _, n := range []int{1, 7, 8, 9, 31, 32, 33, 40, 47, 100} {
			for at := range n {
				a, b := make([]float32, n), make([]float32, n)
				for i := range a {
					a[i], b[i] = 1, 1
				}
				a[at] = nan
				if d, l, m := Dot(a, b), L2(a, b), AbsMax(a); !isNaN(d) || !isNaN(l) || !isNaN(m) {
					t.Errorf("NaN at %d of %d is lost: %v %v %v", at, n, d, l, m)
				}
				if err := Quantize(a, make([]int8, n), 1); !isNaN(err) {
					t.Errorf("NaN at %d of %d quantised with error %v", at, n, err)
				}
				a[at] = -inf
				if d, l, m := Dot(a, b), L2(a, b), AbsMax(a); d != -inf || l != inf || m != inf {
					t.Errorf("infinity at %d of %d: %v %v %v", at, n, d, l, m)
				}
				b[at] = -inf
				if l := L2(a, b); !isNaN(l) {
					t.Errorf("distance of two infinities at %d of %d is %v", at, n, l)
				}
				b[at] = 0
				if d := Dot(a, b); !isNaN(d) {
					t.Errorf("infinity times zero at %d of %d is %v", at, n, d)
				}
			}
		}
	})
}

// Denormals are neither flushed to zero nor slow-pathed into something else.
func TestDenormals(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range lengths() {
			tiny, one := make([]float32, n), make([]float32, n)
			most := float32(0)
			for i := range tiny {
				tiny[i], one[i] = math.Float32frombits(r.Uint32()&0x807fffff), 1
				most = max(most, tiny[i], -tiny[i])
			}
			within(t, "dot of denormals", Dot(tiny, one), exactDot(tiny, one))
			within(t, "l2 of denormals", L2(tiny, one), exactL2(tiny, one))
			if got := AbsMax(tiny); got != most {
				t.Errorf("abs max of %d denormals: %v, want %v", n, got, most)
			}
		}
	})
}

// checkQuantize compares one call with the definition.
func checkQuantize(t *testing.T, v []float32, inv float32) {
	t.Helper()
	const canary = 77
	got := make([]int8, len(v)+1)
	got[len(v)] = canary
	err := Quantize(v, got[:len(v)], inv)
	want := exact{n: len(v)}
	for i, f := range v {
		x := float64(float32(f * inv))
		c := min(max(math.RoundToEven(x), -127), 127)
		if float64(got[i]) != c {
			t.Errorf("value %d of %d, %v steps, rounded to %d", i, len(v), x, got[i])
		}
		want.sum += (x - c) * (x - c)
	}
	want.abs = want.sum
	if !want.overflows() {
		within(t, "rounding error", err, want)
	}
	if got[len(v)] != canary {
		t.Fatalf("%d codes: written behind the end", len(v))
	}
}

func TestQuantize(t *testing.T) {
	both(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, n := range lengths() {
			v := values(r, n, n%3)
			inv := float32(1)
			if m := AbsMax(v); m > 0 {
				inv = 127 / m
			}
			checkQuantize(t, v, inv)
		}
		// Ties, saturation and the limits, in every lane of a kernel and in its tail.
		special := []float32{0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127, 127.4, 127.5, 128, -127, -127.5, -128, -129,
			255, 32768, -32769, 1e9, -1e9, 3e9, -3e9, 1e30, math.MaxFloat32, float32(math.Inf(1)),
			float32(math.Inf(-1)), math.SmallestNonzeroFloat32, 0, float32(math.Copysign(0, -1))}
		for shift := range 32 {
			v := append(make([]float32, shift), special...)
			checkQuantize(t, append(v, make([]float32, 32-shift)...), 1)
		}
	})
}
