package vectortest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/vector/ivf"
	"github.com/glimdb/db/vector/vectortest"
)

// Collections without an index are exact.
func TestExact(t *testing.T) { vectortest.Run(t, vectortest.Suite{}) }

// What one kind of index saved is damage to the other: it says so and begins anew.
func TestKindsDoNotReadEachOther(t *testing.T) {
	for _, kinds := range [][2]vector.NewIndex{{hnsw.Factory, ivf.Factory}, {ivf.Factory, hnsw.Factory}} {
		s := vectorkit.Open(t, vector.SetOptions{NewIndex: kinds[0], ExactBytes: vectorkit.IndexAlways})
		m := vectorkit.Model{}
		s.Fill(s.Create("v", vector.Config{Dim: 8}), m, 0, 300)
		s.Settle()
		s.Close()
		var warnings bytes.Buffer
		s.Options.NewIndex, s.Options.Logger = kinds[1], slog.New(slog.NewTextHandler(&warnings, nil))
		s.Open()
		s.Settle()
		if got := s.Collection("v").Stats().Index.Nodes; got != len(m) {
			t.Errorf("%d nodes for %d vectors", got, len(m))
		}
		s.Holds(m)
		s.Check()
		s.Close()
		if !strings.Contains(warnings.String(), "version") {
			t.Errorf("nobody noticed: %q", warnings.String())
		}
	}
}

// BenchmarkSearch is each searcher at its default width, through the collection; the indexes tell what an insert
// cost, too.
func BenchmarkSearch(b *testing.B) {
	const n, queries = 10000, 100
	for _, dim := range []int{100, 768} {
		vectors := vectorkit.Around(vectorkit.Rand(b, 1), n+queries, dim)
		for _, by := range []struct {
			name string
			o    vector.SetOptions
		}{
			{"exact", vector.SetOptions{ExactBytes: vectorkit.ExactAlways}},
			{"hnsw", vector.SetOptions{NewIndex: hnsw.Factory, ExactBytes: vectorkit.IndexAlways}},
			{"ivf", vector.SetOptions{NewIndex: ivf.Factory, ExactBytes: vectorkit.IndexAlways}},
		} {
			b.Run(fmt.Sprintf("%d/%s", dim, by.name), func(b *testing.B) {
				s := vectorkit.Open(b, by.o)
				c := s.Create("v", vector.Config{Dim: dim})
				start := time.Now()
				m := s.Load(c, vectors[:n])
				built := time.Since(start)
				found := s.RecallOfEach(c, m, vectors[n:], vector.SearchOptions{K: 10})
				snap, i := s.View(), 0
				defer snap.Close()
				for b.Loop() {
					if _, err := c.Search(context.Background(), snap, vectors[n+i%queries], vector.SearchOptions{K: 10}); err != nil {
						b.Fatal(err)
					}
					i++
				}
				b.ReportMetric(found, "recall@10")
				b.ReportMetric(float64(built.Microseconds())/n, "µs/insert")
				b.ReportMetric(float64(c.Stats().Bytes)/n, "B/vector")
			})
		}
	}
}
