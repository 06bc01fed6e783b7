package kmeans

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/glimdb/db/internal/simd"
)

// Distances sets s.out to how far row is from each centroid, as Nearest measures it, and returns it: it is valid until
// the next use of s.
func (c *Centroids) Distances(s *Scratch, row []float32) []float32 {
	copy(s.row, row)
	if !c.Spherical {
		simd.L2Rows(s.row, c.values, c.stride, s.out)
		return s.out
	}
	simd.DotRows(s.row, c.values, c.stride, s.out)
	for i, v := range s.out {
		s.out[i] = -v
	}
	return s.out
}

// SSE is the sum of squared distances of rows of length one from the spherical mean of their cell: what an elbow is looked
// for in. sum is the sum of n rows.
func SSE(sum []float64, n int) float64 {
	norm := 0.0
	for _, v := range sum {
		norm += v * v
	}
	return max(0, 2*(float64(n)-math.Sqrt(norm))) // Σ ‖x−m‖² = 2n − 2 m·Σx
}

// Silhouette is the mean silhouette (Rousseeuw, 1987) of a sample of rows of length one under cosine distance, -1 to 1:
// with a the mean distance of a row from the others of its cell and b the least mean distance from those of another, the
// mean of (b−a)/max(a,b); 0 for a row that is alone. Distances from all rows of a cell at once follow from their sum, so
// that only which rows are asked is a sample, of size n. cells tells the cell of each row; there are k.
func Silhouette(ctx context.Context, rows Rows, cells []uint32, k, n int, seed uint64, workers int) (float64, error) {
	sums, counts := Sums(rows, cells, k)
	if k < 2 || rows.N == 0 {
		return 0, ctx.Err()
	}
	stride := (rows.Dim + simd.FloatPad - 1) / simd.FloatPad * simd.FloatPad
	means := make([]float32, k*stride)
	for c := range k {
		for j, v := range sums[c*rows.Dim:][:rows.Dim] {
			if counts[c] > 0 {
				means[c*stride+j] = float32(v / float64(counts[c]))
			}
		}
	}
	sample := draw(rand.New(rand.NewPCG(seed, ^seed)), rows.N, n)
	values := make([]float64, len(sample))
	err := each(ctx, workers, len(sample), func(from, to int) {
		row, near := make([]float32, stride), make([]float32, k)
		for i := from; i < to; i++ {
			copy(row, rows.Row(sample[i]))
			simd.DotRows(row, means, stride, near)
			values[i] = silhouette(near, counts, cells[sample[i]])
		}
	})
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(sample)), err
}

// silhouette is that of one row, given its mean cosine to each cell.
func silhouette(near []float32, counts []int, own uint32) float64 {
	n := float64(counts[own])
	if n < 2 {
		return 0
	}
	a, b := (1-float64(near[own]))*n/(n-1), math.Inf(1) // its distance from itself is 0
	for c, v := range near {
		if uint32(c) != own && counts[c] > 0 {
			b = min(b, 1-float64(v))
		}
	}
	if most := max(a, b); most > 0 && !math.IsInf(b, 1) {
		return (b - a) / most
	}
	return 0
}

// Sums adds the rows of each cell up, in their order, and counts them.
func Sums(rows Rows, cells []uint32, k int) (sums []float64, counts []int) {
	sums, counts = make([]float64, k*rows.Dim), make([]int, k)
	for i := range rows.N {
		counts[cells[i]]++
		sum := sums[int(cells[i])*rows.Dim:][:rows.Dim]
		for j, v := range rows.Row(i) {
			sum[j] += float64(v)
		}
	}
	return sums, counts
}

// Elbow returns the index of the point of a falling curve that is farthest below the chord between its ends, both axes
// scaled to their ranges; 0 for less than three points. x ascends.
func Elbow(x, y []float64) int {
	best, far := 0, 0.0
	last := len(x) - 1
	if last < 2 || x[last] == x[0] || y[0] == y[last] {
		return 0
	}
	for i := range x {
		along := (x[i] - x[0]) / (x[last] - x[0])
		down := (y[0] - y[i]) / (y[0] - y[last])
		if d := down - along; d > far {
			best, far = i, d
		}
	}
	return best
}

// Each calls f for blocks that cover [0, n), on several goroutines when workers says so, until ctx ends.
func Each(ctx context.Context, workers, n int, f func(from, to int)) error {
	return each(ctx, workers, n, f)
}
