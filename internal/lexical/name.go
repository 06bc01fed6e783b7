package lexical

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// stat counts how a word is written in a text.
type stat struct {
	middle  int // capitalised inside a sentence, where only names are
	initial int // capitalised where any word would be
	lower   int
	caps    int // all capitals in a sentence that is not
}

// nameReader finds names by case.
type nameReader struct {
	*Reading
	stats   map[string]*stat
	lowered map[string]bool // stems of words seen in lower case
	codes   map[string]int  // how often each code span comes
	surface map[string]*surfaces
	normals []string // per token, "" where the token is no word
	shapes  []shape
	initial []bool // per token: a capital would mean nothing here
}

// surfaces counts the spellings of one name.
type surfaces struct {
	best  string
	count map[string]int
}

// maxName bounds a name in runes: what is longer is a hash, an encoded blob or a heading.
const maxName = 60

// maxChain bounds the words of a name.
const maxChain = 8

func (r *Reading) names() {
	n := nameReader{Reading: r, stats: make(map[string]*stat), lowered: make(map[string]bool), surface: make(map[string]*surfaces),
		codes: make(map[string]int), normals: make([]string, len(r.Tokens)), shapes: make([]shape, len(r.Tokens)), initial: make([]bool, len(r.Tokens))}
	titled := make([]bool, len(r.Sentences))
	for i := range r.Sentences {
		titled[i] = n.count(i)
	}
	// Title case and capitals tell nothing by themselves: what stands in them is a name if the rest of the text
	// says so. The rest is read first.
	first := len(r.Mentions)
	for _, inTitles := range []bool{false, true} {
		for i, s := range r.Sentences {
			if s.Block != Listing && titled[i] == inTitles {
				n.sentence(i, inTitles)
			}
		}
	}
	n.unify(r.Mentions[first:])
}

// count gathers the statistics of a sentence and reports whether it is set in title case or in capitals.
func (n *nameReader) count(sentence int) bool {
	from, to := n.TokenRange(sentence)
	block := n.Sentences[sentence].Block
	fresh := true // at the start, after an opening quote, a colon, a cell border
	upper, words, spaceless, commas := 0, 0, 0, 0
	for i := from; i < to; i++ {
		t := n.Tokens[i]
		n.initial[i] = fresh
		switch t.Class {
		case Word, Number:
			w := n.Word(i)
			n.shapes[i] = shapeOf(w)
			n.normals[i] = Normal(w)
			if t.Class == Word && len(w) >= 3 && WordRank(n.normals[i]) != Stop {
				words++
				if n.shapes[i].first {
					upper++
				}
			}
			fresh = false
		case Sign:
			fresh = opens(n.Text, t, fresh)
			if n.Text[t.Start] == ',' {
				commas++
			}
		case Unspaced:
			spaceless++
			fresh = false
		case Code:
			n.codes[n.Word(i)]++
		case Tag:
		}
	}
	titled := block == Listing || words >= 4 && upper == words && commas < 2
	if block == Heading {
		line := n.Text[n.Sentences[sentence].Start:n.Sentences[sentence].End]
		titled = words >= 1 && upper*10 >= words*8 || isCapitals(line)
	}
	for i := from; i < to; i++ {
		if n.normals[i] == "" || n.Tokens[i].Class != Word {
			continue
		}
		if spaceless > 0 {
			n.initial[i] = false // a capital in Chinese text is the writer's choice, wherever it stands
		}
		st := n.stats[n.normals[i]]
		if st == nil {
			st = new(stat)
			n.stats[n.normals[i]] = st
		}
		sh := n.shapes[i]
		switch {
		case sh.upper == 0:
			st.lower++
			if titled {
				break
			}
			n.lowered[Stem(n.normals[i])] = true
		case titled:
		case sh.allUpper():
			st.caps++
		case !sh.first:
		case n.initial[i]:
			st.initial++
		default:
			st.middle++
		}
	}
	return titled
}

