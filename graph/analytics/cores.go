package analytics

import (
	"context"
)

// cores peels the graph: nodes leave in order of the neighbours they have left, kept in buckets by that number, and
// the largest number seen so far is the core of the one that leaves.
func (r *Result) cores(ctx context.Context) error {
	g, err := symmetrize(r.graph, true)
	if err != nil {
		return err
	}
	n := g.len()
	left := make([]uint32, n)
	most := uint32(0)
	for i := range left {
		left[i] = uint32(g.start[i+1] - g.start[i])
		most = max(most, left[i])
	}
	begin := make([]uint32, most+2) // of each bucket in order
	for _, d := range left {
		begin[d+1]++
	}
	for d := range most {
		begin[d+1] += begin[d]
	}
	order, place := make([]uint32, n), make([]uint32, n)
	next := append([]uint32(nil), begin...)
	for i, d := range left {
		order[next[d]], place[i] = uint32(i), next[d]
		next[d]++
	}
	r.Scores = make([]float64, n)
	for at := range order {
		if err := ended(ctx, at); err != nil {
			return err
		}
		v := order[at]
		r.Scores[v] = float64(left[v])
		for _, w := range g.to[g.start[v]:g.start[v+1]] {
			if left[w] <= left[v] {
				continue // it left before, or belongs to no higher core
			}
			// w moves to the bucket below: it changes places with the first of its own, which then begins later.
			first := order[begin[left[w]]]
			order[place[w]], order[place[first]] = first, w
			place[w], place[first] = place[first], place[w]
			begin[left[w]]++
			left[w]--
		}
	}
	highest, count := 0.0, 0
	for _, k := range r.Scores {
		if k > highest {
			highest, count = k, 0
		}
		if k == highest {
			count++
		}
	}
	r.figure("highest", highest)
	r.figure("in_highest", float64(count))
	return nil
}
