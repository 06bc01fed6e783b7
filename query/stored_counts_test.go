package query

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// watchedTokenizer remembers every text that it was given.
type watchedTokenizer struct {
	wordTokenizer
	mu    sync.Mutex
	texts []string
}

func (w *watchedTokenizer) saw(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

func (w *watchedTokenizer) Count(text string) int {
	w.saw(text)
	return w.wordTokenizer.Count(text)
}

func (w *watchedTokenizer) Encode(dst []int, text string) []int {
	w.saw(text)
	return w.wordTokenizer.Encode(dst, text)
}

// take returns the texts so far and forgets them.
func (w *watchedTokenizer) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := w.texts
	w.texts = nil
	return texts
}

// tokenized returns those of stored that stand in one of texts.
func tokenized(texts, stored []string) (found []string) {
	for _, s := range stored {
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, s) }) {
			found = append(found, s)
		}
	}
	return found
}

// smallStored are the texts of the small graph that no query may tokenize.
var smallStored = []string{"a is here", "b is here", "c is here", "d is here", "e is here",
	"a knows b", "a lives in c", "b lives in d", "c is near d", "d is near e", "chunk number "}

// TestStoredTextIsNotTokenized: whatever a query shows, renders, prompts with or cuts, the tokenizer sees no
// stored text (Q4).
func TestStoredTextIsNotTokenized(t *testing.T) {
	s := small(t)
	tok := new(watchedTokenizer)
	_, answer := answering(llmtest.Rule{Text: "They do [1]."})
	watched := func(c *Config) { c.Tokenizer = tok }
	for _, e := range []struct {
		name string
		edit []func(*Config)
	}{
		{"plain", []func(*Config){watched}},
		{"answering", []func(*Config){watched, answer}},
		{"reranking", []func(*Config){watched, func(c *Config) { c.Reranker = NewOfflineReranker() }}},
	} {
		engine := s.engine(e.edit...)
		for _, mode := range Modes() {
			for _, want := range []Want{WantDefault, WantData, WantContext, WantPrompt} {
				for _, budget := range []Budget{{}, {Entities: 20, Relations: 20}, {Total: 1200}} {
					for _, picker := range []Picker{PickVector, PickWeight} {
						o := with(given, func(o *Options) { o.Mode, o.Want, o.Budget, o.Picker = mode, want, budget, picker })
						r := ask(t, engine, question, o)
						if found := tokenized(tok.take(), smallStored); len(found) > 0 {
							t.Fatalf("%s, %s, want %q, %+v, %s: tokenized %q", e.name, mode, want, budget, picker, found)
						}
						if shown := len(r.Data.Entities) + len(r.Data.Relations) + len(r.Data.Chunks); mode != Bypass && shown == 0 && budget == (Budget{}) {
							t.Fatalf("%s, %s, want %q, %+v: nothing was shown, so nothing was proved", e.name, mode, want, budget)
						}
					}
				}
			}
		}
	}
	if s.engine(watched).count.count("chunk number 1"); len(tokenized(tok.take(), smallStored)) != 1 {
		t.Error("the tokenizer does not notice stored text")
	}
}

