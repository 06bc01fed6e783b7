package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/llm/token"
)

func TestHC07_KeywordReplyIsNotPlainJSON(t *testing.T) {
	const query = "what moves the tides"
	for _, c := range []struct {
		name, reply string
		finish      llm.Finish
		high, low   []string // nil: the question stands in
		unusable    bool
	}{
		{"a: object in reasoning, then a fenced one", "<think>{\"high_level_keywords\": [\"x\"], \"low_level_keywords\": [\"y\"]}</think>\n```json\n" +
			"{\"high_level_keywords\": [\"tides\"], \"low_level_keywords\": [\"moon\"]}\n```", "", []string{"tides"}, []string{"moon"}, false},
		{"b: a program", "```python\nfor x in {1, 2}:\n    print({'a': x})\n```", "", nil, nil, true},
		{"c: empty lists", `{"high_level_keywords": [], "low_level_keywords": []}`, "", nil, nil, false},
		{"d: cut off", `{"high_level_keywords": ["ti`, llm.FinishLength, nil, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t, testDim)
			s.emb.Set(query, at(axisQuestion, 1, axisNone)...)
			s.emb.Set("moon", at(axisLow, 1, axisNone)...)
			s.emb.Set("tides", at(axisHigh, 1, axisNone)...)
			s.commit(func(w *writer) {
				id := w.chunk("bay", 0, "bay.txt", "The moon lifts the tides at Gull Bay.", at(axisQuestion, .9, axisNone))
				w.entity("Moon", "body", "The moon lifts the tides.", at(axisLow, .9, axisNone), id)
				w.entity("Gull Bay", "place", "A bay.", at(axisNone, 1, axisNone-1), id)
				w.relation("Moon", "Gull Bay", 1, "The moon lifts the tides there.", at(axisHigh, .9, axisNone), id)
			})
			chat := llmtest.NewChat(llmtest.Rule{Purpose: llm.PurposeKeywords, Text: c.reply, Finish: c.finish})
			cache := &memCache{}
			e := s.engine(func(cfg *Config) { cfg.Keyword, cfg.KeywordCache = chat, cache })
			r := ask(t, e, query, Options{Mode: Mix})
			if r.Outcome != OutcomeOK || chunkIDs(r.Data.Chunks) != "bay-chunk-000" {
				t.Fatalf("outcome %q, chunks %q, want the Gull Bay chunk", r.Outcome, chunkIDs(r.Data.Chunks))
			}
			if c.low != nil {
				if !slices.Equal(r.Keywords.High, c.high) || !slices.Equal(r.Keywords.Low, c.low) || r.Keywords.Origin != OriginModel {
					t.Errorf("keywords %+v, want high %q low %q of the model", r.Keywords, c.high, c.low)
				}
				if again := ask(t, e, query, Options{Mode: Local}); again.Keywords.Origin != OriginCached || chat.Count(llm.PurposeKeywords) != 1 {
					t.Errorf("second query: origin %q, %d calls, want the cache to serve every mode", again.Keywords.Origin, chat.Count(llm.PurposeKeywords))
				}
				return
			}
			if r.Keywords.Origin != OriginQueryText || !slices.Equal(r.Keywords.Low, []string{query}) || !fellBack(r, StepKeywords, string(OriginQueryText)) {
				t.Errorf("keywords %+v, fallbacks %v: the question must stand in, flagged", r.Keywords, r.Fallbacks)
			}
			if hasReason(r, ReasonKeywordsUnusable) != c.unusable || hasReason(r, ReasonKeywordsTruncated) != (c.finish == llm.FinishLength) {
				t.Errorf("reasons %v", r.Reasons)
			}
			if len(cache.m) > 0 {
				t.Error("an unusable, empty or truncated reply was cached")
			}
		})
	}
}

