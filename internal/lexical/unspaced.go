package lexical

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxGram bounds a mined term in characters.
	maxGram = 8
	// maxMined bounds the terms that repetition alone brings forth in one text; 《titles》, names with suffixes
	// and people are not counted.
	maxMined = 24
	// cohesion is how much more often the halves of a term must meet than chance has it.
	cohesion = 4.0
	// maxQuoted bounds a 《title》 or 「term」 in characters.
	maxQuoted = 24
)

// segment is a run of one script inside an unspaced token, between function words.
type segment struct {
	token    int
	offsets  []int // byte offsets of the characters in the text, and the end
	runes    []rune
	katakana bool
	open     bool // the run goes on before it: a function word, not punctuation, is its left neighbour
}

// gram counts one character sequence of a text.
type gram struct {
	count, first int
	left, right  int // borders of segments beside it: strong evidence of a border of the term
	lefts        map[rune]struct{}
	rights       map[rune]struct{}
}

// miner finds the terms of unspaced scripts.
type miner struct {
	*Reading
	segments []segment
	grams    map[string]*gram
	total    int // characters
	japanese bool
	terms    map[string]Origin
	foreign  map[int]int // start and end of transliterated names
}

// unspaced adds the mentions in unspaced scripts.
func (r *Reading) unspaced() {
	m := miner{Reading: r, grams: make(map[string]*gram), terms: make(map[string]Origin), foreign: make(map[int]int)}
	hiragana := 0
	for i, t := range r.Tokens {
		if t.Class != Unspaced {
			continue
		}
		for _, ch := range r.Word(i) {
			if m.total++; isHiragana(ch) {
				hiragana++
			}
		}
	}
	m.japanese = hiragana*5 > m.total
	for i, t := range r.Tokens {
		if t.Class == Unspaced {
			m.cut(i)
		}
	}
	if len(m.segments) == 0 {
		return
	}
	m.quoted()
	m.glosses()
	m.transliterated()
	if m.japanese {
		m.japaneseNames()
		m.runs()
	} else {
		m.count()
		m.people()
		m.suffixed()
		m.places()
		m.repeated()
	}
	m.mark()
}

// cut splits token i into segments of Han and of katakana; in Chinese, function words end a segment as well.
func (m *miner) cut(i int) {
	t := m.Tokens[i]
	var seg segment
	flush := func(end int) {
		if len(seg.runes) > 0 {
			seg.offsets = append(seg.offsets, end)
			m.segments = append(m.segments, seg)
		}
		seg = segment{token: i, open: true}
	}
	seg.token = i
	at := t.Start
	for at < t.End {
		ch, n := decode(m.Text, at)
		word := 0
		if !m.japanese {
			word = splitAt(m.Text[at:t.End])
		}
		switch {
		case word > 0:
			flush(at)
			at += word
			continue
		case !IsHan(ch) && !isKatakana(ch):
			flush(at)
		default:
			if len(seg.runes) > 0 && seg.katakana != isKatakana(ch) {
				flush(at)
			}
			seg.katakana = isKatakana(ch)
			seg.runes = append(seg.runes, ch)
			seg.offsets = append(seg.offsets, at)
		}
		at += n
	}
	flush(t.End)
}

// splitAt returns the length in bytes of the longest function word that s starts with, 0 if none.
func splitAt(s string) int {
	if n := countedAt(s); n > 0 {
		return n
	}
	splits := splitters()
	end, longest := 0, 0
	for n := range 3 {
		_, w := utf8.DecodeRuneInString(s[end:])
		if w == 0 {
			break
		}
		end += w
		if _, ok := splits[s[:end]]; ok && (n > 0 || !keepsTogether(s)) {
			longest = end
		}
	}
	return longest
}