// TestBudgetsAreStoredCounts: what the prompt is charged is what the store says, not what the text has.
func TestBudgetsAreStoredCounts(t *testing.T) {
	const entity, relation, chunk = 1000, 2000, 3000
	s := newStore(t, testDim)
	s.tok = fixedTokenizer{map[string]int{
		record.EntityLine("A", "person", "a"): entity, record.EntityLine("B", "person", "b"): entity + 1,
		record.RelationLine("A", "B", "ab"):                           relation,
		record.ChunkLine(record.ReferencePlaceholder, "", "the text"): chunk,
	}}
	s.emb.Set("ll", at(axisLow, 1, axisNone)...)
	s.emb.Set("hl", at(axisHigh, 1, axisNone)...)
	s.emb.Set(question, at(axisQuestion, 1, axisNone)...)
	s.commit(func(w *writer) {
		id := w.chunk("d", 0, "d.txt", "the text", at(axisQuestion, .9, axisNone))
		w.entity("A", "person", "a", at(axisLow, .9, axisNone), id)
		w.entity("B", "person", "b", at(axisLow, .8, axisNone), id)
		w.relation("A", "B", 1, "ab", at(axisHigh, .9, axisNone), id)
	})
	e := s.engine(func(c *Config) { c.Tokenizer = wordTokenizer{} })
	roomy := Budget{Entities: 5000, Relations: 5000, Total: 30_000}
	for _, c := range []struct {
		name                        string
		budget                      func(*Budget)
		entities, relations, chunks int
	}{
		{"room for all", func(*Budget) {}, 2, 1, 1},
		{"entities to the token", func(b *Budget) { b.Entities = 2*entity + 1 + 2*lineBreak }, 2, 1, 1},
		{"a token less", func(b *Budget) { b.Entities = 2*entity + 2*lineBreak }, 1, 1, 1},
		{"relations to the token", func(b *Budget) { b.Relations = relation + lineBreak }, 2, 1, 1},
		{"none of them", func(b *Budget) { b.Relations = relation }, 2, 0, 1},
	} {
		b := roomy
		c.budget(&b)
		r := ask(t, e, question, with(given, func(o *Options) { o.Mode, o.Budget = Mix, b }))
		if len(r.Data.Entities) != c.entities || len(r.Data.Relations) != c.relations || inContext(r) != c.chunks {
			t.Errorf("%s: %d entities, %d relations, %d chunks in the context", c.name, len(r.Data.Entities), len(r.Data.Relations), inContext(r))
		}
		ofEntities := 0
		if c.entities > 0 {
			ofEntities = c.entities*(entity+lineBreak) + c.entities - 1
		}
		if got := r.Tokens; got.Entities != ofEntities || got.Relations != c.relations*(relation+lineBreak) || got.Chunks != c.chunks*(chunk+lineBreak) {
			t.Errorf("%s: charged %+v", c.name, got)
		}
	}
	// Chunks, to the token: their line, and what the reference list says of them.
	full := ask(t, e, question, with(given, func(o *Options) { o.Mode, o.Budget = Naive, roomy })).Tokens
	for less, want := range []int{1, 0} {
		b := roomy
		b.Total = full.Total() - less
		if r := ask(t, e, question, with(given, func(o *Options) { o.Mode, o.Want, o.Budget = Naive, WantData, b })); inContext(r) != want {
			t.Errorf("%d tokens less than needed: %d chunks in the context, want %d", less, inContext(r), want)
		}
	}
}

// TestHeadingsAreShownAndCounted: the model gets the headings of a passage; they are charged by the stored count, and where
// an earlier build left it out, by what they have.
func TestHeadingsAreShownAndCounted(t *testing.T) {
	const bare, headed = 100, 150
	const text, headings = "the text", "Book > One"
	bareLine, line := record.ChunkLine(record.ReferencePlaceholder, "", text), record.ChunkLine(record.ReferencePlaceholder, headings, text)
	for name, before := range map[string]bool{"counted": false, "stored before": true} {
		s := newStore(t, testDim)
		s.tok = fixedTokenizer{map[string]int{bareLine: bare, line: headed}}
		s.emb.Set(question, at(axisQuestion, 1, axisNone)...)
		s.commit(func(w *writer) {
			c := record.Chunk{Doc: "d", Path: "d.md", Content: text, Context: headings, End: len(text), Tokens: 2}
			c.CountLine(s.tok.Count)
			if before {
				c.ContextTokens = 0
			}
			w.record(c, at(axisQuestion, .9, axisNone))
		})
		tok := &watchedTokenizer{}
		e := s.engine(func(c *Config) { c.Tokenizer = tok })
		tok.take()
		r := ask(t, e, question, Options{Mode: Naive, Want: WantContext})
		if want := strings.Replace(line, record.ReferencePlaceholder, "1", 1); !strings.Contains(r.Context, want+"\n") {
			t.Errorf("%s: no line %s in the context:\n%s", name, want, r.Context)
		}
		want, counted := headed, 0
		if before {
			want, counted = (wordTokenizer{}).Count(line), 1
		}
		if got := r.Tokens.Chunks; got != want+lineBreak {
			t.Errorf("%s: the passage is charged %d, want %d", name, got, want+lineBreak)
		}
		if got := tokenized(tok.take(), []string{text}); len(got) != counted {
			t.Errorf("%s: %d stored texts were tokenized, want %d: %q", name, len(got), counted, got)
		}
	}
}

// fixedTokenizer gives some texts the counts named, and others those of words.
type fixedTokenizer struct{ counts map[string]int }

func (f fixedTokenizer) ID() string { return wordTokenizer{}.ID() }

func (f fixedTokenizer) Count(text string) int {
	if n, ok := f.counts[text]; ok {
		return n
	}
	return wordTokenizer{}.Count(text)
}

func (f fixedTokenizer) Encode(dst []int, text string) []int {
	return wordTokenizer{}.Encode(dst, text)
}

func (f fixedTokenizer) Decode(tokens []int) []byte { return wordTokenizer{}.Decode(tokens) }

var _ llm.Tokenizer = (*watchedTokenizer)(nil)
