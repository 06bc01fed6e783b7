package llm

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// BatchOptions says what one call of an embedder or reranker may carry. The zero value is the default.
type BatchOptions struct {
	// Texts is the largest number of texts; default 32.
	Texts int
	// Tokens bounds the sum of their tokens; 0: no bound. A text that is longer alone makes a call of its own.
	Tokens int
	// Tokenizer counts for Tokens and is needed only for that.
	Tokenizer Tokenizer
	// Parallel is the number of calls at once; default 4. A Limiter below may hold them back further.
	Parallel int
}

// Batch splits long calls of e into several, keeps the order of texts and checks what comes back: a wrong
// number of vectors, or one of another dimension, not finite or zero, is a *VectorError whose Index counts in
// the caller's texts. When a call fails the others are cancelled, and nothing is returned
// (a CacheEmbedder above keeps what the others have brought).
func Batch(e Embedder, o BatchOptions) Embedder {
	return &batchEmbedder{e, o.withDefaults()}
}

func (o BatchOptions) withDefaults() BatchOptions {
	if o.Texts <= 0 {
		o.Texts = 32
	}
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	if o.Tokenizer == nil {
		o.Tokens = 0
	}
	return o
}

type batchEmbedder struct {
	Embedder
	opts BatchOptions
}

func (e *batchEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	vecs := make([][]float32, len(texts))
	if err := e.embedParts(ctx, texts, kind, func(first int, part [][]float32) { copy(vecs[first:], part) }); err != nil {
		return nil, err
	}
	return vecs, nil
}

// embedParts hands the checked vectors of each batch to keep as soon as they are there, with the place of the
// first; what was kept stays good when another batch fails. keep is called from several goroutines.
func (e *batchEmbedder) embedParts(ctx context.Context, texts []string, kind Kind, keep func(first int, part [][]float32)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return e.opts.each(ctx, texts, func(ctx context.Context, first, end int) error {
		part, err := e.Embedder.Embed(ctx, texts[first:end], kind)
		if err == nil {
			err = CheckVectors(e.ID(), part, end-first, e.Dim())
		}
		if err != nil {
			return shiftIndex(err, first)
		}
		keep(first, part)
		return nil
	})
}

// BatchReranker splits long calls of r into several and keeps the order of texts. When a call fails the others are
// cancelled, and nothing is returned. It is for models that score each text by itself: one that compares the texts of
// a call with each other gives scores that are worth nothing across calls.
func BatchReranker(r Reranker, o BatchOptions) Reranker { return &batchReranker{r, o.withDefaults()} }

type batchReranker struct {
	Reranker
	opts BatchOptions
}

func (r *batchReranker) Rerank(ctx context.Context, query string, docs []string) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	scores := make([]float64, len(docs))
	err := r.opts.each(ctx, docs, func(ctx context.Context, first, end int) error {
		part, err := r.Reranker.Rerank(ctx, query, docs[first:end])
		if err == nil && len(part) != end-first {
			err = &Error{Provider: r.ID(), Op: "rerank", Message: fmt.Sprintf("%d scores for %d texts", len(part), end-first), Err: ErrReply}
		}
		copy(scores[first:end], part)
		return err
	})
	if err != nil {
		return nil, err
	}
	return scores, nil
}

// each runs call for one batch after the other, several at once, and waits for all. The first error cancels the rest.
func (o BatchOptions) each(ctx context.Context, texts []string, call func(ctx context.Context, first, end int) error) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(o.Parallel)
	for start := 0; start < len(texts) && groupCtx.Err() == nil; {
		first, end := start, o.end(texts, start)
		start = end
		group.Go(func() error {
			if err := groupCtx.Err(); err != nil { // waited for its turn while another failed
				return err
			}
			return call(groupCtx, first, end)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// end returns where the batch that begins at start ends.
func (o BatchOptions) end(texts []string, start int) int {
	most := min(len(texts), start+o.Texts)
	if o.Tokens == 0 {
		return most
	}
	sum := 0
	for i := start; i < most; i++ {
		if sum += o.Tokenizer.Count(texts[i]); sum > o.Tokens && i > start {
			return i
		}
	}
	return most
}

// shiftIndex makes the index of a VectorError count from the first text of the whole call.
func shiftIndex(err error, by int) error {
	//nolint:errorlint // the error as returned: one that wraps it counts in texts that are not known here
	if bad, ok := err.(*VectorError); ok && bad.Index >= 0 {
		moved := *bad
		moved.Index += by
		return &moved
	}
	return err
}
