package kmeans

import (
	"math"
	"slices"
	"testing"
)

func TestDistances(t *testing.T) {
	rows := blobs(random(t, 4), 5, 40, 12, 0.3)
	for _, spherical := range []bool{false, true} {
		c := run(t, rows, Options{K: 5, Spherical: spherical})
		s := c.NewScratch()
		for _, row := range rows {
			all := slices.Clone(c.Distances(s, row))
			at, far := c.Nearest(s, row)
			if len(all) != c.K || all[at] != far || slices.Min(all) != far {
				t.Fatalf("distances %v, nearest %d at %v", all, at, far)
			}
		}
	}
}

// The silhouette from sums of cells is that of the definition, from all pairs.
func TestSilhouette(t *testing.T) {
	rows := blobs(random(t, 5), 3, 20, 8, 0.7)
	for _, row := range rows {
		normalise(row)
	}
	cells := make([]uint32, len(rows))
	for i := range cells {
		cells[i] = uint32(i % 4) // a bad partition is as good for this
	}
	cells[0] = 4 // alone
	mean := func(i int, in uint32) float64 {
		sum, n := 0.0, 0
		for j := range rows {
			if j != i && cells[j] == in {
				dot := 0.0
				for d := range rows[i] {
					dot += float64(rows[i][d]) * float64(rows[j][d])
				}
				sum, n = sum+1-dot, n+1
			}
		}
		return sum / float64(n)
	}
	want := 0.0
	for i := range rows {
		if cells[i] == 4 {
			continue
		}
		a, b := mean(i, cells[i]), math.Inf(1)
		for c := range uint32(5) {
			if c != cells[i] {
				b = min(b, mean(i, c))
			}
		}
		want += (b - a) / max(a, b)
	}
	want /= float64(len(rows))
	got, err := Silhouette(t.Context(), of(rows), cells, 5, len(rows), 1, 2)
	if err != nil || math.Abs(got-want) > 1e-5 {
		t.Errorf("silhouette %v (%v), want %v", got, err, want)
	}
	for _, few := range [][][]float32{nil, rows[:1]} {
		if s, err := Silhouette(t.Context(), of(few), cells[:len(few)], 5, 10, 1, 1); err != nil || s != 0 {
			t.Errorf("silhouette of %d rows: %v, %v", len(few), s, err)
		}
	}
}

func TestSSEAndElbow(t *testing.T) {
	rows := [][]float32{{1, 0}, {0, 1}, {1, 0}}
	sums, counts := Sums(of(rows), []uint32{0, 0, 1}, 2)
	if got := SSE(sums[:2], counts[0]); math.Abs(got-(4-2*math.Sqrt2)) > 1e-9 {
		t.Errorf("SSE of two rows at right angles: %v", got)
	}
	if got := SSE(sums[2:], counts[1]); got != 0 {
		t.Errorf("SSE of one row: %v", got)
	}
	for _, c := range []struct {
		x, y []float64
		want int
	}{
		{[]float64{1, 2, 3, 4, 5}, []float64{10, 4, 3, 2.5, 2}, 1},
		{[]float64{1, 2}, []float64{2, 1}, 0},
		{[]float64{1, 2, 3}, []float64{1, 1, 1}, 0},
		{nil, nil, 0},
	} {
		if got := Elbow(c.x, c.y); got != c.want {
			t.Errorf("elbow of %v: %d, want %d", c.y, got, c.want)
		}
	}
}
