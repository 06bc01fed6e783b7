package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/anthropic"
	"github.com/glimdb/db/llm/ollama"
	"github.com/glimdb/db/llm/openai"
)

// The providers: whose calls a server speaks.
const (
	openAI    = "openai"
	ollamaAPI = "ollama"
	claude    = "anthropic"
)

var providers = []string{openAI, ollamaAPI, claude}

// providerSettings say what the servers speak and which models have a role of their own.
type providerSettings struct {
	Chat, Embed                       string // Embed: empty is Chat
	Extract, Keyword, Summary, Answer string
	QueryPrefix, DocumentPrefix       string
	NumCtx                            int
	KeepAlive                         time.Duration
}

var providerTable = []setting{
	{flag: "provider", usage: "whose `calls` the server at --base-url speaks: " + strings.Join(providers, ", "), field: func(s *settings) any { return &s.Provider.Chat }},
	{flag: "embed-provider", usage: "whose `calls` the embedding server speaks, when it is another one: openai, ollama", field: func(s *settings) any { return &s.Provider.Embed }},
	{flag: "extract-model", usage: "`model` for extraction instead of --chat-model", field: func(s *settings) any { return &s.Provider.Extract }},
	{flag: "keyword-model", usage: "`model` for the keywords of questions instead of --chat-model", field: func(s *settings) any { return &s.Provider.Keyword }},
	{flag: "summary-model", usage: "`model` for summaries instead of --chat-model", field: func(s *settings) any { return &s.Provider.Summary }},
	{flag: "answer-model", usage: "`model` for answers instead of --chat-model", field: func(s *settings) any { return &s.Provider.Answer }},
	{flag: "embed-query-prefix", usage: "`text` before questions, as the embedding model wants it", field: func(s *settings) any { return &s.Provider.QueryPrefix }},
	{flag: "embed-document-prefix", usage: "`text` before documents, as the embedding model wants it", field: func(s *settings) any { return &s.Provider.DocumentPrefix }},
	{flag: "num-ctx", usage: "Ollama: length of the chat model's context in `tokens` (0: the server's)", field: func(s *settings) any { return &s.Provider.NumCtx }},
	{flag: "keep-alive", usage: "Ollama: how long models stay loaded (0: the server's, negative: for ever)", field: func(s *settings) any { return &s.Provider.KeepAlive }},
}

// embedProvider is what the embedding server speaks.
func (s *settings) embedProvider() string { return cmp.Or(s.Provider.Embed, s.Provider.Chat) }

// unsized says whether the dimension of the embedding model is not known.
func (s *settings) unsized() bool {
	return s.EmbedModel != "" && s.EmbedDim == 0 && llm.KnownDim(s.EmbedModel) == 0 && !s.Offline
}

func (s *settings) validateProviders() error {
	p := s.Provider
	switch {
	case !slices.Contains(providers, p.Chat):
		return usage("provider is %s: want %s", brief.Quote(p.Chat), strings.Join(providers, ", "))
	case s.EmbedModel != "" && s.embedProvider() == claude:
		return usage("anthropic has no embedding models: name another with --embed-provider, its address with --embed-base-url")
	case !slices.Contains(providers, s.embedProvider()):
		return usage("embed-provider is %s: want openai or ollama", brief.Quote(p.Embed))
	case s.EmbedModel == "" && p.QueryPrefix+p.DocumentPrefix != "":
		return usage("prefixes are for an embedding model: name it with --embed-model")
	case p.NumCtx < 0:
		return usage("num-ctx is %d: want 0 or more", p.NumCtx)
	}
	return nil
}

// chat makes the chat model of one name; nil for none.
func (s *settings) chat(model string) (c llm.Chat, err error) {
	if model == "" {
		return nil, nil //nolint:nilnil // no model is a choice, not a failure
	}
	switch s.Provider.Chat {
	case ollamaAPI:
		c, err = ollama.NewChat(ollama.Config{BaseURL: s.BaseURL, Key: s.APIKey, ChatModel: model, NumCtx: s.Provider.NumCtx, KeepAlive: s.Provider.KeepAlive})
	case claude:
		c, err = anthropic.NewChat(anthropic.Config{BaseURL: s.BaseURL, Key: s.APIKey, ChatModel: model})
	default:
		c, err = openai.NewChat(openai.Config{BaseURL: s.BaseURL, Key: s.APIKey, ChatModel: model})
	}
	if err != nil {
		return nil, usage("%s", plain(err))
	}
	return c, nil
}

// embedder makes the embedding model; nil for none. Address and key are the general ones only when the server is the same.
func (s *settings) embedder() (e llm.Embedder, err error) {
	if s.EmbedModel == "" {
		return nil, nil //nolint:nilnil // as in chat
	}
	url, key := s.BaseURL, s.APIKey
	if s.EmbedURL != "" || s.embedProvider() != s.Provider.Chat {
		url, key = s.EmbedURL, s.EmbedKey
	}
	if s.embedProvider() == ollamaAPI {
		e, err = ollama.NewEmbedder(ollama.Config{BaseURL: url, Key: key, EmbedModel: s.EmbedModel, EmbedDim: s.EmbedDim, KeepAlive: s.Provider.KeepAlive})
	} else {
		e, err = openai.NewEmbedder(openai.Config{BaseURL: url, Key: key, EmbedModel: s.EmbedModel, EmbedDim: s.EmbedDim})
	}
	if err != nil {
		return nil, usage("%s", plain(err))
	}
	return llm.Prefix(e, s.Provider.QueryPrefix, s.Provider.DocumentPrefix), nil
}
