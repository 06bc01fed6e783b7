package cluster

import (
	"math"
	"slices"
	"strings"

	"github.com/glimdb/db/internal/lexical"
)

// rankerID names what picks sentences: its method and version.
const rankerID = "textrank/v1"

const (
	// coreMost sentences of a topic are what a person reads at a glance, and a model needs to polish.
	coreMost = 5
	// coreBytes bounds them together, some 120 tokens of English; the first may be longer.
	coreBytes = 600
	// rankMost bounds the sentences that are compared each with each: 32,640 pairs of long ones take 20 ms and 512 KiB.
	// Of five passages of a thousand tokens it is nearly all.
	rankMost = 256
	// Of the walk: as in Mihalcea and Tarau, "TextRank" (2004). Ranks that have not settled after rankRounds differ by
	// less than 1e-6: an error shrinks by damping in each.
	damping       = 0.85
	rankTolerance = 1e-4
	rankRounds    = 100
)

// sentence is one of those that are ranked.
type sentence struct {
	text   string
	terms  []int // distinct, ascending, numbered as they come; none are function words
	rank   float64
	chosen bool
}

// coreSentences picks the sentences that others of some texts have most in common with (TextRank): a walk goes from a
// sentence to another with the weight of their likeness, and where it is most often speaks for the whole. Those go first
// whose rank is highest in proportion to what of their terms no chosen one has said; they come in the order of the texts, at
// most coreMost. Texts without a word have none. Equal texts give equal sentences.
func coreSentences(texts []string) (out []string) {
	list := sentencesOf(texts)
	rankSentences(list)
	said := make(map[int]bool)
	size := 0
	for n := range coreMost {
		var best *sentence
		value := 0.0
		for _, s := range list {
			if v := s.rank * s.unsaid(said); v > value && (n == 0 || size+len(s.text) <= coreBytes) {
				best, value = s, v
			}
		}
		if best == nil {
			break
		}
		best.rank, best.chosen, size = 0, true, size+len(best.text)
		for _, t := range best.terms {
			said[t] = true
		}
	}
	for _, s := range list {
		if s.chosen {
			out = append(out, s.text)
		}
	}
	return out
}

// unsaid is the share of the terms that have not been said.
func (s *sentence) unsaid(said map[int]bool) float64 {
	if len(s.terms) == 0 {
		return 1
	}
	n := 0
	for _, t := range s.terms {
		if !said[t] {
			n++
		}
	}
	return float64(n) / float64(len(s.terms))
}

// sentencesOf lists the distinct sentences of texts that have a word, at most rankMost in all, each text with an equal
// share. Headings, rows and code count only where there is no prose.
func sentencesOf(texts []string) (out []*sentence) {
	if len(texts) == 0 {
		return nil
	}
	prose := false
	var others []*sentence
	seen := make(map[string]bool)
	numbers := make(map[string]int)
	for _, text := range texts {
		n := 0
		for _, s := range lexical.Sentences(text) {
			if n == max(1, rankMost/len(texts)) {
				break
			}
			plain := strings.Join(strings.Fields(text[s.Start:s.End]), " ")
			key := lexical.Normal(plain)
			terms, words := termsOf(plain, numbers)
			if seen[key] || !words {
				continue
			}
			seen[key] = true
			n++
			x := &sentence{text: plain, terms: terms}
			if s.Block == lexical.Prose || s.Block == lexical.Item {
				prose = true
				out = append(out, x)
			} else {
				others = append(others, x)
			}
		}
	}
	if !prose {
		return others
	}
	return out
}

// termsOf lists the terms of a sentence by number, and tells whether there is a word in it at all. New terms get the next
// number.
func termsOf(text string, numbers map[string]int) (out []int, words bool) {
	lexical.Terms(text, func(t lexical.Term) bool {
		words = true
		if t.Rank == lexical.Stop || t.Part {
			return true
		}
		n, known := numbers[t.Text]
		if !known {
			n = len(numbers)
			numbers[t.Text] = n
		}
		out = append(out, n)
		return true
	})
	slices.Sort(out)
	return slices.Compact(out), words
}

// shared counts the terms that both have.
func (s *sentence) shared(o *sentence) (n int) {
	for a, b := s.terms, o.terms; len(a) > 0 && len(b) > 0; {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}

// likeness is the number of terms that both have, in proportion to how long they are.
func (s *sentence) likeness(o *sentence) float64 {
	n := s.shared(o)
	if n == 0 {
		return 0
	}
	return float64(n) / (math.Log1p(float64(len(s.terms))) + math.Log1p(float64(len(o.terms))))
}

// rankSentences walks until no rank moves by more than rankTolerance. A sentence that is like no other keeps the rank of
// chance.
func rankSentences(list []*sentence) {
	n := len(list)
	weight := make([]float64, n*n) // from row to column, each row's sum 1 or 0
	for i, s := range list {
		for j := range i {
			w := s.likeness(list[j])
			weight[i*n+j], weight[j*n+i] = w, w
		}
	}
	for i, s := range list {
		s.rank = 1
		row, sum := weight[i*n:(i+1)*n], 0.0
		for _, w := range row {
			sum += w
		}
		for j := range row {
			row[j] /= max(sum, math.SmallestNonzeroFloat64)
		}
	}
	next := make([]float64, n)
	for range rankRounds {
		for j := range next {
			next[j] = 1 - damping
		}
		for i, s := range list {
			out := damping * s.rank
			for j, w := range weight[i*n : (i+1)*n] {
				next[j] += float64(out * w)
			}
		}
		moved := 0.0
		for i, s := range list {
			moved = max(moved, math.Abs(next[i]-s.rank))
			s.rank = next[i]
		}
		if moved < rankTolerance {
			return
		}
	}
}