// opens reports whether a capital after the sign t says nothing about the word.
func opens(text string, t Token, fresh bool) bool {
	switch text[t.Start:t.End] {
	case "\"", "“", "‘", "'", "«", "„", ":", "|", "：", "“‘", "—", "–", "!", "?", "…", "[", ";":
		return true
	case "*", "_", "(", "-", "•", ".", "#", "~", "=", "+", ">":
		return fresh
	}
	return false
}

// sentence adds the mentions of one sentence.
func (n *nameReader) sentence(sentence int, titled bool) {
	from, to := n.TokenRange(sentence)
	for i := from; i < to; {
		switch n.Tokens[i].Class {
		case Code:
			n.code(i, sentence)
		case Word:
			last := n.chain(i, to, titled)
			if (titled || n.initial[i]) && n.shapes[i].first {
				if k := n.known(i, to); k > max(i, last) {
					last = k
				}
			}
			if last >= i {
				if next := n.addChain(i, last, sentence, titled); next > i {
					i = next
					continue
				}
			}
		}
		i++
	}
}

// code adds a code span or path that can be a name.
func (n *nameReader) code(i, sentence int) {
	t := n.Tokens[i]
	s := n.Word(i)
	if len(s) < 2 || len(s) > 40 || strings.Contains(s, "://") || strings.HasPrefix(s, "www.") || strings.Contains(s, "@") ||
		strings.ContainsAny(s, "<>|\"{}\\=;%…") || !isCodeName(s, n.codes[s] > 1) {
		return
	}
	if t.Start == 0 || n.Text[t.Start-1] != '`' {
		if strings.IndexByte(s[1:], '/') < 0 || strings.HasSuffix(s, "/") {
			return
		}
	}
	n.add(Mention{Start: t.Start, End: t.End, First: i, Last: i, Sentence: sentence, Name: strings.Join(strings.Fields(s), " "), Origin: Span})
}

// isCodeName reports whether code names a thing: a program, a file, an identifier. Options, command lines,
// expressions, quantities and everyday words that happen to be set as code do not; a word of the ordinary
// vocabulary does when it returns.
func isCodeName(s string, returns bool) bool {
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	words := strings.Fields(s)
	if letters*2 < utf8.RuneCountInString(s) || s[0] == '-' || len(words) > 2 {
		return false
	}
	for i, w := range words {
		if i > 0 && !unicode.IsLetter(rune(w[0])) && w[0] < utf8.RuneSelf {
			return false // an argument
		}
	}
	if sh := shapeOf(s); len(words) > 1 || sh.inner || sh.allUpper() {
		return !isQuantity(s)
	}
	w := Normal(s)
	return !isQuantity(s) && WordRank(w) == Content && (returns || !isOrdinary(w))
}

// isQuantity reports whether a word is a number with its unit: 4GB, 5m, 8-bit.
func isQuantity(s string) bool {
	unit := strings.TrimLeft(s, "0123456789.,")
	if unit == s || unit == "" {
		return false
	}
	word := strings.TrimPrefix(unit, "-")
	return len(word) < len(unit) && strings.ToLower(word) == word || WordRank(Normal(word)) == Stop || len(word) == 1 && word >= "a"
}

// verdict says what a word is by its writing alone.
type verdict uint8

const (
	plainWord verdict = iota
	weakName          // may be part of a name, starts none
	strongName
)

