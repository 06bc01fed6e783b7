package lexical

import (
	"strings"
	"unicode/utf8"
)

// quoted takes what stands in 《》, 「」, 『』 and, in text of unspaced scripts, in “”.
func (m *miner) quoted() {
	for _, s := range m.Sentences {
		text := m.Text[s.Start:s.End]
		for i := 0; i < len(text); {
			k := strings.IndexAny(text[i:], "《「『“")
			if k < 0 {
				break
			}
			open, n := utf8.DecodeRuneInString(text[i+k:])
			start := i + k + n
			i = start
			limit := min(len(text), start+maxQuoted*utf8.UTFMax)
			end := strings.IndexRune(text[start:limit], closing(open))
			if end <= 0 {
				continue
			}
			inner := text[start : start+end]
			chars := utf8.RuneCountInString(inner)
			first, _ := utf8.DecodeRuneInString(inner)
			if !isUnspaced(first) || chars < 2 || chars > maxQuoted || strings.ContainsAny(inner, "，。！？；：、 …\n「」“”") || open != '《' && chars > 8 {
				continue
			}
			if open != '《' && (WordRank(inner) == Stop || !termBorders(inner)) {
				continue
			}
			m.terms[inner] = Quoted
			i = start + end
		}
	}
}

func closing(open rune) rune {
	switch open {
	case '《':
		return '》'
	case '「':
		return '」'
	case '『':
		return '』'
	}
	return '”'
}

// glosses takes what stands alone in brackets behind a word of another script: Lin Wei (林薇).
func (m *miner) glosses() {
	const longest = 6 // characters
	for i := 2; i+1 < len(m.Tokens); i++ {
		t := m.Tokens[i]
		if t.Class != Unspaced || m.Tokens[i-2].Class != Word || !m.isBracket(i-1, "(（") || !m.isBracket(i+1, ")）") {
			continue
		}
		s := m.Word(i)
		if n := utf8.RuneCountInString(s); n >= 2 && n <= longest && termBorders(s) {
			m.term(s, Mined)
		}
	}
}

// isBracket reports whether token i is one of the given signs.
func (m *miner) isBracket(i int, brackets string) bool {
	return m.Tokens[i].Class == Sign && strings.Contains(brackets, m.Word(i))
}

// transliterated finds foreign names in Chinese, whose parts a dot joins: the characters that stand for sounds on
// both sides of it.
func (m *miner) transliterated() {
	for i := 1; i+1 < len(m.Tokens); i++ {
		left, dot, right := m.Tokens[i-1], m.Tokens[i], m.Tokens[i+1]
		if dot.Class != Sign || left.Class != Unspaced || right.Class != Unspaced || left.End != dot.Start || dot.End != right.Start {
			continue
		}
		if w := m.Word(i); w != "·" && w != "・" && w != "•" {
			continue
		}
		start := left.End
		for start > left.Start {
			r, n := utf8.DecodeLastRuneInString(m.Text[left.Start:start])
			if !strings.ContainsRune(soundCharacters, r) && !isKatakana(r) {
				break
			}
			start -= n
		}
		end := right.Start
		for end < right.End {
			r, n := decode(m.Text, end)
			if !strings.ContainsRune(soundCharacters, r) && !isKatakana(r) {
				break
			}
			end += n
		}
		if start < left.End && end > right.Start {
			m.foreign[start] = end
			if first, _ := decode(m.Text, start); isKatakana(first) {
				continue
			}
			// Either half may stand alone later on.
			for _, half := range []string{m.Text[start:left.End], m.Text[right.Start:end]} {
				if utf8.RuneCountInString(half) >= 2 {
					m.terms[half] = Persona
				}
			}
		}
	}
}

