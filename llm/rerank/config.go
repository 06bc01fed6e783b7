package rerank

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/glimdb/db/internal/endpoint"
	"github.com/glimdb/db/llm"
)

// Form is the shape of requests and replies.
type Form string

// The forms.
const (
	// Standard is {"model", "query", "documents"}, answered by {"results": [{"index", "relevance_score"}]}.
	Standard Form = "standard"
	// Aliyun is {"model", "input": {"query", "documents"}, "parameters": {}}, answered by {"output": {"results": ...}}.
	Aliyun Form = "aliyun"
)

// Config says which model to ask, and how. URL and Model have no defaults.
type Config struct {
	// URL is the whole address of the call, such as http://localhost:8000/v1/rerank.
	URL   string
	Model string
	// Key is sent as a bearer token; empty sends none.
	Key string
	// Headers are added to each request, and replace those that the client would set.
	Headers map[string]string
	// HTTPClient is used as it is; nil: one that follows no redirects and honours the proxy variables.
	HTTPClient *http.Client
	// Timeout bounds one call; 0: no limit of its own. What it ends is a retryable *llm.Error with llm.ErrTimeout.
	Timeout time.Duration
	// MaxReply bounds the bytes of one reply; default 64 MiB.
	MaxReply int64

	// Form is that of requests; empty: Standard.
	Form Form
	// ReplyForm is that of replies; empty: Form.
	ReplyForm Form
	// Params are merged into the body of each call, for Aliyun into its "parameters", and may replace what is there.
	Params map[string]any
	// TopN leaves only the best N of a call with a score; 0: all. It is sent as "top_n", but not where texts are split,
	// for the scores of all pieces are needed then.
	TopN int
	// Batch bounds what one request carries; of the scores of several, which are asked for at the same time, nothing is
	// returned when one fails. Texts defaults to 500.
	Batch llm.BatchOptions
	// Split cuts texts that are too long for the model; nil: they are sent whole, and what a server does with those
	// that are too long is its business.
	Split *Splitting
	// Logger is told what is discarded of a reply (counts, no text); nil: silent.
	Logger *slog.Logger
}

// ForCohere describes Cohere's service.
func ForCohere(key string) Config {
	return Config{URL: "https://api.cohere.com/v2/rerank", Model: "rerank-v3.5", Key: key}
}

// ForJina describes Jina's service.
func ForJina(key string) Config {
	return Config{URL: "https://api.jina.ai/v1/rerank", Model: "jina-reranker-v2-base-multilingual", Key: key,
		Params: map[string]any{"return_documents": false}}
}

// ForAliyun describes the service of Alibaba Cloud (DashScope), which takes 500 texts and 30,000 tokens a request; set
// Batch.Tokens and Batch.Tokenizer to stay below the second.
func ForAliyun(key string) Config {
	return Config{URL: "https://dashscope.aliyuncs.com/api/v1/services/rerank/text-rerank/text-rerank", Model: "gte-rerank-v2", Key: key,
		Form: Aliyun, Params: map[string]any{"return_documents": false}}
}

const (
	provider     = "rerank"
	opRerank     = "rerank"
	defaultTexts = 500 // what the hosted services take
)

func wrong(field, format string, args ...any) error {
	return &llm.ConfigError{Provider: provider, Field: field, Problem: fmt.Sprintf(format, args...)}
}

// New returns the reranker of c. It makes no call; a Config that cannot be used is an *llm.ConfigError.
func New(c Config) (llm.Reranker, error) {
	if c.Model == "" {
		return nil, wrong("Model", "is empty")
	}
	if c.TopN < 0 {
		return nil, wrong("TopN", "%d is negative", c.TopN)
	}
	if c.Form == "" {
		c.Form = Standard
	}
	if c.ReplyForm == "" {
		c.ReplyForm = c.Form
	}
	for field, form := range map[string]Form{"Form": c.Form, "ReplyForm": c.ReplyForm} {
		if form != Standard && form != Aliyun {
			return nil, wrong(field, "%q: want %s or %s", string(form), Standard, Aliyun)
		}
	}
	e, err := endpoint.New(endpoint.Config{Provider: provider, URL: c.URL, Field: "URL", Key: c.Key, Headers: c.Headers,
		HTTPClient: c.HTTPClient, Timeout: c.Timeout, MaxReply: c.MaxReply}, "")
	if err != nil {
		return nil, err
	}
	c.Params = maps.Clone(c.Params)
	if c.Batch.Texts <= 0 {
		c.Batch.Texts = defaultTexts
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	one := &client{Endpoint: e, config: c}
	if c.Split == nil {
		one.topN = c.TopN
	}
	r := llm.BatchReranker(llm.DeadlineReranker(one, c.Timeout), c.Batch)
	if c.Split != nil {
		if r, err = Split(r, *c.Split); err != nil {
			return nil, err
		}
	}
	if c.TopN > 0 {
		r = best{r, c.TopN}
	}
	return r, nil
}
