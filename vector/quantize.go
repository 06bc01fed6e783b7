package vector

import (
	"math"

	"github.com/glimdb/db/internal/simd"
)

// codeMax is the largest magnitude of a code: symmetric, so that negating a vector negates its codes.
const codeMax = 127

// smallest is the magnitude of a row's largest value below which its codes are all zero: the inverse and
// the squares of smaller values leave the range in which float32 is exact enough for the bounds.
const smallest = 1e-12

// encode fills codes with the rounded row and returns what ties the two together. The residual is rounded
// up, so that comparisons built on it stay true in float arithmetic.
func encode(row []float32, codes []int8) facts {
	m := simd.AbsMax(row)
	root := float32(math.Sqrt(float64(len(row))))
	if m < smallest {
		clear(codes)
		return facts{resid: smallest * root, norm: norm(row)}
	}
	scale := m / codeMax
	err2 := simd.Quantize(row, codes, codeMax/m)
	return facts{
		scale: scale,
		resid: scale * (float32(math.Sqrt(float64(err2)))*roundingUp + roundingSteps*root),
		norm:  norm(row),
	}
}

func norm(row []float32) float32 { return float32(math.Sqrt(float64(simd.Dot(row, row)))) }

const (
	// roundingUp covers the relative error of a float32 sum of MaxDim squares and of its root.
	roundingUp = 1 + 1e-4
	// roundingSteps covers the error of row·inverse in code steps, per value: 127 times two roundings.
	roundingSteps = codeMax * 2 * 1.2e-7
)

// maxNorm keeps every product of two vectors and every squared distance within float32.
const maxNorm = 1e18

// unitSlack is how far ‖v‖² may be from 1 for v to count as normalised: normalising twice must not
// change a vector, so that a dump loads back to the same bytes.
const unitSlack = 5e-7

// prepare checks v and writes it to dst, normalised when the metric is cosine. zero reports a vector
// without direction; index the value that reason is about, or -1.
func prepare(c Config, dst, v []float32) (zero bool, reason string, index int) {
	var sum float64
	for i, f := range v {
		if f != f {
			return false, "NaN", i
		}
		if math.IsInf(float64(f), 0) {
			return false, "infinite value", i
		}
		sum += float64(f) * float64(f)
	}
	if c.Metric != Cosine {
		if sum > maxNorm*maxNorm {
			return false, "norm above 1e18", -1
		}
		copy(dst, v)
		return sum == 0, "", -1
	}
	if sum == 0 {
		return true, "", -1
	}
	if math.Abs(sum-1) <= unitSlack {
		copy(dst, v)
		return false, "", -1
	}
	inv := 1 / math.Sqrt(sum)
	for i, f := range v {
		dst[i] = float32(float64(f) * inv)
	}
	return false, "", -1
}
