package rerank

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"

	"github.com/glimdb/db/internal/endpoint"
	"github.com/glimdb/db/llm"
)

// client makes one call for all texts.
type client struct {
	*endpoint.Endpoint
	config Config
	topN   int // sent; 0: not
}

// ID returns model and server: two servers may run a model of one name differently.
func (c *client) ID() string { return provider + "/" + c.config.Model + "@" + c.Host }

func (c *client) body(query string, docs []string) map[string]any {
	params := map[string]any{}
	if c.topN > 0 {
		params["top_n"] = min(c.topN, len(docs))
	}
	maps.Copy(params, c.config.Params)
	if c.config.Form == Aliyun {
		return map[string]any{"model": c.config.Model, "input": map[string]any{"query": query, "documents": docs}, "parameters": params}
	}
	body := map[string]any{"model": c.config.Model, "query": query, "documents": docs}
	maps.Copy(body, params)
	return body
}

// Rerank implements llm.Reranker.
func (c *client) Rerank(ctx context.Context, query string, docs []string) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, nil
	}
	data, err := c.Call(ctx, opRerank, "", c.body(query, docs))
	if err != nil {
		return nil, err
	}
	list, found := results(data, c.config.ReplyForm)
	if !found {
		code, text := endpoint.ParseError(data)
		failure := c.Unusable(opRerank, "no list of results: %s", c.Excerpt(text))
		failure.Code = c.Excerpt(code)
		return nil, failure
	}
	scores, bad := read(list, len(docs))
	if c.topN == 0 || c.topN >= len(docs) {
		for _, s := range scores {
			if math.IsNaN(s) {
				bad.missing++
			}
		}
	}
	if !slices.ContainsFunc(scores, func(s float64) bool { return !math.IsNaN(s) }) {
		return nil, c.Unusable(opRerank, "none of %d results has a usable score (%s)", len(list), bad)
	}
	if bad != (discarded{}) {
		c.config.Logger.LogAttrs(ctx, slog.LevelWarn, "reranker: results discarded", slog.String("model", c.ID()),
			slog.Int("texts", len(docs)), slog.String("counts", bad.String()))
	}
	return scores, nil
}

// best leaves the best n texts of a call with a score.
type best struct {
	llm.Reranker
	n int
}

// Rerank implements llm.Reranker.
func (b best) Rerank(ctx context.Context, query string, docs []string) ([]float64, error) {
	scores, err := b.Reranker.Rerank(ctx, query, docs)
	if err != nil {
		return nil, err
	}
	var order []int
	for i, s := range scores {
		if !math.IsNaN(s) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	for _, i := range order[min(b.n, len(order)):] {
		scores[i] = math.NaN()
	}
	return scores, nil
}
