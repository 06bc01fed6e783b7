package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/postings"
)

// errNoEntityPostings tells that a search of entities by words cannot be right.
var errNoEntityPostings = errors.New("query: the postings do not cover every entity")

// entityPostings returns the postings of entities of a view and what they cover; nil where the engine's analyser made none.
// Without any entity there is nothing to cover.
func (e *Engine) entityPostings(r *reader) (*postings.Keyed, record.Coverage, error) {
	if r.entities == nil {
		return nil, record.Coverage{Whole: true}, nil
	}
	x, err := postings.OpenKeyed(r.snap, e.workspace, record.EntityPostings)
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return nil, record.Coverage{}, nil
	case err != nil:
		return nil, record.Coverage{}, fmt.Errorf("query: open: %w", err)
	case x.Config().Analyser != e.words.ID():
		return nil, record.Coverage{}, nil
	}
	c, err := coverage(x.Mark(r.snap))
	return x, c, err
}

// openEntityPostings is openPostings for entities.
func (e *Engine) openEntityPostings(r *reader) error {
	x, c, err := e.entityPostings(r)
	if err == nil && !c.Whole {
		err = errNoEntityPostings
	}
	r.entityWords = x
	return err
}

// coverage reads the mark of an index of postings.
func coverage(mark []byte, err error) (c record.Coverage, _ error) {
	if err != nil {
		return c, fmt.Errorf("query: open: %w", err)
	}
	if c, err = record.DecodeCoverage(mark); err != nil {
		err = fmt.Errorf("query: open: %w: postings: %w", kv.ErrCorrupt, err)
	}
	return c, err
}

// entityHits searches entities with the low keywords: by their vector, by their words, or by both. Of a search by vector
// only, no candidate tells a place.
func (q *run) entityHits(ctx context.Context, r *reader, s searches, l *leg, t *timer) (list []candidate, err error) {
	var byVector, byText []candidate
	inner := q.inner(t, q.entitySearch)
	if q.entitySearch != SearchText {
		t, end := inner(StepVector)
		hits, err := q.hits(ctx, r, r.entities, s.lowVector, q.opt.TopK, l, t)
		if err != nil {
			return nil, err
		}
		end()
		if len(hits) == 0 {
			l.reason(ReasonNoEntityHits, "no entity is similar enough to the low keywords")
		}
		for i, h := range hits {
			byVector = append(byVector, candidate{h.ID, []Found{{Via: ViaVector, Rank: i + 1, Score: Some(h.Score)}}})
		}
	}
	if q.entitySearch != SearchVector {
		t, end := inner(StepText)
		hits, err := q.entityTextHits(ctx, r, s.lowTerms, l, t)
		if err != nil {
			return nil, err
		}
		end()
		for i, h := range hits {
			byText = append(byText, candidate{h.ID, []Found{{Via: ViaText, Rank: i + 1, Score: Some(float32(h.Score))}}})
		}
	}
	list = fuse(byVector, byText, q.opt.Fusion, q.opt.VectorShare.Or(defaultVectorShare))
	if q.entitySearch == SearchHybrid {
		found := len(list)
		list = list[:min(found, q.opt.TopK)]
		t.cut("hits", len(list), found)
	}
	return list, nil
}

// entityTextHits searches the postings of entities: best first, ties by name.
func (q *run) entityTextHits(ctx context.Context, r *reader, terms []string, l *leg, t *timer) ([]postings.Hit, error) {
	if len(terms) == 0 {
		l.reason(ReasonNoTerms, "the low keywords have no words to search entities by")
		return nil, nil
	}
	o := postings.KeyedQuery{Terms: terms, K: q.opt.TopK}
	hits, err := r.entityWords.Search(ctx, r.snap, o)
	if err != nil {
		return nil, err
	}
	before := 0
	if r.sel != nil {
		before = len(hits)
		l.hitsBefore += before
		o.Accept = func(name string) (bool, error) { return r.sel.hasEntity(name), nil }
		if hits, err = r.entityWords.Search(ctx, r.snap, o); err != nil {
			return nil, err
		}
	}
	l.hits += len(hits)
	t.count("terms", len(terms))
	t.cut("hits", len(hits), before)
	if len(hits) == 0 {
		l.reason(ReasonNoEntityHits, "no entity holds a word of the low keywords")
	} else {
		t.scored(hits[0].Score, hits[len(hits)-1].Score)
	}
	return hits, nil
}
