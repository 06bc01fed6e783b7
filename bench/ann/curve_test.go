package main

import (
	"math"
	"testing"
)

func TestCurveKeepsWhatIsWorthChoosing(t *testing.T) {
	got := newCurve([]point{{0.9, 30}, {0.8, 10}, {0.85, 40}, {0.95, 50}, {0.7, 10}, {0.95, 60}})
	want := curve{{0.8, 10}, {0.9, 30}, {0.95, 50}}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("point %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestCost(t *testing.T) {
	// Halving the loss costs half as much again, exactly the law that cost assumes.
	law := func(recall float64) float64 { return 100 * math.Pow(1.5, math.Log2(0.2/(1-recall))) }
	var points []point
	for _, r := range []float64{0.8, 0.92, 0.98, 0.996} {
		points = append(points, point{r, law(r)})
	}
	c := newCurve(points)
	for _, r := range []float64{0.8, 0.9, 0.95, 0.97, 0.99, 0.996} {
		got, how := c.cost(r)
		if how != between || math.Abs(got/law(r)-1) > 1e-9 {
			t.Errorf("recall %.3f: %.3f µs (%d), want %.3f", r, got, how, law(r))
		}
	}
	if got, how := c.cost(0.5); how != atMost || math.Abs(got-100) > 1e-9 {
		t.Errorf("below the curve: %v µs (%d), want at most 100", got, how)
	}
	if _, how := c.cost(0.999); how != unreached {
		t.Errorf("above the curve: %d, want unreached", how)
	}
	if _, how := curve(nil).cost(0.5); how != unreached {
		t.Errorf("an empty curve: %d, want unreached", how)
	}
	// A perfect last point has no logarithm of its loss; the cost still lies between its neighbours.
	if got, how := newCurve([]point{{0.9, 10}, {1, 40}}).cost(0.95); how != between || got <= 10 || got >= 40 {
		t.Errorf("towards recall 1: %v µs (%d)", got, how)
	}
}

func TestSpan(t *testing.T) {
	if s := spanOf([]float64{3, 1, 2}); s != (span{1, 2, 3}) {
		t.Errorf("of three: %v", s)
	}
	if s := spanOf([]float64{4, 1, 2, 3}); s != (span{1, 2.5, 4}) {
		t.Errorf("of four: %v", s)
	}
	if s := spanOf(nil); !math.IsNaN(s.mid) {
		t.Errorf("of none: %v", s)
	}
}

// TestRatio takes ratios within rounds: a machine that is slow for a whole round changes none.
func TestRatio(t *testing.T) {
	at := func(factor float64) *racer {
		s := &series{widths: []int{1, 2}, recall: []float64{0.9, 0.99}, micros: [][]float64{{10 * factor, 70 * factor}, {20 * factor, 140 * factor}}}
		return &racer{series: map[int]*series{10: s}}
	}
	r := &race{rounds: 2}
	s, how := r.ratio(at(3), at(1), 10, 0.95)
	if how != between || math.Abs(s.low-3) > 1e-9 || math.Abs(s.high-3) > 1e-9 {
		t.Errorf("ratio %v (%d), want 3 in both rounds", s, how)
	}
	if _, how := r.ratio(at(3), at(1), 10, 0.5); how != atMost {
		t.Errorf("below both curves: %d, want a bound", how)
	}
	if _, how := r.ratio(at(3), at(1), 10, 0.999); how != unreached {
		t.Errorf("above both curves: %d, want unreached", how)
	}
	if s := r.atEqualWidth(at(3), at(1), 10); s != (span{3, 3, 3}) {
		t.Errorf("at equal width: %v, want 3", s)
	}
}
