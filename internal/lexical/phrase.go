package lexical

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// maxPhrases and maxNouns bound the lower-case phrases and single nouns of a text that become terms.
	maxPhrases, maxNouns = 12, 6
	// minPhrase and minNoun are how often they must occur. A phrase that is repeated is a term; a single noun
	// must return more often to be what a text is about, once more for every nounSpan bytes.
	minPhrase, minNoun = 2, 3
	nounSpan           = 3000
	// maxPhraseWords bounds a phrase.
	maxPhraseWords = 3
)

// phraseStat is a candidate phrase.
type phraseStat struct {
	count, opens, closes, heads, determined int
	words                                   int
	surface                                 string
	first                                   int
}

// phrases finds repeated noun phrases in lower case: runs of words of substance that stand at least once before a
// function word or a sign, as the end of a noun group does, and once behind a determiner, a preposition or a sign.
// Single nouns must do both nearly every time, and follow a determiner once.
func (r *Reading) phrases() {
	found := make(map[string]*phraseStat)
	r.eachPhrase(func(key string, first, last int, opens, closes, determined bool) {
		p := found[key]
		if p == nil {
			p = &phraseStat{words: last - first + 1, first: first}
			found[key] = p
		}
		p.count++
		if opens {
			p.opens++
		}
		if closes {
			p.closes++
		}
		if opens && closes {
			p.heads++
		}
		if determined {
			p.determined++
		}
		if s := r.phrase(first, last); p.surface == "" || len(s) < len(p.surface) {
			p.surface = s
		}
	})
	var list []*phraseStat
	keys := make(map[*phraseStat]string)
	for key, p := range found {
		need := minNoun + len(r.Text)/nounSpan
		if p.words > 1 && p.count >= minPhrase && p.opens > 0 && p.closes > 0 || p.count >= need && p.heads >= need-1 && p.determined > 0 {
			list = append(list, p)
			keys[p] = key
		}
	}
	slices.SortFunc(list, func(a, b *phraseStat) int {
		return cmp.Or(cmp.Compare(b.count*b.words, a.count*a.words), cmp.Compare(a.first, b.first), cmp.Compare(b.words, a.words))
	})
	chosen := make(map[string]string)
	var phrases, nouns int
	for _, p := range list {
		if p.words > 1 && phrases < maxPhrases {
			phrases++
			chosen[keys[p]] = p.surface
		} else if p.words == 1 && nouns < maxNouns {
			nouns++
			chosen[keys[p]] = p.surface
		}
	}
	if len(chosen) == 0 {
		return
	}
	r.markPhrases(chosen)
}

// markPhrases adds a mention for every place of the chosen phrases, the longest first.
func (r *Reading) markPhrases(chosen map[string]string) {
	for sentence := range r.Sentences {
		from, to := r.TokenRange(sentence)
		for i := from; i < to; i++ {
			for words := min(maxPhraseWords, to-i); words >= 1; words-- {
				key, ok := r.phraseKey(i, i+words-1)
				if !ok {
					continue
				}
				if name, ok := chosen[key]; ok {
					r.add(Mention{Start: r.Tokens[i].Start, End: r.Tokens[i+words-1].End, First: i, Last: i + words - 1, Sentence: sentence, Name: name, Origin: Phrase})
					i += words - 1
					break
				}
			}
		}
	}
}

// eachPhrase calls yield for every candidate with its stems, its tokens whether a noun group may start and end
// where it does, and whether a determiner stands before it.
func (r *Reading) eachPhrase(yield func(key string, first, last int, opens, closes, determined bool)) {
	for sentence, s := range r.Sentences {
		if s.Block == Listing {
			continue
		}
		from, to := r.TokenRange(sentence)
		for i := from; i < to; i++ {
			for words := 1; words <= maxPhraseWords && i+words <= to; words++ {
				last := i + words - 1
				key, ok := r.phraseKey(i, last)
				if !ok {
					if words == 1 {
						break
					}
					continue
				}
				yield(key, i, last, r.opensGroup(i, from), r.closesGroup(last, to),
					i > from && isIn(determiners(), Normal(r.Word(i-1))))
			}
		}
	}
}

