package query

import (
	"context"
	"strings"

	"github.com/glimdb/db/internal/prompt"
	"github.com/glimdb/db/llm"
)

// hypothesis asks the answer model for a passage that would answer the question, when routing wants one. What fails
// costs nothing but the better route.
func (q *run) hypothesis(ctx context.Context) error {
	if !q.opt.Routing.on() || !q.opt.Routing.HyDE || q.opt.Mode != Naive && q.opt.Mode != Mix {
		return nil
	}
	e := q.e
	if e.answerer == nil {
		q.res.fallback(StepRoute, "hypothetical answer", "question", "no answer model is configured")
		return nil
	}
	q.tell(StepHypothesis)
	t := e.timer(StepHypothesis)
	defer func() { q.record(t) }()
	key := cacheKey("hyde", e.answerer.ID(), prompt.Hash(prompt.TemplateHypothesis), q.question)
	if e.answerCache != nil {
		v, ok, err := e.answerCache.Get(ctx, key)
		if err != nil {
			q.cacheFailed(err)
		} else if ok {
			q.hyde = string(v)
			t.note("cached")
			return nil
		}
	}
	reply, err := llm.Complete(ctx, e.answerer, llm.Request{Purpose: llm.PurposeHypothesis,
		Messages: []llm.Message{{Role: llm.User, Content: prompt.Hypothesis(q.question)}}})
	if err != nil {
		if ctx.Err() != nil {
			return e.upstream(ctx, StepHypothesis, e.answerer.ID(), err)
		}
		e.log.Warn("query: no hypothetical answer to route by", "error", err)
		q.res.fallback(StepHypothesis, "hypothetical answer", "question", err.Error())
		return nil
	}
	q.res.Usage = q.res.Usage.Add(reply.Usage)
	q.hyde = strings.TrimSpace(reply.Text)
	if e.answerCache != nil && reply.Finish != llm.FinishLength && q.hyde != "" {
		if err := e.answerCache.Put(ctx, key, []byte(q.hyde)); err != nil {
			q.cacheFailed(err)
		}
	}
	return nil
}

// routeVector is what clusters are compared with: the question's vector, or the mean of it and the hypothesis'.
func (s searches) routeVector() []float32 {
	if len(s.hydeVector) != len(s.queryVector) {
		return s.queryVector
	}
	mean := make([]float32, len(s.queryVector))
	for i, v := range s.queryVector {
		mean[i] = (v + s.hydeVector[i]) / 2
	}
	return mean
}
