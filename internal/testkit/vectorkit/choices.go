package vectorkit

import (
	"slices"

	"github.com/glimdb/db/vector"
)

// Metrics returns all of them.
func Metrics() []vector.Metric { return []vector.Metric{vector.Cosine, vector.Dot, vector.L2} }

// Comparisons are the configurations of every metric and quantisation that go together.
func Comparisons(dim int) (all []vector.Config) {
	for _, m := range Metrics() {
		for _, q := range []vector.Quantization{vector.Int8, vector.Float32, vector.Binary} {
			if m != vector.L2 || q != vector.Binary {
				all = append(all, vector.Config{Metric: m, Dim: dim, Quantization: q})
			}
		}
	}
	return all
}

// Correlations returns ways to pick n admitted vectors out of all, which are ordered by their distance from the
// query, by what the picked have to do with it.
func Correlations() map[string]func(all []Scored, n int) []Scored {
	return map[string]func(all []Scored, n int) []Scored{
		"nearest":  func(all []Scored, n int) []Scored { return all[:n] },
		"farthest": func(all []Scored, n int) []Scored { return all[len(all)-n:] },
		"random": func(all []Scored, n int) []Scored {
			all = slices.Clone(all)
			slices.SortFunc(all, func(a, b Scored) int { return int(mixed(a.ID)%1e6) - int(mixed(b.ID)%1e6) })
			return all[:n]
		},
	}
}

func mixed(id string) (h uint64) {
	for _, b := range []byte(id) {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	return h ^ h>>29
}
