package main

import (
	"log/slog"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/llm"
)

// options turns settings into the options of Open. Who only reads embeds nothing, and need not know the dimension of the
// embedding model.
func (a *app) options(readOnly bool) (db.Options, error) {
	s := a.set
	if s.unsized() {
		if !readOnly {
			return db.Options{}, usage("embedding model %s needs --embed-dim, the length of its vectors", brief.Quote(s.EmbedModel))
		}
		s.EmbedDim = 1
	}
	o := db.Options{Language: s.Language, ModelTimeout: s.Timeout, ModelRetries: s.Retries, Logger: slog.New(newNotices(a.err))}
	o.Index.EntityWords = index.EntityWords(s.EntityWords)
	if s.Retries == 0 {
		o.ModelRetries = -1 // there 0 means the default
	}
	var err error
	if o.Prices, err = pricesOf(s.Prices); err != nil || s.Offline {
		return o, err
	}
	m := &o.Models
	for _, role := range []struct {
		model string
		into  *llm.Chat
	}{{s.ChatModel, &m.Chat}, {s.Provider.Extract, &m.Extract}, {s.Provider.Keyword, &m.Keyword}, {s.Provider.Summary, &m.Summary}, {s.Provider.Answer, &m.Answer}} {
		if *role.into, err = s.chat(role.model); err != nil {
			return o, err
		}
	}
	if m.Embedder, err = s.embedder(); err != nil {
		return o, err
	}
	m.Reranker, err = s.Rerank.reranker(a.getenv, o.Logger)
	return o, err
}
