package query

import (
	"context"
	"fmt"
	"slices"
)

// compose orders and cuts the chunks, settles references and outcome, and renders the context. The
// snapshot is released: a reranker may take its time.
func (q *run) compose(ctx context.Context, chunks []Chunk) error {
	res := q.res
	n := &res.Counts.Chunks
	found := res.Counts.Entities.Found + res.Counts.Relations.Found + n.Merged
	n.Reranked = n.Merged
	if q.reranks() && len(chunks) > 0 {
		var err error
		if chunks, err = q.rerank(ctx, chunks); err != nil {
			return err
		}
		n.Reranked = len(chunks)
	}
	n.AboveScore = n.Reranked
	if least := q.opt.MinRerankScore.Or(0); q.reranks() && least > 0 {
		before := len(chunks)
		chunks = slices.DeleteFunc(chunks, func(c Chunk) bool { return c.RerankScore.Or(1) < least })
		n.AboveScore = len(chunks)
		res.counted(ReasonChunksBelowScore, before-len(chunks), fmt.Sprintf("chunks the reranker scored below %v", least))
	}
	t := q.e.timer(StepContext)
	chunks = chunks[:min(len(chunks), q.opt.ChunkTopK)]
	n.WithinTopK = len(chunks)
	n.Kept = q.fitting(chunks)
	for i := range chunks[:n.Kept] {
		chunks[i].InContext = true
	}
	res.counted(ReasonChunksCut, len(chunks)-n.Kept, "chunks that the context has no room for, though the data has them")
	q.refer(chunks)
	q.settle(found)
	if fits := len(res.Data.Entities)+len(res.Data.Relations)+n.Kept > 0; fits && res.Outcome == OutcomeOK && q.opt.Want != WantData {
		res.Context = render(q.kg(), res.Data.Entities, res.Data.Relations, chunks[:n.Kept], cited(res.Data.References))
	}
	t.cut("above_score", n.AboveScore, n.Reranked)
	t.cut("within_top_k", n.WithinTopK, n.AboveScore)
	t.cut("chunks", n.Kept, n.WithinTopK)
	t.count("references", len(cited(res.Data.References)))
	t.cut("tokens", res.Tokens.Total(), res.Tokens.Budget)
	q.record(t)
	return nil
}

// prompts reports whether a context is wanted or a model is to read it: then one without room for anything is
// no success, whatever the data holds.
func (q *run) prompts() bool {
	return q.opt.Want != WantData && (q.opt.Want != WantDefault || q.e.answerer != nil)
}

// refer settles chunks and references, and which references entities and relations have.
func (q *run) refer(chunks []Chunk) {
	d := &q.res.Data
	d.References = refer(chunks)
	d.Chunks = chunks
	for i := range d.Entities {
		d.Entities[i].References = referTo(d.References, d.Entities[i].Paths)
	}
	for i := range d.Relations {
		d.Relations[i].References = referTo(d.References, d.Relations[i].Paths)
	}
}

// settle tells the outcome; found is the number of things before any cut.
func (q *run) settle(found int) {
	res := q.res
	if q.opt.Budget.Total <= res.Tokens.Fixed {
		res.reason(ReasonPromptOverBudget, fmt.Sprintf("system text, history, question and margin take %d of %d tokens",
			res.Tokens.Fixed, q.opt.Budget.Total))
	}
	shown := len(res.Data.Entities) + len(res.Data.Relations) + res.Counts.Chunks.Kept
	if !q.prompts() {
		shown += len(res.Data.Chunks)
	}
	switch {
	case found == 0 && res.Filter != nil && res.Filter.Hits == 0 && res.Filter.HitsBefore > 0:
		res.Outcome = OutcomeEmptyAfterFilter
	case found == 0:
		res.Outcome = OutcomeNoResult
	case shown == 0:
		res.Outcome = OutcomeEmptyAfterFilter
	case res.Counts.Chunks.Merged == 0:
		res.reason(ReasonNoChunks, "entities and relations were found, and no chunk of theirs was picked")
	}
}
