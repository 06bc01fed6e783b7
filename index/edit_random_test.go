package index_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/glimdb/db/index"
)

// drawEdit makes one random edit, over the names of randomDoc and some others. Refusals are part of the game.
func drawEdit(rng *rand.Rand) (what string, do func(s *store) (index.EditResult, error)) {
	name := func() string {
		if n := rng.IntN(9); n > 5 {
			return fmt.Sprintf("Name %d", n)
		} else {
			return string(rune('A' + n))
		}
	}
	a, b, c := name(), name(), name()
	word := fmt.Sprintf("By hand %d.", rng.IntN(9))
	weight := float64(1 + rng.IntN(20))
	switch rng.IntN(13) {
	case 0:
		return "create " + a, func(s *store) (index.EditResult, error) {
			return s.CreateEntity(ctx, index.NewEntity{Name: a, Type: "hand", Description: word})
		}
	case 1:
		return "edit " + a, func(s *store) (index.EditResult, error) {
			return s.EditEntity(ctx, a, index.EntityFields{Description: &word})
		}
	case 2:
		return "type " + a, func(s *store) (index.EditResult, error) {
			return s.EditEntity(ctx, a, index.EntityFields{Type: &word})
		}
	case 3:
		return "rename " + a + " " + b, func(s *store) (index.EditResult, error) { return s.RenameEntity(ctx, a, b) }
	case 4, 5:
		return "merge " + a + " " + b + " " + c, func(s *store) (index.EditResult, error) {
			return s.MergeEntities(ctx, index.Merge{Into: a, From: []string{b, c}})
		}
	case 6:
		return "alias " + a + " " + b, func(s *store) (index.EditResult, error) { return s.AddAlias(ctx, a, b) }
	case 7:
		return "part " + a, func(s *store) (index.EditResult, error) { return s.RemoveAlias(ctx, a) }
	case 8:
		return "delete " + a, func(s *store) (index.EditResult, error) { return s.DeleteEntity(ctx, a) }
	case 9:
		return "reset " + a, func(s *store) (index.EditResult, error) { return s.ResetEntity(ctx, a) }
	case 10:
		return "relate " + a + " " + b, func(s *store) (index.EditResult, error) {
			return s.CreateRelation(ctx, index.NewRelation{Src: a, Dst: b, Description: word, Weight: weight})
		}
	case 11:
		return "edit relation " + a + " " + b, func(s *store) (index.EditResult, error) {
			return s.EditRelation(ctx, a, b, index.RelationFields{Weight: &weight, Keywords: []string{word}})
		}
	default:
		if rng.IntN(2) == 0 {
			return "delete relation " + a + " " + b, func(s *store) (index.EditResult, error) { return s.DeleteRelation(ctx, a, b) }
		}
		return "reset relation " + a + " " + b, func(s *store) (index.EditResult, error) { return s.ResetRelation(ctx, a, b) }
	}
}

// TestRandomEdits: among random edits, documents that come and go again leave no trace (P2), each state can be
// loaded, and Check, which derives everything again, finds nothing.
func TestRandomEdits(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 77))
			o := index.Options{SummaryFragments: 4}
			if seed%2 == 1 {
				o.MaxSources, o.MaxPaths, o.KeepNewest = 3, 2, seed%4 == 1
			}
			s := newStore(t, o)
			for i := range 5 {
				s.put(randomDoc(rng, fmt.Sprintf("base%d", i)))
			}
			var history []string
			made := 0
			for range 30 {
				what, do := drawEdit(rng)
				history = append(history, what)
				before := s.dump()
				passing := randomDoc(rng, "passing")
				later := rng.IntN(4) == 0
				if later { // the edit meets a document that is not there to stay
					s.put(passing)
				}
				_, err := do(s)
				s.check()
				switch {
				case t.Failed():
					t.Fatalf("after %q", history)
				case err == nil:
					made++
				case !errors.Is(err, index.ErrEdit):
					t.Fatalf("%q: %v", history, err)
				case !later:
					s.same(fmt.Sprintf("refused, %q", history), before)
				}
				if later {
					s.delete("passing")
					s.check()
					continue
				}
				stands := s.dump()
				s.put(passing)
				s.check()
				s.delete("passing")
				s.check()
				s.same(fmt.Sprintf("a document came and went, %q", history), stands)
			}
			if made < 5 {
				t.Errorf("%d edits were made", made)
			}
			c := newStore(t, o)
			if len(s.dump()) > 0 {
				s.copyTo(c)
				c.same("loaded", s.dump())
			}
		})
	}
}

// TestEditsAndDocumentsCommute: edits before or after other documents come, are replaced and go lead to the same.
func TestEditsAndDocumentsCommute(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 78))
			var lines []string
			for n := range 6 { // all names are there in either order
				lines = append(lines, fmt.Sprintf("E %c|type%d|Base %d.", 'A'+n, n%3, n), fmt.Sprintf("R %c - %c|k|Base.", 'A'+n, 'A'+(n+1)%6))
			}
			base, first, second, gone := doc("base", lines...), randomDoc(rng, "one"), randomDoc(rng, "one"), randomDoc(rng, "two")
			last := randomDoc(rng, "three")
			documents := func(s *store) {
				s.put(second, gone)
				s.put(last)
				s.delete("two")
			}
			now, late := newStore(t, index.Options{}), newStore(t, index.Options{})
			now.put(base, first)
			late.put(base, first)
			documents(late)
			var history []string
			for range 12 {
				what, do := drawEdit(rng)
				if strings.Contains(what, "relat") {
					continue // whether a relation is there depends on the documents
				}
				_, err := do(now)
				_, lerr := do(late)
				if (err == nil) != (lerr == nil) {
					t.Fatalf("%s after %q: %v and %v", what, history, err, lerr)
				}
				history = append(history, what)
			}
			documents(now)
			now.check()
			late.same(fmt.Sprint(history), now.dump())
		})
	}
}
