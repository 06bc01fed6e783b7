package postings

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/kv"
)

// model is the index as a map of items: what every answer is compared with.
type model map[string][]Term

func (m model) length() (n int) {
	for _, terms := range m {
		for _, t := range terms {
			n += t.Count
		}
	}
	return n
}

// search scores every item by the formula of the package comment of BM25, in its order of summation.
func (m model) search(q Query) []Hit {
	if q.BM25 == (BM25{}) {
		q.BM25 = DefaultBM25()
	}
	n, mean := float64(len(m)), float64(m.length())/float64(len(m))
	holders := make(map[string]int)
	for _, terms := range m {
		for _, t := range terms {
			holders[t.Text]++
		}
	}
	asked := slices.Compact(slices.Sorted(slices.Values(q.Terms)))
	slices.SortStableFunc(asked, func(a, b string) int { return cmp.Compare(holders[a], holders[b]) })
	var hits []Hit
	for id, terms := range m {
		length, counts := 0.0, make(map[string]float64)
		for _, t := range terms {
			counts[t.Text] = float64(t.Count)
			length += float64(t.Count)
		}
		score, held := 0.0, 0
		for _, t := range asked {
			if c := counts[t]; c > 0 {
				held++
				d := float64(holders[t])
				score += math.Log(1+(n-d+.5)/(d+.5)) * c * (q.BM25.K1 + 1) / (c + q.BM25.K1*(1-q.BM25.B+q.BM25.B*length/mean))
			}
		}
		if held == 0 || q.All && held < len(asked) {
			continue
		}
		if q.Accept != nil {
			if ok, _ := q.Accept(id); !ok {
				continue
			}
		}
		hits = append(hits, Hit{id, score})
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return hits
}

// same compares with the model, whose scores are made by other operations: they may differ in the last digits, and then so
// may the order of those that are as good as equal.
func same(t testing.TB, got, want []Hit, k int) {
	t.Helper()
	if len(got) != min(k, len(want)) {
		t.Fatalf("%d hits, want %d of %d", len(got), min(k, len(want)), len(want))
	}
	score := make(map[string]float64, len(want))
	for _, h := range want {
		score[h.ID] = h.Score
	}
	for i, h := range got {
		if math.Abs(h.Score-want[i].Score) > 1e-9*want[i].Score || math.Abs(h.Score-score[h.ID]) > 1e-9*h.Score {
			t.Fatalf("hit %d is %v, want %v (whose own score is %v)", i, h, want[i], score[h.ID])
		}
		if i > 0 && (h.Score > got[i-1].Score || h.Score == got[i-1].Score && h.ID <= got[i-1].ID) {
			t.Fatalf("hit %d, %v, comes after %v", i, h, got[i-1])
		}
	}
}

// drawTerms draws an item: a few terms of a vocabulary in which some are in most items and most are rare.
func drawTerms(rng *rand.Rand, words int) []Term {
	zipf := rand.NewZipf(rng, 1.2, 2, uint64(words-1))
	counts := make(map[string]int)
	for range rng.IntN(12) {
		counts[fmt.Sprintf("w%d", zipf.Uint64())] += 1 + rng.IntN(3)/2*rng.IntN(200)
	}
	var terms []Term
	for text, n := range counts {
		terms = append(terms, Term{text, n})
	}
	return terms
}

func drawQuery(rng *rand.Rand, words int) Query {
	q := Query{K: 1 + rng.IntN(20), All: rng.IntN(4) == 0}
	for range 1 + rng.IntN(4) {
		q.Terms = append(q.Terms, fmt.Sprintf("w%d", rng.IntN(1+rng.IntN(words))))
	}
	if rng.IntN(3) == 0 {
		q.BM25 = BM25{rng.Float64() * 3, rng.Float64()}
	}
	return q
}

// TestRandomHistories adds, replaces, removes and folds, many at a time and in any order, beside open views, and compares
// every answer with the model's: on the last view, on an old one, and within a batch.
func TestRandomHistories(t *testing.T) {
	seeds := uint64(5)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			const words = 60
			rng := rand.New(rand.NewPCG(seed, 11))
			s := newStore(t)
			x := s.create("x")
			m := model{}
			old, oldView := maps.Clone(m), s.view()
			compare := func(r kv.Reader, m model) {
				t.Helper()
				q := drawQuery(rng, words)
				want := m.search(q)
				same(t, s.search(x, r, q).Hits, want, q.K)
				if allowed := keys(m, func(string) bool { return rng.IntN(3) == 0 }); len(allowed) > 0 {
					set, err := x.NewSet(r, slices.Values(allowed))
					if err != nil {
						t.Fatal(err)
					}
					if set.Len() != len(allowed) {
						t.Fatalf("%d in the set of %d", set.Len(), len(allowed))
					}
					q.Set = set
					want = slices.DeleteFunc(want, func(h Hit) bool { return !slices.Contains(allowed, h.ID) })
					same(t, s.search(x, r, q).Hits, want, q.K)
				}
			}
			fresh := 0
			for range 60 {
				var pending *Folding
				if rng.IntN(3) == 0 {
					var err error
					if pending, err = x.PlanFold(s.view()); err != nil {
						t.Fatal(err)
					}
				}
				s.update(func(b *kv.Batch) error {
					for range rng.IntN(80) {
						id := fmt.Sprintf("item %04d", fresh)
						fresh++
						m[id] = drawTerms(rng, words)
						if err := x.Add(b, id, m[id]); err != nil {
							return err
						}
					}
					for _, id := range keys(m, func(string) bool { return rng.IntN(60) == 0 }) {
						if ok, err := x.Remove(b, id, m[id]); err != nil || !ok {
							return fmt.Errorf("remove: %t, %w", ok, err)
						}
						delete(m, id)
						if rng.IntN(2) == 0 { // replaced
							m[id] = drawTerms(rng, words)
							if err := x.Add(b, id, m[id]); err != nil {
								return err
							}
						}
					}
					if rng.IntN(4) == 0 {
						compare(b, m)
					}
					return nil
				})
				if pending != nil {
					s.update(func(b *kv.Batch) error {
						_, err := pending.Stage(b)
						return err
					})
				}
				if rng.IntN(6) == 0 {
					s.fold(x)
				}
				compare(s.view(), m)
				compare(oldView, old)
				if rng.IntN(8) == 0 {
					old, oldView = maps.Clone(m), s.view()
				}
			}
			checkClean(t, x, s.view(), m)
			checkClean(t, x, oldView, old)
			s.fold(x)
			checkClean(t, x, s.view(), m)
			st, err := x.Stats(s.view())
			if err != nil || st.Items != len(m) || st.Length != m.length() {
				t.Fatalf("%+v, %v of %d items of length %d", st, err, len(m), m.length())
			}
			if fresh <= epochSize {
				t.Fatalf("%d items: no epoch was folded", fresh)
			}
			// Nothing is left of what is removed.
			s.update(func(b *kv.Batch) error {
				for id, terms := range m {
					if _, err := x.Remove(b, id, terms); err != nil {
						return err
					}
				}
				return nil
			})
			for _, kind := range []byte{kindID, kindItem, kindSegment, kindBlock} {
				c, err := x.cursor(s.view(), kind)
				if err != nil {
					t.Fatal(err)
				}
				if c.First() {
					t.Errorf("a key of kind %c is left: %x", kind, c.Key())
				}
				c.Close()
			}
		})
	}
}

