package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/postings"
)

// errNoPostings tells that a search by words cannot be right yet.
var errNoPostings = errors.New("query: the postings do not cover every document")

// openPostings opens the postings of a view. They are used only when they cover all that the view shows, as the engine's
// analyser reads it.
func (e *Engine) openPostings(r *reader) error {
	x, c, err := e.postingsOf(r)
	if err == nil && !c.Whole {
		err = errNoPostings
	}
	r.words = x
	return err
}

// postingsOf returns the postings of a view and what they cover; nil where the engine's analyser made none. Without any
// chunk there is nothing to cover.
func (e *Engine) postingsOf(r *reader) (_ *postings.Index, c record.Coverage, err error) {
	if r.chunks == nil {
		return nil, record.Coverage{Whole: true}, nil
	}
	x, err := postings.Open(r.snap, e.workspace, record.ChunkPostings)
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return nil, c, nil
	case err != nil:
		return nil, c, fmt.Errorf("query: open: %w", err)
	case x.Config().Analyser != e.words.ID():
		return nil, c, nil
	}
	c, err = coverage(x.Mark(r.snap))
	return x, c, err
}

// inner returns what begins a step of its own inside t where a search has two, and else goes on with t.
func (q *run) inner(t *timer, s Search) func(name Step) (own *timer, end func()) {
	return func(name Step) (*timer, func()) {
		if s != SearchHybrid {
			return t, func() {}
		}
		own := q.e.timer(name)
		return own, func() { t.inner(own.end()) }
	}
}

// byChunk searches chunks with the question: by its vector, by its words, or by both.
func (q *run) byChunk(ctx context.Context, r *reader, s searches, l *leg, t *timer) error {
	if r.chunks == nil {
		l.reason(ReasonNothingIndexed, "the workspace holds no chunks")
		return nil
	}
	var byVector, byText []candidate
	inner := q.inner(t, q.opt.Search)
	if q.opt.Search != SearchText {
		t, end := inner(StepVector)
		hits, err := q.chunkHits(ctx, r, s, l, t)
		if err != nil {
			return err
		}
		end()
		if len(hits) == 0 {
			l.reason(ReasonNoChunkHits, "no chunk is similar enough to the question")
		}
		for i, h := range hits {
			byVector = append(byVector, candidate{h.ID, []Found{{Via: ViaVector, Rank: i + 1, Score: Some(h.Score)}}})
		}
	}
	if q.opt.Search != SearchVector {
		t, end := inner(StepText)
		hits, err := q.textHits(ctx, r, l, t)
		if err != nil {
			return err
		}
		end()
		for i, h := range hits {
			byText = append(byText, candidate{h.ID, []Found{{Via: ViaText, Rank: i + 1, Score: Some(float32(h.Score))}}})
		}
	}
	l.byVector, l.byText = len(byVector), len(byText)
	l.chunks = fuse(byVector, byText, q.opt.Fusion, q.opt.VectorShare.Or(defaultVectorShare))
	if found := len(l.chunks); q.opt.Search == SearchHybrid {
		if !q.reranks() { // a reranker sees all that either search found, or it could do worse than after one of them
			l.chunks = l.chunks[:min(found, q.opt.ChunkTopK)]
		}
		t.cut("chunks", len(l.chunks), found)
	}
	return nil
}

// textHits searches the postings with the words of the question: best first, ties by id.
func (q *run) textHits(ctx context.Context, r *reader, l *leg, t *timer) ([]postings.Hit, error) {
	o := postings.Query{Terms: q.e.words.Terms(q.question), K: q.opt.ChunkTopK}
	if len(o.Terms) == 0 {
		l.reason(ReasonNoTerms, "the question has no words to search passages by")
		return nil, nil
	}
	found, err := r.words.Search(ctx, r.snap, o)
	if err != nil {
		return nil, err
	}
	before := 0
	if r.sel != nil {
		before = len(found.Hits)
		l.hitsBefore += before
		if o.Set, err = r.sel.inPostings(r.snap, r.words); err != nil {
			return nil, err
		}
		if found, err = r.words.Search(ctx, r.snap, o); err != nil {
			return nil, err
		}
	}
	hits := found.Hits
	l.hits += len(hits)
	t.count("terms", len(o.Terms))
	t.cut("hits", len(hits), before)
	if len(hits) == 0 {
		l.reason(ReasonNoChunkHits, "no chunk holds a word of the question")
	} else {
		t.scored(hits[0].Score, hits[len(hits)-1].Score)
	}
	return hits, nil
}
