package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/glimdb/db/vector"
)

// small is a generated set; an odd dimension reaches the kernels' padding.
func small(t *testing.T, metric vector.Metric, dim int) *dataset {
	t.Helper()
	rows := clustered(5, 700, dim)
	copy(rows.row(300), rows.row(200)) // equal distances: the smaller id comes first
	d, err := split("small", metric, rows, dataOptions{queries: 40})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// slowTruth sorts all rows by distance and id.
func slowTruth(d *dataset) (out truth) {
	for q := range d.queries.rows() {
		var all []neighbour
		for i := range d.base.rows() {
			all = append(all, neighbour{uint32(i), d.distance(q, uint32(i))})
		}
		slices.SortFunc(all, compareNeighbours)
		var ids []uint32
		for _, c := range all[:truthDepth] {
			ids = append(ids, c.id)
		}
		out = append(out, ids)
	}
	return out
}

func TestBruteForce(t *testing.T) {
	for _, metric := range []vector.Metric{vector.Cosine, vector.L2} {
		for _, dim := range []int{33, 64} {
			d := small(t, metric, dim)
			got, want := bruteForce(d), slowTruth(d)
			for q := range want {
				if !slices.Equal(got[q], want[q]) {
					t.Fatalf("%v, %d dimensions, query %d:\n got %v\nwant %v", metric, dim, q, got[q], want[q])
				}
			}
		}
	}
}

func TestTruthIsKeptByContent(t *testing.T) {
	d, cache := small(t, vector.Cosine, 16), t.TempDir()
	first, err := solve(d, cache)
	if err != nil {
		t.Fatal(err)
	}
	// What is kept is used: a mark put there comes back, for the same content only.
	path := filepath.Join(cache, "truth-"+d.contentKey()+".ivecs")
	marked := truth(slices.Clone(first))
	marked[0] = []uint32{12345}
	if err := writeIvecs(path, marked); err != nil {
		t.Fatal(err)
	}
	if again, err := solve(d, cache); err != nil || !slices.Equal(again[0], marked[0]) {
		t.Errorf("the kept answer was not used: %v, %v", again[0], err)
	}
	changed := *d
	changed.base = matrix{d.base.dim, slices.Clone(d.base.values)}
	changed.base.values[7] += 0.25
	if other, err := solve(&changed, cache); err != nil || slices.Equal(other[0], marked[0]) {
		t.Errorf("an answer to other vectors was used: %v, %v", other[0], err)
	}
	for _, other := range []*dataset{{"", vector.L2, d.base, d.queries}, {"", d.metric, d.base, d.queries.slice(1, d.queries.rows())}} {
		if other.contentKey() == d.contentKey() {
			t.Error("another question has the same key")
		}
	}
	// A damaged file is replaced.
	if err := os.WriteFile(path, []byte("damage"), 0o644); err != nil {
		t.Fatal(err)
	}
	if again, err := solve(d, cache); err != nil || !slices.Equal(again[0], first[0]) {
		t.Errorf("after damage: %v, %v", again[0], err)
	}
	if rows, err := readIvecs(path); err != nil || !slices.Equal(rows[0], first[0]) {
		t.Errorf("the damaged file is still there: %v", err)
	}
}

func TestRecall(t *testing.T) {
	d := &dataset{metric: vector.L2, base: matrix{1, []float32{0, 1, -1, 2, 3, 9}}, queries: matrix{1, []float32{0}}}
	exact := bruteForce(d)
	if want := []uint32{0, 1, 2, 3, 4, 5}; !slices.Equal(exact[0], want) {
		t.Fatalf("exact answer %v, want %v", exact[0], want)
	}
	for _, c := range []struct {
		name    string
		answers []uint32
		k       int
		want    float64
	}{
		{"all", []uint32{0, 1}, 2, 1},
		{"a tie with the last counts", []uint32{0, 2}, 2, 1},
		{"one of two", []uint32{0, 5}, 2, 0.5},
		{"only the first k count", []uint32{5, 0, 1}, 2, 0.5},
		{"a repeated answer counts once", []uint32{0, 0, 0}, 3, 1. / 3},
		{"ties beyond k add nothing", []uint32{0, 1, 2}, 2, 1},
		{"none", nil, 3, 0},
		{"fewer than k exist", []uint32{0, 1, 2, 3, 4, 5}, 50, 1},
	} {
		if got := d.recall(exact, [][]uint32{c.answers}, c.k); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
