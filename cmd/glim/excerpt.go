package main

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// excerpt returns up to about n characters of text, beginning with the sentence that shares most words
// with the question. It decides only what is shown of a passage, never which passages.
func excerpt(text, question string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	words := marks(question)
	best, most := 0, 0
	for start := 0; start < len(text); {
		end := sentenceEnd(text, start)
		score := 0
		have := marks(text[start:end])
		for w := range words {
			if have[w] {
				score++
			}
		}
		if score > most {
			most, best = score, start
		}
		start = end
	}
	if best == 0 {
		return text
	}
	return "... " + strings.TrimSpace(text[best:])
}

// sentenceEnd is where the sentence that begins at from ends.
func sentenceEnd(text string, from int) int {
	for i, r := range text[from:] {
		next := from + i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
			return next
		case '.', '!', '?':
			if next == len(text) || text[next] == ' ' {
				return next
			}
		}
	}
	return len(text)
}

// markLetters is how much of a word must agree: endings ("designed", "designer") must not matter.
const markLetters = 5

// marks are the beginnings of the longer words of text, and the pairs of characters where words are not
// spaced.
func marks(text string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		runes := []rune(w)
		if unicode.Is(unicode.Han, runes[0]) {
			for i := range len(runes) - 1 {
				out[string(runes[i:i+2])] = true
			}
		} else if len(runes) > 3 {
			out[string(runes[:min(len(runes), markLetters)])] = true
		}
	}
	return out
}
