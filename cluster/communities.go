package cluster

import (
	"context"
	"slices"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/graph/analytics"
	"github.com/glimdb/db/internal/kmeans"
	"github.com/glimdb/db/internal/simd"
)

// pairLeast is the least number of vectors of a cluster that a method finds by itself: one alone belongs nowhere.
const pairLeast = 2

// communities clusters by the graph that joins each vector with the Near most like it within Radius, weighted by cosine:
// the groups are those that Leiden finds there. Two that choose each other are joined twice as strongly.
func communities(ctx context.Context, f *field, o Options) (*partition, error) {
	n := f.Len()
	near := make([][]Scored, n)
	least := max(1-o.Radius, 0)
	err := kmeans.Each(ctx, workers(), n, func(from, to int) {
		var all []Scored
		for i := from; i < to; i++ {
			v := f.vector(i)
			all = all[:0]
			for j := range n {
				if s := float64(simd.Dot(v, f.vector(j))); j != i && s >= least && s > 0 {
					all = append(all, Scored{uint32(j), s})
				}
			}
			slices.SortFunc(all, byScore)
			near[i] = slices.Clone(all[:min(len(all), o.Near)])
		}
	})
	if err != nil {
		return nil, err
	}
	names, arcs := make([]string, n), make([]graph.Arc, 0, n*o.Near)
	for i, list := range near {
		names[i] = f.id(i)
		for _, s := range list {
			arcs = append(arcs, graph.Arc{From: uint32(i), To: s.ID, Weight: s.Score})
		}
	}
	c, err := graph.NewCSR(false, names, arcs)
	if err != nil {
		return nil, err
	}
	r, err := analytics.Run(ctx, c, analytics.Options{Algorithm: analytics.Leiden, Resolution: o.Resolution, Seed: o.Seed})
	if err != nil {
		return nil, err
	}
	return number(f, r.Groups.Of, r.Groups.Count(), pairLeast), nil // nodes are in order of name, as vectors are in a field
}