// countedAt returns the length in bytes of the count that s starts with, 0 if none: 三十棵, 第一封, 一九〇八年, 两. A
// single numeral that no measure follows may belong to a name.
func countedAt(s string) int {
	const numerals, measures = "一二两三四五六七八九十百千万亿〇零几数", "座片棵条只块盏口封个位艘间栋种次年月日天岁米元吨分秒点度公里多任名本家张支把层"
	end, n := 0, 0
	if strings.HasPrefix(s, "第") {
		end = len("第")
	}
	for end < len(s) {
		r, w := decode(s, end)
		if !strings.ContainsRune(numerals, r) {
			if strings.ContainsRune(measures, r) && n > 0 {
				return end + w
			}
			break
		}
		end += w
		n++
	}
	if n >= 2 {
		return end
	}
	return 0
}

// keepsTogether reports whether the character that s starts with belongs to a longer word here.
func keepsTogether(s string) bool {
	for _, w := range keptWords() {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	return false
}

// count counts the grams of all Han segments.
func (m *miner) count() {
	for _, s := range m.segments {
		if s.katakana {
			continue
		}
		for i := range s.runes {
			for n := 1; n <= maxGram && i+n <= len(s.runes); n++ {
				key := m.Text[s.offsets[i]:s.offsets[i+n]]
				g := m.grams[key]
				if g == nil {
					g = &gram{first: s.offsets[i]}
					m.grams[key] = g
				}
				g.count++
				if n == 1 {
					continue
				}
				if i == 0 {
					g.left++
				} else {
					g.lefts = addRune(g.lefts, s.runes[i-1])
				}
				if i+n == len(s.runes) {
					g.right++
				} else {
					g.rights = addRune(g.rights, s.runes[i+n])
				}
			}
		}
	}
}

// varietyCap is where counting different neighbours stops: more tell nothing new.
const varietyCap = 4

func addRune(m map[rune]struct{}, r rune) map[rune]struct{} {
	if m == nil {
		m = make(map[rune]struct{}, 1)
	}
	if len(m) < varietyCap {
		m[r] = struct{}{}
	}
	return m
}

// free reports whether both borders of a gram are borders of a term: different neighbours or segment ends.
func (g *gram) free() bool {
	return g.left+len(g.lefts) >= 2 && g.right+len(g.rights) >= 2
}

// coheres reports whether a gram's parts meet more often than by chance: the least of n·f(ab)/(f(a)·f(b)).
func (m *miner) coheres(key string, g *gram) bool {
	for i := range key {
		if i == 0 {
			continue
		}
		a, b := m.grams[key[:i]], m.grams[key[i:]]
		if float64(g.count)*float64(m.total) < cohesion*float64(a.count)*float64(b.count) {
			return false
		}
	}
	return true
}

// cutsWord reports whether a border of a term mostly lies inside a word: 智能手 before 机, 能手机 behind 智. Two
// characters are a word when they also meet elsewhere, without the rest of the term. Three characters are the rest of
// four when those return as a term: 智能手环, 智能手表.
func (m *miner) cutsWord(key string, g *gram) bool {
	_, n := utf8.DecodeRuneInString(key)
	_, l := utf8.DecodeLastRuneInString(key)
	three := utf8.RuneCountInString(key) == 3
	cut := func(neighbours map[rune]struct{}, whole, pair func(r string) string) bool {
		inside := 0
		for r := range neighbours {
			if strings.ContainsRune(badFirst, r) {
				continue // 岛上 is no word that 望鱼岛 cuts
			}
			here, all := m.grams[whole(string(r))], m.grams[pair(string(r))]
			if here != nil && all != nil && (all.count > here.count || three && here.count >= 2 && here.free()) {
				inside += here.count
			}
		}
		return inside*2 > g.count
	}
	return cut(g.rights, func(r string) string { return key + r }, func(r string) string { return key[len(key)-l:] + r }) ||
		cut(g.lefts, func(r string) string { return r + key }, func(r string) string { return r + key[:n] })
}

// repeated takes the sequences that return with different neighbours.
func (m *miner) repeated() {
	type candidate struct {
		key   string
		g     *gram
		chars int
	}
	var list []candidate
	for key, g := range m.grams {
		chars := utf8.RuneCountInString(key)
		if chars < 2 || g.count < 2 || g.count == 2 && chars == 2 || !g.free() || !termBorders(key) || !m.coheres(key, g) ||
			WordRank(key) != Content || m.cutsWord(key, g) {
			continue
		}
		list = append(list, candidate{key, g, chars})
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.chars, a.chars), cmp.Compare(a.g.first, b.g.first), cmp.Compare(a.key, b.key))
	})
	var kept []candidate
	for _, c := range list {
		inside := false
		for _, k := range kept {
			if k.g.count*10 >= c.g.count*7 && strings.Contains(k.key, c.key) {
				inside = true
				break
			}
		}
		if !inside && len(kept) < 8*maxMined {
			kept = append(kept, c)
		}
	}
	slices.SortFunc(kept, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.g.count*(b.chars-1), a.g.count*(a.chars-1)), cmp.Compare(a.g.first, b.g.first), cmp.Compare(a.key, b.key))
	})
	for i, c := range kept {
		if i == maxMined {
			break
		}
		m.term(c.key, Mined)
	}
}