func TestHC09_NoEntitiesStillFindsTheChunk(t *testing.T) {
	const query = "where is the spare key"
	s := newStore(t, testDim)
	s.emb.Set(query, at(axisQuestion, 1, axisNone)...)
	s.commit(func(w *writer) {
		w.chunk("key", 0, "key.txt", "The spare key is under the blue pot.", at(axisQuestion, .9, axisNone))
	})
	e := s.engine()
	for _, mode := range []Mode{Mix, Naive} {
		if r := ask(t, e, query, Options{Mode: mode}); r.Outcome != OutcomeOK || chunkIDs(r.Data.Chunks) != "key-chunk-000" || !strings.Contains(r.Context, "blue pot") {
			t.Errorf("%s: outcome %q, chunks %q", mode, r.Outcome, chunkIDs(r.Data.Chunks))
		}
	}
	r := ask(t, e, query, Options{Mode: Local})
	if r.Outcome != OutcomeNoResult || !hasReason(r, ReasonNoEntityHits) {
		t.Errorf("local: outcome %q, reasons %v, want an empty result with its reason", r.Outcome, r.Reasons)
	}
}

func TestHC16_VectorsOfQueries(t *testing.T) {
	s := newStore(t, testDim)
	s.emb.Set(question, at(axisQuestion, 1, axisNone)...)
	e := s.engine()
	o := Options{Mode: Naive, ChunkTopK: 10, Want: WantData}
	if r := ask(t, e, question, o); len(r.Data.Chunks) != 0 || r.Outcome != OutcomeNoResult {
		t.Errorf("empty store: %d chunks, outcome %q", len(r.Data.Chunks), r.Outcome)
	}
	s.commit(func(w *writer) {
		for _, i := range []int{2, 0, 1} {
			w.chunk("d", i, "d.txt", "equal "+strconv.Itoa(i), at(axisQuestion, .9, axisNone))
		}
	})
	if r := ask(t, e, question, o); chunkIDs(r.Data.Chunks) != "000 001 002" {
		t.Errorf("three equal vectors, k 10: %q, want all three by id", chunkIDs(r.Data.Chunks))
	}
	// (g) a question whose vector is zero has no direction: nothing is like it, and that is no failure
	s.emb.Set("nowhere", make([]float32, testDim)...)
	r := ask(t, e, "nowhere", o)
	if len(r.Data.Chunks) != 0 || r.Outcome != OutcomeNoResult || !hasReason(r, ReasonNoDirection) {
		t.Errorf("zero vector: %d chunks, outcome %q, reasons %v", len(r.Data.Chunks), r.Outcome, r.Reasons)
	}
	r = ask(t, e, "nowhere", Options{Mode: Mix, LowKeywords: []string{"nowhere"}, HighKeywords: []string{"nowhere"}})
	if r.Outcome != OutcomeNoResult || !hasReason(r, ReasonNoDirection) {
		t.Errorf("zero vector in mix: outcome %q, reasons %v", r.Outcome, r.Reasons)
	}
}

// mixed is a description of many tokens in several scripts.
func mixed(n int) string {
	words := []string{"harbour", "lamp", "修理灯塔的人", "мастерская", "ねじ回し", "👩‍🔧", "naïve", "12,345.67", "α→β", "\n\n", "}`\"{"}
	var sb strings.Builder
	for i := 0; sb.Len() < 4*n; i++ {
		sb.WriteString(words[(i*7+i/3)%len(words)])
		sb.WriteByte(' ')
	}
	return sb.String()
}

