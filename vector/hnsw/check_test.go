package hnsw_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

// Check names each damage of a graph, says nothing of what is whole, and the check of the set passes it on.
func TestCheckFindsDamage(t *testing.T) {
	const n, dim = 400, 8
	for _, damage := range hnsw.Damages {
		t.Run(damage.Name, func(t *testing.T) {
			s := newStore(t)
			defer s.Close() // before the check of what is damaged
			s.Close()
			var x vector.Index
			s.Options.NewIndex = func(o vector.IndexOptions) vector.Index {
				x = hnsw.New(o)
				return x
			}
			s.Open()
			s.Load(s.Create("v", vector.Config{Dim: dim, M: 4, EfConstruction: 16}), vectorkit.Around(vectorkit.Rand(t, 31), n, dim))
			check := func() (found []string) {
				t.Helper()
				snap := s.View()
				defer snap.Close()
				for p, err := range s.Set.Check(context.Background(), snap, "") {
					if err != nil || p.Collection != "v" {
						t.Errorf("%v, %v", p, err)
					}
					found = append(found, p.Detail)
				}
				return found
			}
			if found := check(); found != nil {
				t.Fatalf("before the damage: %q", found)
			}
			var want []string
			for _, problem := range damage.DamageIn(x) {
				want = append(want, "index: "+problem)
			}
			found := check()
			slices.Sort(want)
			if slices.Sort(found); !slices.Equal(found, want) {
				t.Errorf("found\n\t%s\nwant\n\t%s", strings.Join(found, "\n\t"), strings.Join(want, "\n\t"))
			}
			seen := 0
			for range x.Check(func(uint32) bool { return true }) { // a yield after the end would panic
				seen++
				break
			}
			if seen != min(1, len(want)) {
				t.Errorf("saw %d problems", seen)
			}
		})
	}
}
