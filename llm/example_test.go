package llm_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/glimdb/db/llm"
)

// A program that already has a function which embeds one text.
func ExampleFuncEmbedder() {
	vowels := func(_ context.Context, text string) ([]float32, error) {
		v := make([]float32, 5)
		for i, c := range "aeiou" {
			v[i] = float32(strings.Count(text, string(c)))
		}
		return v, nil
	}
	e := llm.FuncEmbedder("vowels-1", 5, vowels)

	vecs, err := e.Embed(context.Background(), []string{"lantern bridge", "tide"}, llm.ForDocument)
	fmt.Println(vecs, err)

	_, err = e.Embed(context.Background(), []string{"hm"}, llm.ForQuery)
	fmt.Println(err)
	// Output:
	// [[1 2 1 0 0] [0 1 1 0 0]] <nil>
	// llm: embedder vowels-1 returned a vector that is zero for text 0
}

// Decorators in their right order around a model of one's own.
func ExampleChain() {
	attempts := 0
	model := llm.FuncChat("my-model", func(_ context.Context, req llm.Request) (llm.Reply, error) {
		if attempts++; attempts == 1 {
			return llm.Reply{}, &llm.Error{Provider: "mine", Op: "chat", Status: 429, RetryAfter: 1}
		}
		return llm.Reply{Text: "<think>easy</think>The moon.", Usage: llm.Usage{PromptTokens: 8, CompletionTokens: 6}}, nil
	})
	var meter llm.Meter
	chat := llm.Chain{Meter: &meter, Store: newStore(), Limiter: llm.NewLimiter(4)}.Chat(model)

	ask := llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "What moves the tides?"}}}
	for range 2 {
		r, err := llm.Complete(context.Background(), chat, ask)
		fmt.Println(llm.StripReasoning(r.Text), r.Cached, err)
	}
	fmt.Printf("%d attempts, %+v\n", attempts, meter.Total())
	// Output:
	// The moon. false <nil>
	// The moon. true <nil>
	// 2 attempts, {Calls:1 CachedCalls:1 PromptTokens:8 CompletionTokens:6}
}

// A reply as it comes.
func ExampleChat() {
	chat := llm.FuncChat("my-model", func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "The moon."}, nil
	})
	for delta, err := range chat.Generate(context.Background(), llm.Request{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(delta.Text)
	}
	// Output: The moon.
}
