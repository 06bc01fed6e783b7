package chunk

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// A reader of Markdown for its block borders only, to the byte and in one pass, whatever the input: headings,
// fenced code, tables of pipes, HTML tables and headings, front matter, and runs of other lines between blank ones.
// What is inside of a block is left to others.

type blockKind uint8

const (
	textBlock blockKind = iota
	headingBlock
	tableBlock
	codeBlock
)

// block is text[start:end] with the blank lines that follow it.
type block struct {
	kind       blockKind
	start, end int
	level      int    // of a heading
	title      string // of a heading
	rows       []int  // of a table: where the rows after its header begin
}

// maxTitle is the part of a heading, in characters, that the breadcrumb shows.
const maxTitle = 120

var (
	htmlHeading = regexp.MustCompile(`(?i)^<h([1-6])(?:\s[^>]*)?>(.*)</h[1-6]\s*>$`)
	htmlTag     = regexp.MustCompile(`<[^>]*>`)
	tableRule   = regexp.MustCompile(`^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$`)
	htmlRow     = regexp.MustCompile(`(?i)<tr[\s>]`)
)

// scan lists the blocks of a text, which together are all of it but blank lines at its beginning.
func scan(text string) []block {
	s := &scanner{text: text}
	for s.at < len(text) {
		s.line()
	}
	for i := range s.blocks {
		if i+1 < len(s.blocks) {
			s.blocks[i].end = s.blocks[i+1].start
		} else {
			s.blocks[i].end = len(text)
		}
	}
	return s.blocks
}

type scanner struct {
	text   string
	at     int // beginning of the next line
	blocks []block
	open   int // lines of the last block, when it is text that the next line may continue
}

// peek returns the line at a place, without white space at its ends, and where the next one begins.
func (s *scanner) peek(at int) (line string, next int) {
	next = len(s.text)
	if i := strings.IndexByte(s.text[at:], '\n'); i >= 0 {
		next = at + i + 1
	}
	return strings.TrimSpace(s.text[at:next]), next
}

// add begins a block at the present line and goes on at next.
func (s *scanner) add(b block, next int) {
	b.start, s.at, s.open = s.at, next, 0
	s.blocks = append(s.blocks, b)
}

// line takes the next line, or the block that it begins.
func (s *scanner) line() {
	line, next := s.peek(s.at)
	if line == "" {
		s.at, s.open = next, 0
		return
	}
	switch line[0] {
	case '#':
		if level, title, ok := atxHeading(line); ok {
			s.add(block{kind: headingBlock, level: level, title: title}, next)
			return
		}
	case '`', '~':
		if fence := fenceOf(line); fence != "" {
			s.add(block{kind: codeBlock}, s.until(next, func(l string) bool { return strings.HasPrefix(l, fence) && strings.Trim(l, fence[:1]) == "" }))
			return
		}
	case '<':
		if h := htmlHeading.FindStringSubmatch(line); h != nil {
			s.add(block{kind: headingBlock, level: int(h[1][0] - '0'), title: title(htmlTag.ReplaceAllString(h[2], ""))}, next)
			return
		}
		if len(line) >= len("<table") && strings.EqualFold(line[:len("<table")], "<table") {
			s.htmlTable()
			return
		}
	case '-', '=':
		if line == "---" && len(s.blocks) == 0 && strings.TrimSpace(s.text[:s.at]) == "" { // front matter
			s.add(block{}, s.until(next, func(l string) bool { return l == "---" || l == "..." }))
			return
		}
		if s.open == 1 && s.underlines(line) {
			s.at, s.open = next, 0
			return
		}
	}
	if strings.Contains(line, "|") {
		if rule, after := s.peek(next); strings.Contains(rule, "|") && tableRule.MatchString(rule) {
			s.table(after)
			return
		}
	}
	if s.open == 0 {
		s.add(block{}, next)
	}
	s.at = next
	s.open++
}

// until returns where the line after the first one that ends begins, the end of the text if there is none.
func (s *scanner) until(at int, ends func(line string) bool) int {
	for at < len(s.text) {
		line, next := s.peek(at)
		at = next
		if ends(line) {
			break
		}
	}
	return at
}

// table takes a table of pipes whose first row begins at first.
func (s *scanner) table(first int) {
	b := block{kind: tableBlock}
	at := first
	for at < len(s.text) {
		line, next := s.peek(at)
		if line == "" || !strings.Contains(line, "|") {
			break
		}
		b.rows = append(b.rows, at)
		at = next
	}
	if len(b.rows) == 0 { // a header alone
		b.rows = []int{first}
	}
	s.add(b, at)
}

// htmlTable takes a table from its tag to the end of the line that closes it.
func (s *scanner) htmlTable() {
	b := block{kind: tableBlock}
	depth := 0
	end := s.until(s.at, func(line string) bool {
		line = strings.ToLower(line)
		depth += strings.Count(line, "<table") - strings.Count(line, "</table")
		return depth <= 0
	})
	rows := htmlRow.FindAllStringIndex(s.text[s.at:end], -1)
	for _, r := range rows[min(1, len(rows)):] {
		b.rows = append(b.rows, s.at+r[0])
	}
	if len(b.rows) == 0 {
		b.kind, b.rows = textBlock, nil
	}
	s.add(b, end)
}

// underlines makes the last block, when it is one line, the heading that line underlines.
func (s *scanner) underlines(line string) bool {
	if strings.Trim(line, line[:1]) != "" {
		return false
	}
	b := &s.blocks[len(s.blocks)-1]
	b.kind, b.level, b.title = headingBlock, 1, title(s.text[b.start:s.at])
	if line[0] == '-' {
		b.level = 2
	}
	return true
}

func atxHeading(line string) (level int, text string, ok bool) {
	for level < len(line) && line[level] == '#' {
		level++
	}
	rest := line[level:]
	if level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, "", false
	}
	return level, title(strings.TrimRight(rest, "#")), true
}

// fenceOf returns the marks that open fenced code, "" when the line does not.
func fenceOf(line string) string {
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if n < 3 || line[0] == '`' && strings.Contains(line[n:], "`") {
		return ""
	}
	return line[:n]
}

// title is a heading as one line of bounded length.
func title(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= maxTitle {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:maxTitle-1])) + "…"
}
