package query

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/glimdb/db/llm"
)

// searches are the texts and vectors of the index searches; an empty text means that the index is not
// searched.
type searches struct {
	low, high      string
	lowTerms       []string // of entities to look for by words
	query          string
	queryVector    []float32
	lowVector      []float32
	highVector     []float32
	hyde           string
	hydeVector     []float32
	searchChunks   bool
	searchEntities bool
	names          bool // of entities are looked for in the question
}

// plan settles which indexes are searched, with which text.
func (q *run) plan() searches {
	var s searches
	ran, k := q.res.Ran, q.res.Keywords
	if ran == Local || ran == Hybrid || ran == Mix {
		low := strings.Join(k.Low, keywordSeparator)
		s.searchEntities = low != ""
		if q.entitySearch != SearchText {
			s.low = low
		}
		if q.entitySearch != SearchVector {
			s.lowTerms = q.e.words.Terms(low)
		}
		s.names = !q.opt.NoNames
	}
	if ran == Global || ran == Hybrid || ran == Mix {
		s.high = strings.Join(k.High, keywordSeparator)
	}
	s.searchChunks = ran == Naive || ran == Mix
	if s.searchChunks && q.opt.Search != SearchText {
		s.hyde = q.hyde
	}
	if s.searchChunks && q.opt.Search != SearchText || (q.picker() == PickVector && q.opt.RelatedChunks.Or(0) > 0) {
		s.query = q.question
	}
	return s
}

// embed fills the vectors of s with one call for question, low and high keywords, and a hypothesis to route by, in this order and only
// those needed; equal texts go once. When the call fails each text is tried alone: the saving must not
// break the query.
func (q *run) embed(ctx context.Context, s *searches) error {
	t := q.e.timer(StepEmbed)
	var texts []string
	for _, text := range []string{s.query, s.low, s.high, s.hyde} {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	q.tell(StepEmbed)
	vectors, err := q.embedder.texts(ctx, texts)
	if err != nil && ctx.Err() == nil {
		vectors, err = q.embedEach(ctx, texts, err)
	}
	if err != nil {
		return q.e.upstream(ctx, StepEmbed, q.embedder.ID(), err)
	}
	of := func(text string) []float32 {
		if i := slices.Index(texts, text); text != "" && i >= 0 {
			return vectors[i]
		}
		return nil
	}
	s.queryVector, s.lowVector, s.highVector, s.hydeVector = of(s.query), of(s.low), of(s.high), of(s.hyde)
	t.count("texts", len(texts))
	q.record(t)
	return nil
}

// embedEach embeds texts one by one after the call for all of them failed with why. A text whose vector is
// zero, as lexical embedders give for one without words, has no direction: nothing is like it.
func (q *run) embedEach(ctx context.Context, texts []string, why error) ([][]float32, error) {
	alone := len(texts) == 1
	if !alone {
		q.e.log.Warn("query: embedding the texts of a query in one call failed", "error", why)
		q.res.fallback(StepEmbed, "one call", "one call a text", why.Error())
	}
	vectors, zero := make([][]float32, len(texts)), 0
	for i, text := range texts {
		one, err := [][]float32(nil), why
		if !alone {
			one, err = q.embedder.texts(ctx, []string{text})
		}
		var bad *llm.VectorError
		switch {
		case err == nil:
			vectors[i] = one[0]
		case errors.As(err, &bad) && bad.Reason == llm.ReasonZero:
			vectors[i] = make([]float32, q.embedder.Dim())
			zero++
		default:
			return nil, err
		}
	}
	q.res.counted(ReasonNoDirection, zero, "texts of the query in which the embedder finds nothing: nothing is like them")
	return vectors, nil
}

// texts is one call, its result checked.
func (e *embedder) texts(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.Embed(ctx, texts, llm.ForQuery)
	if err != nil {
		return nil, err
	}
	return vectors, llm.CheckVectors(e.ID(), vectors, len(texts), e.Dim())
}
