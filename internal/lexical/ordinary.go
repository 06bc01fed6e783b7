package lexical

import (
	_ "embed"
	"strings"
	"sync"
)

// ordinaryStems are English stems that are no names by themselves, whatever the capital: counted over novels,
// encyclopaedia articles, scientific abstracts and the comments of programs, those that stand in lower case in
// several of them and at least five times as often as with a capital inside a sentence.
//
//go:embed ordinary.txt
var ordinaryStems string

var ordinary = sync.OnceValue(func() map[string]struct{} { return set(ordinaryStems) })

// isOrdinary reports whether a word in normal form is one of everyday prose or of the ordinary vocabulary, so that
// a capital alone makes no name of it. A compound is ordinary when all its parts are.
func isOrdinary(w string) bool {
	if WordRank(w) != Content {
		return true
	}
	if strings.ContainsAny(w, "-'") {
		for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return r == '-' || r == '\'' }) {
			if !isOrdinary(part) {
				return false
			}
		}
		return true
	}
	return isIn(ordinary(), Stem(w))
}
