package query

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// aloneWeight is what the score of a passage counts that not both searches for the question found, where the reranker sees words
// alone: of two passages that hold the same words the likelier one is that which the vectors found as well. Chosen by the
// collections of docs/quality.md.
const aloneWeight = 1 / 1.05

// agreed weighs scores by whether both searches of a hybrid search found the passage.
func (q *run) agreed(chunks []Chunk, scores []float64) {
	if n := q.res.Counts.Chunks; n.Vector == 0 || n.Text == 0 {
		return
	}
	for i := range scores {
		by := func(v Via) bool {
			return slices.ContainsFunc(chunks[i].Found, func(f Found) bool { return f.Via == v })
		}
		if !by(ViaVector) || !by(ViaText) {
			scores[i] *= aloneWeight
		}
	}
}

// rerank orders chunks by the reranker's score, ties in the order given. Chunks without a usable score
// are dropped; a reranker that fails as a whole leaves the order as it was, which the result tells.
func (q *run) rerank(ctx context.Context, chunks []Chunk) ([]Chunk, error) {
	q.tell(StepRerank)
	t := q.e.timer(StepRerank)
	defer func() { q.record(t) }()
	docs := make([]string, len(chunks))
	for i, c := range chunks {
		docs[i] = c.Content
	}
	rerank := q.e.reranker.Rerank
	if r, ok := q.e.reranker.(statisticsReranker); ok {
		rerank = func(ctx context.Context, question string, docs []string) ([]float64, error) {
			scores, err := r.rerank(ctx, question, docs, q.stats)
			q.agreed(chunks, scores)
			return scores, err
		}
	}
	scores, err := rerank(ctx, q.question, docs)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("query: rerank: %w", ctx.Err())
	}
	if err == nil && len(scores) != len(docs) {
		err = fmt.Errorf("%d scores for %d documents", len(scores), len(docs))
	}
	var scored []Chunk
	for i := range chunks {
		if err != nil {
			break
		}
		if s := scores[i]; !math.IsNaN(s) && !math.IsInf(s, 0) {
			chunks[i].RerankScore = Some(s)
			scored = append(scored, chunks[i])
		}
	}
	if err == nil && len(scored) == 0 {
		err = fmt.Errorf("none of %d scores is a finite number", len(scores))
	}
	if err != nil {
		model := q.e.reranker.ID()
		q.e.log.Warn("query: reranker failed, the first order stays", "model", model, "error", err)
		q.res.Fallbacks = append(q.res.Fallbacks, Fallback{Step: StepRerank, From: model, To: "none", Why: err.Error(),
			Err: &UpstreamError{Step: StepRerank, Model: model, Err: err}})
		t.note("failed")
		return chunks, nil
	}
	q.res.counted(ReasonChunksUnscored, len(chunks)-len(scored), "chunks without a usable score of the reranker")
	slices.SortStableFunc(scored, func(a, b Chunk) int { return cmp.Compare(b.RerankScore.Or(0), a.RerankScore.Or(0)) })
	t.cut("scored", len(scored), len(docs))
	t.scored(scored[0].RerankScore.Or(0), scored[len(scored)-1].RerankScore.Or(0))
	return scored, nil
}
