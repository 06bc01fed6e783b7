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

// ErrNoWords says that a text to search for, or a phrase in it, is empty or holds nothing but function words and signs, which are
// not indexed.
var ErrNoWords = errors.New("query: no words to search for")

// TextOptions shape one search by words.
type TextOptions struct {
	// K is the number of passages wanted; default 10, range 1 to 1,000.
	K int `json:"k,omitempty"`
	// Filter restricts the search to passages of some documents. Scores do not depend on it: the statistics of words are
	// those of the whole workspace.
	Filter Filter `json:"filter,omitzero"`
	// BM25 are the parameters of scores; zero: postings.DefaultBM25.
	BM25 postings.BM25 `json:"bm25,omitzero"`
}

const defaultTextK = 10

// Validate returns nil, or one *FieldError for each option out of range, joined.
func (o TextOptions) Validate() error {
	var f fieldErrors
	f.within("k", o.K, 0, MaxTopK)
	f.filter(o.Filter)
	if err := o.BM25.Validate(); err != nil {
		f.add("bm25", fmt.Sprintf("k1 %v, b %v", o.BM25.K1, o.BM25.B), err, "want k1 of 0 to 1000 and b of 0 to 1")
	}
	return f.err()
}

// TextResult is what a search by words found. Every id in it was read at LSN. Its JSON form is stable.
type TextResult struct {
	// Query is what was searched for, trimmed.
	Query string `json:"query"`
	// LSN is the commit whose state was read.
	LSN kv.LSN `json:"lsn"`
	// Terms are what was looked up, in byte order: stems, parts of compounds, pairs of characters of scripts without
	// spaces, and all that a beginning stands for.
	Terms []string `json:"terms"`
	// Ignored are the words of the query that are in no index: function words and signs.
	Ignored []string `json:"ignored"`
	// Complete: every passage was searched. Else the postings are still being made (index.Tended), and passages may be
	// missing; those found are right, but for scores.
	Complete bool `json:"complete"`
	// Waiting counts documents (that the filter selects) whose newest version is not processed yet, up to 10,000.
	Waiting int `json:"waiting"`
	// Passages are the best ones: by falling score, then by id.
	Passages []TextPassage `json:"passages"`
}

// TextPassage is a passage that a search by words found.
type TextPassage struct {
	ID       string `json:"id"` // of the chunk
	Document string `json:"document"`
	Path     string `json:"path"`
	// Order is the place of the chunk in its document, from 0; Start and End are its bytes in the document's text.
	Order int `json:"order"`
	Start int `json:"start"`
	End   int `json:"end"`
	// Score is that of BM25, above 0; only its order means something.
	Score float64 `json:"score"`
	// Terms are those of TextResult.Terms that the passage holds.
	Terms   []string `json:"terms"`
	Content string   `json:"content"`
	// Context is what went before Content when it was indexed, such as headings; it is searched, too.
	Context string `json:"context,omitempty"`
}

