package query

import (
	"context"
	"fmt"

	"github.com/glimdb/db/internal/lexical"
	"github.com/glimdb/db/llm"
)

// statistics are what the store knows of the words of a question, in the view that the question was answered from.
type statistics struct {
	passages int            // of the workspace, whatever the filter
	length   float64        // of a passage in the mean, in terms
	holding  map[string]int // by word of the question in normal form: passages that hold it in any inflection
}

// statisticsReranker is a reranker that can do more with statistics; nil: there are none.
type statisticsReranker interface {
	llm.Reranker
	rerank(ctx context.Context, question string, docs []string, s *statistics) ([]float64, error)
}

// statistics reads what the reranker wants to know. Without whole postings there are none.
func (q *run) statistics(ctx context.Context, r *reader) error {
	if _, ok := q.e.reranker.(statisticsReranker); !ok || !q.reranks() {
		return nil
	}
	x := r.words
	if x == nil {
		index, covered, err := q.e.postingsOf(r)
		if err != nil || index == nil || !covered.Whole {
			return err
		}
		x = index
	}
	var words, terms []string
	lexical.Terms(q.question[:min(len(q.question), maxQuestionRead)], func(t lexical.Term) bool {
		if term := q.e.words.Term(t); term != "" {
			words, terms = append(words, t.Word), append(terms, term)
		}
		return true
	})
	holders, err := x.Holders(ctx, r.snap, terms)
	if err != nil {
		return fmt.Errorf("query: word statistics: %w", err)
	}
	counts, err := x.Stats(r.snap)
	if err != nil {
		return fmt.Errorf("query: word statistics: %w", err)
	}
	if counts.Items == 0 {
		return nil
	}
	q.stats = &statistics{passages: counts.Items, length: float64(counts.Length) / float64(counts.Items), holding: make(map[string]int, len(words))}
	for i, word := range words {
		q.stats.holding[word] = holders[i]
	}
	return nil
}