// judge decides on token i.
func (n *nameReader) judge(i, to int, titled bool) verdict {
	if n.Tokens[i].Class != Word {
		return plainWord
	}
	sh, w := n.shapes[i], n.normals[i]
	rank := WordRank(w)
	if rank == Stop && sh.allUpper() && sh.runes >= 2 && !titled && i > 0 && i+1 < to && n.isSign(i-1, "(") && n.isSign(i+1, ")") {
		return strongName // (WHO)
	}
	if w == "" || rank == Stop || sh.upper+sh.lower < 2 && !titled {
		if sh.upper == 1 && sh.runes == 1 && w != "i" && (rank != Stop || i+1 < to && n.isSign(i+1, ".") && n.Tokens[i+1].Start == n.Tokens[i].End) {
			return weakName // an initial
		}
		return plainWord
	}
	if sh.special() {
		if isBlob(n.Word(i), sh) || isQuantity(n.Word(i)) || isNumbering(n.Word(i)) || isQualified(w) || sh.upper == 0 && (sh.lower < 3 || !strings.ContainsAny(w, "-.:_") && n.stats[w].lower < 2) {
			return plainWord
		}
		return strongName
	}
	st := n.stats[w]
	switch {
	case sh.allUpper():
		if st.middle > 0 && st.middle >= st.lower {
			return strongName
		}
		if titled || rank == Common || st.caps == 0 || st.lower > st.caps || st.caps < minOrdinaryCaps && isOrdinary(w) {
			return plainWord
		}
		if sh.runes <= 6 && !isRoman(n.Word(i)) || st.caps >= 2 {
			return strongName
		}
		return weakName
	case !sh.first:
		if _, isTerm := spacelessTerm(n, i); isTerm {
			return strongName
		}
		return plainWord
	}
	if titled {
		if st.middle > 0 && st.middle >= st.lower {
			return strongName
		}
		return plainWord
	}
	if !n.initial[i] {
		if st.lower > 2*st.middle || isOrdinary(w) && (st.middle < 2 || st.middle <= st.lower) {
			return weakName
		}
		return strongName
	}
	switch {
	case st.middle > st.lower && (st.middle > 1 || !isOrdinary(w)):
		return strongName
	case rank == Common || st.lower > 0 || n.lowered[Stem(w)]:
		return plainWord
	case isOrdinary(w):
		if i+1 < to && n.Tokens[i+1].Class == Word && n.continues(i, to, titled) > i {
			return weakName
		}
		return plainWord
	case n.firstOnly(i, to, st):
		return strongName
	}
	return weakName
}

// minOrdinaryCaps is how often an ordinary word must stand in capitals to be a name: a keyword of some language,
// not a warning.
const minOrdinaryCaps = 3

// isNumbering reports whether a word is the number of a section: 1.F.3, 2.a.
func isNumbering(w string) bool {
	if !isASCIIDigit(w[0]) || !strings.Contains(w, ".") {
		return false
	}
	for part := range strings.SplitSeq(w, ".") {
		if len(part) > 2 {
			return false
		}
	}
	return true
}

// isQualified reports whether a word in normal form is a compound that says how something is, not what:
// base64-encoded, arm64-specific.
func isQualified(w string) bool {
	i := strings.LastIndexByte(w, '-')
	if i < 0 {
		return false
	}
	tail := w[i+1:]
	return isVerbForm(tail) || tail == "specific" || tail == "only" || tail == "like" || tail == "based" || strings.HasPrefix(w, "non-")
}

// spacelessTerm reports whether the lower-case word i stands directly beside Chinese or Japanese text, where
// any Latin word of substance is a term.
func spacelessTerm(n *nameReader, i int) (string, bool) {
	sh := n.shapes[i]
	w := n.normals[i]
	if sh.lower < 3 || WordRank(w) != Content || n.stats[w].lower < 2 {
		return "", false
	}
	near := func(j int) bool { return j >= 0 && j < len(n.Tokens) && n.Tokens[j].Class == Unspaced }
	return w, near(i-1) || near(i+1)
}

// firstOnly decides on a word that only ever starts sentences: a name if its form and its company say so.
func (n *nameReader) firstOnly(i, to int, st *stat) bool {
	w := n.normals[i]
	if isPossessive(n.Word(i)) {
		return true
	}
	if i+1 < to && n.isSign(i+1, "!") {
		return false // a cry
	}
	for _, end := range []string{"ly", "ing", "ed", "tion", "ness", "ment", "ous", "ful", "less", "able", "ive"} {
		if strings.HasSuffix(w, end) {
			return false
		}
	}
	if strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && st.initial < 3 {
		return false
	}
	if st.initial >= 2 && len(w) > 3 {
		return true
	}
	return i+1 < to && n.gap(i) && isIn(finiteVerbs(), n.normals[i+1]) && n.shapes[i+1].upper == 0 && len(w) > 3
}

