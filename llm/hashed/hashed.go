package hashed

import (
	"context"
	"fmt"
	"strings"

	"github.com/glimdb/db/llm"
)

// version is part of ID: every change of a weight, a word list or a hash that moves vectors raises it.
const version = 3

// Dimensions of the vectors.
const (
	// DefaultDim keeps chance collisions of short texts below the threshold of queries (see TestUnrelatedShortTexts).
	// 1,024 to 1,152 gain about 0.01 nDCG@10 on Cranfield over 768, which is what hash seeds differ by.
	DefaultDim = 1152
	// MinDim leaves a few hundred distinct words of a passage barely apart.
	MinDim = 64
	// MaxDim is far past any gain.
	MaxDim = 8192
)

// Options configure an Embedder. The zero value is the default.
type Options struct {
	// Dim is the length of the vectors, MinDim to MaxDim; 0 means DefaultDim. It may not differ when a
	// database is opened again: it is part of the embedder's ID.
	Dim int
}

// Embedder implements llm.Embedder. Make one with New.
type Embedder struct {
	dim int
}

// New returns an embedder, or an error when Options.Dim is out of range.
func New(o Options) (*Embedder, error) {
	if o.Dim == 0 {
		o.Dim = DefaultDim
	}
	if o.Dim < MinDim || o.Dim > MaxDim {
		return nil, fmt.Errorf("hashed: new: dimension %d is outside %d to %d", o.Dim, MinDim, MaxDim)
	}
	return &Embedder{dim: o.Dim}, nil
}

// Dim is the length of every vector.
func (e *Embedder) Dim() int { return e.dim }

// ID names method, version and dimension.
func (e *Embedder) ID() string { return fmt.Sprintf("%sv%d/%d", family, version, e.dim) }

const family = "hashed/"

// IsID reports whether id is that of an Embedder of this package, of whatever version and dimension.
func IsID(id string) bool { return strings.HasPrefix(id, family) }

// Embed returns one unit vector for each text, in order. kind makes no difference. It fails only with the
// error of ctx.
func (e *Embedder) Embed(ctx context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var f features
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f.reset()
		f.read(text)
		out[i] = f.vector(e.dim)
	}
	return out, nil
}

var _ llm.Embedder = (*Embedder)(nil)
