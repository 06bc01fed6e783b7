package llm_test

import (
	"context"
	"testing"
	"time"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// However a reply is cut into pieces, the leading block of reasoning is not in it, and all else is.
func TestDropReasoning(t *testing.T) {
	for in, want := range map[string]string{
		"<think>a</think>\n\nb":         "b",
		" \n<think>a</think>b <think>c": "b <think>c", // only what comes first is no part of the reply
		"<think>open":                   "<think>open",
		"<thin":                         "<thin",
		"<thinly sliced>":               "<thinly sliced>",
		"  plain </think>":              "  plain </think>",
		"<think>a</think> \n":           "",
		"":                              "",
		"月<think>a</think>":             "月<think>a</think>",
	} {
		for _, size := range []int{0, 1, 3, 8} {
			c := llm.DropReasoning(llmtest.NewChat(llmtest.Rule{Text: in, Piece: size}))
			r, err := llm.Complete(t.Context(), c, ask("x"))
			if err != nil || r.Text != want || r.Finish != llm.FinishStop || r.Usage.Calls != 1 {
				t.Errorf("%q in pieces of %d: %+v, %v; want %q", in, size, r, err, want)
			}
		}
	}
	c := llm.DropReasoning(llmtest.NewChat(llmtest.Rule{Text: "<think>a", Err: errBoom}))
	if r, err := llm.Complete(t.Context(), c, ask("x")); err == nil || r.Text != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// A model that is at work and then fails has delivered nothing: the call is worth another attempt.
func TestRetryAfterReasoning(t *testing.T) {
	c := llmtest.NewChat(llmtest.Rule{Text: "<think>hm", Err: status(503), Times: 1}, llmtest.Rule{Text: "moon"})
	policy := llm.RetryPolicy{Sleep: func(context.Context, time.Duration) error { return nil }}
	if r, err := llm.Complete(t.Context(), llm.Retry(llm.DropReasoning(c), policy), ask("x")); err != nil || r.Text != "moon" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPrefix(t *testing.T) {
	inner := llmtest.NewEmbedder(3)
	e := llm.Prefix(inner, "query: ", "passage: ")
	texts := []string{"a", "b"}
	for _, kind := range []llm.Kind{llm.ForQuery, llm.ForDocument} {
		if _, err := e.Embed(t.Context(), texts, kind); err != nil {
			t.Fatal(err)
		}
	}
	calls := inner.Calls()
	if calls[0].Texts[1] != "query: b" || calls[1].Texts[0] != "passage: a" || texts[0] != "a" || calls[0].Kind != llm.ForQuery {
		t.Errorf("%+v", calls)
	}
	if e.ID() != `fake/embed-3("query: ","passage: ")` || e.Dim() != 3 {
		t.Errorf("%s, %d", e.ID(), e.Dim())
	}
	if llm.Prefix(inner, "", "") != llm.Embedder(inner) {
		t.Error("no prefixes are a decorator")
	}
	llmtest.TestEmbedder(t, func(*testing.T) llm.Embedder { return llm.Prefix(llmtest.NewEmbedder(8), "q: ", "") })
}
