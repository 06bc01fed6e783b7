package main

import (
	"log/slog"

	"github.com/glimdb/db"
	"github.com/glimdb/db/llm"
)

// options turns settings into the options of Open.
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
