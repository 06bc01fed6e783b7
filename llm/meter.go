package llm

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
)

// The purposes under which a Meter counts calls that are no chat.
const (
	PurposeEmbed  Purpose = "embed"
	PurposeRerank Purpose = "rerank"
)

// ModelUsage is what one model was used for.
type ModelUsage struct {
	Model   string  `json:"model"` // its ID
	Purpose Purpose `json:"purpose"`
	Usage
}

// Meter sums what models used, by model and purpose. The zero value is ready. Safe for concurrent use.
type Meter struct {
	mu  sync.Mutex
	sum map[metered]Usage
}

type metered struct {
	model   string
	purpose Purpose
}

// Add counts a usage.
func (m *Meter) Add(u ModelUsage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sum == nil {
		m.sum = map[metered]Usage{}
	}
	k := metered{u.Model, u.Purpose}
	m.sum[k] = m.sum[k].Add(u.Usage)
}

// ByModel returns the sums so far, by model and purpose.
func (m *Meter) ByModel() []ModelUsage {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []ModelUsage
	for k, u := range m.sum {
		out = append(out, ModelUsage{k.model, k.purpose, u})
	}
	slices.SortFunc(out, func(a, b ModelUsage) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Purpose, b.Purpose))
	})
	return out
}

// ByPurpose returns the sums so far; the map is the caller's.
func (m *Meter) ByPurpose() map[Purpose]Usage {
	out := make(map[Purpose]Usage)
	for _, u := range m.ByModel() {
		out[u.Purpose] = out[u.Purpose].Add(u.Usage)
	}
	return out
}

// Total returns the sum over all purposes.
func (m *Meter) Total() Usage {
	var u Usage
	for _, v := range m.ByModel() {
		u = u.Add(v.Usage)
	}
	return u
}

type (
	metersKey struct{}
	tokensKey struct{}
)

// WithMeter returns a context under which m counts every call that goes through a meter, beside that meter and those
// of ctx: the usage of one job.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	outer, _ := ctx.Value(metersKey{}).([]*Meter)
	return context.WithValue(ctx, metersKey{}, append(slices.Clip(outer), m))
}

// count adds u to m and the meters of ctx.
func (m *Meter) count(ctx context.Context, u ModelUsage) {
	m.Add(u)
	also, _ := ctx.Value(metersKey{}).([]*Meter)
	for _, other := range also {
		other.Add(u)
	}
}

// NoteTokens tells the Meter above an embedder how many tokens the call of ctx took. It is for implementations of
// Embedder, which have no other way, to call before they return.
func NoteTokens(ctx context.Context, n int) {
	if sum, ok := ctx.Value(tokensKey{}).(*int); ok {
		*sum += max(n, 0)
	}
}

// Chat counts the usage that c reports, of calls that failed or were broken off too as far as it was reported.
func (m *Meter) Chat(c Chat) Chat { return &meteredChat{c, m} }

type meteredChat struct {
	Chat
	meter *Meter
}

func (c *meteredChat) Generate(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		for d, err := range c.Chat.Generate(ctx, req) {
			if d.Usage != (Usage{}) {
				c.meter.count(ctx, ModelUsage{c.ID(), req.Purpose, d.Usage})
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// Embedder counts the calls of e that succeeded, under PurposeEmbed, with the tokens that e notes (NoteTokens).
func (m *Meter) Embedder(e Embedder) Embedder { return &meteredEmbedder{e, m} }

type meteredEmbedder struct {
	Embedder
	meter *Meter
}

func (e *meteredEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	tokens := 0
	vecs, err := e.Embedder.Embed(context.WithValue(ctx, tokensKey{}, &tokens), texts, kind)
	if err == nil && len(texts) > 0 {
		e.meter.count(ctx, ModelUsage{e.ID(), PurposeEmbed, Usage{Calls: 1, PromptTokens: tokens}})
	}
	return vecs, err
}

// Reranker counts the calls of r that succeeded, under PurposeRerank.
func (m *Meter) Reranker(r Reranker) Reranker { return &meteredReranker{r, m} }

type meteredReranker struct {
	Reranker
	meter *Meter
}

func (r *meteredReranker) Rerank(ctx context.Context, query string, docs []string) ([]float64, error) {
	scores, err := r.Reranker.Rerank(ctx, query, docs)
	if err == nil && len(docs) > 0 {
		r.meter.count(ctx, ModelUsage{r.ID(), PurposeRerank, Usage{Calls: 1}})
	}
	return scores, err
}
