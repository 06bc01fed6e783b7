package graph

import (
	"fmt"
	"testing"

	"github.com/glimdb/db/internal/invariants"
)

// The number of allocations of the hot reads does not grow with the degree, but for the growth of slices
// and one for each name on a shelf.
func TestAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checked builds copy what cursors return")
	}
	const limit = 100
	s := newStore(t)
	var edges [][2]string
	for i := range 2_000 {
		edges = append(edges, [2]string{"hub", fmt.Sprintf("n%04d", i)})
	}
	edges = append(edges, [2]string{"small", "n0000"}, [2]string{"small", "n0001"})
	g := s.build("g", nil, edges...)
	r := s.view()
	for _, tc := range []struct {
		name string
		read func(name string) error
	}{
		{"RankedIncident", func(name string) error { _, err := g.RankedIncident(r, []string{name}, limit); return err }},
		{"Degrees", func(name string) error { _, err := g.Degrees(r, []string{name}); return err }},
		{"Neighbors", func(name string) error {
			for _, err := range g.Neighbors(r, name) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		count := func(name string) float64 {
			return testing.AllocsPerRun(20, func() {
				if err := tc.read(name); err != nil {
					t.Fatal(err)
				}
			})
		}
		if small, hub := count("small"), count("hub"); hub > small+60+limit {
			t.Errorf("%s allocates %v times at degree 2, %v times at degree 2,000", tc.name, small, hub)
		}
	}
}
