package main

import (
	"log/slog"

	"github.com/glimdb/db"
	"github.com/glimdb/db/llm/openai"
)

// options turns settings into the options of Open. The embedding endpoint's key is the general one only
// when it is the same endpoint.
func (a *app) options() (db.Options, error) {
	s := a.set
	o := db.Options{Language: s.Language, ModelTimeout: s.Timeout, ModelRetries: s.Retries, Logger: slog.New(newNotices(a.err))}
	if s.Retries == 0 {
		o.ModelRetries = -1 // there 0 means the default
	}
	var err error
	if o.Prices, err = pricesOf(s.Prices); err != nil || s.Offline {
		return o, err
	}
	if s.ChatModel != "" {
		c, err := openai.NewChat(openai.Config{BaseURL: s.BaseURL, Key: s.APIKey, ChatModel: s.ChatModel})
		if err != nil {
			return o, usage("%s", plain(err))
		}
		o.Models.Chat = c
	}
	if s.EmbedModel != "" {
		c := openai.Config{BaseURL: s.BaseURL, Key: s.APIKey, EmbedModel: s.EmbedModel, EmbedDim: s.EmbedDim}
		if s.EmbedURL != "" {
			c.BaseURL, c.Key = s.EmbedURL, s.EmbedKey
		}
		e, err := openai.NewEmbedder(c)
		if err != nil {
			return o, usage("%s", plain(err))
		}
		o.Models.Embedder = e
	}
	o.Models.Reranker, err = s.Rerank.reranker(a.getenv, o.Logger)
	return o, err
}
