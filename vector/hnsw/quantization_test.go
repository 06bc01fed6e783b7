package hnsw_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/glimdb/db/vector"
)

// embedded returns n vectors as models make them of texts: few directions of meaning in many dimensions,
// topics, and a mean that all share.
func embedded(r *rand.Rand, n, dim int) [][]float32 {
	const meanings, topics = 24, 60
	shared, axes := random(r, dim), make([][]float32, meanings)
	for i := range axes {
		axes[i] = random(r, dim)
	}
	centres := make([][]float32, topics)
	for i := range centres {
		centres[i] = random(r, meanings)
	}
	out := make([][]float32, n)
	for i := range out {
		centre := centres[r.IntN(topics)]
		out[i] = make([]float32, dim)
		for j := range out[i] {
			out[i][j] = 2*shared[j] + 0.2*float32(r.NormFloat64())
		}
		for a, axis := range axes {
			by := centre[a] + 0.4*float32(r.NormFloat64())
			for j, x := range axis {
				out[i][j] += by * x
			}
		}
		for j := range out[i] {
			out[i][j] /= 128 // lengths near 1
		}
	}
	return out
}

// Every quantisation finds nearly all of ten neighbours at the default width, and what it keeps of a vector
// has the size that its name says.
func TestQuantizations(t *testing.T) {
	const dim, queries = 768, 50
	n := scaled(2000)
	perVector := map[vector.Quantization]int64{vector.Int8: 4*dim + dim, vector.Float32: 4 * dim, vector.Binary: 4*dim + dim/8}
	vectors := embedded(newRand(t, 6), n+queries, dim)
	for _, c := range comparisons(dim) {
		t.Run(fmt.Sprintf("%v/%v", c.Metric, c.Quantization), func(t *testing.T) {
			t.Parallel()
			s := newStore(t, indexAlways)
			v := s.create("v", c)
			m := load(s, v, vectors[:n])
			snap := s.view()
			defer snap.Close()
			sum := 0.0
			for _, q := range vectors[n:] {
				hits, err := v.Search(context.Background(), snap, q, vector.SearchOptions{K: 10})
				if err != nil {
					t.Fatal(err)
				}
				sum += recall(t, c.Metric, m, q, 10, nil, hits)
			}
			if mean := sum / queries; mean < 0.97 {
				t.Errorf("recall at 10 is %.4f", mean)
			} else {
				t.Logf("recall at 10 is %.4f", mean)
			}
			st := v.Stats()
			slots := (int64(n) + 255) / 256 * 256
			if vecs := st.Bytes - st.Memory.Links; vecs < slots*perVector[c.Quantization] || vecs > slots*(perVector[c.Quantization]+64) {
				t.Errorf("%d bytes a vector, want %d and a little", vecs/slots, perVector[c.Quantization])
			}
			s.check()
		})
	}
}

// BenchmarkQuantizations is the graph over each quantisation on what looks like text embeddings; the recall
// of its answers and the memory of a vector, links included, stand beside its speed.
func BenchmarkQuantizations(b *testing.B) {
	const n, dim, queries = 20000, 768, 200
	vectors := embedded(newRand(b, 6), n+queries, dim)
	for _, c := range comparisons(dim) {
		if c.Metric == vector.Dot {
			continue
		}
		b.Run(fmt.Sprintf("%v/%v", c.Metric, c.Quantization), func(b *testing.B) {
			s := newStore(b, indexAlways)
			v := s.create("v", c)
			m := load(s, v, vectors[:n])
			snap := s.view()
			defer snap.Close()
			sum, i := 0.0, 0
			search := func(q []float32) []vector.Hit {
				hits, err := v.Search(context.Background(), snap, q, vector.SearchOptions{K: 10})
				if err != nil {
					b.Fatal(err)
				}
				return hits
			}
			for _, q := range vectors[n:] {
				sum += recall(b, c.Metric, m, q, 10, nil, search(q))
			}
			for b.Loop() {
				search(vectors[n+i%queries])
				i++
			}
			b.ReportMetric(sum/queries, "recall@10")
			b.ReportMetric(float64(v.Stats().Bytes)/n, "B/vector")
		})
	}
}
