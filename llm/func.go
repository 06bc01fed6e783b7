package llm

import (
	"context"
	"iter"
)

// EmbedFunc embeds one text: the form in which many Go programs already have their model.
type EmbedFunc func(ctx context.Context, text string) ([]float32, error)

// FuncEmbedder makes an Embedder of a function. It calls it for one text after the other, for documents and
// queries alike, and checks the results; id is stored with the vectors and must change with the model, dim is
// the length of the vectors. f must be safe for concurrent use and must not keep what it returned.
func FuncEmbedder(id string, dim int, f EmbedFunc) Embedder {
	return &funcEmbedder{id: id, dim: dim, f: f}
}

type funcEmbedder struct {
	id  string
	dim int
	f   EmbedFunc
}

func (e *funcEmbedder) Embed(ctx context.Context, texts []string, _ Kind) ([][]float32, error) {
	vecs := make([][]float32, 0, len(texts))
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := e.f(ctx, text)
		if err != nil {
			return nil, err
		}
		vecs = append(vecs, v)
	}
	if err := CheckVectors(e.id, vecs, len(texts), e.dim); err != nil {
		return nil, err
	}
	return vecs, nil
}

func (e *funcEmbedder) Dim() int   { return e.dim }
func (e *funcEmbedder) ID() string { return e.id }

// FuncChat makes a Chat of a function that returns whole replies; each is delivered as one piece. id is part of
// cache keys and must change with whatever changes replies. f must be safe for concurrent use. An empty
// Finish of its reply means FinishStop, and a usage without calls means one call.
func FuncChat(id string, f func(ctx context.Context, req Request) (Reply, error)) Chat {
	return &funcChat{id: id, f: f}
}

type funcChat struct {
	id string
	f  func(ctx context.Context, req Request) (Reply, error)
}

func (c *funcChat) Generate(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(Delta{}, err)
			return
		}
		r, err := c.f(ctx, req)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		if r.Finish == "" {
			r.Finish = FinishStop
		}
		if r.Usage.Calls == 0 && !r.Cached {
			r.Usage.Calls = 1
		}
		yield(Delta(r), nil)
	}
}

func (c *funcChat) ID() string { return c.id }
