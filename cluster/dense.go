package cluster

import (
	"context"

	"github.com/glimdb/db/internal/kmeans"
	"github.com/glimdb/db/internal/simd"
)

// dense clusters by density (DBSCAN; Ester and others, 1996) under cosine distance: a vector with Near others within
// Radius, itself counted, is a core; cores in reach of each other are one cluster, with what is in their reach; the rest
// belongs nowhere. It compares each vector with each.
func dense(ctx context.Context, f *field, o Options) (*partition, error) {
	n := f.Len()
	neighbours := make([][]uint32, n)
	least := float32(1 - o.Radius)
	err := kmeans.Each(ctx, workers(), n, func(from, to int) {
		for i := from; i < to; i++ {
			v := f.vector(i)
			for j := range n {
				if simd.Dot(v, f.vector(j)) >= least {
					neighbours[i] = append(neighbours[i], uint32(j))
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	p := &partition{f: f, primary: make([]uint32, n)}
	for i := range n {
		if p.primary[i] != alwaysSearched || len(neighbours[i]) < o.Near {
			continue
		}
		p.k++
		reach := []uint32{uint32(i)}
		for len(reach) > 0 {
			at := reach[len(reach)-1]
			reach = reach[:len(reach)-1]
			if p.primary[at] != alwaysSearched {
				continue
			}
			p.primary[at] = uint32(p.k)
			if len(neighbours[at]) >= o.Near {
				reach = append(reach, neighbours[at]...)
			}
		}
	}
	return p, ctx.Err()
}
