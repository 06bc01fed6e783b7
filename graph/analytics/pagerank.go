package analytics

import (
	"context"
	"fmt"
	"math"

	"github.com/glimdb/db/graph"
)

// weights calls f with every edge of a row but a loop.
func (r *Result) weights(i int, row func(int) ([]uint32, []float64), f func(j uint32, w float64)) {
	nodes, weights := row(i)
	for k, j := range nodes {
		switch {
		case int(j) == i:
		case r.Options.Unweighted:
			f(j, 1)
		default:
			f(j, weights[k])
		}
	}
}

// pageRank iterates until the ranks stand still. Ranks are pulled along incoming edges, each sum in the order of
// nodes, so that the result does not depend on anything but the graph.
func (r *Result) pageRank(ctx context.Context) error {
	if !r.Options.Unweighted {
		if err := checkWeights(r.graph, true); err != nil {
			return err
		}
	}
	n := float64(r.Nodes)
	rank, last, given := make([]float64, r.Nodes), make([]float64, r.Nodes), make([]float64, r.Nodes)
	strength := make([]float64, r.Nodes)
	for i := range rank {
		rank[i] = 1 / n
		r.weights(i, r.graph.Row, func(_ uint32, w float64) { strength[i] += w })
	}
	damping, rounds, change := r.Options.Damping, 0, math.Inf(1)
	if r.Nodes == 0 {
		change = 0
	}
	for ; change >= r.Options.Tolerance && rounds < r.Options.Rounds; rounds++ {
		rank, last = last, rank
		stranded := 0.0
		for i, x := range last {
			if strength[i] > 0 {
				given[i] = x / strength[i]
			} else {
				given[i] = 0
				stranded += x
			}
		}
		everyone := (1-damping)/n + damping*stranded/n
		change = 0
		for i := range rank {
			if err := ended(ctx, i); err != nil {
				return err
			}
			sum := 0.0
			r.weights(i, r.graph.InRow, func(j uint32, w float64) { sum += w * given[j] })
			rank[i] = everyone + damping*sum
			change += math.Abs(rank[i] - last[i])
		}
	}
	r.Scores = rank
	r.figure("rounds", float64(rounds))
	r.figure("change", change)
	if change >= r.Options.Tolerance {
		r.figure("not_converged", 1)
	}
	return nil
}

// leastWeight and mostWeight keep sums and quotients of weights finite, whatever the graph.
const leastWeight, mostWeight = 1e-100, 1e100

// checkWeights refuses weights below 0, and such as are out of all proportion. 0 may be allowed or not.
func checkWeights(c *graph.CSR, zero bool) error {
	for i := range c.Len() {
		targets, weights := c.Row(i)
		for k, w := range weights {
			if w >= leastWeight && w <= mostWeight || w == 0 && zero {
				continue
			}
			want := fmt.Sprint(leastWeight, " to ", mostWeight)
			if zero {
				want = "0 or " + want
			}
			return &graph.InvalidError{Field: "edge weight", Key: c.Name(i) + " - " + c.Name(int(targets[k])),
				Reason: fmt.Sprintf("%v, want %s; it can be analysed without weights", w, want)}
		}
	}
	return nil
}
