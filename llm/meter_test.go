package llm_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// Calls under a context are counted by the meters of that context, too, the outer ones included, and by no other.
func TestMeterOfOneJob(t *testing.T) {
	var all, job, part llm.Meter
	chat := all.Chat(llmtest.NewChat(llmtest.Rule{Text: "x", Usage: llm.Usage{PromptTokens: 7, CompletionTokens: 2}}))
	embed := all.Embedder(llm.FuncEmbedder("e", 2, func(ctx context.Context, _ string) ([]float32, error) {
		llm.NoteTokens(ctx, 5)
		return []float32{1, 0}, nil
	}))
	jobCtx := llm.WithMeter(t.Context(), &job)
	partCtx := llm.WithMeter(jobCtx, &part)
	other := llm.WithMeter(jobCtx, new(llm.Meter)) // does not disturb part
	for _, ctx := range []context.Context{t.Context(), jobCtx, partCtx, other} {
		if _, err := llm.Complete(ctx, chat, llm.Request{Purpose: llm.PurposeExtract}); err != nil {
			t.Fatal(err)
		}
		if _, err := embed.Embed(ctx, []string{"a"}, llm.ForDocument); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		m    *llm.Meter
		n    int
	}{{"all", &all, 4}, {"job", &job, 3}, {"part", &part, 1}} {
		want := []llm.ModelUsage{
			{Model: "e", Purpose: llm.PurposeEmbed, Usage: llm.Usage{Calls: c.n, PromptTokens: 5 * c.n}},
			{Model: chat.ID(), Purpose: llm.PurposeExtract, Usage: llm.Usage{Calls: c.n, PromptTokens: 7 * c.n, CompletionTokens: 2 * c.n}},
		}
		if got := c.m.ByModel(); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
	llm.NoteTokens(t.Context(), 1) // nobody listens
}

func TestCost(t *testing.T) {
	prices := llm.Prices{"gpt": {Prompt: 2, Completion: 10}, "openai/ada": {Prompt: 0.5}, "org/llama": {}}
	use := func(model string, prompt, completion int) llm.ModelUsage {
		return llm.ModelUsage{Model: model, Usage: llm.Usage{Calls: 1, PromptTokens: prompt, CompletionTokens: completion}}
	}
	cost, unpriced := prices.Cost([]llm.ModelUsage{use("openai/gpt@localhost:1", 500_000, 0), use("openai/gpt", 500_000, 100_000), use("openai/ada", 4_000_000, 0), use("openai/org/llama", 9, 9),
		use("openai/z", 1, 0), use("openai/a", 0, 1), use("openai/z", 1, 0), use("cached", 0, 0)})
	if math.Abs(cost-5) > 1e-9 || !slices.Equal(unpriced, []string{"openai/a", "openai/z"}) {
		t.Errorf("cost %v, without a price %q", cost, unpriced)
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		if (llm.Price{Completion: bad}).Valid() || (llm.Price{Prompt: bad}).Valid() || !prices["gpt"].Valid() {
			t.Errorf("a price of %v passes", bad)
		}
	}
}
