package main

import (
	"cmp"
	"math"
	"slices"
)

// point is one measured setting of a contender: what it finds and what a query costs.
type point struct {
	recall float64
	micros float64
}

// curve is the cost of recall: points that no other point beats, both values ascending.
type curve []point

// newCurve keeps the points that are worth choosing.
func newCurve(points []point) curve {
	sorted := slices.Clone(points)
	slices.SortFunc(sorted, func(a, b point) int {
		if c := cmp.Compare(a.micros, b.micros); c != 0 {
			return c
		}
		return cmp.Compare(b.recall, a.recall)
	})
	var out curve
	for _, p := range sorted {
		if len(out) == 0 || p.recall > out[len(out)-1].recall {
			out = append(out, p)
		}
	}
	return out
}

// bound says what an interpolated cost is.
type bound uint8

const (
	unreached bound = iota // the curve ends below that recall
	between                // interpolated
	atMost                 // even the cheapest point finds more: the true cost is lower
)

// lossFloor stands for a loss of recall of 0, of which there is no logarithm: less than one answer in the
// largest run.
const lossFloor = 1e-6

// cost is the microseconds at which the curve reaches a recall. Between two points the logarithm of the
// cost is taken to be linear in that of the recall that is missing, which is what curves of graph indexes
// nearly are.
func (c curve) cost(recall float64) (float64, bound) {
	i := slices.IndexFunc(c, func(p point) bool { return p.recall >= recall })
	switch {
	case i < 0:
		return 0, unreached
	case c[i].recall == recall:
		return c[i].micros, between
	case i == 0:
		return c[0].micros, atMost
	}
	loss := func(r float64) float64 { return math.Log(max(1-r, lossFloor)) }
	lo, hi := c[i-1], c[i]
	share := (loss(lo.recall) - loss(recall)) / (loss(lo.recall) - loss(hi.recall))
	return math.Exp(math.Log(lo.micros)*(1-share) + math.Log(hi.micros)*share), between
}

// median returns the middle of values, the mean of the two middle ones when their number is even; NaN of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// span is the median of values with their range.
type span struct{ low, mid, high float64 }

func spanOf(values []float64) span {
	if len(values) == 0 {
		return span{math.NaN(), math.NaN(), math.NaN()}
	}
	return span{slices.Min(values), median(values), slices.Max(values)}
}
