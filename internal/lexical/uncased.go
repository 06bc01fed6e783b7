package lexical

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxUncased bounds the terms taken from scripts that have spaces but no case.
	maxUncased = 12
	// minUncased is how often such a word must occur: without capitals only repetition tells.
	minUncased = 3
	// minUncasedRunes leaves the function words of those scripts out, which are short.
	minUncasedRunes = 4
)

// uncased adds the words that return in scripts with spaces but without case: Hangul, whose particles are cut
// off, Hebrew, Arabic, the Indic scripts.
func (r *Reading) uncased() {
	type use struct{ count, first int }
	uses := make(map[string]*use)
	stems := make(map[int]string)
	for i, t := range r.Tokens {
		if t.Class != Word || r.claim[i] {
			continue
		}
		first, _ := utf8.DecodeRuneInString(r.Text[t.Start:t.End])
		if !unicode.Is(unicode.Lo, first) {
			continue
		}
		w := r.Word(i)
		least := minUncasedRunes
		if isHangul(first) {
			w, least = cutParticle(w), 2
		}
		if n := utf8.RuneCountInString(w); n < least || n > maxGram*2 {
			continue
		}
		stems[i] = w
		u := uses[w]
		if u == nil {
			u = &use{first: t.Start}
			uses[w] = u
		}
		u.count++
	}
	var list []string
	for w, u := range uses {
		if u.count >= minUncased {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(uses[b].count, uses[a].count), cmp.Compare(uses[a].first, uses[b].first))
	})
	chosen := make(map[string]struct{})
	for _, w := range list[:min(len(list), maxUncased)] {
		chosen[w] = struct{}{}
	}
	sentence := 0
	for i, t := range r.Tokens {
		for i >= r.bounds[sentence+1] {
			sentence++
		}
		if w, ok := stems[i]; ok && isIn(chosen, w) && r.Sentences[sentence].Block != Listing {
			r.add(Mention{Start: t.Start, End: t.Start + len(w), First: i, Last: i, Sentence: sentence, Name: w, Origin: Mined})
		}
	}
}

// cutParticle removes the case particle of a Korean noun, if two syllables remain.
func cutParticle(w string) string {
	for _, p := range particles {
		if s, ok := strings.CutSuffix(w, p); ok && utf8.RuneCountInString(s) >= 2 {
			return s
		}
	}
	return w
}

// particles are the commonest, the longer before the shorter.
var particles = [...]string{"에서는", "으로서", "에게서", "이라고", "에서", "에게", "으로", "까지", "부터", "처럼", "보다", "이나", "은", "는", "이", "가", "을", "를", "의", "에", "와", "과", "로", "도", "만"}
