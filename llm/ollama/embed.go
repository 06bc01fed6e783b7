package ollama

import (
	"context"
	"encoding/json"

	"github.com/glimdb/db/internal/endpoint"
	"github.com/glimdb/db/llm"
)

// Embedder is an embedding model.
type Embedder struct {
	*client
	id  string
	dim int
}

var _ llm.Embedder = (*Embedder)(nil)

const opEmbed = "embed"

// NewEmbedder returns the embedding model of c. It makes no call; a Config that cannot be used is an *llm.ConfigError,
// which includes a model of unknown dimension without EmbedDim. Where EmbedDim is less than what llm.KnownDim says, it is
// sent, for models that can shorten their vectors.
func NewEmbedder(c Config) (*Embedder, error) {
	if c.EmbedModel == "" {
		return nil, wrong("EmbedModel", "is empty")
	}
	if c.EmbedDim == 0 {
		c.EmbedDim = llm.KnownDim(c.EmbedModel)
	}
	if c.EmbedDim < 1 {
		return nil, wrong("EmbedDim", "the length of the vectors of %s is not known", c.EmbedModel)
	}
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	return &Embedder{cl, provider + "/" + c.EmbedModel, c.EmbedDim}, nil
}

// Dim implements llm.Embedder.
func (e *Embedder) Dim() int { return e.dim }

// ID returns the model without the server: vectors stay usable when the same model is run elsewhere.
func (e *Embedder) ID() string { return e.id }

// Embed implements llm.Embedder. All texts go into one request; llm.Batch splits. llm.Prefix puts before texts what
// models such as nomic-embed-text are trained with.
func (e *Embedder) Embed(ctx context.Context, texts []string, kind llm.Kind) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return nil, nil
	}
	vecs, err := llm.DeadlineEmbedder(plainEmbedder{e}, e.Timeout).Embed(ctx, texts, kind)
	if err != nil {
		return nil, hinted(err, e.EmbedModel)
	}
	if err := llm.CheckVectors(e.id, vecs, len(texts), e.dim); err != nil {
		return nil, err
	}
	return vecs, nil
}

// plainEmbedder is an Embedder without time limit and checks.
type plainEmbedder struct{ *Embedder }

func (e plainEmbedder) Embed(ctx context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	body := e.body(e.EmbedModel, e.options())
	body["input"] = texts
	if e.dim < llm.KnownDim(e.EmbedModel) {
		body["dimensions"] = e.dim
	}
	data, err := e.Call(ctx, opEmbed, "api/embed", body)
	if err != nil {
		return nil, err
	}
	vecs, tokens, ok := parseVectors(data)
	if !ok {
		_, text := endpoint.ParseError(data)
		return nil, e.Unusable(opEmbed, "no embeddings: %s", e.Excerpt(text))
	}
	llm.NoteTokens(ctx, tokens)
	return vecs, nil
}

// parseVectors reads a reply. The number and the lengths of the vectors are the server's.
func parseVectors(data []byte) (vecs [][]float32, tokens int, ok bool) {
	var reply struct {
		Embeddings      [][]float32 `json:"embeddings"`
		PromptEvalCount int         `json:"prompt_eval_count"`
	}
	if json.Unmarshal(data, &reply) != nil || reply.Embeddings == nil {
		return nil, 0, false
	}
	return reply.Embeddings, reply.PromptEvalCount, true
}
