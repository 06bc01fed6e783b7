package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/postings"
)

// Postings of entities are derived from names and descriptions, in the batch that stores the node. Most of an entity stays when
// a document adds to it: what its description has more or less of is found by fragments, and only that is read as words and
// written. Where they are not from the beginning, Tend makes them entity by entity, in order of names.

// EntityWords says whether entities get postings.
type EntityWords string

// The choices. Postings of entities cost 10 to 15 % of the processor time of an insert (docs/querying.md): none are made unasked,
// and a query that would use them says where they are absent.
const (
	// EntityWordsKeep is the default: a workspace that has them keeps them up with every change, one that has none goes without.
	EntityWordsKeep EntityWords = ""
	// EntityWordsOn makes them with the first entity, or in the background where there are entities already (Pipeline.Tend).
	EntityWordsOn EntityWords = "on"
	// EntityWordsOff drops them: with the next change of an entity, or with Pipeline.Tend.
	EntityWordsOff EntityWords = "off"
)

// nameWeight is how often a term of an entity's name counts, beside each time it comes in the description.
const nameWeight = 3

// wordsOfEntity returns all terms of an entity: those of its name, weighed, and of each fragment, read alone.
func (p *Pipeline) wordsOfEntity(name, description string) []postings.Term {
	counts := make(map[string]int)
	p.words.Tally(counts, name, nameWeight)
	for f := range strings.SplitSeq(description, Separator) {
		p.words.Tally(counts, f, 1)
	}
	return termsOf(counts)
}

func termsOf(counts map[string]int) []postings.Term {
	out := make([]postings.Term, 0, len(counts))
	for term, n := range counts {
		out = append(out, postings.Term{Text: term, Count: n})
	}
	return out
}

// changedWords returns by how much more often terms come in one description than in another; less often is below 0.
func (p *Pipeline) changedWords(was, is string) []postings.Term {
	if was == is {
		return nil
	}
	fragments := make(map[string]int)
	for f := range strings.SplitSeq(is, Separator) {
		fragments[f]++
	}
	for f := range strings.SplitSeq(was, Separator) {
		fragments[f]--
	}
	counts := make(map[string]int)
	for f, n := range fragments {
		if n != 0 {
			p.words.Tally(counts, f, n)
		}
	}
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n == 0 })
	return termsOf(counts)
}

// entityWords is the index of postings of entities while a batch changes some; nil where there is none.
type entityWords struct {
	p     *Pipeline
	b     *kv.Batch
	x     *postings.Keyed
	cover record.Coverage
}

func (w *entityWords) covers(name string) bool { return w != nil && w.cover.Covers(name) }

// put stages what changes of an entity's postings; was is nil for a new one.
func (w *entityWords) put(was, is *record.Entity) error {
	if !w.covers(is.Name) {
		return nil
	}
	if was == nil {
		return w.x.Add(w.b, is.Name, w.p.wordsOfEntity(is.Name, is.Description))
	}
	changed := w.p.changedWords(was.Description, is.Description)
	if len(changed) == 0 {
		return nil
	}
	return w.x.Change(w.b, is.Name, changed)
}

// remove stages the end of an entity's postings.
func (w *entityWords) remove(e *record.Entity) error {
	if !w.covers(e.Name) {
		return nil
	}
	return w.x.Remove(w.b, e.Name, w.p.wordsOfEntity(e.Name, e.Description))
}

// entityPostings is postingsOf for entities.
func (p *Pipeline) entityPostings(r kv.Reader) (*postings.Keyed, record.Coverage, error) {
	x, err := postings.OpenKeyed(r, p.cfg.Workspace, record.EntityPostings)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, record.Coverage{}, nil
	}
	if err != nil || x.Config().Analyser != p.words.ID() {
		return x, record.Coverage{}, err
	}
	mark, err := x.Mark(r)
	if err != nil {
		return nil, record.Coverage{}, err
	}
	g, err := record.DecodeCoverage(mark)
	if err != nil {
		err = fmt.Errorf("%w: coverage of postings of entities: %w", kv.ErrCorrupt, err)
	}
	return x, g, err
}

