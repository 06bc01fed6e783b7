package kmeans

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func of(rows [][]float32) Rows {
	dim := 0
	if len(rows) > 0 {
		dim = len(rows[0])
	}
	return Rows{N: len(rows), Dim: dim, Row: func(i int) []float32 { return rows[i] }}
}

func run(t *testing.T, rows [][]float32, o Options) *Centroids {
	t.Helper()
	c, err := Run(t.Context(), of(rows), o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.K {
		norm := 0.0
		for _, v := range c.Centroid(i) {
			if v != v || math.IsInf(float64(v), 0) {
				t.Fatalf("centroid %d: %v", i, c.Centroid(i))
			}
			norm += float64(v) * float64(v)
		}
		if o.Spherical && norm != 0 && math.Abs(norm-1) > 1e-5 {
			t.Errorf("centroid %d has length %v", i, math.Sqrt(norm))
		}
	}
	return c
}

// blobs returns n rows around each of k centres, in turn.
func blobs(r *rand.Rand, k, n, dim int, spread float64) [][]float32 {
	centres := make([][]float64, k)
	for i := range centres {
		centres[i] = make([]float64, dim)
		for j := range centres[i] {
			centres[i][j] = r.NormFloat64()
		}
	}
	out := make([][]float32, k*n)
	for i := range out {
		out[i] = make([]float32, dim)
		for j, x := range centres[i%k] {
			out[i][j] = float32(x + spread*r.NormFloat64())
		}
	}
	return out
}

func random(t *testing.T, seed uint64) *rand.Rand {
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 7))
}

// distance is Nearest's, by hand.
func distance(spherical bool, row, centroid []float32) float64 {
	sum := 0.0
	for i, v := range row {
		if spherical {
			sum -= float64(v) * float64(centroid[i])
		} else {
			sum += (float64(v) - float64(centroid[i])) * (float64(v) - float64(centroid[i]))
		}
	}
	return sum
}

// cost is the sum of squared distances, or of 1 − cosine, of all rows from their nearest centroids.
func cost(rows [][]float32, c *Centroids) float64 {
	sum := 0.0
	for _, row := range rows {
		best := math.Inf(1)
		for i := range c.K {
			best = min(best, distance(c.Spherical, row, c.Centroid(i)))
		}
		if c.Spherical {
			best = 1 + best/math.Sqrt(-distance(true, row, row))
			if math.IsNaN(best) {
				best = 0
			}
		}
		sum += best
	}
	return sum
}

// K1: seeds decide, goroutines do not.
func TestK1_Deterministic(t *testing.T) {
	rows := blobs(random(t, 1), 40, 50, 19, 0.5)
	for _, spherical := range []bool{false, true} {
		want := run(t, rows, Options{K: 30, Spherical: spherical, Seed: 5})
		for _, workers := range []int{1, 2, 7} {
			got := run(t, rows, Options{K: 30, Spherical: spherical, Seed: 5, Workers: workers})
			if !slices.Equal(got.values, want.values) {
				t.Errorf("spherical %v, %d workers: other centroids", spherical, workers)
			}
			a, _ := want.Assign(t.Context(), of(rows), 1)
			b, err := got.Assign(t.Context(), of(rows), workers)
			if err != nil || !slices.Equal(a, b) {
				t.Errorf("spherical %v, %d workers: other cells: %v", spherical, workers, err)
			}
		}
		if other := run(t, rows, Options{K: 30, Spherical: spherical, Seed: 6}); slices.Equal(other.values, want.values) {
			t.Errorf("spherical %v: the seed changes nothing", spherical)
		}
	}
}

// Groups that lie apart are found, each by one centroid, whatever the metric, the sample and the dimension.
func TestSeparateGroups(t *testing.T) {
	const k, n = 12, 40
	for _, dim := range []int{3, 8, 50} {
		for _, spherical := range []bool{false, true} {
			for _, each := range []int{0, 20} {
				rows := blobs(random(t, uint64(dim)), k, n, dim, 0.001)
				c := run(t, rows, Options{K: k, Spherical: spherical, SampleEach: each, Seed: 3})
				homes, err := c.Assign(t.Context(), of(rows), 1)
				if err != nil || c.K != k {
					t.Fatalf("%d centroids, %v", c.K, err)
				}
				seen := map[uint32]bool{}
				for i, at := range homes {
					if at != homes[i%k] {
						t.Errorf("dim %d, spherical %v: rows %d and %d of one group are in cells %d and %d", dim, spherical, i%k, i, homes[i%k], at)
					}
					seen[at] = true
				}
				if len(seen) != k {
					t.Errorf("dim %d, spherical %v: %d cells for %d groups", dim, spherical, len(seen), k)
				}
			}
		}
	}
}