func keys(m model, want func(string) bool) (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(m)) {
		if want(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestTerms lists terms by prefix over segments and blocks.
func TestTerms(t *testing.T) {
	s := newStore(t)
	x := s.create("x")
	counts := make(map[string]int)
	for i := range 3 {
		s.update(func(b *kv.Batch) error {
			for k := range 700 {
				terms := []Term{{fmt.Sprintf("a\x00%d", k%7), 1}, {fmt.Sprintf("b%d", k%300), 2}, {"b", 1}}
				for _, t := range terms {
					counts[t.Text]++
				}
				if err := x.Add(b, fmt.Sprint(i, "-", k), terms); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range 2 {
		for _, prefix := range []string{"", "a", "a\x00", "a\x00" + "3", "b", "b1", "b29", "c", "b299x"} {
			for _, limit := range []int{1, 5, 1000} {
				var want []TermCount
				for _, text := range slices.Sorted(maps.Keys(counts)) {
					if strings.HasPrefix(text, prefix) {
						want = append(want, TermCount{text, counts[text]})
					}
				}
				got, more, err := x.Terms(t.Context(), s.view(), prefix, limit)
				if err != nil || more != (len(want) > limit) || !slices.Equal(got, want[:min(limit, len(want))]) {
					t.Fatalf("%q, %d: %v, %t, %v, want %v", prefix, limit, got, more, err, want)
				}
			}
		}
		s.fold(x)
	}
}