// phraseKey returns the stems of the tokens first to last if they can be a phrase.
func (r *Reading) phraseKey(first, last int) (string, bool) {
	content := 0
	var key strings.Builder
	for i := first; i <= last; i++ {
		if r.Tokens[i].Class != Word || r.claim[i] || i > first && !r.gap(i-1) {
			return "", false
		}
		s := r.Word(i)
		w := Normal(s)
		rank := WordRank(w)
		if rank == Stop || hasUpper(s) && i > first || utf8.RuneCountInString(w) < 3 || len(w) > 30 || strings.HasSuffix(w, "ly") {
			return "", false
		}
		if (i == last || i == first && last == first) && isVerbForm(w) {
			return "", false
		}
		if rank == Content && isASCIIOrLatin(w) {
			content++
		}
		if key.Len() > 0 {
			key.WriteByte(' ')
		}
		key.WriteString(Stem(w))
	}
	if content == 0 || first == last && (content == 0 || hasUpper(r.Word(first)) || len(r.Word(first)) < 4) {
		return "", false
	}
	return key.String(), true
}

// isVerbForm reports whether a word is more likely a verb or adjective by its ending.
func isVerbForm(w string) bool {
	for _, end := range []string{"ing", "ed", "ous", "ful", "less", "ive", "able", "ible", "n't", "est"} {
		if strings.HasSuffix(w, end) && len(w) > len(end)+2 {
			return true
		}
	}
	return false
}

// isASCIIOrLatin keeps phrases to alphabets with case, where capitals tell names from words.
func isASCIIOrLatin(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return r < 0x0530
}

// opensGroup reports whether a noun group may start at token i: after a determiner, a preposition or a sign.
func (r *Reading) opensGroup(i, from int) bool {
	if i == from {
		return true
	}
	if t := r.Tokens[i-1]; t.Class != Word {
		return true
	}
	w := Normal(r.Word(i - 1))
	return WordRank(w) == Stop && !isIn(pronouns(), w) || isPossessive(r.Word(i-1))
}

// closesGroup reports whether a noun group may end with token i: before a function word or a sign. What stands
// before a determiner is more likely a verb: the metric assesses the answer.
func (r *Reading) closesGroup(i, to int) bool {
	if i+1 >= to || r.Tokens[i+1].Class != Word {
		return true
	}
	next := Normal(r.Word(i + 1))
	return WordRank(next) == Stop && !isIn(objectStarts(), next)
}

// phrase returns the tokens as the name of a phrase: lower case, single spaces.
func (r *Reading) phrase(first, last int) string {
	words := make([]string, 0, last-first+1)
	for i := first; i <= last; i++ {
		w := r.Word(i)
		if i == last {
			w = strings.TrimSuffix(w, possessiveEnd(w))
		}
		words = append(words, strings.ToLower(spell(w)))
	}
	words[len(words)-1] = singular(words[len(words)-1])
	return strings.Join(words, " ")
}

// singular cuts the plural ending off an English word where that is safe by its spelling.
func singular(w string) string {
	stem, ok := strings.CutSuffix(w, "s")
	if !ok || len(w) < 4 {
		return w
	}
	switch {
	case strings.HasSuffix(stem, "ie") && len(w) > 4:
		return stem[:len(stem)-2] + "y"
	case strings.HasSuffix(stem, "sse"), strings.HasSuffix(stem, "she"), strings.HasSuffix(stem, "che"), strings.HasSuffix(stem, "xe"):
		return stem[:len(stem)-1]
	case strings.IndexByte("aiosu", stem[len(stem)-1]) >= 0, strings.HasSuffix(stem, "ic"):
		return w // canvas, analysis, chaos, glass, status, physics
	}
	for _, same := range [...]string{"series", "species", "lens", "news", "means"} {
		if w == same {
			return w
		}
	}
	return stem
}

// objectStarts begin what a verb acts on.
var objectStarts = sync.OnceValue(func() map[string]struct{} {
	return set("the a an this these those his her its their our your my each every how whether what which you it them us me him")
})

var determiners = sync.OnceValue(func() map[string]struct{} {
	return set("the a an this that these those his her its their our your my each every of no")
})

// pronouns and auxiliaries are followed by verbs, not by nouns.
var pronouns = sync.OnceValue(func() map[string]struct{} {
	return set("i you he she it we they who that which there to not never will would could should can may might must shall has have had is was are were be been do did does don't didn't")
})