// createEntityPostings returns the index of postings that a batch is to keep up: it makes or drops it where that is due. nil:
// there is none.
func (p *Pipeline) createEntityPostings(b *kv.Batch) (*entityWords, error) {
	x, cover, err := p.entityPostings(b)
	if err != nil {
		return nil, err
	}
	fits := x != nil && x.Config().Analyser == p.words.ID()
	switch off := p.cfg.Options.EntityWords == EntityWordsOff; {
	case fits && !off:
		return &entityWords{p, b, x, cover}, nil
	case x != nil:
		if err := x.Drop(b); err != nil || off {
			return nil, err
		}
	case p.cfg.Options.EntityWords != EntityWordsOn:
		return nil, nil
	}
	w := &entityWords{p: p, b: b}
	if w.cover.Whole, err = p.hasNoEntities(b); err != nil {
		return nil, err
	}
	if w.x, err = postings.CreateKeyed(b, p.cfg.Workspace, record.EntityPostings, postings.Config{Analyser: p.words.ID()}); err != nil {
		return nil, err
	}
	return w, w.x.SetMark(b, w.cover.Encode())
}

func (p *Pipeline) hasNoEntities(r kv.Reader) (bool, error) {
	g, err := p.openGraph(r)
	if err != nil || g == nil {
		return true, err
	}
	s, err := g.Stats(r)
	return s.Nodes == 0, err
}

// TendedEntities tells how much of the entities search by words covers.
type TendedEntities struct {
	postings.KeyedStats
	// Indexed: there are postings of entities.
	Indexed bool `json:"indexed"`
	// Whole: they cover every entity, by the analyser in use. Else queries do without.
	Whole bool `json:"whole"`
	// Due: Tend has something to do for them.
	Due bool `json:"due"`
}

// tendedEntities tells what r shows.
func (p *Pipeline) tendedEntities(r kv.Reader) (t TendedEntities, err error) {
	x, cover, err := p.entityPostings(r)
	if err != nil {
		return t, err
	}
	if t.Indexed = x != nil; t.Indexed {
		t.Whole, t.Due = cover.Whole, !cover.Whole || p.cfg.Options.EntityWords == EntityWordsOff
		t.KeyedStats, err = x.Stats(r)
		return t, err
	}
	t.Whole, err = p.hasNoEntities(r)
	t.Due = !t.Whole && p.cfg.Options.EntityWords == EntityWordsOn
	return t, err
}

// tendEntityBytes is how much of names and descriptions is read in one writer turn.
const tendEntityBytes = 1 << 18

// tendSomeEntities makes or drops postings of entities: of so many as a writer turn is short with.
func (p *Pipeline) tendSomeEntities(ctx context.Context) (done bool, err error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return false, err
	}
	t, err := p.tendedEntities(view)
	if err = errors.Join(err, view.Close()); err != nil || !t.Due {
		return true, err
	}
	_, err = p.cfg.Updater.Update(ctx, changePostings, nil, func(b *kv.Batch) error {
		w, err := p.createEntityPostings(b)
		if done = err == nil && (w == nil || w.cover.Whole); done || err != nil {
			return err
		}
		g, err := p.openGraph(b)
		if err != nil {
			return err
		}
		read, last := 0, ""
		for n, err := range g.NodesBehind(b, w.cover.UpTo) {
			if err != nil {
				return err
			}
			if read >= tendEntityBytes {
				return w.x.SetMark(b, record.Coverage{UpTo: last}.Encode())
			}
			e, err := record.EntityOf(n.Name, n.Type, n.Props)
			if err != nil {
				return err
			}
			if err := w.x.Add(b, e.Name, p.wordsOfEntity(e.Name, e.Description)); err != nil {
				return err
			}
			read, last = read+len(e.Name)+len(e.Description), e.Name
		}
		done = true
		return w.x.SetMark(b, record.Coverage{Whole: true}.Encode())
	})
	return done && err == nil, err
}