func TestHC20_PromptStaysWithinBudget(t *testing.T) {
	s := newStore(t, testDim)
	tok := token.Default()
	s.tok = tok
	for axis, text := range []string{"ll", "hl", question} {
		s.emb.Set(text, at(axis, 1, axisNone)...)
	}
	s.commit(func(w *writer) {
		for i := range 60 {
			id := w.chunk(fmt.Sprintf("doc%d", i), 0, fmt.Sprintf("folder %d/记录-%d.txt", i, i), mixed(150+i), at(axisQuestion, .9-float64(i)/200, axisNone))
			size := 2000
			if i%2 == 1 {
				size = 40
			}
			w.entity(fmt.Sprintf("Entity %02d", i), "person", mixed(size), at(axisLow, .9-float64(i)/200, axisNone), id)
			if i > 0 {
				w.relation(fmt.Sprintf("Entity %02d", i), fmt.Sprintf("Entity %02d", i-1), float64(i), mixed(30+i), at(axisHigh, .9-float64(i)/200, axisNone), id)
			}
		}
	})
	history := []llm.Message{{Role: llm.User, Content: mixed(100)}, {Role: llm.Assistant, Content: mixed(50)}}
	e := s.engine()
	for _, total := range []int{700, 1000, 1500, 2000, 4000, 8000, 20000} {
		for _, mode := range []Mode{Local, Global, Hybrid, Mix, Naive} {
			for _, reply := range []Reply{{}, {History: history, UserPrompt: mixed(30)}, {SystemPrompt: "Short.\n{{context}}"}} {
				o := Options{Mode: mode, LowKeywords: []string{"ll"}, HighKeywords: []string{"hl"}, Want: WantPrompt, Budget: Budget{Total: total}, Reply: reply}
				r := ask(t, e, question, o)
				n := 0
				for _, m := range reply.History {
					n += tok.Count(m.Content)
				}
				if r.Outcome == OutcomeOK {
					n += tok.Count(r.Prompt)
				} else if !hasReason(r, ReasonPromptOverBudget) && !hasReason(r, ReasonChunksCut) && !hasReason(r, ReasonEntitiesCut) {
					t.Errorf("%s, total %d: outcome %q without a reason: %v", mode, total, r.Outcome, r.Reasons)
				}
				if n > total && r.Outcome == OutcomeOK {
					t.Errorf("%s, total %d: the prompt has %d tokens", mode, total, n)
				}
				if r.Outcome == OutcomeOK && r.Tokens.Total() < n {
					t.Errorf("%s, total %d: %d tokens were accounted for, the prompt has %d", mode, total, r.Tokens.Total(), n)
				}
				c := r.Counts
				if c.Entities.Kept != len(r.Data.Entities) || c.Relations.Kept != len(r.Data.Relations) || c.Chunks.Kept != inContext(r) || c.Chunks.WithinTopK != len(r.Data.Chunks) {
					t.Errorf("%s, total %d: counts %+v do not tell what was kept", mode, total, c)
				}
				if dropped := c.Entities.Dropped() > 0; dropped != hasReason(r, ReasonEntitiesCut) {
					t.Errorf("%s, total %d: dropped entities %v, reasons %v", mode, total, dropped, r.Reasons)
				}
				if dropped := c.Chunks.Dropped() > 0; dropped != hasReason(r, ReasonChunksCut) {
					t.Errorf("%s, total %d: dropped chunks %v, reasons %v", mode, total, dropped, r.Reasons)
				}
				if mode == Mix && total >= 2000 && c.Chunks.Kept == 0 {
					t.Errorf("total %d: entities and relations leave nothing for chunks: %+v", total, r.Tokens)
				}
			}
		}
	}
}

