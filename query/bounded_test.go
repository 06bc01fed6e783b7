package query

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/record"
)

// TestBoundedRelations: relations are read by rank only while the budget lasts (Q6); what is shown is what
// sorting all of them would show.
func TestBoundedRelations(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := newStore(t, testDim)
		s.emb.Set("ll", at(axisLow, 1, axisNone)...)
		const nodes = 80
		name := func(i int) string { return fmt.Sprintf("n%02d", i) }
		degree := map[string]int{}
		var all []Relation
		s.commit(func(w *writer) {
			for i := range nodes {
				v := at(axisNone, 1, axisNone-1)
				if i < 5 {
					v = at(axisLow, .9-float64(i)/20, axisNone)
				}
				w.entity(name(i), "t", "d", v, "d-chunk-000")
			}
			seen := map[[2]int]bool{}
			for range 1200 {
				a, b := rng.IntN(nodes), rng.IntN(nodes)
				if rng.IntN(3) == 0 {
					a = 0 // a hub
				}
				if a > b {
					a, b = b, a
				}
				if a == b || seen[[2]int{a, b}] {
					continue
				}
				seen[[2]int{a, b}] = true
				r := Relation{Src: name(a), Dst: name(b), Weight: float64(1 + rng.IntN(3)), Description: strings.Repeat("word ", 1+rng.IntN(20))}
				r.Tokens = s.tok.Count(record.RelationLine(r.Src, r.Dst, r.Description))
				w.relation(r.Src, r.Dst, r.Weight, r.Description, at(axisNone, 1, axisNone-1), "d-chunk-000")
				degree[r.Src]++
				degree[r.Dst]++
				if a < 5 {
					all = append(all, r)
				}
			}
		})
		rank := func(r Relation) int { return degree[r.Src] + degree[r.Dst] }
		slices.SortFunc(all, func(a, b Relation) int {
			return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Src, b.Src), cmp.Compare(a.Dst, b.Dst))
		})
		e := s.engine()
		for _, budget := range []int{1, 40, 100, 500, 1500, 4000, 1_000_000} {
			kept, _ := prefix(pointers(all), budget, func(r *Relation) int { return r.Tokens + lineBreak })
			want := values(kept)
			r := ask(t, e, question, Options{Mode: Local, LowKeywords: []string{"ll"}, Want: WantData, Budget: Budget{Relations: budget, Total: 1_000_000}})
			if got := pairs(r.Data.Relations); got != pairs(want) {
				t.Fatalf("seed %d, budget %d: got %d relations, want %d:\n%s\n%s", seed, budget, len(r.Data.Relations), len(want), got, pairs(want))
			}
			for i, x := range r.Data.Relations {
				if x.Rank != rank(want[i]) || x.Weight != want[i].Weight {
					t.Fatalf("seed %d: relation %d is %+v", seed, i, x)
				}
			}
			found := r.Counts.Relations.Found
			if found > len(want)+1 || !r.Counts.RelationsBounded && found != len(all) {
				t.Fatalf("seed %d, budget %d: %d relations read for %d shown of %d, bounded %v", seed, budget, found, len(want), len(all), r.Counts.RelationsBounded)
			}
		}
	}
}
