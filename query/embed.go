package query

import (
	"context"
	"slices"
	"strings"

	"github.com/glimdb/db/llm"
)

// searches are the texts and vectors of the index searches; an empty text means that the index is not
// searched.
type searches struct {
	low, high    string
	query        string
	queryVector  []float32
	lowVector    []float32
	highVector   []float32
	searchChunks bool
}

// plan settles which indexes are searched, with which text.
func (q *run) plan() searches {
	var s searches
	ran, k := q.res.Ran, q.res.Keywords
	if ran == Local || ran == Hybrid || ran == Mix {
		s.low = strings.Join(k.Low, keywordSeparator)
	}
	if ran == Global || ran == Hybrid || ran == Mix {
		s.high = strings.Join(k.High, keywordSeparator)
	}
	s.searchChunks = ran == Naive || ran == Mix
	if s.searchChunks || (q.picker() == PickVector && q.opt.RelatedChunks.Or(0) > 0) {
		s.query = q.question
	}
	return s
}

// embed fills the vectors of s with one call for question, low and high keywords, in this order and only
// those needed; equal texts go once. When the call fails each text is tried alone: the saving must not
// break the query.
func (q *run) embed(ctx context.Context, s *searches) error {
	t := q.e.timer(StepEmbed)
	var texts []string
	for _, text := range []string{s.query, s.low, s.high} {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := q.e.embedTexts(ctx, texts)
	if err != nil && len(texts) > 1 && ctx.Err() == nil {
		q.e.log.Warn("query: embedding the texts of a query in one call failed", "error", err)
		q.res.fallback(StepEmbed, "one call", "one call a text", err.Error())
		vectors = make([][]float32, len(texts))
		for i, text := range texts {
			var one [][]float32
			if one, err = q.e.embedTexts(ctx, []string{text}); err != nil {
				break
			}
			vectors[i] = one[0]
		}
	}
	if err != nil {
		return q.e.upstream(ctx, StepEmbed, q.e.embedder.ID(), err)
	}
	of := func(text string) []float32 {
		if i := slices.Index(texts, text); text != "" && i >= 0 {
			return vectors[i]
		}
		return nil
	}
	s.queryVector, s.lowVector, s.highVector = of(s.query), of(s.low), of(s.high)
	t.count("texts", len(texts))
	q.record(t)
	return nil
}

// embedTexts is one call, its result checked.
func (e *Engine) embedTexts(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.embedder.Embed(ctx, texts, llm.ForQuery)
	if err != nil {
		return nil, err
	}
	return vectors, llm.CheckVectors(e.embedder.ID(), vectors, len(texts), e.embedder.Dim())
}