func TestHC21_AnswerCache(t *testing.T) {
	const query = "who runs the mill"
	s := newStore(t, testDim)
	s.emb.Set(query, at(axisQuestion, 1, axisNone)...)
	chat := llmtest.NewChat(llmtest.Rule{Purpose: llm.PurposeKeywords, Text: `{"high_level_keywords": [], "low_level_keywords": ["mill"]}`},
		llmtest.Rule{Purpose: llm.PurposeAnswer, Func: func(r llm.Request) (string, error) {
			if strings.Contains(r.Messages[0].Content, "Ines Calder") {
				return "Ines Calder [1]", nil
			}
			return "Nobody knows", nil
		}})
	cache := &memCache{}
	engine := func(chat llm.Chat) *Engine {
		return s.engine(func(c *Config) { c.Keyword, c.Answer, c.KeywordCache, c.AnswerCache = chat, chat, cache, cache })
	}
	e := engine(chat)
	r := ask(t, e, query, Options{})
	if r.Outcome != OutcomeNoResult || r.Answer != NoContextAnswer || chat.Count(llm.PurposeAnswer) != 0 {
		t.Fatalf("empty store: outcome %q, answer %q, %d answer calls", r.Outcome, r.Answer, chat.Count(llm.PurposeAnswer))
	}
	s.commit(func(w *writer) {
		w.chunk("mill", 0, "mill.txt", "Ines Calder runs the mill.", at(axisQuestion, .9, axisNone))
	})
	if r = ask(t, e, query, Options{}); r.Answer != "Ines Calder [1]" || r.Reply.Cached {
		t.Fatalf("after the insert: answer %q, cached %v", r.Answer, r.Reply.Cached)
	}
	calls := len(chat.Calls())
	if r = ask(t, e, query, Options{}); r.Answer != "Ines Calder [1]" || !r.Reply.Cached || len(chat.Calls()) != calls {
		t.Fatalf("third query: answer %q, cached %v, %d calls more", r.Answer, r.Reply.Cached, len(chat.Calls())-calls)
	}
	other := llmtest.NewChat(llmtest.Rule{Purpose: llm.PurposeKeywords, Text: `{"low_level_keywords": ["mill"]}`}, llmtest.Rule{Purpose: llm.PurposeAnswer, Text: "Calder"})
	other.SetID("fake/other")
	for name, ask2 := range map[string]func() *Result{
		"another model":         func() *Result { return ask(t, engine(other), query, Options{}) },
		"another top_k":         func() *Result { return ask(t, e, query, Options{TopK: 7}) },
		"another chunk_top_k":   func() *Result { return ask(t, e, query, Options{ChunkTopK: 7}) },
		"another mode":          func() *Result { return ask(t, e, query, Options{Mode: Naive}) },
		"another budget":        func() *Result { return ask(t, e, query, Options{Budget: Budget{Total: 9000}}) },
		"another picker":        func() *Result { return ask(t, e, query, Options{Picker: PickWeight}) },
		"another threshold":     func() *Result { return ask(t, e, query, Options{CosineThreshold: Some(0.1)}) },
		"another response type": func() *Result { return ask(t, e, query, Options{Reply: Reply{ResponseType: "One Word"}}) },
		"a user prompt":         func() *Result { return ask(t, e, query, Options{Reply: Reply{UserPrompt: "Be brief."}}) },
		"a system prompt":       func() *Result { return ask(t, e, query, Options{Reply: Reply{SystemPrompt: "{{context}}"}}) },
	} {
		if r := ask2(); r.Reply.Cached {
			t.Errorf("%s was answered from the cache", name)
		}
		if r := ask2(); !r.Reply.Cached {
			t.Errorf("%s has no entry of its own", name)
		}
	}
	withHistory := Options{Reply: Reply{History: []llm.Message{{Role: llm.User, Content: "Hello"}}}}
	for range 2 {
		if r := ask(t, e, query, withHistory); r.Reply.Cached {
			t.Error("a query with history was answered from the cache")
		}
	}
	s.commit(func(w *writer) {
		w.chunk("mill", 1, "mill.txt", "Ines Calder sold it in May.", at(axisQuestion, .8, axisNone))
	})
	if r := ask(t, e, query, Options{}); r.Reply.Cached {
		t.Error("the cached answer survived new data")
	}
}

// scripted is a reranker with fixed scores by place.
type scripted struct {
	scores []float64
	err    error
}

func (s scripted) Rerank(context.Context, string, []string) ([]float64, error) {
	return s.scores, s.err
}
func (scripted) ID() string { return "scripted" }

