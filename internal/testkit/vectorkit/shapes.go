package vectorkit

import (
	"math/rand/v2"
	"testing"
)

// Scaled is n, or a part of it under the race detector: that makes everything many times slower, and has
// nothing to find in the work of one goroutine.
func Scaled(n int) int {
	if Race {
		return n / 5
	}
	return n
}

// Random returns a vector of normally distributed values.
func Random(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// Rand returns a generator, and logs its seed.
func Rand(t testing.TB, seed uint64) *rand.Rand {
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// Around returns n vectors near thirty centres.
func Around(r *rand.Rand, n, dim int) [][]float32 {
	centres := make([][]float32, 30)
	for i := range centres {
		centres[i] = Random(r, dim)
	}
	out := make([][]float32, n)
	for i := range out {
		out[i] = Random(r, dim)
		for j, x := range centres[r.IntN(len(centres))] {
			out[i][j] = x + 0.3*out[i][j]
		}
	}
	return out
}

// Clumps returns n vectors in tight clumps far from each other.
func Clumps(r *rand.Rand, n, dim, size int) [][]float32 {
	out := make([][]float32, n)
	var centre []float32
	for i := range out {
		if i%size == 0 {
			centre = Random(r, dim)
		}
		out[i] = Random(r, dim)
		for j, x := range centre {
			out[i][j] = 10*x + 0.05*out[i][j]
		}
	}
	r.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// Embedded returns n vectors as models make them of texts: few directions of meaning in many dimensions,
// topics, and a mean that all share.
func Embedded(r *rand.Rand, n, dim int) [][]float32 {
	const meanings, topics = 24, 60
	shared, axes := Random(r, dim), make([][]float32, meanings)
	for i := range axes {
		axes[i] = Random(r, dim)
	}
	centres := make([][]float32, topics)
	for i := range centres {
		centres[i] = Random(r, meanings)
	}
	out := make([][]float32, n)
	for i := range out {
		centre := centres[r.IntN(topics)]
		out[i] = make([]float32, dim)
		for j := range out[i] {
			out[i][j] = 2*shared[j] + 0.2*float32(r.NormFloat64())
		}
		for a, axis := range axes {
			by := centre[a] + 0.4*float32(r.NormFloat64())
			for j, x := range axis {
				out[i][j] += by * x
			}
		}
		for j := range out[i] {
			out[i][j] /= 128 // lengths near 1
		}
	}
	return out
}
