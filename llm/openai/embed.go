package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/glimdb/db/internal/endpoint"
	"github.com/glimdb/db/llm"
)

// Embedder is an embedding model.
type Embedder struct {
	*client
	id      string
	dim     int
	sendDim bool
}

var _ llm.Embedder = (*Embedder)(nil)

const opEmbed = "embed"

// NewEmbedder returns the embedding model of c. It makes no call; a Config that cannot be used is a *llm.ConfigError,
// which includes a model of unknown dimension: ask AskDim, or set EmbedDim.
func NewEmbedder(c Config) (*Embedder, error) {
	if c.EmbedModel == "" {
		return nil, &llm.ConfigError{Provider: provider, Field: "EmbedModel", Problem: "is empty"}
	}
	known := llm.KnownDim(c.EmbedModel)
	dim := c.EmbedDim
	if dim == 0 {
		dim = known
	}
	if dim < 1 {
		return nil, &llm.ConfigError{Provider: provider, Field: "EmbedDim", Problem: fmt.Sprintf("the length of the vectors of %s is not known", c.EmbedModel)}
	}
	e, err := c.client()
	if err != nil {
		return nil, err
	}
	id := "openai/" + c.EmbedModel
	shortened := strings.HasPrefix(c.EmbedModel, "text-embedding-3-") && dim != known
	return &Embedder{client: e, id: id, dim: dim, sendDim: c.SendDim || shortened}, nil
}

// AskDim embeds one word to learn the length of the model's vectors.
func AskDim(ctx context.Context, c Config) (int, error) {
	c.EmbedDim = max(1, c.EmbedDim) // not checked against the answer below
	e, err := NewEmbedder(c)
	if err != nil {
		return 0, err
	}
	e.sendDim = false
	vecs, err := e.ask(ctx, []string{"dimension"})
	if err != nil {
		return 0, err
	}
	if len(vecs) != 1 || len(vecs[0]) == 0 {
		return 0, e.Unusable(opEmbed, "%d vectors for one text", len(vecs))
	}
	return len(vecs[0]), nil
}

// Dim implements llm.Embedder.
func (e *Embedder) Dim() int { return e.dim }

// ID returns the model without the server: vectors stay usable when the same model is run
// elsewhere.
func (e *Embedder) ID() string { return e.id }

// Embed implements llm.Embedder. All texts go into one request; llm.Batch splits, and llm.Prefix tells
// queries from documents.
func (e *Embedder) Embed(ctx context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return nil, nil
	}
	vecs, err := e.ask(ctx, texts)
	if err != nil {
		return nil, err
	}
	if err := llm.CheckVectors(e.id, vecs, len(texts), e.dim); err != nil {
		return nil, err
	}
	return vecs, nil
}

// ask makes one call within the time limit. The number and the lengths of the vectors are the server's.
func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	return llm.DeadlineEmbedder(unlimitedEmbedder{e}, e.Timeout).Embed(ctx, texts, llm.ForDocument)
}

// unlimitedEmbedder is an Embedder without time limit, prefixes and checks.
type unlimitedEmbedder struct{ *Embedder }

func (e unlimitedEmbedder) Embed(ctx context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	body := map[string]any{"model": e.EmbedModel, "input": texts}
	if e.sendDim {
		body["dimensions"] = e.dim
	}
	if e.Base64 {
		body["encoding_format"] = "base64"
	}
	data, err := e.Call(ctx, opEmbed, "embeddings", body)
	if err != nil {
		return nil, err
	}
	vecs, tokens, err := parseVectors(data, len(texts))
	if err != nil {
		return nil, e.Unusable(opEmbed, "%s", e.Excerpt(err.Error()))
	}
	llm.NoteTokens(ctx, tokens)
	return vecs, nil
}

// parseVectors returns the vectors of a reply in the order of the texts, and the tokens that it counts. The number of
// vectors is the reply's.
func parseVectors(data []byte, texts int) (vecs [][]float32, tokens int, err error) {
	var body struct {
		Data []struct {
			Index     *int   `json:"index"`
			Embedding vector `json:"embedding"`
		} `json:"data"`
		Usage struct {
			PromptTokens int `json:"prompt_tokens"`
		} `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		if errors.Is(err, errVector) {
			return nil, 0, err
		}
		_, text := endpoint.ParseError(data)
		return nil, 0, fmt.Errorf("not a list of embeddings: %s", text)
	}
	if len(body.Data) == 0 && len(body.Error) > 0 {
		_, text := endpoint.ParseError(data)
		return nil, 0, errors.New(text)
	}
	vecs = make([][]float32, len(body.Data))
	if len(vecs) != texts {
		return vecs, 0, nil // the caller's check says so
	}
	for i, item := range body.Data {
		at := i
		if item.Index != nil {
			at = *item.Index
		}
		if at < 0 || at >= len(vecs) || vecs[at] != nil {
			return nil, 0, fmt.Errorf("embedding %d has index %d, which is out of range or taken", i, at)
		}
		if vecs[at] = item.Embedding; vecs[at] == nil {
			vecs[at] = []float32{}
		}
	}
	return vecs, body.Usage.PromptTokens, nil
}

var errVector = errors.New("an embedding that is neither numbers nor base64 of float32")

// vector is a list of numbers, or base64 of little-endian float32.
type vector []float32

func (v *vector) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return errVector
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(raw)%4 != 0 {
			return errVector
		}
		*v = make(vector, len(raw)/4)
		for i := range *v {
			(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		return nil
	}
	var numbers []float32
	if err := json.Unmarshal(data, &numbers); err != nil {
		return errVector
	}
	*v = numbers
	return nil
}
