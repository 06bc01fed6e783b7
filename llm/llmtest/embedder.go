package llmtest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/glimdb/db/llm"
)

// EmbedCall is one call of Embedder.
type EmbedCall struct {
	Texts []string
	Kind  llm.Kind
}

// A Fault changes or fails the answer to a call; vecs are the right vectors.
type Fault func(call EmbedCall, vecs [][]float32) ([][]float32, error)

// Embedder is a recording llm.Embedder: the same text has the same vector, of length 1, for documents and
// queries, in every process; vectors of different texts are random directions.
type Embedder struct {
	mu     sync.Mutex
	id     string
	dim    int
	fixed  map[string][]float32
	calls  []EmbedCall
	faults []fault

	// Entered and Gate hold calls as in Rule. They are set before the first call.
	Entered chan<- struct{}
	Gate    <-chan struct{}
}

type fault struct {
	f    Fault
	left int // -1: always
}

// NewEmbedder returns a fake whose vectors have dim values; its ID is "fake/embed-<dim>".
func NewEmbedder(dim int) *Embedder {
	return &Embedder{id: fmt.Sprintf("fake/embed-%d", dim), dim: dim, fixed: map[string][]float32{}}
}

// SetID changes the model's name. Vectors depend on it: another model has another space.
func (e *Embedder) SetID(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.id = id
}

// Set fixes the vector of a text.
func (e *Embedder) Set(text string, v ...float32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fixed[text] = v
}

// Break applies a fault to the next times calls; 0 means all that follow.
func (e *Embedder) Break(times int, f Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if times == 0 {
		times = -1
	}
	e.faults = append(e.faults, fault{f, times})
}

// After lets n calls pass before f applies.
func After(n int, f Fault) Fault {
	var mu sync.Mutex
	return func(call EmbedCall, vecs [][]float32) ([][]float32, error) {
		mu.Lock()
		defer mu.Unlock()
		if n > 0 {
			n--
			return vecs, nil
		}
		return f(call, vecs)
	}
}

// Heal removes all faults.
func (e *Embedder) Heal() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults = nil
}

// Fail is a fault: the call fails.
func Fail(err error) Fault {
	return func(EmbedCall, [][]float32) ([][]float32, error) { return nil, err }
}

// Drop is a fault: the last vector is missing.
func Drop(_ EmbedCall, vecs [][]float32) ([][]float32, error) { return vecs[:max(0, len(vecs)-1)], nil }

// NaN is a fault: the last vector has a NaN.
func NaN(_ EmbedCall, vecs [][]float32) ([][]float32, error) {
	return change(vecs, func(v []float32) []float32 { v[len(v)-1] = float32(math.NaN()); return v })
}

// Zero is a fault: the last vector is zero.
func Zero(_ EmbedCall, vecs [][]float32) ([][]float32, error) {
	return change(vecs, func(v []float32) []float32 { clear(v); return v })
}

// Short is a fault: the last vector lacks a value.
func Short(_ EmbedCall, vecs [][]float32) ([][]float32, error) {
	return change(vecs, func(v []float32) []float32 { return v[:len(v)-1] })
}

func change(vecs [][]float32, f func([]float32) []float32) ([][]float32, error) {
	if n := len(vecs); n > 0 {
		vecs[n-1] = f(vecs[n-1])
	}
	return vecs, nil
}

// Embed implements llm.Embedder.
func (e *Embedder) Embed(ctx context.Context, texts []string, kind llm.Kind) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return nil, nil
	}
	call := EmbedCall{Texts: slices.Clone(texts), Kind: kind}
	vecs, faults := e.enter(call)
	if err := wait(ctx, e.Entered, e.Gate); err != nil {
		return nil, err
	}
	for _, f := range faults {
		var err error
		if vecs, err = f(call, vecs); err != nil {
			return nil, err
		}
	}
	return vecs, nil
}

func (e *Embedder) enter(call EmbedCall) ([][]float32, []Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, call)
	vecs := make([][]float32, len(call.Texts))
	for i, text := range call.Texts {
		vecs[i] = e.vector(text)
	}
	var active []Fault
	for i := range e.faults {
		f := &e.faults[i]
		if f.left == 0 {
			continue
		}
		if f.left > 0 {
			f.left--
		}
		active = append(active, f.f)
	}
	return vecs, active
}

func (e *Embedder) vector(text string) []float32 {
	if v, ok := e.fixed[text]; ok {
		return slices.Clone(v)
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", e.id, text)
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(e.dim)))
	v := make([]float32, e.dim)
	var norm float64
	for i := range v {
		x := r.NormFloat64()
		v[i] = float32(x)
		norm += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(norm))
	}
	return v
}

// Dim implements llm.Embedder.
func (e *Embedder) Dim() int { return e.dim }

// ID implements llm.Embedder.
func (e *Embedder) ID() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.id
}

// Calls returns the calls so far.
func (e *Embedder) Calls() []EmbedCall {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

// Texts returns the number of texts of all calls so far.
func (e *Embedder) Texts() int {
	n := 0
	for _, c := range e.Calls() {
		n += len(c.Texts)
	}
	return n
}

// Reset forgets the calls, not the faults.
func (e *Embedder) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = nil
}