// chain returns the last token of the name that starts at i, or i-1 when none does.
func (n *nameReader) chain(i, to int, titled bool) int {
	v := n.judge(i, to, titled)
	title := n.title(i)
	switch {
	case v == strongName:
	case v == weakName && (n.continues(i, to, titled) > i || !n.initial[i] && n.followsTitleCase(i, to)):
	case title && n.continues(i, to, titled) > i:
	case v == plainWord && !titled && n.shapes[i].first && isIn(chainHeads(), n.normals[i]) && n.continues(i, to, titled) > i:
	default:
		return i - 1
	}
	last := i
	for words := 1; words < maxChain && (!isPossessive(n.Word(last)) || !titled && n.keepsPossessive(last+1, to)); words++ {
		next := n.continues(last, to, titled)
		if next == last || n.normals[next] == n.normals[last] {
			break
		}
		last = next
	}
	return last
}

// keepsPossessive reports whether the word at i makes one name with the possessive before it: Martin's Day, Fermat's
// Theorem; Scrooge's Nephew are two.
func (n *nameReader) keepsPossessive(i, to int) bool {
	return i < to && n.gap(i-1) && n.shapes[i].first && isIn(possessed(), n.normals[i])
}

// known returns the last token of the longest name of several words that starts at i and is known from elsewhere
// in the text, or i.
func (n *nameReader) known(i, to int) int {
	found := i
	for last := i + 1; last < min(to, i+maxChain) && n.gap(last-1); last++ {
		w := n.Text[n.Tokens[i].Start:n.Tokens[last].End]
		if n.surface[Normal(spell(w))] != nil {
			found = last
		}
	}
	return found
}

// followsTitleCase reports whether the weak name at i is followed by another capitalised word.
func (n *nameReader) followsTitleCase(i, to int) bool {
	return i+1 < to && n.gap(i) && n.shapes[i+1].first && n.shapes[i+1].lower > 0 && WordRank(n.normals[i+1]) != Stop
}

// title reports whether token i is a form of address.
func (n *nameReader) title(i int) bool {
	_, ok := titles()[n.normals[i]]
	return ok && n.shapes[i].first
}

// continues returns the token that a name goes on with after token i, or i when it ends there.
func (n *nameReader) continues(i, to int, titled bool) int {
	at := i
	if at+1 < to && n.isSign(at+1, ".") && n.Tokens[at+1].Start == n.Tokens[at].End &&
		(n.shapes[at].runes == 1 || n.title(at) || isIn(abbreviations(), n.normals[at])) {
		at++ // J. K., Mr., St.
	}
	if at+1 >= to || !n.gap(at) {
		return i
	}
	if n.nameWord(at+1, to, titled, i) {
		return at + 1
	}
	if n.Tokens[at+1].Class == Number && n.serial(at+1, to, n.shapes[i]) && at == i && n.judge(i, to, titled) == strongName {
		return at + 1
	}
	if at != i {
		return i
	}
	// A connector: one or two small words, then a name word.
	w := n.normals[at+1]
	isAnd := n.isSign(at+1, "&")
	isTo := w == "to" && at > 0 && n.shapes[i].first && WordRank(n.normals[i]) == Stop // Yet to Come
	if w == "of" && i > 0 && n.gap(i-1) && n.shapes[i-1].first && WordRank(n.normals[i-1]) != Stop && !isIn(bodies(), n.normals[i]) && !n.initial[i] {
		return i // Lin Wei of the station; Bank of England and University College of London go on
	}
	if !isAnd && !isTo && (n.shapes[at+1].upper > 0 || !isIn(connectors(), w) && !(w == "for" && isIn(bodies(), n.normals[i]))) {
		return i
	}
	j := at + 2
	if j < to && isIn(innerConnectors(), n.normals[j]) && n.shapes[j].upper == 0 && n.gap(j-1) {
		j++
	}
	if j < to && n.gap(j-1) && n.nameWord(j, to, titled, i) && WordRank(n.normals[j]) != Stop {
		return j
	}
	return i
}

