package analysis

import (
	"slices"
	"unicode/utf8"

	"github.com/glimdb/db/internal/lexical"
	"github.com/glimdb/db/postings"
)

// Phrase returns the words of text one after the other, as phrases are compared: stems, function words too, a compound
// as its parts, and pairs of characters in scripts without spaces. Punctuation does not count.
func (a *Analyzer) Phrase(text string) []string {
	var out []string
	part := false
	for _, t := range lexical.Tokens(text) {
		lexical.TokenTerms(text[t.Start:t.End], t.Class, 0, func(term lexical.Term) bool {
			if term.Part && !part { // the first of the parts takes the place of the whole
				out = out[:len(out)-1]
			}
			part = term.Part
			out = append(out, a.stemmed(term))
			return true
		})
	}
	return out
}

// HoldsPhrase reports whether the words of a phrase stand in text one after the other; both are of Phrase. No words
// stand everywhere.
func HoldsPhrase(text, phrase []string) bool {
	for i := 0; i+len(phrase) <= len(text); i++ {
		if slices.Equal(text[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

// Beginning returns what terms begin with that belong to a word of which only the beginning is given: its normal form; and
// the term that it is as a whole word, whose stem may be shorter; empty when it is a function word. ok is false where a
// beginning means nothing: for no word or several, and for runs of a script without spaces, which are found by what they
// hold anyway.
func (a *Analyzer) Beginning(word string) (prefix, whole string, ok bool) {
	words := 0
	for _, t := range lexical.Tokens(word) {
		lexical.TokenTerms(word[t.Start:t.End], t.Class, 0, func(term lexical.Term) bool {
			if !term.Part {
				words++
				prefix, whole = term.Word, a.Term(term)
			}
			return true
		})
	}
	return prefix, whole, words == 1 && prefix != ""
}

// stemmed is the term as it is stored, function words as well.
func (a *Analyzer) stemmed(t lexical.Term) string {
	text := t.Text
	if a.stem != nil && !t.Unspaced && isLatin(t.Word) {
		text = a.stem(t.Word)
	}
	for len(text) > postings.MaxTermBytes { // a token has at most 256 bytes, which normal forms may lengthen
		_, n := utf8.DecodeLastRuneInString(text[:postings.MaxTermBytes])
		text = text[:postings.MaxTermBytes-n]
	}
	return text
}
