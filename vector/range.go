package vector

import (
	"context"
	"math"
	"slices"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// RangeOptions tell how near is near enough.
type RangeOptions struct {
	// MinScore is the least score of a hit, itself included: a cosine, a dot product, or for L2 the distance
	// negated, at most 0. −Inf admits all.
	MinScore float64
	// Limit is the largest number of hits, the best being kept; 0: all, which may be the whole collection.
	Limit int
	// Set and Filter admit ids as in SearchOptions.
	Set    *IDSet
	Filter func(id string) bool
}

// RangeResult is what Range found.
type RangeResult struct {
	Hits []Hit
	// Cut reports that more than Limit vectors are in range.
	Cut bool
}

// Range returns every vector that r shows, the filters admit and whose score is at least MinScore, best
// first, equal scores in order of id. It is exact: it compares the codes of all vectors (of those of Set, when
// that is small) and the float32 rows of those that the codes' rounding leaves a chance; no index shortens
// that. Under cosine nothing is near the zero vector. Errors are those of Search.
func (c *Collection) Range(ctx context.Context, r kv.Reader, q []float32, o RangeOptions) (RangeResult, error) {
	if err := o.check(c); err != nil {
		return RangeResult{}, err
	}
	t, err := c.begin(ctx, r, q, o.Set, o.Filter)
	if t == nil {
		return RangeResult{}, err
	}
	defer c.scratch.Put(t.s)
	k := max(int(t.n), 1)
	if o.Limit > 0 {
		k = min(k, o.Limit+1) // one more tells whether there are more
	}
	v := t.sieve(k)
	v.least = v.b.reach(o.MinScore, t.s.probe)
	plan, _ := t.exactPlan()
	t.sift(v, plan)
	t.s.slots = v.slots(t.s.slots)
	if err := t.score(ctx, len(t.s.slots)); err != nil {
		return RangeResult{}, err
	}
	t.staged()
	slices.SortFunc(t.s.hits, order)
	hits := t.s.hits[:reaching(t.s.hits, o.MinScore)]
	cut := o.Limit > 0 && len(hits) > o.Limit
	if cut {
		hits = hits[:o.Limit]
	}
	return RangeResult{Hits: slices.Clone(hits), Cut: cut}, nil
}

func (o *RangeOptions) check(c *Collection) error {
	switch {
	case o.MinScore != o.MinScore:
		return c.refuse("MinScore", o.MinScore, "a number")
	case c.config.Metric == L2 && o.MinScore > 0:
		return c.refuse("MinScore", o.MinScore, "at most 0: under l2 a score is a distance negated")
	case o.Limit < 0:
		return c.refuse("Limit", o.Limit, "0 or more")
	}
	return nil
}

// reach returns what the value of a slot and its error must reach together for the slot's score to be able to
// be score. It lies a little low: the slots above it are compared once more, those below never.
func (b *bounds) reach(score float64, pr *Probe) float32 {
	const low = 1e-6
	at := score
	if b.l2 {
		at = -score * score
		if !b.exact {
			q := pr.Vector()
			at += float64(simd.Dot(q, q))
			at -= low * float64(b.norm) * float64(b.norm)
		}
		at -= low * score * score
	}
	at -= low * math.Abs(at)
	return float32(max(at, lowest))
}
