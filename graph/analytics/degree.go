package analytics

import (
	"context"
	"slices"
)

// degrees counts the nodes that each one is joined with. Directed edges both ways between two nodes count twice.
func (r *Result) degrees(ctx context.Context) error {
	c := r.graph
	r.Scores = make([]float64, c.Len())
	loops := 0
	for i := range r.Scores {
		if err := ended(ctx, i); err != nil {
			return err
		}
		out, _ := c.Row(i)
		n := len(out)
		_, loop := slices.BinarySearch(out, uint32(i))
		if loop {
			loops++
			n--
		}
		if c.Directed() {
			in, _ := c.InRow(i)
			n += len(in)
			if loop {
				n--
			}
		}
		r.Scores[i] = float64(n)
	}
	r.figure("self_loops", float64(loops))
	sorted := slices.Sorted(slices.Values(r.Scores))
	isolated, _ := slices.BinarySearch(sorted, 1)
	r.figure("isolated", float64(isolated))
	if len(sorted) == 0 {
		return nil
	}
	sum := 0.0
	for _, d := range sorted {
		sum += d
	}
	r.figure("mean", sum/float64(len(sorted)))
	for _, q := range []struct {
		name  string
		share float64
	}{{"least", 0}, {"median", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"most", 1}} {
		r.figure(q.name, sorted[int(q.share*float64(len(sorted)-1))])
	}
	return nil
}

// best returns up to limit of the numbers below n, best first; of equals the smaller number.
func best(n, limit int, better func(x, y int) bool) []int {
	order := func(x, y int) int {
		switch {
		case better(x, y):
			return -1
		case better(y, x):
			return 1
		}
		return x - y
	}
	var top []int
	for i := range n {
		if len(top) == limit && (limit == 0 || order(i, top[limit-1]) > 0) {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, i, order)
		top = slices.Insert(top, at, i)
		top = top[:min(len(top), limit)]
	}
	return top
}