// A round never makes the partition of its sample worse, and ten make it better than the seeds.
func TestRoundsImprove(t *testing.T) {
	rows := blobs(random(t, 2), 25, 40, 10, 0.7)
	for _, spherical := range []bool{false, true} {
		first, last := 0.0, math.Inf(1)
		for rounds := 1; rounds <= 10; rounds++ {
			got := cost(rows, run(t, rows, Options{K: 20, Spherical: spherical, Rounds: rounds, SampleEach: len(rows), Seed: 1}))
			if got > last*(1+1e-6) {
				t.Errorf("spherical %v: cost %v after %d rounds, %v before", spherical, got, rounds, last)
			}
			if rounds == 1 {
				first = got
			}
			last = got
		}
		if last > 0.99*first {
			t.Errorf("spherical %v: cost %v after one round, %v after ten", spherical, first, last)
		}
	}
}

// Nearest is what comparing all of them by hand finds.
func TestNearest(t *testing.T) {
	for _, dim := range []int{1, 7, 8, 33} {
		for _, spherical := range []bool{false, true} {
			rows := blobs(random(t, 4), 30, 20, dim, 1)
			c := run(t, rows, Options{K: 17, Spherical: spherical})
			s := c.NewScratch()
			for _, row := range rows {
				at, d := c.Nearest(s, row)
				if math.Abs(float64(d)-distance(spherical, row, c.Centroid(at))) > 1e-4*(1+math.Abs(float64(d))) {
					t.Errorf("distance %v, want %v", d, distance(spherical, row, c.Centroid(at)))
				}
				for i := range c.K {
					if distance(spherical, row, c.Centroid(i)) < float64(d)-1e-4*(1+math.Abs(float64(d))) {
						t.Errorf("centroid %d is nearer than %d", i, at)
					}
				}
			}
		}
	}
}

// K2 and HC-25: odd inputs have as many centroids as they have distinct rows, or directions.
func TestHC25_OddInput(t *testing.T) {
	repeat := func(n int, rows ...[]float32) (out [][]float32) {
		for range n {
			out = append(out, rows...)
		}
		return out
	}
	for _, c := range []struct {
		name           string
		rows           [][]float32
		k              int
		plain, spheric int // centroids
	}{
		{"none", nil, 4, 0, 0},
		{"one", [][]float32{{1, 2}}, 4, 1, 1},
		{"fewer than asked for", [][]float32{{1, 2}, {3, -4}, {-5, 1}}, 9, 3, 3},
		{"as many as asked for", [][]float32{{1, 2}, {3, -4}, {-5, 1}}, 3, 3, 3},
		{"one cell", [][]float32{{1, 2}, {3, -4}, {-5, 1}}, 1, 1, 1},
		{"none asked for", [][]float32{{1, 2}, {3, -4}}, 0, 1, 1},
		{"copies", repeat(500, []float32{0.1, 0.7}), 8, 1, 1},
		{"copies of three", repeat(200, []float32{1, 2}, []float32{3, -4}, []float32{-5, 1}), 8, 3, 3},
		{"one direction", [][]float32{{1, 2}, {2, 4}, {4, 8}, {0.5, 1}}, 3, 3, 1},
		{"nothing but zeros", repeat(10, []float32{0, 0}), 3, 1, 1},
		{"zeros among others", append(repeat(10, []float32{0, 0}), []float32{0, 1}, []float32{1, 0}), 3, 3, 2},
		{"opposites", repeat(50, []float32{1, 0}, []float32{-1, 0}), 1, 1, 1},
		{"vast", [][]float32{{1e18, 0}, {-1e18, 1}, {0, 1e18}}, 3, 3, 3},
	} {
		for _, spherical := range []bool{false, true} {
			got := run(t, c.rows, Options{K: c.k, Spherical: spherical, Seed: 2})
			want := c.plain
			if spherical {
				want = c.spheric
			}
			if got.K != want {
				t.Errorf("%s, spherical %v: %d centroids, want %d", c.name, spherical, got.K, want)
			}
			homes, err := got.Assign(t.Context(), of(c.rows), 1)
			if err != nil || len(homes) != len(c.rows) {
				t.Errorf("%s: %d cells of %d rows, %v", c.name, len(homes), len(c.rows), err)
			}
		}
	}
}

