package hnsw_test

import (
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector/hnsw"
)

// What a delete costs does not grow with the collection (design P8): the lists that are read to find and
// mend what linked to the removed nodes are not twice as many in a graph eight times the size.
func TestRemoveCostsItsNeighbourhood(t *testing.T) {
	const removals = 200
	cost := func(n int) float64 {
		_, x := graphOf(t, n)
		r := vectorkit.Rand(t, 12)
		gone := make([]bool, n)
		for done := 0; done < removals; {
			if slot := uint32(r.IntN(n)); !gone[slot] {
				x.Remove([]uint32{slot})
				gone[slot] = true
				done++
			}
		}
		for problem := range x.Check(func(slot uint32) bool { return !gone[slot] }) {
			t.Error(problem)
		}
		return float64(hnsw.Reads(x)) / removals
	}
	small, large := cost(1000), cost(vectorkit.Scaled(8000))
	t.Logf("%.0f lists a removal of 1,000 nodes, %.0f of the large graph", small, large)
	if large > 2*small {
		t.Errorf("a removal reads %.0f lists of 1,000 nodes and %.0f of the large graph", small, large)
	}
}
