package analysis

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/glimdb/db/internal/lexical"
	"github.com/glimdb/db/postings"
)

// version is part of every id: it changes whenever the terms of any text do.
const version = "glim/1"

// Analyzer reads texts as terms.
type Analyzer struct {
	language string
	stem     func(word string) string // of words in Latin letters; nil: lexical.Stem

	mu    sync.RWMutex
	known map[token][]string // guarded by mu: terms of tokens, function words none
}

// token is what terms follow from.
type token struct {
	text  string
	class lexical.Class
}

// maxKnown bounds the tokens that an Analyzer remembers, at some 150 bytes each.
const maxKnown = 1 << 15

// New returns an analyser with the stems of a language, one of Languages. "" stems by the script: English words and
// Russian ones.
func New(language string) (*Analyzer, error) {
	a := &Analyzer{language: language, known: make(map[token][]string)}
	if language == "" {
		return a, nil
	}
	stem, ok := stemmers[language]
	if !ok {
		return nil, fmt.Errorf("analysis: no stemmer for %q: want one of %s", language, strings.Join(Languages(), ", "))
	}
	a.stem = stem
	return a, nil
}

// ID names what the terms depend on.
func (a *Analyzer) ID() string {
	if a.language == "" {
		return version
	}
	return version + " " + a.language
}

// Counts returns the terms of text, each once, with how often it comes, in byte order.
func (a *Analyzer) Counts(text string) []postings.Term {
	tokens := make(map[token]int)
	for _, t := range lexical.Tokens(text) {
		if t.Class != lexical.Tag && t.Class != lexical.Sign {
			tokens[token{text[t.Start:t.End], t.Class}]++
		}
	}
	counts := make(map[string]int, len(tokens))
	for t, n := range tokens {
		for _, term := range a.terms(t) {
			counts[term] += n
		}
	}
	out := make([]postings.Term, 0, len(counts))
	for term, n := range counts {
		out = append(out, postings.Term{Text: term, Count: n})
	}
	slices.SortFunc(out, func(x, y postings.Term) int { return strings.Compare(x.Text, y.Text) })
	return out
}

// Tally adds the terms of text to counts, each as often as it comes times weight. It is Counts for short texts whose terms
// are wanted together.
func (a *Analyzer) Tally(counts map[string]int, text string, weight int) {
	for _, t := range lexical.Tokens(text) {
		if t.Class == lexical.Tag || t.Class == lexical.Sign {
			continue
		}
		for _, term := range a.terms(token{text[t.Start:t.End], t.Class}) {
			counts[term] += weight
		}
	}
}

// Terms returns the terms of text, each once, in byte order: what a question asks for.
func (a *Analyzer) Terms(text string) []string {
	var out []string
	for _, t := range a.Counts(text) {
		out = append(out, t.Text)
	}
	return out
}

// terms returns those of one token; they are not to be changed.
func (a *Analyzer) terms(t token) []string {
	a.mu.RLock()
	terms, ok := a.known[t]
	a.mu.RUnlock()
	if ok {
		return terms
	}
	lexical.TokenTerms(t.text, t.class, 0, func(term lexical.Term) bool {
		if text := a.Term(term); text != "" {
			terms = append(terms, text)
		}
		return true
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) >= maxKnown {
		clear(a.known)
	}
	a.known[token{strings.Clone(t.text), t.class}] = terms
	return terms
}

// Term is t as it is stored; empty for function words.
func (a *Analyzer) Term(t lexical.Term) string {
	if t.Rank == lexical.Stop {
		return ""
	}
	return a.stemmed(t)
}

// isLatin reports whether a word in normal form is letters of the Latin alphabet only.
func isLatin(word string) bool {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return word != ""
}
