package vector

import (
	"context"
	"iter"

	"github.com/glimdb/db/kv"
)

// Pair is two vectors that are near each other: A < B in byte order of ids.
type Pair struct {
	A, B  string
	Score float32 // as that of a Hit
}

// Pairs yields every pair of vectors that r shows whose score is at least minScore (as in RangeOptions), in order of
// A, then best first: a similarity join of the collection with itself. It is exact, as Range is, and costs one Range a
// vector: time grows with the square of the collection, memory with the most pairs of one vector. Zero vectors under
// cosine are in no pair. An error comes last: those of Range.
func (c *Collection) Pairs(ctx context.Context, r kv.Reader, minScore float64) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		for row, err := range c.All(r) {
			var found RangeResult
			if err == nil {
				found, err = c.Range(ctx, r, row.Vector, RangeOptions{MinScore: minScore, Filter: func(id string) bool { return id > row.ID }})
			}
			if err != nil {
				yield(Pair{}, err)
				return
			}
			for _, h := range found.Hits {
				if !yield(Pair{row.ID, h.ID, h.Score}, nil) {
					return
				}
			}
		}
	}
}
