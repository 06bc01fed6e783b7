package hashed_test

import (
	"testing"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/hashed"
	"github.com/glimdb/db/llm/llmtest"
)

func TestConformance(t *testing.T) {
	llmtest.TestEmbedder(t, func(t *testing.T) llm.Embedder {
		e, err := hashed.New(hashed.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return e
	})
}
