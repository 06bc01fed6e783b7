package hnsw_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

// Every quantisation finds nearly all of ten neighbours at the default width, and what it keeps of a vector
// has the size that its name says.
func TestQuantizations(t *testing.T) {
	const dim, queries = 768, 40
	n := vectorkit.Scaled(900)
	perVector := map[vector.Quantization]int64{vector.Int8: 4*dim + dim, vector.Float32: 4 * dim, vector.Binary: 4*dim + dim/8}
	vectors := vectorkit.Embedded(vectorkit.Rand(t, 6), n+queries, dim)
	run := func(t *testing.T, c vector.Config, memoryBytes int64) {
		t.Run(fmt.Sprintf("%v/%v/%d", c.Metric, c.Quantization, memoryBytes), func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			s.Close()
			s.Options.MemoryBytes = memoryBytes
			s.Open()
			c.EfConstruction = 40
			v := s.Create("v", c)
			m := s.Load(v, vectors[:n])
			snap := s.View()
			defer snap.Close()
			sum := 0.0
			for _, q := range vectors[n:] {
				hits, err := v.Search(context.Background(), snap, q, vector.SearchOptions{K: 10, Plan: vector.PlanIndex})
				if err != nil {
					t.Fatal(err)
				}
				sum += vectorkit.Recall(t, c.Metric, m, q, 10, nil, hits)
			}
			if mean := sum / queries; mean < 0.97 {
				t.Errorf("recall at 10 is %.4f", mean)
			} else {
				t.Logf("recall at 10 is %.4f", mean)
			}
			st := v.Stats()
			slots := (int64(n) + 255) / 256 * 256
			if memoryBytes > 0 {
				st.Bytes += slots * 4 * dim // the rows that are not there
			}
			if vecs := st.Bytes - st.Memory.Links; vecs < slots*perVector[c.Quantization] || vecs > slots*(perVector[c.Quantization]+64) {
				t.Errorf("%d bytes a vector, want %d and a little", vecs/slots, perVector[c.Quantization])
			}
			s.Check()
		})
	}
	for _, c := range vectorkit.Comparisons(dim) {
		run(t, c, 0)
		if c.Metric == vector.L2 && c.Quantization == vector.Int8 || c.Metric == vector.Cosine && c.Quantization == vector.Binary {
			run(t, c, 1) // another distance than with rows in memory
		}
	}
}

// What memory holds of 768 dimensions is little more than what arithmetic asks for and, where rows stay in the
// store, less than three tenths of the rows; with bits the links fit in, too.
func TestMemory(t *testing.T) {
	const dim, n = 768, 1024
	const rows, links = 4 * dim, 4 * (2*vector.DefaultM + 1) // of a vector; one node in M is on a second level
	vectors := vectorkit.Around(vectorkit.Rand(t, 9), n, dim)
	for _, want := range []struct {
		q       vector.Quantization
		limit   int64
		vectors float64 // at most, in bytes a vector
		all     float64
	}{
		{vector.Int8, 0, 1.08 * (rows + dim), 1.08 * (rows + dim + links)},
		{vector.Float32, 0, 1.08 * rows, 1.08 * (rows + links)},
		{vector.Binary, 0, 1.08 * (rows + dim/8), 1.08 * (rows + dim/8 + links)},
		{vector.Int8, 1, 0.30 * rows, 0.30*rows + 1.5*links},
		{vector.Binary, 1, 0.06 * rows, 0.30 * rows},
	} {
		t.Run(fmt.Sprintf("%v/%d", want.q, want.limit), func(t *testing.T) {
			t.Parallel()
			s := vectorkit.Open(t, vector.SetOptions{NewIndex: hnsw.Factory, ExactBytes: vectorkit.IndexAlways, MemoryBytes: want.limit})
			c := s.Create("v", vector.Config{Dim: dim, Quantization: want.q, EfConstruction: 16})
			s.Load(c, vectors)
			st := c.Stats()
			all, vecs := float64(st.Bytes)/n, float64(st.Bytes-st.Memory.Links)/n
			if vecs > want.vectors || all > want.all {
				t.Errorf("%.0f bytes a vector, want %.0f; with links %.0f, want %.0f", vecs, want.vectors, all, want.all)
			}
			if (st.Memory.Rows == 0) != (want.limit > 0) {
				t.Errorf("%+v", st.Memory)
			}
			s.Check()
		})
	}
}

// BenchmarkQuantizations is the graph over each quantisation on what looks like text embeddings; the recall
// of its answers and the memory of a vector, links included, stand beside its speed.
func BenchmarkQuantizations(b *testing.B) {
	const n, dim, queries = 20000, 768, 200
	vectors := vectorkit.Embedded(vectorkit.Rand(b, 6), n+queries, dim)
	for _, c := range vectorkit.Comparisons(dim) {
		if c.Metric == vector.Dot {
			continue
		}
		b.Run(fmt.Sprintf("%v/%v", c.Metric, c.Quantization), func(b *testing.B) {
			s := newStore(b)
			v := s.Create("v", c)
			m := s.Load(v, vectors[:n])
			snap := s.View()
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
				sum += vectorkit.Recall(b, c.Metric, m, q, 10, nil, search(q))
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