// nameWord reports whether token j can go on a name after token prev.
func (n *nameReader) nameWord(j, to int, titled bool, prev int) bool {
	if n.Tokens[j].Class != Word {
		return false
	}
	sh := n.shapes[j]
	if titled {
		return n.judge(j, to, titled) == strongName
	}
	if !sh.first && !sh.special() || sh.first && sh.allUpper() && sh.runes > 6 && !n.shapes[prev].allUpper() {
		return false
	}
	if sh.special() && sh.upper == 0 || isBlob(n.Word(j), sh) {
		return false
	}
	if WordRank(n.normals[j]) == Stop {
		// A capital on a function word counts inside a name only: Christmas Yet to Come.
		return sh.lower > 0 && j+1 < to && n.gap(j) && (n.shapes[j+1].first && WordRank(n.normals[j+1]) != Stop ||
			n.normals[j+1] == "to" && j+2 < to && n.shapes[j+2].first) && sh.runes > 1
	}
	return true
}

// serial reports whether the number at i belongs to a name: RTX 4090, Windows 11; no year, no count.
func (n *nameReader) serial(i, to int, before shape) bool {
	s := n.Word(i)
	if len(s) > 4 || strings.ContainsAny(s, ",:") || len(s) == 4 && s >= "1500" && s < "2100" {
		return false
	}
	return before.allUpper() || before.special() || i+1 >= to || n.Tokens[i+1].Class != Word || n.shapes[i+1].first || !n.gap(i)
}

// addChain adds the name from token i to last and returns where to read on, or i when nothing is left of it.
func (n *nameReader) addChain(i, last, sentence int, titled bool) int {
	_, to := n.TokenRange(sentence)
	first := i
	if n.surface[Normal(spell(n.Text[n.Tokens[i].Start:n.Tokens[last].End]))] == nil {
		for first < last && n.edge(first) {
			first++
		}
	}
	title := ""
	for first < last && n.title(first) {
		next := first + 1
		if n.isSign(next, ".") {
			next++
		}
		if next > last || !n.drops(first, last-next+1) {
			break
		}
		title = n.Text[n.Tokens[first].Start:n.Tokens[next-1].End]
		first = next
	}
	for last > first && (n.isSign(last, ".") || n.edge(last) || isIn(connectors(), n.normals[last]) && n.shapes[last].upper == 0) {
		last--
	}
	w := n.normals[last]
	if first == last && (isIn(calendar(), w) || n.title(first) || n.edge(first) || n.shapes[first].runes == 1 || WordRank(w) == Stop && n.judge(first, to, titled) != strongName || isRoman(n.Word(first))) {
		return last + 1
	}
	if first == last && (isOrdinary(w) && n.judge(first, to, titled) != strongName || isIn(nationalities(), w) || n.isOneOf(first)) {
		return last + 1
	}
	end := n.Tokens[last].End
	possessive := isPossessive(n.Word(last))
	if possessive {
		end -= len(possessiveEnd(n.Word(last)))
	}
	if !possessive && strings.Contains(n.Word(last), ".") && n.shapes[last].allUpper() && last+1 < len(n.Tokens) && n.isSign(last+1, ".") && n.Tokens[last+1].Start == end {
		end++ // U.S.
	}
	name := singularAcronym(spell(n.Text[n.Tokens[first].Start:end]))
	if utf8.RuneCountInString(name) > maxName {
		return last + 1
	}
	key := Normal(name)
	sf := n.surface[key]
	if titled && sf == nil && !(first == last && (n.shapes[first].special() || n.stats[n.normals[first]].caps > 0)) {
		return last + 1
	}
	origin := Proper
	if first == last && n.shapes[first].allUpper() && n.shapes[first].runes <= 6 {
		origin = Acronym
	}
	start := n.Tokens[first].Start
	n.add(Mention{Start: start, End: end, First: first, Last: last, Sentence: sentence, Name: name, Title: title, Possessive: possessive, Origin: origin})
	if sf == nil {
		sf = &surfaces{count: make(map[string]int)}
		n.surface[key] = sf
	}
	sf.count[name]++
	if sf.best == "" || better(name, sf.best, sf.count) {
		sf.best = name
	}
	return last + 1
}

