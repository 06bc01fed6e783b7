package llm

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
)

// MessageRole says who speaks in a Message.
type MessageRole string

// The roles every chat model knows.
const (
	System    MessageRole = "system"
	User      MessageRole = "user"
	Assistant MessageRole = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    MessageRole `json:"role"`
	Content string      `json:"content"`
}

// Purpose tells what a call is for. It is never sent to a provider: decorators use it for priorities,
// usage counts and cache kinds, scripted fakes to choose a reply.
type Purpose string

// The purposes Glim uses.
const (
	PurposeExtract  Purpose = "extract"
	PurposeGlean    Purpose = "glean"
	PurposeSummary  Purpose = "summary"
	PurposeKeywords Purpose = "keywords"
	PurposeAnswer   Purpose = "answer"
	// PurposeHypothesis asks for a passage that would answer a question, to search with.
	PurposeHypothesis Purpose = "hypothesis"
)

// Request is one chat call.
type Request struct {
	Messages []Message
	// JSON asks the provider for a single JSON object where it can.
	JSON bool
	// Schema is the JSON schema of that object, for providers that can hold a model to one; it has no effect without
	// JSON.
	Schema json.RawMessage
	// MaxTokens bounds the reply; 0 leaves it to the provider.
	MaxTokens int
	// Temperature is left to the provider when nil.
	Temperature *float64
	Purpose     Purpose
	// Subject names what the call is about (a chunk id, an entity) for logs and fakes; never sent and
	// no part of a cache key.
	Subject string
	// Usable tells a cache whether a whole reply, as it came, is worth keeping, so that one which its caller can
	// do nothing with is asked for again. nil keeps any that holds more than reasoning. Never sent and no part of a
	// cache key: equal requests must have equal tests.
	Usable func(reply string) bool
}

// Finish says why a reply ended.
type Finish string

// How replies end. Unknown provider reasons are passed through.
const (
	FinishStop   Finish = "stop"
	FinishLength Finish = "length" // cut off by a token limit: use, flag, never cache
	FinishFilter Finish = "content_filter"
)

// Usage counts calls and tokens. A provider reports one call in the usage of each reply, with the tokens if it
// knows them.
type Usage struct {
	Calls            int `json:"calls"`
	CachedCalls      int `json:"cached_calls,omitempty"` // answered from a cache, not counted in Calls
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{Calls: u.Calls + v.Calls, CachedCalls: u.CachedCalls + v.CachedCalls,
		PromptTokens: u.PromptTokens + v.PromptTokens, CompletionTokens: u.CompletionTokens + v.CompletionTokens}
}

// Delta is one piece of a streamed reply. The last one of a successful reply carries Finish. An empty one says only
// that the model is at work.
type Delta struct {
	Text   string
	Finish Finish
	Usage  Usage
	Cached bool
}

// Chat is a text model. It must be safe for concurrent use.
type Chat interface {
	// Generate returns the reply as it comes. Each loop over the sequence is a call of its own. An error comes last
	// and once; breaking the loop ends the call. The request is read only, and not kept after the loop.
	Generate(ctx context.Context, req Request) iter.Seq2[Delta, error]
	// ID names provider, model and whatever else changes replies; it is part of cache keys.
	ID() string
}

// Reply is a whole answer.
type Reply struct {
	Text   string
	Finish Finish
	Usage  Usage
	Cached bool
}

// Complete collects the stream of one call. On error it returns no part of the reply.
func Complete(ctx context.Context, c Chat, req Request) (Reply, error) {
	var (
		r  Reply
		sb strings.Builder
	)
	for d, err := range c.Generate(ctx, req) {
		if err != nil {
			return Reply{}, err
		}
		sb.WriteString(d.Text)
		if d.Finish != "" {
			r.Finish = d.Finish
		}
		r.Usage = r.Usage.Add(d.Usage)
		r.Cached = r.Cached || d.Cached
	}
	r.Text = sb.String()
	return r, nil
}

// Kind tells a query from a stored text, for models that embed them differently.
type Kind uint8

// The kinds of text.
const (
	ForDocument Kind = iota
	ForQuery
)

// Embedder turns texts into vectors. It must be safe for concurrent use.
type Embedder interface {
	// Embed returns one vector of Dim values for each text, in order; no texts give none. The vectors are the
	// caller's; texts is read only and not kept.
	Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error)
	// Dim is the length of every vector, at least 1.
	Dim() int
	// ID names provider and model; it is stored with the vectors and checked at open.
	ID() string
}

// Reranker scores documents against a query. It must be safe for concurrent use.
type Reranker interface {
	// Rerank returns one score for each document, in the order given; higher is better. NaN stands for a document
	// that got none. No documents give none; docs is read only and not kept.
	Rerank(ctx context.Context, query string, docs []string) ([]float64, error)
	ID() string
}

// Tokenizer counts and cuts text the way a model does. It must be safe for concurrent use.
type Tokenizer interface {
	// Count returns the number of tokens of text.
	Count(text string) int
	// Encode appends the token ids of text to dst.
	Encode(dst []int, text string) []int
	// Decode returns the bytes of the tokens; a token may end inside a character.
	Decode(tokens []int) []byte
	// ID names the encoding; it is stored and checked at open.
	ID() string
}

// Models are the models of a database. A nil field falls back as its comment says.
type Models struct {
	// Chat serves every role that has no model of its own. nil: no model is configured, and extraction,
	// summaries and keywords work offline while answers are refused.
	Chat Chat
	// Extract, Keyword, Summary and Answer override Chat for one role.
	Extract, Keyword, Summary, Answer Chat
	// Embedder embeds texts and queries. nil: the offline lexical embedder.
	Embedder Embedder
	// Reranker reorders retrieved chunks. nil: no model does.
	Reranker Reranker
	// Tokenizer counts tokens. nil: tiktoken's o200k_base, whose vocabulary is embedded.
	Tokenizer Tokenizer
}
