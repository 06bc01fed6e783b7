package llmtest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/glimdb/db/llm"
)

// RerankCall is one call of Reranker.
type RerankCall struct {
	Query string
	Docs  []string
}

// Reranker is a recording llm.Reranker. A document's score is the one that was set, else the share of the query's
// words that it contains.
type Reranker struct {
	mu     sync.Mutex
	scores map[string]float64
	err    error
	calls  []RerankCall
}

var _ llm.Reranker = (*Reranker)(nil)

// NewReranker returns a fake without fixed scores.
func NewReranker() *Reranker { return &Reranker{scores: map[string]float64{}} }

// Set fixes the score of a document.
func (r *Reranker) Set(doc string, score float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scores[doc] = score
}

// Fail makes all following calls fail with err; nil ends that.
func (r *Reranker) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// Calls returns the calls so far.
func (r *Reranker) Calls() []RerankCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// Rerank implements llm.Reranker.
func (r *Reranker) Rerank(ctx context.Context, query string, docs []string) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, RerankCall{Query: query, Docs: slices.Clone(docs)})
	if r.err != nil {
		return nil, r.err
	}
	words := strings.Fields(strings.ToLower(query))
	scores := make([]float64, len(docs))
	for i, doc := range docs {
		if s, ok := r.scores[doc]; ok {
			scores[i] = s
			continue
		}
		found := 0
		for _, w := range words {
			if strings.Contains(strings.ToLower(doc), w) {
				found++
			}
		}
		scores[i] = float64(found) / float64(max(1, len(words)))
	}
	return scores, nil
}

// ID implements llm.Reranker.
func (r *Reranker) ID() string { return "fake/rerank" }
