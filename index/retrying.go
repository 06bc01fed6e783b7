package index

import (
	"context"
	"time"

	"github.com/glimdb/db/llm"
)

// RetryExtractor repeats calls of x that fail with an error worth it (llm.Retryable), with back-off, and ends those that
// take longer than limit (0: none). ModelExtractor needs neither: the models that it asks have both.
func RetryExtractor(x Extractor, p llm.RetryPolicy, limit time.Duration) Extractor {
	return &retryExtractor{x, p, limit}
}

type retryExtractor struct {
	Extractor
	policy llm.RetryPolicy
	limit  time.Duration
}

func (x *retryExtractor) Extract(ctx context.Context, in ExtractInput) (Extraction, error) {
	return llm.Call(ctx, x.policy, x.limit, "extract", x.ID(), func(ctx context.Context) (Extraction, error) { return x.Extractor.Extract(ctx, in) })
}

// RetrySummarizer is RetryExtractor for summaries.
func RetrySummarizer(s Summarizer, p llm.RetryPolicy, limit time.Duration) Summarizer {
	return &retrySummarizer{s, p, limit}
}

type retrySummarizer struct {
	Summarizer
	policy llm.RetryPolicy
	limit  time.Duration
}

func (s *retrySummarizer) Summarize(ctx context.Context, kind, name string, fragments []string) (string, error) {
	return llm.Call(ctx, s.policy, s.limit, "summarise", s.ID(), func(ctx context.Context) (string, error) {
		return s.Summarizer.Summarize(ctx, kind, name, fragments)
	})
}
