package lexical

import (
	"unicode"
	"unicode/utf8"
)

// shape describes how a word is written.
type shape struct {
	runes, upper, lower, digits int
	first                       bool // the first letter is upper case
	inner                       bool // an upper-case letter follows a lower-case one
}

func shapeOf(s string) shape {
	var sh shape
	prevLower := false
	for _, r := range s {
		up, low := false, false
		if r < utf8.RuneSelf {
			up, low = 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z'
		} else {
			up, low = unicode.IsUpper(r) || unicode.IsTitle(r), unicode.IsLower(r)
		}
		switch {
		case up:
			sh.upper++
			sh.first = sh.first || sh.runes == 0
			sh.inner = sh.inner || prevLower
		case low:
			sh.lower++
		case isDigit(r):
			sh.digits++
		}
		prevLower = low
		sh.runes++
	}
	return sh
}

// allUpper: at least two letters, none lower case.
func (s shape) allUpper() bool { return s.upper >= 2 && s.lower == 0 }

// special: written as no plain word is: inner capitals, or letters with digits.
func (s shape) special() bool { return s.inner || s.digits > 0 && s.upper+s.lower > 0 }

func hasUpper(s string) bool {
	for _, r := range s {
		if r < utf8.RuneSelf {
			if 'A' <= r && r <= 'Z' {
				return true
			}
		} else if unicode.IsUpper(r) {
			return true
		}
	}
	return false
}
