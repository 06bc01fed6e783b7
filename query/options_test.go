package query

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/llm"
)

// fields returns the names of the *FieldErrors joined in err.
func fields(err error) (out []string) {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, inner := range joined.Unwrap() {
			out = append(out, fields(inner)...)
		}
		return out
	}
	var f *FieldError
	if errors.As(err, &f) {
		return []string{f.Field}
	}
	if err != nil {
		out = []string{"?" + err.Error()}
	}
	return out
}

func TestValidate(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	many := make([]string, maxKeywords+1)
	turns := make([]llm.Message, maxMessages+1)
	for _, c := range []struct {
		name string
		o    Options
		want []string
	}{
		{"zero", Options{}, nil},
		{"highest", Options{TopK: 1000, ChunkTopK: 1000, CosineThreshold: Some(1.0), RelatedChunks: Some(1000), RelatedChunkCap: 1000, Budget: Budget{1e6, 1e6, 1e6}}, nil},
		{"lowest", Options{CosineThreshold: Some(-1.0), RelatedChunks: Some(0), MinRerankScore: Some(0.0)}, nil},
		{"unknown names", Options{Mode: "global ", Want: "all", Picker: "VECTOR"}, []string{"mode", "want", "picker"}},
		{"negative", Options{TopK: -1, ChunkTopK: -1, RelatedChunks: Some(-1), RelatedChunkCap: -1, MinRerankScore: Some(-.1), Budget: Budget{-1, -1, -1}},
			[]string{"top_k", "chunk_top_k", "related_chunks", "related_chunk_cap", "max_entity_tokens", "max_relation_tokens", "max_total_tokens", "min_rerank_score"}},
		{"too much", Options{TopK: 1001, ChunkTopK: 1001, Budget: Budget{1e6 + 1, 1e6 + 1, 1e6 + 1}},
			[]string{"top_k", "chunk_top_k", "max_entity_tokens", "max_relation_tokens", "max_total_tokens"}},
		{"no numbers", Options{CosineThreshold: Some(math.NaN()), MinRerankScore: Some(math.Inf(1))}, []string{"cosine_threshold", "min_rerank_score"}},
		{"threshold", Options{CosineThreshold: Some(1.01)}, []string{"cosine_threshold"}},
		{"keywords", Options{HighKeywords: many, LowKeywords: []string{"a", " "}}, []string{"hl_keywords", "ll_keywords"}},
		{"long keyword", Options{LowKeywords: []string{long(maxKeywordRunes), long(maxKeywordRunes + 1)}}, []string{"ll_keywords"}},
		{"texts", Options{Reply: Reply{UserPrompt: long(maxPromptRunes + 1), ResponseType: long(maxResponseTypeLen + 1)}}, []string{"user_prompt", "response_type"}},
		{"UTF-8 in a system prompt and a turn", Options{Reply: Reply{SystemPrompt: "\xff{{context}}", History: []llm.Message{{Role: llm.User, Content: "\xff"}}}},
			[]string{"system_prompt", "conversation_history"}},
		{"UTF-8", Options{Reply: Reply{UserPrompt: "\xff"}, LowKeywords: []string{"\xff"}}, []string{"ll_keywords", "user_prompt"}},
		{"system prompt without a slot", Options{Reply: Reply{SystemPrompt: "Be {context}."}}, []string{"system_prompt"}},
		{"system prompt of bypass", Options{Mode: Bypass, Reply: Reply{SystemPrompt: "Be kind."}}, nil},
		{"many turns", Options{Reply: Reply{History: turns}}, []string{"conversation_history"}},
		{"blank role", Options{Reply: Reply{History: []llm.Message{{Role: " ", Content: "x"}}}}, []string{"conversation_history"}},
		{"long turn", Options{Reply: Reply{History: []llm.Message{{Role: llm.User, Content: long(maxMessageRunes + 1)}}}}, []string{"conversation_history"}},
	} {
		if got := fields(c.o.Validate()); !slices.Equal(got, c.want) {
			t.Errorf("%s: errors for %q, want %q", c.name, got, c.want)
		}
	}
}

