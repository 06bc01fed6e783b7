package vector

import (
	"math"
	"slices"

	"github.com/glimdb/db/internal/simd"
)

// packed is what a quantisation makes of rows: codes, bits, or nothing.
type packed struct {
	codes  []int8
	scales []float32 // what the codes of each row are multiplied with
	bits   []uint64
}

// packedRows returns room for n rows.
func (p *Points) packedRows(n int) packed {
	k := packed{bits: make([]uint64, n*p.wordStride)}
	if p.codeStride > 0 {
		k.codes, k.scales = make([]int8, n*p.codeStride), make([]float32, n)
	}
	return k
}

// packedAt returns the part of k, which holds the rows of a segment, that belongs to row i.
func (p *Points) packedAt(k packed, i int) packed {
	if p.codeStride > 0 {
		k.codes, k.scales = k.codes[i*p.codeStride:i*p.codeStride+p.config.Dim], k.scales[i:i+1]
	}
	if p.wordStride > 0 {
		k.bits = k.bits[i*p.wordStride : (i+1)*p.wordStride]
	}
	return k
}

func (k packed) copy(from packed) {
	copy(k.codes, from.codes)
	copy(k.scales, from.scales)
	copy(k.bits, from.bits)
}

func (k packed) clone() packed {
	return packed{slices.Clone(k.codes), slices.Clone(k.scales), slices.Clone(k.bits)}
}

func (k packed) equal(o packed) bool {
	return slices.Equal(k.codes, o.codes) && slices.Equal(k.scales, o.scales) && slices.Equal(k.bits, o.bits)
}

// facts is what the bound of a score needs beside what is packed. With codes, row ≈ scale · codes and
// ‖row − scale·codes‖ ≤ resid.
type facts struct {
	resid  float32 // 0 without codes
	norm   float32 // ‖row‖
	square float32 // ‖scale·codes‖²; 0 without codes
}

// pack quantises row into k, room for one.
func (p *Points) pack(row []float32, k packed) facts {
	switch {
	case p.codeStride > 0:
		f, scale := encode(row, k.codes)
		k.scales[0] = scale
		return f
	case p.wordStride > 0:
		simd.Signs(row, k.bits[:simd.Words(len(row))])
	}
	return facts{norm: norm(row)}
}

// unpack sets row to what k and f tell of the vector that they were made of.
func (p *Points) unpack(row []float32, k packed, f facts) {
	if p.codeStride > 0 {
		for i, c := range k.codes {
			row[i] = k.scales[0] * float32(c)
		}
		return
	}
	each := f.norm / float32(math.Sqrt(float64(len(row))))
	for i := range row {
		row[i] = each
		if k.bits[i/64]>>(i%64)&1 != 0 {
			row[i] = -each
		}
	}
}

// cosines returns, by the number of bits in which the signs of two vectors of dim values differ, the cosine
// that is most likely: of two vectors at an angle α, random hyperplanes separate a share of α/π (Goemans and
// Williamson, 1995; Charikar, 2002).
func cosines(dim int) []float32 {
	out := make([]float32, dim+1)
	for n := range out {
		out[n] = float32(math.Cos(math.Pi * float64(n) / float64(dim)))
	}
	return out
}

// codeMax is the largest magnitude of a code: symmetric, so that negating a vector negates its codes.
const codeMax = 127

// smallest is the magnitude of a row's largest value below which its codes are all zero: the inverse and
// the squares of smaller values leave the range in which float32 is exact enough for the bounds.
const smallest = 1e-12

// encode fills codes with the rounded row and returns what ties the two together: row ≈ scale · codes. The
// residual is rounded up, so that comparisons built on it stay true in float arithmetic.
func encode(row []float32, codes []int8) (f facts, scale float32) {
	m := simd.AbsMax(row)
	root := float32(math.Sqrt(float64(len(row))))
	if m < smallest {
		clear(codes)
		return facts{resid: smallest * root, norm: norm(row)}, 0
	}
	scale = m / codeMax
	err2 := simd.Quantize(row, codes, codeMax/m)
	return facts{
		resid:  scale * (float32(math.Sqrt(float64(err2)))*roundingUp + roundingSteps*root),
		norm:   norm(row),
		square: scale * scale * float32(simd.DotI8(codes, codes)),
	}, scale
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
