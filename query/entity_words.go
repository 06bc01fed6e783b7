package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/glimdb/db/internal/analysis"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/postings"
)

// ErrNoEntityWords says that entities have no postings to be searched by: see index.Options.EntityWords.
var ErrNoEntityWords = errors.New("query: entities are not indexed by their words")

// EntityTextResult is what a search of entities by words found. Its JSON form is stable.
type EntityTextResult struct {
	// Query is what was searched for, trimmed; LSN the commit whose state was read.
	Query string `json:"query"`
	LSN   kv.LSN `json:"lsn"`
	// Terms and Ignored are as in TextResult.
	Terms   []string `json:"terms"`
	Ignored []string `json:"ignored"`
	// Complete: every entity was searched. Else postings are still being made, and entities may be missing.
	Complete bool `json:"complete"`
	// Waiting counts documents (that the filter selects) whose newest version is not processed yet, up to 10,000.
	Waiting int `json:"waiting"`
	// Entities are the best ones: by falling score, then by name.
	Entities []TextEntity `json:"entities"`
}

// TextEntity is an entity that a search by words found.
type TextEntity struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Description is the merged one; with a filter, what the selected documents say.
	Description string `json:"description"`
	Degree      int    `json:"degree"` // number of its relations
	// Score is that of BM25, above 0, a word of the name counting three times; only its order means something.
	Score float64 `json:"score"`
	// Terms are those of EntityTextResult.Terms that name and description hold; with a filter some may be in other documents.
	Terms []string `json:"terms"`
}

// SearchEntities finds the entities whose names and descriptions fit the words of text best, by BM25, without any model. The
// language is that of SearchText; K counts entities, and Filter restricts the search to entities that the selected documents
// speak of: what other documents say of these is searched, too. A phrase stands in the name or in the description.
//
// The cost is that of postings.Keyed.Search: reading every posting of the words. A phrase costs, besides, reading each entity
// that holds its words and whose score may be among the K best, a filter what it costs a query.
//
// Errors: ErrNoEntityWords, and those of SearchText.
func (e *Engine) SearchEntities(ctx context.Context, text string, o TextOptions) (res *EntityTextResult, err error) {
	text = strings.TrimSpace(text)
	asked, err := parseWords(text, e.words)
	if err := errors.Join(err, o.Validate()); err != nil {
		return nil, err
	}
	if !o.Filter.IsZero() && e.views == nil {
		return nil, &FieldError{Field: "filter", Value: "set", Reason: "want none: the engine has no Views"}
	}
	fill(&o.K, defaultTextK)
	r, err := e.open()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, r.snap.Close()); err != nil {
			res = nil
		}
	}()
	s := &entityWordSearch{e: e, r: r, asked: asked,
		res: &EntityTextResult{Query: text, LSN: r.snap.LSN(), Terms: []string{}, Ignored: asked.ignored, Entities: []TextEntity{}}}
	if err := s.run(ctx, o); err != nil {
		return nil, fmt.Errorf("query: search entities: %w", err)
	}
	return s.res, nil
}

// entityWordSearch is one SearchEntities call.
type entityWordSearch struct {
	e     *Engine
	r     *reader
	asked *words
	x     *postings.Keyed
	res   *EntityTextResult
}

func (s *entityWordSearch) run(ctx context.Context, o TextOptions) error {
	x, covered, err := s.e.entityPostings(s.r)
	switch {
	case err != nil:
		return err
	case x == nil && !covered.Whole:
		return ErrNoEntityWords
	}
	s.x, s.res.Complete = x, covered.Whole
	if o.Filter.IsZero() {
		s.res.Waiting, err = s.r.waiting(s.e.workspace)
	} else if s.r.sel, err = s.e.selected(ctx, s.r, o.Filter); err == nil {
		s.res.Waiting = s.r.sel.waiting
	}
	if err != nil || x == nil {
		return err
	}
	q := postings.KeyedQuery{K: o.K, BM25: o.BM25}
	if err := s.ask(ctx, &q); err != nil {
		return err
	}
	hits, err := x.Search(ctx, s.r.snap, q)
	if err != nil {
		return err
	}
	return s.tell(ctx, hits)
}

// ask tells q what to look for, and what an entity must hold.
func (s *entityWordSearch) ask(ctx context.Context, q *postings.KeyedQuery) error {
	q.Terms = slices.Concat(s.asked.may, s.asked.all)
	for _, term := range s.asked.all {
		q.Must = append(q.Must, []string{term})
	}
	for _, b := range s.asked.beginnings {
		found, more, err := s.x.Terms(ctx, s.r.snap, b.prefix, maxExpansion)
		if err != nil {
			return err
		}
		terms, err := b.terms(found, more)
		if err != nil {
			return err
		}
		q.Terms = append(q.Terms, terms...)
		if b.must {
			q.Must = append(q.Must, terms)
		}
	}
	slices.Sort(q.Terms)
	q.Terms = slices.Compact(q.Terms)
	s.res.Terms = append(s.res.Terms, q.Terms...)
	if s.r.sel != nil || len(s.asked.phrases) > 0 {
		q.Accept = s.accept
	}
	return nil
}

// accept reports whether the filter selects an entity, and whether it holds all phrases.
func (s *entityWordSearch) accept(name string) (bool, error) {
	if s.r.sel != nil && !s.r.sel.hasEntity(name) {
		return false, nil
	}
	if len(s.asked.phrases) == 0 {
		return true, nil
	}
	n, err := s.r.graph.Node(s.r.snap, name)
	if err != nil {
		return false, err
	}
	e, err := record.EntityOf(n.Name, n.Type, n.Props)
	if err != nil {
		return false, err
	}
	inName, inText := s.e.words.Phrase(name), s.e.words.Phrase(e.Description)
	for _, p := range s.asked.phrases {
		if !analysis.HoldsPhrase(inName, p) && !analysis.HoldsPhrase(inText, p) {
			return false, nil
		}
	}
	return true, nil
}

// tell reads what is told of hits.
func (s *entityWordSearch) tell(ctx context.Context, hits []postings.Hit) error {
	names := make([]string, len(hits))
	for i, h := range hits {
		names[i] = h.ID
	}
	found, err := (&run{e: s.e}).entities(ctx, s.r, names, ViaText)
	if err != nil {
		return err
	}
	for i, e := range found {
		if e == nil {
			return fmt.Errorf("%w: postings of entity %q, which is not there", kv.ErrCorrupt, names[i])
		}
		t := TextEntity{Name: e.Name, Type: e.Type, Description: e.Description, Degree: e.Degree, Score: hits[i].Score, Terms: []string{}}
		for _, term := range s.e.words.Terms(e.Name + "\n" + e.Description) {
			if _, ok := slices.BinarySearch(s.res.Terms, term); ok {
				t.Terms = append(t.Terms, term)
			}
		}
		s.res.Entities = append(s.res.Entities, t)
	}
	return nil
}
