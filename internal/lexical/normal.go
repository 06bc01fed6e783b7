package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Normal returns the form under which two spellings of a word meet: compatibility-composed (NFKC, so that
// full-width letters and ligatures are plain), case-folded, without the accents of Latin, Greek and Cyrillic
// letters, curly apostrophes straight, without soft hyphens and joiners, and a possessive 's cut off.
// Words only: inner spaces are kept as they are.
func Normal(word string) string {
	if ascii, lower := plain(word); ascii {
		if !lower {
			word = strings.ToLower(word)
		}
		return cutPossessive(word)
	}
	s := norm.NFKC.String(word)
	s = cases.Fold().String(s)
	var b strings.Builder
	b.Grow(len(s))
	strip := false
	for _, r := range norm.NFD.String(s) {
		switch {
		case r == '’' || r == 'ʼ':
			b.WriteByte('\'')
		case r == '‐' || r == '‑':
			b.WriteByte('-')
		case r == '\u00ad' || r == '\u200d' || r == '\u200c' || r == utf8.RuneError:
		case unicode.Is(unicode.Mn, r):
			if !strip {
				b.WriteRune(r)
			}
		default:
			strip = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) || !unicode.IsLetter(r)
			b.WriteRune(r)
		}
	}
	return cutPossessive(norm.NFC.String(b.String()))
}

// plain reports whether s is ASCII, and whether it then has no upper-case letter.
func plain(s string) (ascii, lower bool) {
	lower = true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false, false
		}
		if 'A' <= s[i] && s[i] <= 'Z' {
			lower = false
		}
	}
	return true, lower
}

func cutPossessive(s string) string {
	if len(s) > 3 && strings.HasSuffix(s, "'s") {
		return s[:len(s)-2]
	}
	if len(s) > 3 && strings.HasSuffix(s, "s'") {
		return s[:len(s)-1]
	}
	return s
}

// maxStem bounds what is given to a stemmer, in bytes: no word of a natural language is longer.
const maxStem = 40

// Stem reduces a word in normal form to what its inflections share: Snowball's English stemmer for words in
// ASCII letters, its Russian one for Cyrillic. Other words, and words with digits or inner signs, come back
// unchanged. Foreign words in ASCII letters are cut by English rules, alike on both sides of a comparison.
func Stem(word string) string {
	if len(word) < 3 || len(word) > maxStem {
		return word
	}
	cyrillic := true
	latin := true
	for _, r := range word {
		if r < 'a' || r > 'z' {
			latin = false
		}
		if r < 'а' || r > 'я' {
			cyrillic = false
		}
	}
	switch {
	case latin:
		return english.Stem(word, true)
	case cyrillic:
		return russian.Stem(word, true)
	}
	return word
}
