package postings

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/glimdb/db/kv"
)

// passage draws the terms of a passage of 60 words from a vocabulary of 50,000, a few of which make up most of any text.
func passage(words []string, zipf *rand.Zipf) []Term {
	counts := make(map[string]int)
	for range 60 {
		counts[words[zipf.Uint64()]]++
	}
	terms := make([]Term, 0, len(counts))
	for text, n := range counts {
		terms = append(terms, Term{text, n})
	}
	slices.SortFunc(terms, func(a, b Term) int { return cmp.Compare(a.Text, b.Text) })
	return terms
}

// BenchmarkPassages is what 200,000 passages of 60 words cost: a search for the best 20 with two frequent words and two that
// are not, whose answers are compared with a scan of every passage for some questions; a passage added in a commit of its own,
// folding included.
func BenchmarkPassages(b *testing.B) {
	const items, batch, checked = 200_000, 5000, 3
	s := newStore(b)
	x := s.create("x")
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 50_000)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", i)
	}
	zipf := rand.NewZipf(rng, 1.1, 3, uint64(len(words)-1))
	m := model{}
	for from := 0; from < items; from += batch {
		s.update(func(b *kv.Batch) error {
			for i := from; i < from+batch; i++ {
				id := fmt.Sprintf("i%06d", i)
				m[id] = passage(words, zipf)
				if err := x.Add(b, id, m[id]); err != nil {
					return err
				}
			}
			return nil
		})
		s.fold(x)
	}
	var questions []Query
	for range 100 {
		questions = append(questions, Query{K: 20, Terms: []string{words[rng.IntN(20)], words[20+rng.IntN(200)],
			words[1000+rng.IntN(4000)], words[1000+rng.IntN(4000)]}})
	}
	r := s.view()
	for _, q := range questions[:checked] {
		same(b, s.search(x, r, q).Hits, m.search(q), q.K)
	}
	held := make(map[string]int)
	for _, terms := range m {
		for _, t := range terms {
			held[t.Text]++
		}
	}
	b.Run("search", func(b *testing.B) {
		b.ReportAllocs()
		postings, i := 0, 0
		for b.Loop() {
			q := questions[i%len(questions)]
			for _, t := range q.Terms {
				postings += held[t]
			}
			s.search(x, r, q)
			i++
		}
		b.ReportMetric(float64(postings)/float64(i), "postings/question")
	})
	b.Run("add", func(b *testing.B) {
		_, bytes := s.size(x)
		added := 0
		fresh := slices.Collect(maps.Values(m))[:1000]
		for b.Loop() {
			s.update(func(batch *kv.Batch) error {
				added++
				return x.Add(batch, fmt.Sprintf("%d more %d", b.N, added), fresh[added%len(fresh)])
			})
			if due, err := x.Due(s.view()); err != nil {
				b.Fatal(err)
			} else if due {
				s.fold(x)
			}
		}
		b.ReportMetric(float64(bytes)/items, "bytes/passage")
	})
}