// K3: of groups of very unequal size none is left without a centroid, though seeds be poor.
func TestK3_LostCentroidsBeginAnew(t *testing.T) {
	r := random(t, 9)
	rows := blobs(r, 2, 300, 4, 0.01)
	c := newCentroids(4, false)
	for range 3 {
		c.add([]float32{1e3, 1e3, 1e3, 1e3}) // all but the first will lose their rows, if they have any
	}
	tr := &trainer{ctx: t.Context(), o: Options{K: 3}, rows: of(rows), c: c}
	tr.sample = draw(r, len(rows), len(rows))
	tr.nearest, tr.far = make([]uint32, len(rows)), make([]float32, len(rows))
	for range 4 {
		if _, _, err := tr.assign(); err != nil {
			t.Fatal(err)
		}
		tr.means()
	}
	homes, _ := c.Assign(t.Context(), of(rows), 1)
	counts := map[uint32]int{}
	for _, at := range homes {
		counts[at]++
	}
	if len(counts) != 3 || cost(rows, c) > 1 {
		t.Errorf("rows in cells %v, cost %v", counts, cost(rows, c))
	}
}

func TestMean(t *testing.T) {
	for _, c := range []struct {
		rows      [][]float32
		spherical bool
		want      []float32
	}{
		{nil, false, nil},
		{[][]float32{{1, 2}, {3, 6}}, false, []float32{2, 4}},
		{[][]float32{{5, 0}, {0, 0.1}, {0, 0}}, true, []float32{math.Sqrt2 / 2, math.Sqrt2 / 2}},
		{[][]float32{{1, 0}, {-3, 0}}, true, nil},
		{[][]float32{{0, 0}}, true, nil},
		{[][]float32{{0, 0}}, false, []float32{0, 0}},
	} {
		got := Mean(of(c.rows), c.spherical)
		ok := (got == nil) == (c.want == nil)
		for i := range got {
			ok = ok && math.Abs(float64(got[i]-c.want[i])) < 1e-6
		}
		if !ok {
			t.Errorf("mean of %v, spherical %v: %v, want %v", c.rows, c.spherical, got, c.want)
		}
	}
}

func TestDraw(t *testing.T) {
	r := random(t, 3)
	hits := make([]int, 20)
	for range 4000 {
		got := draw(r, 20, 5)
		if len(got) != 5 || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != 5 {
			t.Fatalf("drew %v", got)
		}
		for _, i := range got {
			hits[i]++
		}
	}
	for i, n := range hits { // 1000 expected, 27 the deviation
		if n < 860 || n > 1140 {
			t.Errorf("%d was drawn %d times", i, n)
		}
	}
	if got := draw(r, 3, 9); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("drew %v of three", got)
	}
}

func TestCancelled(t *testing.T) {
	rows := blobs(random(t, 1), 4, 500, 4, 1)
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		all := of(rows)
		all.Row = func(i int) []float32 {
			if workers == 1 {
				if seen++; seen == 600 {
					cancel()
				}
			}
			return rows[i]
		}
		if workers > 1 {
			cancel()
		}
		if _, err := Run(ctx, all, Options{K: 4, Workers: workers, Spherical: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("%d workers: %v", workers, err)
		}
		c := run(t, rows, Options{K: 4})
		if _, err := c.Assign(ctx, of(rows), workers); !errors.Is(err, context.Canceled) {
			t.Errorf("assign, %d workers: %v", workers, err)
		}
		cancel()
	}
}

func BenchmarkRun(b *testing.B) {
	rows := blobs(rand.New(rand.NewPCG(1, 1)), 100, 100, 384, 0.5)
	for b.Loop() {
		c, err := Run(b.Context(), of(rows), Options{K: 100, Spherical: true, Seed: 1})
		if err != nil || c.K != 100 {
			b.Fatal(c.K, err)
		}
	}
}