// term adds a term unless it is there, by a stronger sign.
func (m *miner) term(s string, o Origin) {
	if _, ok := m.terms[s]; !ok {
		m.terms[s] = o
	}
}

// termBorders reports whether a term may start and end as key does.
func termBorders(key string) bool {
	first, n := utf8.DecodeRuneInString(key)
	last, l := utf8.DecodeLastRuneInString(key)
	if strings.ContainsRune(badFirst, first) || strings.ContainsRune(badLast, last) && !isSuffixed(key) {
		return false
	}
	if isIn(suffixes(), key) || WordRank(key) == Stop || WordRank(key[:n]) == Stop && n+l == len(key) {
		return false
	}
	return true
}

// runs takes, in Japanese, the runs of katakana and the repeated runs of Han between hiragana.
func (m *miner) runs() {
	counts := make(map[string]int)
	for _, s := range m.segments {
		if n := len(s.runes); n >= 2 && n <= 2*maxGram {
			counts[m.Text[s.offsets[0]:s.offsets[n]]]++
		}
	}
	for _, s := range m.segments {
		n := len(s.runes)
		if n < 2 || n > 2*maxGram {
			continue
		}
		key := m.Text[s.offsets[0]:s.offsets[n]]
		if s.katakana && n >= 3 && counts[key] >= 2 || !s.katakana && counts[key] >= 2 && (n > 2 || counts[key] >= 3) {
			m.term(key, Mined)
		}
	}
}

// mark adds a mention for every place of a term in the unspaced tokens, the longest first.
func (m *miner) mark() {
	longest := make(map[rune]int) // bytes of the longest term by first character
	for s := range m.terms {
		r, _ := utf8.DecodeRuneInString(s)
		longest[r] = max(longest[r], len(s))
	}
	sentence, done := 0, 0
	for i, t := range m.Tokens {
		for i >= m.bounds[sentence+1] {
			sentence++
		}
		if t.Class != Unspaced || m.Sentences[sentence].Block == Listing {
			continue
		}
		for at := max(t.Start, done); at < t.End; {
			r, n := decode(m.Text, at)
			if end, ok := m.foreign[at]; ok {
				last := i
				for m.Tokens[last].End < end {
					last++
				}
				origin := Persona
				if isKatakana(r) {
					origin = Mined // Japanese joins words of any kind
				}
				m.add(Mention{Start: at, End: end, First: i, Last: last, Sentence: sentence, Name: m.Text[at:end], Origin: origin})
				at, done = end, end
				continue
			}
			if size := m.longestAt(at, min(t.End, at+longest[r])); size > 0 {
				name := m.Text[at : at+size]
				m.add(Mention{Start: at, End: at + size, First: i, Last: i, Sentence: sentence, Name: name, Origin: m.terms[name]})
				at += size
				continue
			}
			at += n
		}
	}
}

// longestAt returns the length of the longest term at offset at that ends by limit, or 0.
func (m *miner) longestAt(at, limit int) int {
	for end := limit; end > at; end-- {
		if end < len(m.Text) && !utf8.RuneStart(m.Text[end]) {
			continue
		}
		if _, ok := m.terms[m.Text[at:end]]; ok {
			return end - at
		}
	}
	return 0
}
