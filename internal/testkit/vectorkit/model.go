package vectorkit

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/vector"
)

// Model is the plain truth: vectors by id, as given.
type Model map[string][]float32

// Clone returns a copy that shares the vectors.
func (m Model) Clone() Model {
	out := make(Model, len(m))
	for id, v := range m {
		out[id] = v
	}
	return out
}

// Score is what a search gives b for the query a, computed in float64.
func Score(metric vector.Metric, a, b []float32) float64 {
	var dot, aa, bb, dd float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		aa += x * x
		bb += y * y
		dd += (x - y) * (x - y)
	}
	switch metric {
	case vector.Cosine:
		return dot / math.Sqrt(aa*bb)
	case vector.Dot:
		return dot
	}
	return -math.Sqrt(dd)
}

// Scored is a vector and its score.
type Scored struct {
	ID    string
	Score float64
}

// Brute returns every vector, best first, ties by id.
func (m Model) Brute(metric vector.Metric, q []float32) []Scored {
	out := make([]Scored, 0, len(m))
	for id, v := range m {
		out = append(out, Scored{id, Score(metric, q, v)})
	}
	slices.SortFunc(out, func(a, b Scored) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out
}

// tolerance is how far a float32 score may be from the exact one.
func tolerance(metric vector.Metric, q []float32) float64 {
	if metric == vector.L2 {
		return 1e-3 // the root of a small squared distance magnifies its rounding
	}
	return 1e-4 * (1 + float64(len(q))/64)
}

// Recall compares hits with the truth: every hit must exist, be admitted, carry its true score, and come
// in order; the share of true neighbours found is returned (a hit as near as the K-th counts as one).
func Recall(t testing.TB, metric vector.Metric, m Model, q []float32, k int, filter func(string) bool, hits []vector.Hit) float64 {
	t.Helper()
	return RecallOf(t, metric, m, m.Brute(metric, q), q, k, filter, hits)
}

// RecallOf is Recall for a query whose true order of all vectors is known.
func RecallOf(t testing.TB, metric vector.Metric, m Model, all []Scored, q []float32, k int, filter func(string) bool, hits []vector.Hit) float64 {
	t.Helper()
	want := make([]Scored, 0, min(k, len(all)))
	for _, s := range all {
		if len(want) < k && (filter == nil || filter(s.ID)) {
			want = append(want, s)
		}
	}
	if len(hits) != len(want) {
		t.Errorf("%d hits, want %d", len(hits), len(want))
	}
	tol := tolerance(metric, q)
	seen := map[string]bool{}
	found := 0
	for i, h := range hits {
		v, ok := m[h.ID]
		if !ok || seen[h.ID] || filter != nil && !filter(h.ID) {
			t.Errorf("hit %q: stored %v, repeated %v", h.ID, ok, seen[h.ID])
			continue
		}
		seen[h.ID] = true
		exact := Score(metric, q, v)
		if math.Abs(exact-float64(h.Score)) > tol {
			t.Errorf("hit %q has score %v, want %v", h.ID, h.Score, exact)
		}
		if i > 0 && (hits[i-1].Score < h.Score || hits[i-1].Score == h.Score && hits[i-1].ID > h.ID) {
			t.Errorf("hits %d and %d are out of order: %v %v", i-1, i, hits[i-1], h)
		}
		if len(want) > 0 && exact >= want[len(want)-1].Score-tol/10 {
			found++
		}
	}
	if len(want) == 0 {
		return 1
	}
	return float64(found) / float64(len(want))
}
