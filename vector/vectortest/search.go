package vectortest

import (
	"context"
	"fmt"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector"
)

// At the default width the graph finds nearly all of ten neighbours, and all vectors find themselves.
func (u Suite) recall(t *testing.T) {
	const queries = 50
	n := vectorkit.Scaled(1200)
	for _, metric := range vectorkit.Metrics() {
		dims := []int{32}
		if metric == vector.Cosine {
			dims = []int{4, 32, 100}
		}
		for _, dim := range dims {
			for _, shape := range []string{"random", "clustered"} {
				t.Run(fmt.Sprintf("%v/%d/%s", metric, dim, shape), func(t *testing.T) {
					t.Parallel()
					r := vectorkit.Rand(t, uint64(dim))
					vectors := vectorkit.Around(r, n+queries, dim)
					if shape == "random" {
						for i := range vectors {
							vectors[i] = vectorkit.Random(r, dim)
						}
					}
					s := u.open(t)
					c := s.Create("v", vector.Config{Metric: metric, Dim: dim})
					m := s.Load(c, vectors[:n])
					snap := s.View()
					defer snap.Close()
					sum := 0.0
					for _, q := range vectors[n:] {
						hits, err := c.Search(context.Background(), snap, q, vector.SearchOptions{K: 10})
						if err != nil {
							t.Fatal(err)
						}
						sum += vectorkit.Recall(t, metric, m, q, 10, nil, hits)
					}
					if mean := sum / queries; mean < 0.95 {
						t.Errorf("recall at 10 is %.4f", mean)
					}
					s.Check()
				})
			}
		}
	}
}
