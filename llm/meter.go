package llm

import (
	"context"
	"iter"
	"maps"
	"sync"
)

// The purposes under which a Meter counts calls that are no chat.
const (
	PurposeEmbed  Purpose = "embed"
	PurposeRerank Purpose = "rerank"
)

// Meter sums what models used, by purpose. The zero value is ready. Safe for concurrent use.
type Meter struct {
	mu  sync.Mutex
	sum map[Purpose]Usage
}

func (m *Meter) add(p Purpose, u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sum == nil {
		m.sum = map[Purpose]Usage{}
	}
	m.sum[p] = m.sum[p].Add(u)
}

// ByPurpose returns the sums so far; the map is the caller's.
func (m *Meter) ByPurpose() map[Purpose]Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.sum)
}

// Total returns the sum over all purposes.
func (m *Meter) Total() Usage {
	var u Usage
	for _, v := range m.ByPurpose() {
		u = u.Add(v)
	}
	return u
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
				c.meter.add(req.Purpose, d.Usage)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// Embedder counts the calls of e that succeeded, under PurposeEmbed; embedders report no tokens.
func (m *Meter) Embedder(e Embedder) Embedder { return &meteredEmbedder{e, m} }

type meteredEmbedder struct {
	Embedder
	meter *Meter
}

func (e *meteredEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	vecs, err := e.Embedder.Embed(ctx, texts, kind)
	if err == nil && len(texts) > 0 {
		e.meter.add(PurposeEmbed, Usage{Calls: 1})
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
		r.meter.add(PurposeRerank, Usage{Calls: 1})
	}
	return scores, err
}