// SearchText finds the passages that fit the words of text best, by BM25, without any model.
//
//	lighthouse keeper      passages that hold any of the words; those with more and rarer ones come first
//	+lighthouse +keeper    passages that hold both; words without + only raise the score
//	"tide mill"            passages in which the words stand one after the other
//	light*                 passages with words that begin so, 1,000 different ones at most
//
// Words meet in their stems (internal/analysis); a phrase compares function words as well, punctuation not. Every other
// character is itself.
//
// The cost is that of postings.Index.Search. A word that must be there costs reading all its postings, unless the query
// is such words only; a phrase costs, besides, reading and analysing each passage that holds its words and whose score may be
// among the K best; a filter reads the statuses of documents and looks up each of their passages. The K passages found are
// read, too.
//
// Errors: *FieldError for what is out of range, joined, with ErrNoWords as the cause where nothing is left to search for;
// those of ctx and of reading.
func (e *Engine) SearchText(ctx context.Context, text string, o TextOptions) (res *TextResult, err error) {
	text = strings.TrimSpace(text)
	asked, err := parseWords(text, e.words)
	if err := errors.Join(err, o.Validate()); err != nil {
		return nil, err
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
	s := &wordSearch{e: e, r: r, asked: asked, opt: o,
		res: &TextResult{Query: text, LSN: r.snap.LSN(), Terms: []string{}, Ignored: asked.ignored, Passages: []TextPassage{}}}
	if err := s.run(ctx); err != nil {
		return nil, fmt.Errorf("query: search text: %w", err)
	}
	return s.res, nil
}

// wordSearch is one SearchText call.
type wordSearch struct {
	e     *Engine
	r     *reader
	asked *words
	opt   TextOptions
	x     *postings.Index
	res   *TextResult
}

func (s *wordSearch) run(ctx context.Context) (err error) {
	var covered record.Coverage
	if s.x, covered, err = s.e.postingsOf(s.r); err != nil {
		return err
	}
	s.res.Complete = covered.Whole
	q := postings.Query{K: s.opt.K, BM25: s.opt.BM25}
	if err := s.filter(ctx, &q); err != nil || s.x == nil {
		return err
	}
	if err := s.must(ctx, &q); err != nil {
		return err
	}
	slices.Sort(q.Terms)
	q.Terms = slices.Compact(q.Terms)
	s.res.Terms = append(s.res.Terms, q.Terms...)
	if len(s.asked.phrases) > 0 {
		q.Accept = s.holdsPhrases
	}
	found, err := s.x.Search(ctx, s.r.snap, q)
	if err != nil {
		return err
	}
	for _, h := range found.Hits {
		p, err := s.passage(h)
		if err != nil {
			return err
		}
		s.res.Passages = append(s.res.Passages, p)
	}
	return nil
}

// filter restricts q to the documents that are selected.
func (s *wordSearch) filter(ctx context.Context, q *postings.Query) (err error) {
	if s.opt.Filter.IsZero() {
		s.res.Waiting, err = s.r.waiting(s.e.workspace)
		return err
	}
	m, _ := s.opt.Filter.Compile() // Validate has told
	sel := &selection{workspace: s.e.workspace, documents: make(map[string]document)}
	if err := sel.match(ctx, s.r.snap, m); err != nil {
		return err
	}
	s.res.Waiting = sel.waiting
	if s.x != nil {
		q.Set, err = s.x.NewSet(s.r.snap, sel.chunksOf)
	}
	return err
}

// must tells q what to look for, and what an item must hold.
func (s *wordSearch) must(ctx context.Context, q *postings.Query) error {
	a := s.asked
	q.Terms = slices.Concat(a.may, a.all)
	var one [][]string // of each an item must hold one
	for _, b := range a.beginnings {
		terms, err := s.expand(ctx, b)
		if err != nil {
			return err
		}
		q.Terms = append(q.Terms, terms...)
		if b.must {
			one = append(one, terms)
		}
	}
	if len(a.may) == 0 && len(a.beginnings) == 0 {
		q.All = true
		return nil
	}
	for _, term := range a.all {
		one = append(one, []string{term})
	}
	for _, terms := range one {
		set, err := s.x.Holding(ctx, s.r.snap, terms)
		if err != nil {
			return err
		}
		q.Set = q.Set.And(set)
	}
	return nil
}

// maxExpansion bounds the terms that a beginning stands for.
const maxExpansion = 1000

func (s *wordSearch) expand(ctx context.Context, b beginning) ([]string, error) {
	found, more, err := s.x.Terms(ctx, s.r.snap, b.prefix, maxExpansion)
	if err != nil {
		return nil, err
	}
	terms := make([]string, 0, len(found)+1)
	for _, t := range found {
		terms = append(terms, t.Text)
	}
	return b.terms(terms, more)
}

// terms are those that a beginning stands for, of which found are in an index; more: and others.
func (b *beginning) terms(found []string, more bool) ([]string, error) {
	if more {
		return nil, &FieldError{Field: "text", Value: b.word, Reason: fmt.Sprintf("want a longer beginning: more than %d words begin so", maxExpansion)}
	}
	if b.whole != "" {
		found = append(found, b.whole)
	}
	return found, nil
}

// holdsPhrases reads a passage and looks for all phrases.
func (s *wordSearch) holdsPhrases(id string) (bool, error) {
	c, err := s.e.chunk(s.r.snap, candidate{id: id})
	if err != nil {
		return false, fmt.Errorf("passage %s: %w", id, err)
	}
	text := s.e.words.Phrase(record.InContext(c.Context, c.Content))
	for _, p := range s.asked.phrases {
		if !analysis.HoldsPhrase(text, p) {
			return false, nil
		}
	}
	return true, nil
}

// passage reads what is told of a hit.
func (s *wordSearch) passage(h postings.Hit) (TextPassage, error) {
	c, err := s.e.chunk(s.r.snap, candidate{id: h.ID})
	if err != nil {
		return TextPassage{}, fmt.Errorf("passage %s: %w", h.ID, err)
	}
	p := TextPassage{ID: h.ID, Document: c.Document, Path: c.Path, Order: c.Order, Start: c.Start, End: c.End,
		Score: h.Score, Content: c.Content, Context: c.Context}
	for _, t := range s.e.words.Terms(record.InContext(c.Context, c.Content)) {
		if _, ok := slices.BinarySearch(s.res.Terms, t); ok {
			p.Terms = append(p.Terms, t)
		}
	}
	return p, nil
}