// edge reports whether token i may not start or end a name: an article, a function word, a plain word that
// the sentence begins with.
func (n *nameReader) edge(i int) bool {
	if n.Tokens[i].Class != Word || n.title(i) || n.shapes[i].runes == 1 && i+1 < len(n.Tokens) && n.isSign(i+1, ".") {
		return false
	}
	if WordRank(n.normals[i]) == Stop && !n.shapes[i].allUpper() && !n.shapes[i].special() && n.stats[n.normals[i]].middle < 3 {
		return true
	}
	st := n.stats[n.normals[i]]
	return n.initial[i] && st.middle == 0 && !isIn(chainHeads(), n.normals[i]) && !n.shapes[i].special() &&
		(WordRank(n.normals[i]) == Common || strings.HasSuffix(n.normals[i], "ing") && len(n.normals[i]) > minGerund)
}

// minGerund is the length in bytes from which a word in -ing that starts a sentence is taken for a verb.
const minGerund = 6

// isOneOf reports whether the word at i is one of many by what stands before it: a Glee, any Defect, no Parrot.
// Capitals of this kind are the writer's emphasis.
func (n *nameReader) isOneOf(i int) bool {
	return i > 0 && n.Tokens[i-1].Class == Word && n.gap(i-1) && !n.shapes[i].special() && !n.shapes[i].allUpper() &&
		isIn(indefinite(), n.normals[i-1])
}

// drops reports whether the title at token i is no part of the name that rest tokens follow with. Plain forms
// of address never are; ranks and Mrs. tell people of one family apart, and go only before a full name.
func (n *nameReader) drops(i, rest int) bool {
	return titles()[n.normals[i]] || rest >= 2
}

// unify gives every spelling of a name its best one.
func (n *nameReader) unify(ms []Mention) {
	for i := range ms {
		if sf := n.surface[Normal(ms[i].Name)]; sf != nil && ms[i].Origin != Span {
			ms[i].Name = sf.best
		}
	}
}

// better reports whether spelling a is to be preferred to b: not in capitals, more frequent.
func better(a, b string, count map[string]int) bool {
	if ua, ub := shapeOf(a).allUpper(), shapeOf(b).allUpper(); ua != ub {
		return !ua
	}
	return count[a] > count[b]
}

// spell writes a name with single spaces and straight apostrophes.
func spell(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("’", "'", "‐", "-", "‑", "-", "\u00ad", "").Replace(s)
}

// singularAcronym cuts the plural s off a name that ends in an acronym: AMD GPUs and AMD GPU are one thing.
func singularAcronym(name string) string {
	last := name[strings.LastIndexByte(name, ' ')+1:]
	if stem := strings.TrimSuffix(last, "s"); len(stem) < len(last) && shapeOf(stem).allUpper() {
		return name[:len(name)-1]
	}
	return name
}

func isPossessive(w string) bool { return possessiveEnd(w) != "" }

// possessiveEnd returns the 's that w ends in, or "". The bare apostrophe after s is a sign of its own.
func possessiveEnd(w string) string {
	for _, end := range []string{"'s", "’s", "'S", "’S"} {
		if len(w) > len(end) && strings.HasSuffix(w, end) {
			return w[len(w)-len(end):]
		}
	}
	return ""
}

