package hnsw_test

import (
	"slices"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector"
)

// A node that was removed before the store was closed leaves nothing to the one that takes its slot after the next open.
func TestSlotsAfterARemovalAndAReopening(t *testing.T) {
	s := newStore(t)
	m := vectorkit.Model{}
	s.Fill(s.Create("v", vector.Config{Dim: 8}), m, 0, 40)
	s.Settle()
	late := []int{40, 41, 42, 43, 44}
	for range 3 {
		c := s.Collection("v")
		for _, i := range late {
			s.Fill(c, m, i, 1)
			s.Settle()
		}
		s.Check()
		s.Delete(c, m, slices.Values(late))
		s.Settle()
		s.Check()
		s.Reopen()
		s.Settle()
		s.Check()
	}
}
