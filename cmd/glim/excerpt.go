package main

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// excerpt returns text from the sentence that shares most with the question, words that are rare in text
// counting more; a text of at most n characters is returned whole. It decides only what is shown of a passage, never which passages.
func excerpt(text, question string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	type sentence struct {
		start int
		marks map[string]bool
	}
	var sentences []sentence
	in := make(map[string]int) // sentences that hold a mark: what all of them say tells nothing
	for start := 0; start < len(text); {
		end := sentenceEnd(text, start)
		m := marks(text[start:end])
		for w := range m {
			in[w]++
		}
		sentences = append(sentences, sentence{start, m})
		start = end
	}
	words := slices.Sorted(maps.Keys(marks(question))) // sums of floats depend on their order
	best, most := 0, 0.0
	for _, s := range sentences {
		score := 0.0
		for _, w := range words {
			if s.marks[w] {
				score += 1 / float64(in[w])
			}
		}
		if score > most {
			most, best = score, s.start
		}
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
