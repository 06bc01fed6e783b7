package postings

import (
	"fmt"
	"math"
)

// BM25 are the parameters of Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
// Beyond", 2009). Of an item of length l, in an index of N items of mean length m, a term that n items hold scores, held c times,
//
//	ln(1 + (N - n + 0.5) / (n + 0.5)) * c * (K1 + 1) / (c + K1 * (1 - B + B * l / m))
//
// An item's score is the sum over the terms asked for, rarest first, equally rare ones in byte order.
type BM25 struct {
	// K1 tells how much more a term counts when it comes again: at 0 not at all. Range 0 to 1,000.
	K1 float64 `json:"k1"`
	// B tells how much length is held against an item: at 0 not at all, at 1 in proportion. Range 0 to 1.
	B float64 `json:"b"`
}

// DefaultBM25 are the usual parameters: 1.2 and 0.75. They stand for the zero BM25.
func DefaultBM25() BM25 { return BM25{1.2, 0.75} }

// Validate returns nil or an *InvalidError.
func (p BM25) Validate() error {
	if !(p.K1 >= 0 && p.K1 <= 1000) {
		return &InvalidError{Field: "k1", Reason: fmt.Sprintf("%v, want 0 to 1000", p.K1)}
	}
	if !(p.B >= 0 && p.B <= 1) {
		return &InvalidError{Field: "b", Reason: fmt.Sprintf("%v, want 0 to 1", p.B)}
	}
	return nil
}

// weigher computes scores. All its steps are monotone, rounding included: a bound made of the largest count and the least
// length is a bound.
type weigher struct {
	k1, fixed, byLength float64
	items               float64
}

func (p BM25) weigher(c *counters) weigher {
	w := weigher{k1: p.K1, fixed: p.K1 * (1 - p.B), items: float64(c.items)}
	if c.length > 0 {
		w.byLength = p.K1 * p.B * float64(c.items) / float64(c.length)
	}
	return w
}

// rarity is the weight of a term that n items hold.
func (w *weigher) rarity(n int) float64 {
	return math.Log(1 + (w.items-float64(n)+0.5)/(float64(n)+0.5))
}

// of is the weight of count times a term in an item of length, less than K1 + 1.
func (w *weigher) of(count, length uint32) float64 {
	return (w.k1 + 1) / (1 + (w.fixed+w.byLength*float64(length))/float64(count))
}