func TestQueryRefuses(t *testing.T) {
	s := newStore(t, testDim)
	e := s.engine()
	for _, c := range []struct {
		name, question string
		o              Options
		is             error
		fields         []string
	}{
		{"empty question", " \t\n", Options{}, ErrEmptyQuery, []string{"query"}},
		{"unknown mode", "x", Options{Mode: "deep"}, ErrUnknownMode, []string{"mode"}},
		{"both", "", Options{Mode: "deep", TopK: -1}, ErrEmptyQuery, []string{"query", "mode", "top_k"}},
		{"long question", strings.Repeat("é", maxQuestionRunes+1), Options{}, nil, []string{"query"}},
		{"bad UTF-8", "a\xffb", Options{}, nil, []string{"query"}},
		{"long together", strings.Repeat("x", maxQuestionRunes), Options{Reply: Reply{UserPrompt: strings.Repeat("x", maxPromptRunes), History: []llm.Message{{Role: llm.User, Content: "x"}}}}, nil, []string{"request"}},
	} {
		r, err := e.Query(context.Background(), c.question, c.o)
		if r != nil || !slices.Equal(fields(err), c.fields) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: result %v, error %v, want %v for %q", c.name, r, err, c.is, c.fields)
		}
	}
	if len(s.emb.Calls()) > 0 {
		t.Error("a refused query called a model")
	}
}

// The smallest budgets leave room for nothing, and the result says so; the largest ones change nothing.
func TestAbsurdBudgets(t *testing.T) {
	s := small(t)
	e := s.engine()
	for _, mode := range []Mode{Naive, Local, Global, Hybrid, Mix} {
		o := with(given, func(o *Options) { o.Mode = mode })
		plain := ask(t, e, question, o)
		for _, b := range []Budget{{Total: 1}, {Entities: 1, Relations: 1, Total: 1}, {Entities: maxTokens, Relations: maxTokens, Total: 1}} {
			o.Budget = b
			if r := ask(t, e, question, o); r.Outcome != OutcomeEmptyAfterFilter || !hasReason(r, ReasonPromptOverBudget) || r.Context != "" {
				t.Errorf("%s, budget %+v: outcome %q, reasons %v", mode, b, r.Outcome, r.Reasons)
			}
		}
		o.Budget = Budget{Entities: 1, Relations: 1}
		if r := ask(t, e, question, o); r.Outcome == OutcomeNoResult || len(r.Data.Entities)+len(r.Data.Relations) > 0 || plain.Counts.Entities.Found != r.Counts.Entities.Found {
			t.Errorf("%s, no room for the graph: outcome %q, counts %+v", mode, r.Outcome, r.Counts)
		}
		o.Budget = Budget{Entities: maxTokens, Relations: maxTokens, Total: maxTokens}
		if r := ask(t, e, question, o); r.Context != plain.Context {
			t.Errorf("%s: more budget than there is data changed the context", mode)
		}
	}
}

func TestDefaults(t *testing.T) {
	s := small(t)
	e := s.engine(func(c *Config) {
		c.Defaults = Options{Mode: Naive, ChunkTopK: 3, CosineThreshold: Some(0.0), Want: WantData}
	})
	if r := ask(t, e, question, Options{}); r.Ran != Naive || chunkIDs(r.Data.Chunks) != "006 001 004" || r.Context != "" {
		t.Errorf("ran %q, chunks %q, context %q: the engine's defaults were not used", r.Ran, chunkIDs(r.Data.Chunks), r.Context)
	}
	if r := ask(t, e, question, Options{CosineThreshold: Some(0.85), ChunkTopK: 8}); chunkIDs(r.Data.Chunks) != "006" {
		t.Errorf("chunks %q: the query's options do not win", chunkIDs(r.Data.Chunks))
	}
	if _, err := New(Config{View: s.view, Vectors: s.set, Embedder: s.emb, Tokenizer: s.tok, Defaults: Options{TopK: -1}}); err == nil {
		t.Error("New took defaults that are out of range")
	}
	if _, err := New(Config{}); err == nil {
		t.Error("New took a configuration without a store")
	}
}

func TestOptionsJSON(t *testing.T) {
	o := Options{Mode: Local, TopK: 3, CosineThreshold: Some(0.0), RelatedChunks: Some(0), LowKeywords: []string{"a"}, Budget: Budget{Total: 9}, Reply: Reply{UserPrompt: "u"}}
	b, err := json.Marshal(o)
	check(t, err)
	want := `{"mode":"local","top_k":3,"cosine_threshold":0,"related_chunks":0,"ll_keywords":["a"],"budget":{"max_total_tokens":9},"reply":{"user_prompt":"u"}}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	var back Options
	check(t, json.Unmarshal(b, &back))
	if back.CosineThreshold != o.CosineThreshold || back.RelatedChunks != o.RelatedChunks || !back.MinRerankScore.IsZero() {
		t.Errorf("read back as %+v", back)
	}
	check(t, json.Unmarshal([]byte(`{"cosine_threshold":null}`), &back))
	if !back.CosineThreshold.IsZero() {
		t.Error("null does not unset")
	}
}