// suffixed takes the names that end as places and organisations do.
func (m *miner) suffixed() {
	for _, s := range m.segments {
		if s.katakana {
			continue
		}
		from := 0
		for i := range s.runes {
			suffix := suffixAt(m.Text[s.offsets[i]:s.offsets[len(s.runes)]])
			if suffix == 0 || i == from {
				continue
			}
			from = max(from, i-maxStemRunes)
			start := m.leftBorder(s, from, i, i+suffix)
			if start < 0 || i-start < 1 || suffix == 1 && i-start > 4 {
				continue
			}
			// Many words end in 海 or 路; a province or a harbour is rarely anything else.
			name := m.Text[s.offsets[start]:s.offsets[i+suffix]]
			strong := i-start >= 2 && (suffix > 1 || strings.ContainsRune(strongSuffixes, s.runes[i]))
			g := m.grams[name]
			if termBorders(name) && (strong || g.count >= 2) && (g == nil || !m.cutsWord(name, g)) {
				m.term(name, Suffix)
				from = i + suffix
			}
		}
	}
}

const (
	// maxStemRunes bounds the characters before a suffix.
	maxStemRunes = 6
	// strongSuffixes are single characters that hardly end anything but a name.
	strongSuffixes = "省市县镇村岛港河江湖节"
)

// leftBorder decides where the name that ends at end starts: at the longest start that returns as often as
// the suffixed sequence does at its best, else at the beginning of the segment if that is short.
func (m *miner) leftBorder(s segment, from, suffix, end int) int {
	best, bestCount := -1, 1
	for start := from; start < suffix; start++ {
		g := m.grams[m.Text[s.offsets[start]:s.offsets[end]]]
		if end-start > maxGram || g == nil {
			continue
		}
		if g.count > bestCount {
			best, bestCount = start, g.count
		}
	}
	if best >= 0 {
		return best
	}
	if from == 0 && suffix <= 4 || s.open && from == 0 {
		return from
	}
	return -1
}

// places takes the provinces and great cities that stand in Chinese text. Those whose characters meet by chance
// (黄河南岸 is not in 河南) count only where a run begins.
func (m *miner) places() {
	for _, s := range m.segments {
		for i := 0; i+1 < len(s.runes); i++ {
			name := m.Text[s.offsets[i]:s.offsets[i+2]]
			if isIn(chinesePlaces(), name) || i == 0 && isIn(chanceChinesePlaces(), name) {
				m.term(name, Suffix)
			}
		}
	}
}

// IsPlace reports whether name is a province, prefecture or great city of the lists that Chinese and Japanese text is
// read with.
func IsPlace(name string) bool {
	return isIn(chinesePlaces(), name) || isIn(chanceChinesePlaces(), name) || isIn(japanesePlaces(), name)
}

// suffixAt returns the length in characters of the name suffix at the start of s, 0 if none.
func suffixAt(s string) int {
	end := 0
	best := 0
	for n := 1; n <= 3; n++ {
		_, w := utf8.DecodeRuneInString(s[end:])
		if w == 0 {
			break
		}
		end += w
		if isIn(suffixes(), s[:end]) {
			best = n
		}
	}
	return best
}

// isSuffixed reports whether key ends in a name suffix.
func isSuffixed(key string) bool {
	for i := range key {
		if isIn(suffixes(), key[i:]) {
			return i > 0
		}
	}
	return false
}

// people takes a family name with one or two characters when a title, a role or a verb of speech stands beside it,
// or when it is a usual name and the sentence tells of a person.
func (m *miner) people() {
	for k, s := range m.segments {
		if s.katakana {
			continue
		}
		if n := m.told(k); n > 0 {
			m.terms[m.Text[s.offsets[0]:s.offsets[n]]] = Persona
		}
		for i := range s.runes {
			family := familyAt(m.Text[s.offsets[i]:s.offsets[len(s.runes)]])
			if family == 0 {
				continue
			}
			if n := m.given(s, i, family); n > 0 {
				m.terms[m.Text[s.offsets[i]:s.offsets[i+n]]] = Persona
			}
		}
	}
}