func TestHC22_RerankerIsNotTrusted(t *testing.T) {
	s := newStore(t, testDim)
	s.emb.Set("ll", at(axisLow, 1, axisNone)...)
	s.commit(func(w *writer) {
		var sources []string
		for i := range 4 {
			sources = append(sources, w.chunk("d", i, "d.txt", "chunk "+strconv.Itoa(i), at(axisQuestion, .9, axisNone)))
		}
		w.entity("A", "person", "a", at(axisLow, .9, axisNone), sources...)
	})
	o := Options{Mode: Local, LowKeywords: []string{"ll"}, Picker: PickWeight, ChunkTopK: 2}
	nan := math.NaN()
	for _, c := range []struct {
		name   string
		r      scripted
		least  float64
		want   string
		failed bool
	}{
		{"order is by score, one chunk has none", scripted{scores: []float64{.10, .50, .90, nan}}, 0, "002 001", false},
		{"ties keep the first order", scripted{scores: []float64{.5, .9, .9, .5}}, 0, "001 002", false},
		{"minimum", scripted{scores: []float64{.10, .50, .90, nan}}, .6, "002", false},
		{"failure keeps the first order and everything passes", scripted{err: errors.New("down")}, .6, "000 001", true},
		{"wrong number of scores", scripted{scores: []float64{1, 2, 3}}, .6, "000 001", true},
		{"no usable score", scripted{scores: []float64{nan, nan, math.Inf(1), nan}}, .6, "000 001", true},
	} {
		e := s.engine(func(cfg *Config) { cfg.Reranker = c.r })
		r := ask(t, e, question, with(o, func(o *Options) { o.MinRerankScore = Some(c.least) }))
		if got := chunkIDs(r.Data.Chunks); got != c.want {
			t.Errorf("%s: chunks %q, want %q", c.name, got, c.want)
		}
		if fellBack(r, StepRerank, "none") != c.failed {
			t.Errorf("%s: fallbacks %v", c.name, r.Fallbacks)
		}
		plain := ask(t, e, question, with(o, func(o *Options) { o.NoRerank = true }))
		if chunkIDs(plain.Data.Chunks) != "000 001" || len(plain.Fallbacks) > 0 {
			t.Errorf("%s: without the reranker: chunks %q, fallbacks %v", c.name, chunkIDs(plain.Data.Chunks), plain.Fallbacks)
		}
	}
}

func TestFilterEmptiesTheResult(t *testing.T) {
	// Appendix C: filter. One chunk scored 0.1, minimum 0.5; ours: the model is not called.
	s := newStore(t, testDim)
	s.emb.Set(question, at(axisQuestion, 1, axisNone)...)
	s.commit(func(w *writer) { w.chunk("d", 0, "d.txt", "text", at(axisQuestion, .9, axisNone)) })
	chat := llmtest.Replies("never")
	e := s.engine(func(c *Config) { c.Answer, c.Reranker = chat, scripted{scores: []float64{.1}} })
	r := ask(t, e, question, Options{Mode: Naive, MinRerankScore: Some(.5)})
	if r.Outcome != OutcomeEmptyAfterFilter || !hasReason(r, ReasonChunksBelowScore) || r.Context != "" || len(chat.Calls()) != 0 {
		t.Errorf("outcome %q, reasons %v, context %q, %d calls", r.Outcome, r.Reasons, r.Context, len(chat.Calls()))
	}
	e = s.engine(func(c *Config) { c.Reranker = scripted{err: errors.New("down")} })
	if r = ask(t, e, question, Options{Mode: Naive, MinRerankScore: Some(.5)}); r.Outcome != OutcomeOK || len(r.Data.Chunks) != 1 {
		t.Errorf("reranker down: outcome %q, %d chunks, want the chunk kept", r.Outcome, len(r.Data.Chunks))
	}
}
