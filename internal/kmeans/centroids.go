package kmeans

import (
	"context"
	"math"

	"github.com/glimdb/db/internal/simd"
)

// Centroids are the result of Run. They are not changed any more: safe for concurrent use.
type Centroids struct {
	// K is their number, Dim the number of values of each.
	K, Dim int
	// Spherical says that each has length one, but for a mean of rows without direction.
	Spherical bool

	stride int
	values []float32
}

func newCentroids(dim int, spherical bool) *Centroids {
	return &Centroids{Dim: dim, Spherical: spherical, stride: (dim + simd.FloatPad - 1) / simd.FloatPad * simd.FloatPad}
}

// Centroid returns centroid i. It is shared: read only.
func (c *Centroids) Centroid(i int) []float32 {
	return c.values[i*c.stride : i*c.stride+c.Dim : i*c.stride+c.Dim]
}

// Scratch is what a call of Nearest needs, for one goroutine at a time.
type Scratch struct {
	row []float32 // padded
	out []float32
}

// NewScratch returns scratch for Nearest.
func (c *Centroids) NewScratch() *Scratch {
	return &Scratch{row: make([]float32, c.stride), out: make([]float32, c.K)}
}

// Nearest returns the centroid nearest to row, the first of several, and how far it is: the squared distance
// or, where they are spherical, the dot product negated. There must be centroids.
func (c *Centroids) Nearest(s *Scratch, row []float32) (int, float32) {
	copy(s.row, row)
	best := 0
	if c.Spherical {
		simd.DotRows(s.row, c.values, c.stride, s.out)
		for i, v := range s.out {
			if v > s.out[best] {
				best = i
			}
		}
		return best, -s.out[best]
	}
	simd.L2Rows(s.row, c.values, c.stride, s.out)
	for i, v := range s.out {
		if v < s.out[best] {
			best = i
		}
	}
	return best, s.out[best]
}

// Assign returns the nearest centroid of every row. Workers and the error are those of Run.
func (c *Centroids) Assign(ctx context.Context, rows Rows, workers int) ([]uint32, error) {
	out := make([]uint32, rows.N)
	if c.K == 0 {
		return out, ctx.Err()
	}
	err := each(ctx, workers, rows.N, func(from, to int) {
		s := c.NewScratch()
		for i := from; i < to; i++ {
			at, _ := c.Nearest(s, rows.Row(i))
			out[i] = uint32(at)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// add appends row as a centroid and returns it, padded.
func (c *Centroids) add(row []float32) []float32 {
	c.values = append(c.values, make([]float32, c.stride)...)
	c.K++
	c.put(c.K-1, row)
	return c.values[(c.K-1)*c.stride:]
}

// put makes row centroid i.
func (c *Centroids) put(i int, row []float32) {
	at := c.values[i*c.stride:][:c.Dim]
	copy(at, row)
	if c.Spherical {
		normalise(at)
	}
}

// set makes the mean of n rows with this sum centroid i. It reports false, and leaves it, when their
// directions cancel out.
func (c *Centroids) set(i int, sum []float64, n int) bool {
	scale := 1 / float64(n)
	if c.Spherical {
		norm := 0.0
		for _, v := range sum {
			norm += v * v
		}
		if norm = math.Sqrt(norm); norm < same*float64(n) {
			return false
		}
		scale = 1 / norm
	}
	at := c.values[i*c.stride:]
	for j, v := range sum {
		at[j] = float32(v * scale)
	}
	return true
}

func normalise(v []float32) {
	norm := 0.0
	for _, x := range v {
		norm += float64(x) * float64(x)
	}
	if norm == 0 {
		return
	}
	inv := 1 / math.Sqrt(norm)
	for i, x := range v {
		v[i] = float32(float64(x) * inv)
	}
}

// Mean returns the centroid of all rows, or nil when they have none: there are no rows, or their directions
// cancel out. It costs one pass.
func Mean(rows Rows, spherical bool) []float32 {
	sum, n := make([]float64, rows.Dim), 0
	for i := range rows.N {
		row := rows.Row(i)
		weight := 1.0
		if spherical {
			if weight = inverseNorm(row); weight == 0 {
				continue
			}
		}
		n++
		for j, v := range row {
			sum[j] += float64(v) * weight
		}
	}
	c := newCentroids(rows.Dim, spherical)
	c.add(make([]float32, rows.Dim))
	if n == 0 || !c.set(0, sum, n) {
		return nil
	}
	return c.Centroid(0)
}

// inverseNorm is 1/‖row‖, or 0 for a row without direction.
func inverseNorm(row []float32) float64 {
	norm := math.Sqrt(float64(simd.Dot(row, row)))
	if norm == 0 || math.IsInf(norm, 0) {
		return 0
	}
	return 1 / norm
}
