package lexical

import (
	"cmp"
	"slices"
	"strings"
	"sync"
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
	kana := 0
	for i, t := range r.Tokens {
		if t.Class == Unspaced {
			kana += m.cut(i)
		}
	}
	if len(m.segments) == 0 {
		return
	}
	m.japanese = kana*5 > m.total
	m.quoted()
	m.glosses()
	m.transliterated()
	if m.japanese {
		m.runs()
	} else {
		m.count()
		m.people()
		m.suffixed()
		m.repeated()
	}
	m.mark()
}

// cut splits token i into segments of Han and of katakana and returns how many hiragana it holds.
func (m *miner) cut(i int) int {
	t := m.Tokens[i]
	hiragana := 0
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
		if isHiragana(ch) {
			hiragana++
		}
		m.total++
		word := splitAt(m.Text[at:t.End])
		switch {
		case word > 0:
			flush(at)
			m.total += utf8.RuneCountInString(m.Text[at:at+word]) - 1
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
	return hiragana
}

// splitAt returns the length in bytes of the function word that s starts with, 0 if none.
func splitAt(s string) int {
	if n := countedAt(s); n > 0 {
		return n
	}
	splits := splitters()
	end := 0
	for n := range 3 {
		_, w := utf8.DecodeRuneInString(s[end:])
		if w == 0 {
			break
		}
		end += w
		if n == 0 {
			if _, ok := splits[s[:end]]; ok && !keepsTogether(s) {
				return end
			}
		} else if _, ok := splits[s[:end]]; ok {
			return end
		}
	}
	return 0
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
		if chars < 2 || g.count < 2 || g.count == 2 && chars == 2 || !g.free() || !termBorders(key) || !m.coheres(key, g) {
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
			// Either half may stand alone later on.
			for _, half := range []string{m.Text[start:left.End], m.Text[right.Start:end]} {
				if utf8.RuneCountInString(half) >= 2 {
					m.terms[half] = Persona
				}
			}
		}
	}
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
			if termBorders(name) && (strong || m.grams[name].count >= 2) {
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

// people takes a family name with one or two characters when a title, a role or a verb of speech stands beside it.
func (m *miner) people() {
	for _, s := range m.segments {
		if s.katakana {
			continue
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
		count := m.grams[key].count
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

func endsRole(s string) bool {
	for w := range roles() {
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
			if end, ok := m.foreign[at]; ok {
				last := i
				for m.Tokens[last].End < end {
					last++
				}
				m.add(Mention{Start: at, End: end, First: i, Last: last, Sentence: sentence, Name: m.Text[at:end], Origin: Persona})
				at, done = end, end
				continue
			}
			r, n := decode(m.Text, at)
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

// Characters that start or end no term, although they occur inside some.
const (
	badFirst = "亿会能可要说将来去到上下里后前时对从向给过得地多少等些种次第年月日号点度万千百十两几一二三四五六七八九零〇々"
	badLast  = "所亿会能可要说将来去到上下里后前时对从向给过得地多少等些种次年月日号点度万千百十两几一二三四五六七八九零〇时候了在"
)

// soundCharacters are those that foreign names are written with.
const soundCharacters = "阿埃艾爱安昂奥巴白拜班邦保贝本比彼宾波伯勃布采查川达代戴丹道德登邓迪蒂丁顿多厄恩尔法范菲费芬丰弗福富盖甘冈高戈格贡古瓜哈海汉豪赫黑亨洪胡华霍基吉季加佳嘉贾简江杰捷金京居卡凯坎康考柯科克肯孔库夸奎昆拉莱赖兰朗劳勒雷蕾黎里理丽丝利莉连列烈林琳隆卢鲁路露伦罗萝洛马玛迈麦曼芒茂梅门蒙米密明摩莫默姆木穆拿纳娜南瑙内尼宁牛纽农努诺欧帕派潘庞培佩彭皮匹平珀普奇齐契恰强乔切钦琴琼丘曲让热仁日荣茹儒瑞若撒萨塞赛桑瑟森沙珊尚绍舍申圣施什史斯思松苏素孙索塔泰坦汤唐陶特腾提田廷通图托瓦娅万旺威韦维伟卫魏温文翁沃乌吾武西希悉锡夏香肖谢辛欣兴姓休修许雪雅亚扬杨耶叶伊依以易因英永尤于约泽扎詹张章珍珠朱兹宗祖佐"

var (
	splitters = sync.OnceValue(func() map[string]struct{} {
		m := set(stopChinese)
		for _, w := range strings.Fields("能 会 要 说 可 对 从 向 给 无 过 或 再 使 更 最 着 所 有 只 并 以") {
			delete(m, w)
		}
		for _, w := range strings.Fields(splitVerbs) {
			m[w] = struct{}{}
		}
		return m
	})
	// keptWords hold a function character inside a word.
	keptWords = sync.OnceValue(func() []string {
		return strings.Fields("将军 将领 由于 目的地 的确 和平 和谐 和声 共和国 就业 就读 与会 而立 被子 把手 了解 不锈钢 不动产 其余 个人 个体 没收 为例 之江 于谦 及时 及格 都市 都城 也门 又名 还原 因子 因素 其实 该校 此刻 在线 在场 是非 不丹 不列颠 有机 有限公司 有限 没落")
	})
	suffixes = sync.OnceValue(func() map[string]struct{} {
		return set(`公司 集团 大学 学院 学校 中学 小学 银行 医院 研究所 研究院 研究站 观测站 气象站 委员会 议会 理事会 协会 学会 商会 基金会 联盟 中心
博物馆 图书馆 档案馆 美术馆 灯塔 码头 磨坊 车站 机场 广场 公园 大桥 海峡 群岛 半岛 水库 运河 高原 平原 山脉 盆地 法院 政府 部门 出版社 报社 电视台 合作社 工厂 酒店 饭店
省 市 县 镇 村 区 岛 港 湾 河 江 湖 海 山 路 街 桥 站 寺 庙 塔 宫 城 州 国 洲 节 奖 战争 条约 会议 计划 工程 项目 算法 协议 定理 模型 框架 系统 数据库 语言 号`)
	})
	// personAfter follow a personal name: titles and verbs that people do.
	personAfter = sync.OnceValue(func() map[string]struct{} {
		return set("先生 女士 小姐 博士 教授 老师 医生 主任 站长 馆长 船长 镇长 市长 校长 队长 工程师 研究员 说 说道 认为 表示 指出 写道 写下 记得 告诉 回答 问道 问 回忆 笑道 笑着 负责 担任 主持 发现 出生 毕业 创办 设计 提出 决定 来到 回到 走进 拿着 站在 住在 接任 接替 答应 亲自 带领 带着 原来 回赠 寄来 笑 叹 点头 摇头 曾 听")
	})
	roles = sync.OnceValue(func() map[string]struct{} {
		return set("站长 馆长 船长 镇长 市长 校长 队长 主任 教授 博士 工程师 研究员 守塔人 看守人 医生 老师 记者 作家 诗人 画家 会计 主席 议员 书记 总统 总理 皇帝 将军 创始人 学者 学生 助手 技师 馆员 木匠 渔民 磨坊主 妻子 丈夫 儿子 女儿 父亲 母亲 哥哥 弟弟 姐姐 妹妹 孙女 孙子 名叫 叫做 祖父 祖母 外婆 朋友 同事")
	})
	// notPeople begin with a family name and are none.
	notPeople = sync.OnceValue(func() map[string]struct{} {
		return set("文件 路径 查找 方法 时间 范围 高级 任何 成功 成本 安全 任务 高效 关键 包括 时候 常用 金额 石油 江河 白色 黄色 马上 毛病 方向 方面 方便 方案 程序 程度 管理 向量 单位 单独 万一 段落 关闭 关于 高频 谷歌 安装 白天 文字 文档 文本 文化 文章 时代 时期 曲线 全部 全球 金属 高度 高端 高通 常常 万物 严格 严重 温度 牛奶 马路 和平 黎明 夏天 夏季 水平 平均 路线 项目 童年 单一 游客 游戏 关系 管道 任命 任期 成为 成员 成立 经常 经过 安排 安静 方才 程式 雷达 雷雨 海关 江边 江面 石头 石阶 石桥 石墙 石屋 白雾 黄昏 金色 高兴 易于 时刻 时常 席位 胡子 祖父 祖母 顾客 余下 毕竟 毕业 钱财 钟声 钟楼 叶片 林木 林场 梅花 水手 水位 潮水")
	})
	families = sync.OnceValue(func() map[string]struct{} {
		return set(`王 李 张 刘 陈 杨 赵 黄 周 吴 徐 孙 胡 朱 高 林 何 郭 马 罗 梁 宋 郑 谢 韩 唐 冯 董 萧 程 曹 袁 邓 许 傅 沈 曾 彭 吕 苏 卢 蒋 蔡 贾 丁
魏 薛 叶 阎 余 潘 杜 戴 夏 钟 汪 田 任 姜 范 方 石 姚 谭 廖 邹 熊 金 陆 郝 孔 白 崔 康 毛 邱 秦 江 史 顾 侯 邵 孟 龙 万 段 雷 钱 汤 尹 黎 易 常 武 乔 贺 赖 龚 文
庞 樊 兰 殷 施 陶 洪 翟 安 颜 倪 严 牛 温 芦 季 俞 章 鲁 葛 伍 韦 申 尤 毕 聂 丛 焦 向 柳 邢 路 岳 齐 沿 梅 莫 庄 辛 管 祝 左 涂 谷 祁 时 舒 耿 牟 卜 路 詹 关 苗 凌 费 纪 靳 盛 童 欧 甄 项 曲 成 游 阳 裴 席 卫 查 屈 鲍 位 覃 霍 翁 隋 植 甘 景 薄 单 包 司 柏 宁 柯 阮 桂 闵 欧阳 司马 上官 诸葛 东方 夏侯 皇甫 尉迟 公孙 慕容 令狐 司徒`)
	})
)

// splitVerbs stand before names and are no part of them.
const splitVerbs = `叫 建于 建成 亲自 共同 联合 正式 迅速 同年 位于 来到 前往 参观 成立 建立 创办 创立 加入 毕业于 就读于 住在 离开 访问 组织 来自 属于 负责 担任 称为 名为 叫做 名叫 出任
出生于 获得 发布 推出 宣布 提供 支持 采用 利用 包含 存储 管理 运行 安装 下载 配置 设置 修改 创建 删除 执行 返回 调用 加载 选择 检查 确保 实现 介绍 说明 描述 发现 记录 记载 写道 指出 主持 设计 修建 建造 发明`