// isBlob reports whether a word is encoded data rather than a name: long, or letters and digits mixed at length.
func isBlob(w string, sh shape) bool {
	if sh.digits > 0 && sh.lower == 0 && sh.runes >= 4 && strings.Trim(w, "0123456789ABCDEF") == "" {
		return true // a code point, a colour, a digest
	}
	return sh.runes > 32 || sh.digits >= 4 && sh.runes >= 16 || sh.digits > 0 && sh.upper+sh.lower > 0 && sh.runes >= 24 && !strings.ContainsAny(w, ".-_:")
}

func isRoman(w string) bool { return strings.Trim(w, "IVXLC") == "" && len(w) <= 6 }

func isIn(m map[string]struct{}, w string) bool {
	_, ok := m[w]
	return ok
}

var (
	connectors = sync.OnceValue(func() map[string]struct{} {
		return set("of de du des la le von van der den di da dos das del della al bin ibn y")
	})
	innerConnectors = sync.OnceValue(func() map[string]struct{} { return set("the la las los der den des of") })
	// bodies are the words that "for" may follow inside a name.
	bodies = sync.OnceValue(func() map[string]struct{} {
		return set("bank house court church museum college university hospital order republic kingdom city house knights bishop duke king queen earl prince francis foundation institute centre center ministry department society association organization organisation committee council agency office fund campaign union alliance network school academy bureau commission ministry")
	})
	// chainHeads are everyday words that begin names when a name follows.
	chainHeads = sync.OnceValue(func() map[string]struct{} {
		return set("lake mount river port cape fort north south east west new great little royal national saint san santa los las el la upper lower st mt king queen old tiny young black white red green blue grand united western eastern northern southern central high")
	})
	finiteVerbs = sync.OnceValue(func() map[string]struct{} {
		return set("is was has had were are will would can could said says asked replied cried wrote writes knew felt saw came went took gave made found told did does became began kept keeps stood sat runs ran lives lived works worked built owns owned leads led supports provides allows uses offers includes requires shows remains moved opened published founded called")
	})
	// possessed are what follows a possessive inside a name.
	possessed = sync.OnceValue(func() map[string]struct{} {
		return set("day eve night gate square street church cathedral hospital college school bridge bay cove head point island wharf hall law theorem cup syndrome disease comet lemma algorithm equation")
	})
	// indefinite are determiners that go with one of many, not with a name.
	indefinite = sync.OnceValue(func() map[string]struct{} {
		return set("a an any some every each no such another this that these those")
	})
	// nationalities are adjectives that are always written with a capital.
	nationalities = sync.OnceValue(func() map[string]struct{} {
		return set("american arabian arabic asian australian austrian belgian brazilian british bulgarian canadian catholic celtic chinese christian croatian cuban czech danish dutch egyptian english european finnish french german gothic greek hungarian indian indonesian iranian iraqi irish israeli italian japanese jewish korean latin mexican muslim norman norwegian persian polish portuguese prussian roman romanian russian saxon scandinavian scotch scottish serbian siberian spanish swedish swiss syrian thai tibetan turkish ukrainian victorian vietnamese welsh african")
	})
	// calendar are names that say when, not what.
	calendar = sync.OnceValue(func() map[string]struct{} {
		return set("january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun")
	})
	// titles are forms of address; true: never part of a name.
	titles = sync.OnceValue(func() map[string]bool {
		m := map[string]bool{"mr": true, "dr": true, "prof": true, "messrs": true, "herr": true, "monsieur": true, "m": true}
		for w := range set("mrs ms miss mme mlle sir lady lord madam madame captain capt lieutenant lt sergeant sgt general gen colonel col major president professor doctor judge senator governor mayor father sister brother uncle aunt councillor inspector admiral commander reverend rev bishop pope prince princess duke count baron chief minister chancellor director frau bruder schwester pater pfarrer fraulein doktor meister burgermeister señor señora don") {
			m[w] = false
		}
		return m
	})
)
