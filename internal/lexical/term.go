package lexical

import (
	"strings"
	"unicode/utf8"
)

// Term is one unit of matching.
type Term struct {
	// Text is the stem of a word in normal form, or a pair of neighbouring characters of an unspaced script.
	Text string
	// Word is the normal form that Text was cut from.
	Word string
	// Rank is the word's rank; Number and code are Content.
	Rank Rank
	// Name: the word was written as names are: capitalised or with inner capitals.
	Name bool
	// Part: the term is a half of a compound (tide of tide-mill), which comes as a whole too.
	Part bool
	// Unspaced: Text comes from an unspaced script.
	Unspaced bool
	// At numbers the term's token, so that neighbours can be told.
	At int
}

// Terms calls yield for every matching term of text in order, until yield returns false. Words come as stems;
// compounds as a whole and in halves; unspaced runs as overlapping pairs, and a run of one as that character.
// Korean words, whose endings vary, come whole and as pairs of characters. Code is read as the words inside it. Tags, signs and the function words of Chinese are left out.
func Terms(text string, yield func(Term) bool) {
	for at, t := range Tokens(text) {
		if !TokenTerms(text[t.Start:t.End], t.Class, at, yield) {
			return
		}
	}
}

// TokenTerms yields what Terms yields of the token s, the at-th of its text. It reports whether yield never returned
// false. What it yields follows from s and class alone, but for At.
func TokenTerms(s string, class Class, at int, yield func(Term) bool) bool {
	switch class {
	case Word, Number:
		return wordTerms(s, at, yield)
	case Unspaced:
		return pairTerms(Normal(s), at, yield)
	case Code:
		for _, t := range appendTokens(nil, strings.Map(codeBreak, s), 0, len(s)) {
			if t.Class != Code && t.Class != Tag && !TokenTerms(s[t.Start:t.End], t.Class, at, yield) {
				return false
			}
		}
	}
	return true
}

// codeBreak turns the signs that separate words in code into spaces of the same length in bytes.
func codeBreak(r rune) rune {
	if r < utf8.RuneSelf && !isASCIIWord(byte(r)) && r != '.' && r != '-' {
		return ' '
	}
	return r
}

func wordTerms(s string, at int, yield func(Term) bool) bool {
	w := Normal(s)
	if w == "" {
		return true
	}
	name := hasUpper(s)
	if !yield(Term{Text: Stem(w), Word: w, Rank: WordRank(w), Name: name, At: at}) {
		return false
	}
	if r, _ := utf8.DecodeRuneInString(w); isHangul(r) {
		return pairTerms(w, at, func(t Term) bool {
			t.Part, t.Unspaced = true, false
			return yield(t)
		})
	}
	if !strings.ContainsAny(w, "-._:·/") {
		return true
	}
	for half := range strings.FieldsFuncSeq(w, func(r rune) bool { return strings.ContainsRune("-._:·/", r) }) {
		if half == w {
			continue
		}
		if !yield(Term{Text: Stem(half), Word: half, Rank: WordRank(half), Name: name, Part: true, At: at}) {
			return false
		}
	}
	return true
}

// pairTerms yields the overlapping pairs of runes of s.
func pairTerms(s string, at int, yield func(Term) bool) bool {
	_, n := utf8.DecodeRuneInString(s)
	if n == len(s) {
		return n == 0 || yield(Term{Text: s, Word: s, Rank: WordRank(s), Unspaced: true, At: at})
	}
	for i := 0; i+n < len(s); {
		_, m := utf8.DecodeRuneInString(s[i+n:])
		pair := s[i : i+n+m]
		rank := WordRank(pair)
		if rank == Content && (WordRank(s[i:i+n]) == Stop || WordRank(s[i+n:i+n+m]) == Stop) {
			rank = Common
		}
		if !yield(Term{Text: pair, Word: pair, Rank: rank, Unspaced: true, At: at}) {
			return false
		}
		i, n = i+n, m
	}
	return true
}
