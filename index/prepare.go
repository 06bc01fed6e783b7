package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"golang.org/x/sync/errgroup"
)

// summarise asks for the descriptions that edits wait for, a bounded number at a time.
func (p *Pipeline) summarise(ctx context.Context, edits []*edit) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(p.cfg.Options.ChunkWorkers)
	for _, e := range edits {
		if !e.summarise {
			continue
		}
		g.Go(func() error {
			if err := gctx.Err(); err != nil {
				return err
			}
			kind, name := "entity", e.object.A
			if e.object.IsRelation() {
				kind, name = "relation", "("+e.object.A+", "+e.object.B+")"
			}
			text, err := p.cfg.Summarizer.Summarize(gctx, kind, name, e.fragments)
			if err != nil {
				return fmt.Errorf("summarise %v: %s: %w", e.object, cause(err), err)
			}
			if text = clip(text, maxDescriptionBytes); text == "" {
				return fmt.Errorf("summarise %v: %w", e.object, errEmptySummary)
			}
			p.describe(e, text)
			e.summarise = false
			return nil
		})
	}
	return g.Wait()
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
	vectors, err := p.cfg.Embedder.Embed(ctx, texts, llm.ForDocument)
	if err != nil {
		return nil, 0, fmt.Errorf("embed %d texts: %s: %w", len(texts), cause(err), err)
	}
	if err := checkVectors(p.cfg.Embedder, vectors, len(texts)); err != nil {
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

// maxFreeTries is how often a plan is redone while others may commit. After that it is redone alone, so
// that a document which shares its objects with many others gets through.
const maxFreeTries = 3

// errMoved: objects of a plan changed since they were read.
var errMoved = errors.New("index: objects changed since the plan")

// work is one change on its way to a commit.
type work struct {
	kind string
	ids  []string
	plan *plan
	// prepared is called once per try, after the plan was derived and summarised, to get vectors.
	prepare func(ctx context.Context, edits []*edit) error
	// check re-reads what the plan stands on, in the writer turn; stage puts in what is not about objects.
	check func(b *kv.Batch) error
	stage func(b *kv.Batch) error
}

// commit plans, prepares and commits w. Objects that moved between plan and commit are redone alone.
func (p *Pipeline) commit(ctx context.Context, w *work) error {
	dirty := w.plan.edits
	for try := 0; ; try++ {
		share := int64(1)
		if try >= maxFreeTries {
			share = gateShares
		}
		if share == gateShares {
			if err := p.gate.Acquire(ctx, share); err != nil {
				return err
			}
		}
		moved, err := p.tryCommit(ctx, w, dirty, share)
		if share == gateShares {
			p.gate.Release(share)
		}
		if !errors.Is(err, errMoved) {
			return err
		}
		dirty = moved
	}
}

func (p *Pipeline) tryCommit(ctx context.Context, w *work, dirty []*edit, share int64) (moved []*edit, err error) {
	if len(dirty) > 0 {
		view, err := p.cfg.Updater.View()
		if err != nil {
			return nil, err
		}
		err = p.derive(ctx, view, w.plan, dirty)
		if err = errors.Join(err, view.Close()); err != nil {
			return nil, err
		}
		if err := p.summarise(ctx, dirty); err != nil {
			return nil, err
		}
	}
	if err := w.prepare(ctx, dirty); err != nil {
		return nil, err
	}
	if share < gateShares {
		if err := p.gate.Acquire(ctx, share); err != nil {
			return nil, err
		}
		defer p.gate.Release(share)
	}
	_, err = p.cfg.Updater.Update(ctx, w.kind, w.ids, func(b *kv.Batch) error {
		if err := w.check(b); err != nil {
			return err
		}
		if moved, err = p.movedSince(b, w.plan.edits); err != nil {
			return err
		}
		if moved, err = p.follow(ctx, b, w.plan, moved); err != nil {
			return err
		}
		if len(moved) > 0 {
			return errMoved
		}
		if err := p.stageEdits(b, w.plan); err != nil {
			return err
		}
		return w.stage(b)
	})
	return moved, err
}

// maxFollowed bounds how many objects are derived again inside the writer turn, where others wait: with
// their caps they are a few milliseconds.
const maxFollowed = 32

// follow derives moved edits again on the state they are about to change, and returns those that need a
// model for it. Most often that is none: a hub that many documents share has reached its caps, so that
// its text stays and only sums differ.
func (p *Pipeline) follow(ctx context.Context, b *kv.Batch, pl *plan, moved []*edit) ([]*edit, error) {
	if len(moved) == 0 || len(moved) > maxFollowed {
		return moved, nil
	}
	if err := p.derive(ctx, b, pl, moved); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(moved, func(e *edit) bool { return !e.needsModel() }), nil
}

// movedSince lists the edits whose objects another commit changed.
func (p *Pipeline) movedSince(r kv.Reader, edits []*edit) ([]*edit, error) {
	var moved []*edit
	for _, e := range edits {
		t, err := tallyOf(r, p.cfg.Workspace, e.object)
		if err != nil {
			return nil, err
		}
		if t.Version != e.version {
			moved = append(moved, e)
		}
	}
	return moved, nil
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
