package main

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/rerank"
	"github.com/glimdb/db/llm/token"
)

// rerankSettings say which model orders the passages of a query; none: offline, they are ordered by the words they
// share with the question, and with an embedding model not at all.
type rerankSettings struct {
	Provider  string
	URL       string
	Key       string
	Model     string
	Tokens    int
	Overlap   int
	Aggregate string
}

func defaultRerank() rerankSettings {
	return rerankSettings{Overlap: rerank.DefaultOverlap, Aggregate: string(rerank.Max)}
}

// service is a hosted reranker that needs nothing but a key.
type service struct {
	name, keyEnv string
	config       func(key string) rerank.Config
	callTokens   int // of all texts of one call; 0: no bound
}

var rerankServices = []service{
	{name: "cohere", keyEnv: "COHERE_API_KEY", config: rerank.ForCohere},
	{name: "jina", keyEnv: "JINA_API_KEY", config: rerank.ForJina},
	{name: "aliyun", keyEnv: "DASHSCOPE_API_KEY", config: rerank.ForAliyun, callTokens: 25_000}, // of 30,000, question and their own count included
}

// serviceNames are those of the hosted rerankers.
func serviceNames() string {
	names := make([]string, 0, len(rerankServices))
	for _, s := range rerankServices {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

var rerankTable = []setting{
	{flag: "rerank-provider", usage: "hosted `reranker`: " + serviceNames(), field: func(s *settings) any { return &s.Rerank.Provider }},
	{flag: "rerank-url", usage: "whole `URL` of another reranker's call, such as http://localhost:8000/v1/rerank", field: func(s *settings) any { return &s.Rerank.URL }},
	{flag: "rerank-api-key", secret: true, field: func(s *settings) any { return &s.Rerank.Key }},
	{flag: "rerank-model", usage: "reranking `model` (a hosted reranker has a default)", field: func(s *settings) any { return &s.Rerank.Model }},
	{flag: "rerank-tokens", usage: "cut passages into pieces of so many `tokens` for the reranker (0: send them whole)", field: func(s *settings) any { return &s.Rerank.Tokens }},
	{flag: "rerank-overlap", usage: "`tokens` that neighbouring pieces share", field: func(s *settings) any { return &s.Rerank.Overlap }},
	{flag: "rerank-aggregate", usage: "which `score` of its pieces a passage gets: max, mean or first", field: func(s *settings) any { return &s.Rerank.Aggregate }},
}

// service returns that of Provider; nil: none is named.
func (r *rerankSettings) service() *service {
	i := slices.IndexFunc(rerankServices, func(s service) bool { return s.name == r.Provider })
	if i < 0 {
		return nil
	}
	return &rerankServices[i]
}

func (r *rerankSettings) validate() error {
	how := rerank.Aggregation(r.Aggregate)
	switch {
	case r.Provider != "" && r.service() == nil:
		return usage("rerank-provider is %s: want %s, or --rerank-url for another server", brief.Quote(r.Provider), serviceNames())
	case r.Provider == "" && (r.URL == "") != (r.Model == ""):
		return usage("a reranker needs both --rerank-url and --rerank-model, or --rerank-provider")
	case r.Tokens < 0:
		return usage("rerank-tokens is %d: want 0 or more", r.Tokens)
	case r.Overlap < 0:
		return usage("rerank-overlap is %d: want 0 or more", r.Overlap)
	case how != rerank.Max && how != rerank.Mean && how != rerank.First:
		return usage("rerank-aggregate is %s: want max, mean or first", brief.Quote(r.Aggregate))
	}
	return nil
}

// reranker makes the model; nil without one. The key that the environment has for a hosted service is for its own
// address only.
func (r *rerankSettings) reranker(getenv func(string) string, log *slog.Logger) (llm.Reranker, error) {
	var c rerank.Config
	switch s := r.service(); {
	case s != nil:
		c = s.config(r.Key)
		if r.URL == "" {
			c.Key = cmp.Or(r.Key, getenv(s.keyEnv))
		}
		if s.callTokens > 0 {
			c.Batch = llm.BatchOptions{Tokens: s.callTokens, Tokenizer: token.Default()}
		}
	case r.URL == "":
		return nil, nil //nolint:nilnil // no reranker is a choice, not a failure
	default:
		c.Key = r.Key
	}
	c.URL, c.Model, c.Logger = cmp.Or(r.URL, c.URL), cmp.Or(r.Model, c.Model), log
	if r.Tokens > 0 {
		c.Split = &rerank.Splitting{MaxTokens: r.Tokens, Overlap: r.Overlap, Tokenizer: token.Default(), Aggregate: rerank.Aggregation(r.Aggregate), Logger: log}
	}
	model, err := rerank.New(c)
	if err != nil {
		return nil, usage("%s", plain(err))
	}
	return model, nil
}
