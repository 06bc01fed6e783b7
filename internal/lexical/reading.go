package lexical

import (
	"cmp"
	"slices"
	"strings"
)

// Origin tells how a mention was spotted.
type Origin uint8

// The origins of mentions.
const (
	Proper  Origin = iota // capitalised as names are, or with inner capitals
	Acronym               // NASA, GGUF
	Span                  // a code span, a path
	Phrase                // a noun phrase that is repeated in lower case
	Mined                 // a term of an unspaced or uncased script, by repetition
	Quoted                // a title in 《》 or a term in 「」
	Suffix                // a Chinese name with the ending of a place or an organisation
	Persona               // a Chinese personal name: a family name beside a title or a verb of speech, or repeated
)

// Mention is one occurrence of a name or term.
type Mention struct {
	// Start and End are its bytes in the text, First and Last its tokens (Last inclusive). They cover
	// titles that Name leaves out, but no possessive ending and no quotes.
	Start, End, First, Last int
	// Sentence is its index in Reading.Sentences.
	Sentence int
	// Name is the form under which mentions of the same thing meet in this text.
	Name string
	// Title is what was cut from the front of the name: "Mr.", "Captain". It may be empty.
	Title string
	// Possessive: followed by 's.
	Possessive bool
	Origin     Origin
}

// Reading is a text with what it mentions.
type Reading struct {
	Text      string
	Sentences []Sentence
	Tokens    []Token
	// Mentions are in order of Start and do not overlap.
	Mentions []Mention

	bounds []int // Tokens[bounds[i]:bounds[i+1]] are the tokens of sentence i
	claim  []bool
}

// Read reads a text: a chunk, a question. What counts as a name is decided from this text alone, so equal
// texts have equal mentions wherever they stand.
func Read(text string) *Reading {
	r := &Reading{Text: text, Sentences: Sentences(text)}
	r.bounds = make([]int, 1, len(r.Sentences)+1)
	r.Tokens = make([]Token, 0, len(text)/5+1)
	for _, s := range r.Sentences {
		r.Tokens = appendTokens(r.Tokens, text, s.Start, s.End)
		r.bounds = append(r.bounds, len(r.Tokens))
	}
	r.claim = make([]bool, len(r.Tokens))
	r.names()
	r.unspaced()
	r.uncased()
	r.phrases()
	slices.SortFunc(r.Mentions, func(a, b Mention) int { return cmp.Compare(a.Start, b.Start) })
	return r
}

// TokenRange returns the tokens of a sentence as a half-open range.
func (r *Reading) TokenRange(sentence int) (from, to int) {
	return r.bounds[sentence], r.bounds[sentence+1]
}

// Word returns the text of token i.
func (r *Reading) Word(i int) string { return r.Text[r.Tokens[i].Start:r.Tokens[i].End] }

// add records a mention and claims its tokens.
func (r *Reading) add(m Mention) {
	for i := m.First; i <= m.Last; i++ {
		r.claim[i] = true
	}
	r.Mentions = append(r.Mentions, m)
}

// gap reports whether only white space as between words lies between tokens i and i+1: a blank or two, or a
// line break with its indentation. More blanks separate columns.
func (r *Reading) gap(i int) bool {
	between := r.Text[r.Tokens[i].End:r.Tokens[i+1].Start]
	if between == "" || len(between) > 2 && strings.IndexByte(between, '\n') < 0 {
		return false
	}
	for _, c := range between {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// isSign reports whether token i is the sign s.
func (r *Reading) isSign(i int, s string) bool {
	return r.Tokens[i].Class == Sign && r.Word(i) == s
}
