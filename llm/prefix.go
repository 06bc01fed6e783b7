package llm

import (
	"context"
	"fmt"
)

// Prefix puts query before the texts of queries and document before those of documents, for models that are trained
// to tell them apart by that: "search_query: " and "search_document: " for nomic-embed-text, "query: " and "passage: "
// for E5. Both are part of the ID, for vectors made with other prefixes are those of another model. Without any it
// returns e.
func Prefix(e Embedder, query, document string) Embedder {
	if query == "" && document == "" {
		return e
	}
	return &prefixEmbedder{e, [...]string{ForQuery: query, ForDocument: document}}
}

type prefixEmbedder struct {
	Embedder
	prefixes [2]string // by kind
}

func (e *prefixEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	prefixed := make([]string, len(texts))
	for i, text := range texts {
		prefixed[i] = e.prefixes[kind] + text
	}
	return e.Embedder.Embed(ctx, prefixed, kind)
}

// ID implements Embedder.
func (e *prefixEmbedder) ID() string {
	return fmt.Sprintf("%s(%q,%q)", e.Embedder.ID(), e.prefixes[ForQuery], e.prefixes[ForDocument])
}
