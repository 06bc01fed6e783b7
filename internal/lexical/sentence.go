package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Block says where in a document a sentence stands.
type Block uint8

// The blocks that plain text and Markdown have.
const (
	Prose   Block = iota
	Heading       // a Markdown heading, or a line in capitals
	Item          // a list item
	Row           // a table row
	Listing       // a line of a fenced code block
)

// Sentence is a sentence, or what stands for one in its block, by byte offsets, trimmed of white space and
// of the block's own marks (#, -, 1., |).
type Sentence struct {
	Start, End int
	Block      Block
}

const (
	// maxSentence bounds a sentence in bytes. Longer ones are cut, at a clause if there is one in the second
	// half. It keeps work that is quadratic in a sentence bounded, and holds any sentence meant to be read.
	maxSentence = 1200
	// titleLine: a shorter line in bytes that ends without punctuation, before a line that starts with a
	// capital, is a title rather than the first half of a wrapped sentence.
	titleLine = 45
	// wrappedLine: a line of an unspaced script that is as long in bytes (some 27 characters) and ends without
	// punctuation goes on in the next one.
	wrappedLine = 80
)

// Sentences splits text into sentences in order. A line break ends a sentence at blank lines, headings, list
// items, table rows, code and title lines; elsewhere it is a space, so that wrapped text is read as meant.
func Sentences(text string) []Sentence {
	p := splitter{text: text, out: make([]Sentence, 0, len(text)/80+1)}
	if startsInCode(text) {
		p.fence = "```"
	}
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		next := len(text)
		if end < 0 {
			end = len(text)
		} else {
			end += at
			next = end + 1
		}
		p.line(at, end, next)
		at = next
	}
	p.flush()
	return p.out
}

// startsInCode reports whether text, a piece of a Markdown document, begins inside a fenced block: its first fence
// closes one. It does when it is bare and the next one opens (it names a language), or when it has no partner.
func startsInCode(text string) bool {
	fences := 0
	firstBare, secondOpens := false, false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "```") || strings.Contains(line[3:], "`") {
			continue
		}
		fences++
		switch fences {
		case 1:
			firstBare = line == "```"
		case 2:
			secondOpens = line != "```"
		}
	}
	return firstBare && (secondOpens || fences%2 == 1)
}

// splitter gathers lines into paragraphs.
type splitter struct {
	text       string
	out        []Sentence
	start, end int // the open paragraph, when open
	block      Block
	open       bool
	fence      string // the fence that the open code block must end with
}

func (p *splitter) line(at, end, next int) {
	s, e := trim(p.text, at, end)
	line := p.text[s:e]
	if p.fence != "" {
		if strings.HasPrefix(line, p.fence) {
			p.fence = ""
		} else if line != "" {
			p.emit(s, e, Listing)
		}
		return
	}
	switch {
	case line == "":
		p.flush()
	case strings.HasPrefix(line, "```") && strings.IndexByte(line[3:], '`') < 0, strings.HasPrefix(line, "~~~"):
		p.flush()
		p.fence = line[:3]
	case isRule(line):
		p.flush()
	case line[0] == '#' && headingMark(line) > 0:
		p.flush()
		p.emit(s+headingMark(line), e, Heading)
	case line[0] == '|' || strings.Count(line, "|") >= 2 && !strings.Contains(line, "||"):
		p.flush()
		p.emit(s, e, Row)
	case itemMark(line) > 0:
		p.flush()
		p.start, p.end, p.block, p.open = s+itemMark(line), e, Item, true
	case isCapitals(line):
		p.flush()
		p.emit(s, e, Heading)
	case !p.open:
		p.start, p.end, p.block, p.open = s, e, Prose, true
	default:
		p.end = e
	}
	if p.open && p.breaksAfter(p.text[s:e], next) {
		p.flush()
	}
}

// breaksAfter reports whether a paragraph ends with this line although no blank line follows.
func (p *splitter) breaksAfter(line string, next int) bool {
	last, _ := utf8.DecodeLastRuneInString(line)
	if isUnspaced(last) {
		return len(line) < wrappedLine
	}
	if len(line) >= titleLine || !unicode.IsLetter(last) && !isDigit(last) && last != '_' && last != '*' && last != ']' {
		return false
	}
	for next < len(p.text) && (p.text[next] == ' ' || p.text[next] == '\t') {
		next++
	}
	if next >= len(p.text) {
		return true
	}
	r, _ := decode(p.text, next)
	return unicode.IsUpper(r) || r == '[' || r == '_' || r == '*'
}

func (p *splitter) flush() {
	if p.open {
		p.open = false
		p.paragraph(p.start, p.end, p.block)
	}
}

// emit appends one block line, cut where it is too long.
func (p *splitter) emit(start, end int, b Block) {
	for start < end {
		cut := end
		if end-start > maxSentence {
			cut = p.cut(start)
		}
		if s, e := trim(p.text, start, cut); s < e {
			p.out = append(p.out, Sentence{s, e, b})
		}
		start = cut
	}
}