// told returns the length of the usual name that segment k begins with, where the words around tell that it is one:
// another such name (李伟和王芳), relatives (林月的哥哥是林峰), a place (林月在南京). Else 0.
func (m *miner) told(k int) int {
	s := m.segments[k]
	n := m.usual(s)
	if n == 0 {
		return 0
	}
	token := m.Tokens[s.token]
	before, after := m.Text[token.Start:s.offsets[0]], m.Text[s.offsets[n]:token.End]
	if kin, ok := strings.CutSuffix(before, "是"); ok && endsIn(kin, relatives()) {
		return n
	}
	if kin, ok := strings.CutPrefix(after, "的"); ok && startsAny(kin, relatives()) {
		return n
	}
	if place, ok := strings.CutPrefix(after, "在"); ok && isIn(chinesePlaces(), firstRunes(place, 2)) {
		return n
	}
	if k > 0 && m.joined(k-1) && m.usual(m.segments[k-1]) == len(m.segments[k-1].runes) {
		return n
	}
	if n == len(s.runes) && m.joined(k) && m.usual(m.segments[k+1]) > 0 {
		return n
	}
	return 0
}

// joined reports whether nothing but an "and" stands between segment k and the next one.
func (m *miner) joined(k int) bool {
	if k+1 >= len(m.segments) {
		return false
	}
	s, next := m.segments[k], m.segments[k+1]
	between := m.Text[s.offsets[len(s.runes)]:next.offsets[0]]
	return s.token == next.token && (between == "和" || between == "与" || between == "跟" || between == "及")
}

// usual returns the length of the name at the start of s that is made of a family name and of characters that given
// names are made of, 0 if there is none. A word must end with it.
func (m *miner) usual(s segment) int {
	if s.katakana {
		return 0
	}
	text := m.Text[s.offsets[0]:s.offsets[len(s.runes)]]
	family := familyAt(text)
	for n := family + 2; family > 0 && n > family; n-- {
		if n > len(s.runes) || n < len(s.runes) && !strings.ContainsRune(badFirst, s.runes[n]) {
			continue
		}
		name := firstRunes(text, n)
		given := strings.Trim(string(s.runes[family:n]), givenCharacters) == ""
		if given && !isSuffixed(name) && !IsPlace(name) && !isIn(notPeople(), name) && !isIn(notPeople(), firstRunes(name, 2)) {
			return n
		}
	}
	return 0
}

// given returns the length of the personal name at i, whose family name has family characters, or 0. A title, a
// role or a verb of speech must stand beside this occurrence; how many characters belong to it is then told by
// which sequence returns.
func (m *miner) given(s segment, i, family int) int {
	const longestRole = 12 // bytes
	role := endsRole(m.Text[max(m.Tokens[s.token].Start, s.offsets[i]-longestRole):s.offsets[i]])
	best, bestCount := 0, 0
	for n := family + 2; n > family; n-- {
		if i+n > len(s.runes) {
			continue
		}
		key := m.Text[s.offsets[i]:s.offsets[i+n]]
		if !termBorders(key) || isSuffixed(key) || isIn(notPeople(), key) || isIn(notPeople(), firstRunes(key, 2)) {
			continue
		}
		g := m.grams[key]
		if m.cutsWord(key, g) || g.count > 1 && g.left == 0 && len(g.lefts) == 1 && !role {
			continue // the end of a longer word: 过程中
		}
		count := g.count
		rest := m.Text[s.offsets[i+n]:s.offsets[len(s.runes)]]
		after := startsAny(rest, personAfter()) || rest == "" && startsAny(m.Text[s.offsets[i+n]:m.Tokens[s.token].End], personAfter())
		alone := i == 0 && !s.open && rest == "" && count > 1 // "林薇，", "林薇是": a subject that returns
		if !after && !alone && !(role && (rest == "" || count > 1)) {
			continue
		}
		if best == 0 || bestCount*10 < count*6 {
			best, bestCount = n, count
		}
	}
	return best
}

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func familyAt(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	_, k := utf8.DecodeRuneInString(s[n:])
	if isIn(families(), s[:n+k]) && k > 0 {
		return 2
	}
	if isIn(families(), s[:n]) {
		return 1
	}
	return 0
}

func endsRole(s string) bool { return endsIn(s, roles()) }

func endsIn(s string, words map[string]struct{}) bool {
	for w := range words {
		if strings.HasSuffix(s, w) {
			return true
		}
	}
	return false
}

func startsAny(s string, words map[string]struct{}) bool {
	end := 0
	for range 3 {
		_, w := utf8.DecodeRuneInString(s[end:])
		if w == 0 {
			return false
		}
		end += w
		if isIn(words, s[:end]) {
			return true
		}
	}
	return false
}
