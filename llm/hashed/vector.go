package hashed

import (
	"math"
	"math/bits"

	"github.com/glimdb/db/internal/lexical"
)

// The weights were chosen on Cranfield (nDCG@10) and MuSiQue (recall@5) together; see eval_test.go, which
// keeps what they reach. All are plateaus: half or twice the value costs at most 0.02.
const (
	stopWeight   = 0.02 // keeps a text of function words only apart from another
	commonWeight = 0.6
	nameWeight   = 1.8  // names are the rarest words of a question: without them 0.06 recall@5 are lost
	partWeight   = 0.7  // a half of a compound
	gramWeight   = 0.25 // letter sequences: for misspellings and inflections that stemming does not know

	gramSize = 4
	maxGrams = 32 // letter sequences taken of one word
)

const (
	// spread is the number of coordinates a feature is hashed to. Several make collisions small and even.
	spread = 8
	// liftDims coordinates hold the same constant in every vector, which adds lift to every cosine:
	// cos' = lift + (1-lift)*cos. Order is untouched but among short texts. Raw cosines of word vectors are low where those of
	// models are high: a passage that answers a question shares few of its own words with it. The lift puts
	// a raw cosine of 0.07 at 0.2, the usual threshold of queries, which passages that answer mostly reach and
	// others mostly do not (on MuSiQue 80 % against 9 %).
	liftDims = 16
	lift     = 0.14
	// fullLift is the effective number of features from which a text has the whole lift; with fewer it has the
	// root of its share. Chance likeness does not shrink with the number of features, real likeness of short texts is high:
	// with the whole lift one collision would carry a single word over the threshold.
	fullLift = 5
)

// Seeds keep the kinds of features apart.
const (
	seedTerm uint64 = iota + 1
	seedGram
	seedRune
)

// feature is one distinct hash of a text.
type feature struct {
	hash   uint64
	weight float64
	count  int
}

// features collects the features of one text in order of appearance, so that sums are in a fixed order.
type features struct {
	list []feature
	at   map[uint64]int
	cuts []int // scratch of grams: where the runes of a word start
}

func (f *features) reset() {
	f.list = f.list[:0]
	if f.at == nil {
		f.at = make(map[uint64]int)
	}
	clear(f.at)
}

func (f *features) add(hash uint64, weight float64) {
	if i, ok := f.at[hash]; ok {
		f.list[i].count++
		f.list[i].weight = max(f.list[i].weight, weight)
		return
	}
	f.at[hash] = len(f.list)
	f.list = append(f.list, feature{hash, weight, 1})
}

// read adds the features of text.
func (f *features) read(text string) {
	lexical.Terms(text, func(t lexical.Term) bool {
		w := weightOf(t)
		f.add(hashOf(seedTerm, t.Text), w)
		if t.Rank != lexical.Stop && !t.Unspaced {
			f.grams(t.Word, w*gramWeight)
		}
		return true
	})
	if len(f.list) > 0 {
		return
	}
	// Punctuation and symbols only: each is a feature, each pair too.
	prev := ' '
	for _, r := range text {
		if r != ' ' {
			f.add(mix(seedRune<<32|uint64(r)), 1)
			f.add(mix(uint64(prev)<<32|uint64(r)), 1)
		}
		prev = r
	}
}

func weightOf(t lexical.Term) float64 {
	w := 1.0
	switch {
	case t.Rank == lexical.Stop:
		return stopWeight
	case t.Rank == lexical.Common:
		w = commonWeight
	case t.Name:
		w = nameWeight
	}
	if t.Part {
		w *= partWeight
	}
	return w
}

// grams adds the letter sequences of a word, its beginning marked.
func (f *features) grams(word string, weight float64) {
	if len(word) < gramSize {
		return
	}
	s := "^" + word
	f.cuts = f.cuts[:0]
	for i := range s {
		if f.cuts = append(f.cuts, i); len(f.cuts) > maxGrams+gramSize {
			break
		}
	}
	f.cuts = append(f.cuts, len(s))
	for i := 0; i+gramSize < len(f.cuts) && i < maxGrams; i++ {
		f.add(hashOf(seedGram, s[f.cuts[i]:f.cuts[i+gramSize]]), weight)
	}
}

// vector sums the features, weighted by the logarithm of their counts, and scales to unit length.
func (f *features) vector(dim int) []float32 {
	words := dim - liftDims
	sum := make([]float64, words)
	var squares, fourths float64
	for _, x := range f.list {
		w := x.weight * (1 + math.Log(float64(x.count)))
		squares += float64(w * w)
		fourths += float64(float64(w*w) * float64(w*w))
		h := x.hash
		for range spread {
			h = mix(h + golden)
			at, rest := bits.Mul64(h, uint64(words))
			if rest>>63 == 0 {
				sum[at] -= w
			} else {
				sum[at] += w
			}
		}
	}
	norm := 0.0
	for _, x := range sum {
		norm += float64(x * x) // no fused multiply-add: alike on every architecture
	}
	out := make([]float32, dim)
	constant := 1.0
	if norm > 0 {
		constant = lift * math.Sqrt(min(1, float64(squares*squares)/(fourths*fullLift)))
		scale := math.Sqrt((1 - constant) / norm)
		for i, x := range sum {
			out[i] = float32(x * scale)
		}
	}
	constant = math.Sqrt(constant / liftDims)
	for i := words; i < dim; i++ {
		out[i] = float32(constant)
	}
	return out
}

const golden = 0x9e3779b97f4a7c15

// hashOf is FNV-1a with a seed, finished by mix.
func hashOf(seed uint64, s string) uint64 {
	h := seed ^ 0xcbf29ce484222325
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return mix(h)
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
