package cluster

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/glimdb/db/internal/kmeans"
	"github.com/glimdb/db/internal/simd"
)

// pcaSample vectors tell the directions of most variance well enough to cluster along.
const pcaSample = 4000

// reduce returns rows projected to their first principal components.
func reduce(ctx context.Context, rows kmeans.Rows, dims int, seed uint64) (kmeans.Rows, error) {
	r := rand.New(rand.NewPCG(seed, seed+1))
	n := min(rows.N, pcaSample)
	if n < 2 {
		return rows, ctx.Err()
	}
	sample := mat.NewDense(n, rows.Dim, nil)
	for i := range n {
		at := i
		if rows.N > pcaSample {
			at = r.IntN(rows.N)
		}
		for j, v := range rows.Row(at) {
			sample.Set(i, j, float64(v))
		}
	}
	var pc stat.PC
	if !pc.PrincipalComponents(sample, nil) {
		return rows, ctx.Err()
	}
	var axes mat.Dense
	pc.VectorsTo(&axes)
	_, have := axes.Dims()
	dims = min(dims, have)
	columns := make([][]float32, dims)
	for d := range columns {
		columns[d] = make([]float32, rows.Dim)
		for j := range rows.Dim {
			columns[d][j] = float32(axes.At(j, d))
		}
	}
	flat := make([]float32, rows.N*dims)
	err := kmeans.Each(ctx, workers(), rows.N, func(from, to int) {
		for i := from; i < to; i++ {
			row := rows.Row(i)
			for d, axis := range columns {
				flat[i*dims+d] = simd.Dot(row, axis)
			}
		}
	})
	return kmeans.Rows{N: rows.N, Dim: dims, Row: func(i int) []float32 { return flat[i*dims : (i+1)*dims] }}, err
}