// paragraph splits one paragraph at its terminators.
func (p *splitter) paragraph(start, end int, b Block) {
	text := p.text[:end]
	from := start
	for i := start; i < end; {
		r, n := decode(text, i)
		i += n
		if i-from > maxSentence {
			cut := p.cut(from)
			p.emit(from, cut, b)
			from, i = cut, max(i, cut)
			continue
		}
		if !isTerminator(r) {
			continue
		}
		stop := closers(text, i)
		if p.ends(text, from, i-n, r, stop) {
			p.emit(from, stop, b)
			from = stop
		}
		i = max(i, stop)
	}
	p.emit(from, end, b)
}

// ends reports whether the terminator r at i, whose closing signs reach to stop, ends the sentence.
func (p *splitter) ends(text string, from, i int, r rune, stop int) bool {
	if r != '.' && r != '!' && r != '?' && r != '…' {
		return true // the full-width ones always do
	}
	if stop >= len(text) {
		return true
	}
	next, n := decode(text, stop)
	if !isSpace(next) {
		return isUnspaced(next) && r != '.'
	}
	for stop < len(text) && isSpace(next) {
		stop += n
		if stop >= len(text) {
			return true
		}
		next, n = decode(text, stop)
	}
	if unicode.IsLower(next) {
		return false
	}
	return r != '.' || !isAbbreviation(text[from:i])
}

// cut returns where a sentence that starts at from and is too long is cut: behind the last clause or space of
// its second half, else behind the last whole rune.
func (p *splitter) cut(from int) int {
	limit := min(len(p.text), from+maxSentence)
	half := p.text[from+maxSentence/2 : limit]
	for _, set := range []string{".!?;\n", ",:|", " \t"} {
		if k := strings.LastIndexAny(half, set); k >= 0 {
			return from + maxSentence/2 + k + 1
		}
	}
	for _, sign := range []string{"，", "、"} {
		if k := strings.LastIndex(half, sign); k >= 0 {
			return from + maxSentence/2 + k + len(sign)
		}
	}
	for back := limit; back > limit-utf8.UTFMax; back-- {
		if back == len(p.text) || utf8.RuneStart(p.text[back]) {
			return back
		}
	}
	return limit
}

// isTerminator reports whether r may end a sentence.
func isTerminator(r rune) bool {
	switch r {
	case '.', '!', '?', '…', '。', '！', '？', '；', '｡', '।', '۔', '؟':
		return true
	}
	return false
}

// closers returns the end of the terminators, quotes and brackets that follow at i.
func closers(s string, i int) int {
	for i < len(s) {
		r, n := decode(s, i)
		switch r {
		case '.', '!', '?', '…', '。', '！', '？', '"', '\'', '”', '’', '»', ')', ']', '）', '」', '』', '》', '_', '*':
			i += n
		default:
			return i
		}
	}
	return i
}

// isAbbreviation reports whether s, which a full stop follows, ends in an abbreviation or an initial.
func isAbbreviation(s string) bool {
	at := strings.LastIndexAny(s, " \t\n\r(\"“‘'[—_*") + 1
	if at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		_, n := utf8.DecodeRuneInString(s[at-1:])
		at += n - 1
	}
	w := s[at:]
	r, n := utf8.DecodeRuneInString(w)
	if n == len(w) && unicode.IsUpper(r) && r != 'I' {
		return true
	}
	if len(w) > 12 {
		return false
	}
	_, ok := abbreviations()[strings.ToLower(w)]
	return ok
}

// headingMark returns the length of a Markdown heading mark, 0 if there is none.
func headingMark(line string) int {
	n := 0
	for n < len(line) && line[n] == '#' {
		n++
	}
	if n > 6 || n == len(line) || line[n] != ' ' {
		return 0
	}
	return n
}

// itemMark returns the length of a list mark with its space, 0 if there is none.
func itemMark(line string) int {
	if r, n := utf8.DecodeRuneInString(line); r == '-' || r == '*' || r == '+' || r == '•' || r == '>' {
		if n < len(line) && line[n] == ' ' {
			return n + 1
		}
		return 0
	}
	n := 0
	for n < len(line) && n < 4 && isASCIIDigit(line[n]) {
		n++
	}
	if n == 0 || n+1 >= len(line) || line[n] != '.' && line[n] != ')' || line[n+1] != ' ' {
		return 0
	}
	return n + 2
}

// isRule reports whether the line only draws: ---, ===, ***, |---|.
func isRule(line string) bool {
	if len(line) < 3 {
		return false
	}
	for i := range len(line) {
		if strings.IndexByte("-=*_|: +~", line[i]) < 0 {
			return false
		}
	}
	return true
}

// isCapitals reports whether a line is set in capitals: a heading of plain text.
func isCapitals(line string) bool {
	if len(line) > 80 {
		return false
	}
	upper := 0
	for _, r := range line {
		if unicode.IsLower(r) || isUnspaced(r) {
			return false
		}
		if unicode.IsUpper(r) {
			upper++
		}
	}
	return upper >= 2
}

// trim returns text[start:end] without white space around it.
func trim(text string, start, end int) (int, int) {
	for start < end {
		r, n := decode(text, start)
		if !isSpace(r) {
			break
		}
		start += n
	}
	for end > start {
		r, n := utf8.DecodeLastRuneInString(text[start:end])
		if !isSpace(r) {
			break
		}
		end -= n
	}
	return start, end
}
