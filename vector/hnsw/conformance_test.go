package hnsw_test

import (
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/vector/vectortest"
)

func TestConformance(t *testing.T) {
	vectortest.Run(t, vectortest.Suite{New: hnsw.Factory, Saving: hnsw.SmallParts})
}

// newStore returns a store whose collections all have a graph.
func newStore(t testing.TB) *vectorkit.Store {
	return vectorkit.Open(t, vector.SetOptions{NewIndex: hnsw.Factory, ExactBytes: vectorkit.IndexAlways})
}

// graphOf returns the points of a collection of n vectors and the index over them.
func graphOf(t *testing.T, n int) (*vector.Points, vector.Index) {
	t.Helper()
	points := vectorkit.Points(t, vector.Config{Dim: 8, EfConstruction: 32}, vectorkit.Around(vectorkit.Rand(t, 6), n, 8))
	x := hnsw.New(vector.IndexOptions{Config: points.Config()})
	x.Attach(points, nil)
	for slot := range points.Len() {
		x.Insert(slot)
	}
	return points, x
}
