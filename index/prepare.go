package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/llm"
)

// summarise asks for the descriptions that edits wait for, a bounded number at a time.
func (p *Pipeline) summarise(ctx context.Context, edits []*edit) error {
	g, gctx := newGroup(ctx, p.cfg.Options.ChunkWorkers, "summarizer "+p.cfg.Summarizer.ID())
	for _, e := range edits {
		if !e.summarise {
			continue
		}
		g.Go(func() (err error) {
			defer llm.CatchPanic("summarizer "+p.cfg.Summarizer.ID(), &err)
			if err := gctx.Err(); err != nil {
				return err
			}
			text, err := summary(gctx, p.cfg.Summarizer, e.object, e.fragments)
			if err != nil {
				return err
			}
			p.describe(e, text)
			e.summarise = false
			return nil
		})
	}
	return g.Wait()
}

// summary is the description that s makes of an object's fragments.
func summary(ctx context.Context, s Summarizer, o record.Object, fragments []string) (string, error) {
	kind, name := "entity", o.A
	if o.IsRelation() {
		kind, name = "relation", "("+o.A+", "+o.B+")"
	}
	text, err := s.Summarize(ctx, kind, name, fragments)
	if err != nil {
		return "", &CallError{Op: fmt.Sprintf("summarise %v", o), Err: err}
	}
	if text = clip(text, maxDescriptionBytes); text == "" {
		return "", fmt.Errorf("summarise %v: %w", o, errEmptySummary)
	}
	return text, nil
}

var errEmptySummary = errors.New("the summarizer returned no text")

// embedEdits gets the vectors of edits whose text changed, together with those of further texts, in one
// call; equal texts are sent once. It returns the vectors of the further texts and the number of texts
// sent.
func (p *Pipeline) embedEdits(ctx context.Context, edits []*edit, further []string) ([][]float32, int, error) {
	var texts []string
	at := make(map[string]int)
	ask := func(text string) int {
		i, ok := at[text]
		if !ok {
			i = len(texts)
			at[text] = i
			texts = append(texts, text)
		}
		return i
	}
	chunks := make([]int, len(further))
	for i, t := range further {
		chunks[i] = ask(t)
	}
	objects := make(map[*edit]int)
	for _, e := range edits {
		if e.embed && e.vector == nil && !e.gone {
			objects[e] = ask(p.fit(e.text))
		}
	}
	if len(texts) == 0 {
		return nil, 0, nil
	}
	embedder := p.embedder()
	vectors, err := embedder.Embed(ctx, texts, llm.ForDocument)
	if err != nil {
		return nil, 0, &CallError{Op: fmt.Sprintf("embed %d texts", len(texts)), Err: err}
	}
	if err := checkVectors(embedder, vectors, len(texts)); err != nil {
		return nil, 0, err
	}
	for e, i := range objects {
		e.vector = vectors[i]
	}
	out := make([][]float32, len(further))
	for i, j := range chunks {
		out[i] = vectors[j]
	}
	return out, len(texts), nil
}

// checkVectors refuses what would poison ranking: a wrong number or length, NaN, Inf, zero vectors.
func checkVectors(m llm.Embedder, vectors [][]float32, want int) error {
	if len(vectors) != want {
		return &EmbeddingError{Model: m.ID(), Index: -1, Reason: fmt.Sprintf("%d vectors for %d texts", len(vectors), want)}
	}
	for i, v := range vectors {
		bad := ""
		if len(v) != m.Dim() {
			bad = fmt.Sprintf("%d values, want %d", len(v), m.Dim())
		} else {
			zero := true
			for _, f := range v {
				if x := float64(f); math.IsNaN(x) || math.IsInf(x, 0) {
					bad = "NaN or Inf"
					break
				}
				zero = zero && f == 0
			}
			if bad == "" && zero {
				bad = "all values are zero"
			}
		}
		if bad != "" {
			return &EmbeddingError{Model: m.ID(), Index: i, Reason: bad}
		}
	}
	return nil
}

// fit returns the longest prefix of text, ending at a character, that the embedding model accepts. The
// prefix is counted again, since a cut between tokens may change how the rest is encoded.
func (p *Pipeline) fit(text string) string {
	limit := p.cfg.Options.EmbedTokens
	if limit == 0 || len(text) <= limit { // a token is at least one byte
		return text
	}
	tokens := p.cfg.Tokenizer.Encode(nil, text)
	if len(tokens) <= limit {
		return text
	}
	for n := limit; n > 0; n-- {
		cut := len(p.cfg.Tokenizer.Decode(tokens[:n]))
		cut = min(cut, len(text))
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		if cut > 0 && p.cfg.Tokenizer.Count(text[:cut]) <= limit {
			return text[:cut]
		}
	}
	_, n := utf8.DecodeRuneInString(text)
	return text[:n]
}

// sortedObjects lists the objects of source records.
func sortedObjects(sources []record.Source) []record.Object {
	out := make([]record.Object, 0, len(sources))
	for i := range sources {
		out = append(out, sources[i].Object)
	}
	slices.SortFunc(out, record.Object.Compare)
	return slices.Compact(out)
}
