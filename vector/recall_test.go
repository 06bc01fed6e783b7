package vector

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestWilson(t *testing.T) {
	for _, is := range []struct{ p, n, low, high float64 }{ // R's prop.test without correction
		{0.8, 10, 0.4902, 0.9433}, {1, 20, 0.8389, 1}, {0, 20, 0, 0.1611}, {0.95, 1000, 0.9347, 0.9619},
	} {
		low, high := wilson(is.p, is.n)
		if math.Abs(low-is.low) > 1e-4 || math.Abs(high-is.high) > 1e-4 {
			t.Errorf("%v of %v: %.4f to %.4f, want %.4f to %.4f", is.p, is.n, low, high, is.low, is.high)
		}
	}
	for freedom, want := range map[float64]float64{4: 2.776, 9: 2.262, 29: 2.045, 99: 1.984} {
		if got := student(freedom); math.Abs(got/want-1) > 0.02 {
			t.Errorf("t of %v: %v, want %v", freedom, got, want)
		}
	}
}

// The interval holds the true recall as often as it says, whether the hits of a query are independent of each
// other or depend on the query wholly; counting every hit as a trial of its own does not.
func TestEstimateCoversTheTruth(t *testing.T) {
	const k, trials = 10, 1500
	r := rand.New(rand.NewPCG(2, 9))
	for _, is := range []struct {
		name    string
		queries int
		hit     func() float64 // the chance of each hit of one query
		truth   float64
		naive   float64 // the most that hits as trials may cover; 1: any
	}{
		{"independent", 50, func() float64 { return 0.95 }, 0.95, 1},
		{"independent, many", 400, func() float64 { return 0.99 }, 0.99, 1},
		{"hard queries", 60, func() float64 { return []float64{1, 1, 1, 0.5}[r.IntN(4)] }, 0.875, 0.9},
		{"few queries", 12, func() float64 { return []float64{1, 0.9, 0.7}[r.IntN(3)] }, 2.6 / 3, 1},
		{"hard queries are rare", 200, func() float64 { return []float64{0.999, 0.999, 0.999, 0.999, 0.8}[r.IntN(5)] }, 0.9592, 0.93},
		{"one query in a hundred finds nothing", 100, func() float64 { return []float64{0, 1}[min(1, r.IntN(100))] }, 0.99, 0.7},
		{"nearly all is found", 300, func() float64 { return 0.999 }, 0.999, 1},
		{"all or nothing", 100, func() float64 { return []float64{1, 1, 1, 1, 0}[r.IntN(5)] }, 0.8, 0.7},
	} {
		covered, naive := 0, 0
		for range trials {
			sample := make([]tally, is.queries)
			found := 0
			for i := range sample {
				sample[i].wanted = k
				p := is.hit()
				for range k {
					if r.Float64() < p {
						sample[i].found++
						found++
					}
				}
			}
			if e := estimate(sample); e.Low <= is.truth && is.truth <= e.High {
				covered++
			}
			n := float64(k * is.queries)
			if low, high := wilson(float64(found)/n, n); low <= is.truth && is.truth <= high {
				naive++
			}
		}
		t.Logf("%s: %.3f", is.name, float64(covered)/trials)
		if share := float64(covered) / trials; share < 0.915 || share > 0.985 {
			t.Errorf("%s: %.3f of the intervals hold the truth, want about 0.95", is.name, share)
		}
		if share := float64(naive) / trials; share > is.naive {
			t.Errorf("%s: independent trials cover %.3f: the sample has no clusters", is.name, share)
		}
	}
}

func TestEstimateOfSmallSamples(t *testing.T) {
	for _, is := range []struct {
		sample []tally
		recall float64
	}{
		{[]tally{{10, 10}}, 1}, {[]tally{{0, 10}}, 0}, {[]tally{{5, 10}}, 0.5}, {[]tally{{10, 10}, {10, 10}}, 1}, {[]tally{{0, 1}, {1, 1}}, 0.5},
		{[]tally{{3, 10}, {3, 10}, {3, 10}}, 0.3},
	} {
		e := estimate(is.sample)
		if e.Recall != is.recall || !(0 <= e.Low && e.Low <= e.Recall && e.Recall <= e.High && e.High <= 1) || e.High-e.Low < 0.3 || e.Queries != len(is.sample) {
			t.Errorf("%v: %+v", is.sample, e)
		}
	}
	if e := estimate(nil); e.Low != 0 || e.High != 1 {
		t.Errorf("no sample: %+v", e)
	}
}
