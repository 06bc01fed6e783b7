package postings

import "testing"

// TestHolding: numbers and sets of what holds terms, and sets of what holds both, are what a scan of the model finds, folded or not.
func TestHolding(t *testing.T) {
	s := newStore(t)
	x := s.create("x")
	m := s.fill(x, 3000, 64)
	for _, folded := range []bool{false, true} {
		if folded {
			s.fold(x)
		}
		r := s.view()
		set := func(terms ...string) *Set {
			t.Helper()
			set, err := x.Holding(t.Context(), r, terms)
			if err != nil {
				t.Fatal(err)
			}
			want := len(m.search(Query{Terms: terms}))
			if set.Len() != want {
				t.Errorf("%v: %d items, want %d", terms, set.Len(), want)
			}
			return set
		}
		set()
		set("none")
		asked := []string{"mod9", "none", "all", "mod7", "mod9", "own2900"}
		holders, err := x.Holders(t.Context(), r, asked)
		for i, n := range holders {
			if want := len(m.search(Query{Terms: asked[i : i+1]})); n != want {
				t.Errorf("%s: %d holders, want %d", asked[i], n, want)
			}
		}
		if err != nil || len(holders) != len(asked) {
			t.Errorf("%v, %v", holders, err)
		}
		set("own5", "own2900", "none")
		sevens, nines := set("mod7"), set("mod9")
		both := sevens.And(nines)
		want := m.search(Query{Terms: []string{"mod7", "mod9"}, All: true})
		if both.Len() != len(want) || sevens.And(nil).Len() != sevens.Len() || (*Set)(nil).And(nines) != nines {
			t.Errorf("%d items of both, want %d", both.Len(), len(want))
		}
		got := s.search(x, r, Query{Terms: []string{"mod7", "mod9", "own7"}, K: MaxK, Set: both.And(set("own0", "own5", "all"))}).Hits
		for _, h := range got {
			if !holds(m[h.ID], "mod7") || !holds(m[h.ID], "mod9") {
				t.Fatalf("%v does not hold both", h)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d found in the set, want %d", len(got), len(want))
		}
	}
}

func holds(terms []Term, text string) bool {
	for _, t := range terms {
		if t.Text == text {
			return true
		}
	}
	return false
}
