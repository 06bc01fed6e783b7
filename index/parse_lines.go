package index

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/internal/prompt"
)

// recordKind is what the first field of a record says.
type recordKind uint8

const (
	noRecord recordKind = iota
	entityKind
	relationKind
)

// need returns the number of fields of a whole record, its prefix included.
func (k recordKind) need() int {
	if k == relationKind {
		return 5
	}
	return 4
}

// prefixWord returns the kind of a field that is a record prefix and nothing else but list marks, quotes
// and brackets: "entity", "- Entity", `("relationship"`, "2. **RELATION**".
func prefixWord(field string) recordKind {
	word := strings.ToLower(strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) }))
	switch word {
	case "entity", "entities":
		return entityKind
	case "relation", "relations", "relationship", "relationships":
		return relationKind
	}
	return noRecord
}

// prefixOf is prefixWord for the beginning of a record, where the word may have company ("New entity").
func prefixOf(field string) recordKind {
	if k := prefixWord(field); k != noRecord {
		return k
	}
	lower := strings.ToLower(field)
	switch {
	case strings.Contains(lower, "relation"):
		return relationKind
	case strings.Contains(lower, "entity"):
		return entityKind
	}
	return noRecord
}

// lines reads FormatLines.
//
// Physical lines become logical ones: a line without delimiter that directly follows a record goes on
// with its description, and a record that is still short of fields takes the next line (unless that
// begins a record). A blank line, a code fence, a heading or the end mark closes a record. A logical line
// may hold several records glued together; see splitGlued.
func (p *parser) lines(reply string) {
	for _, line := range p.logicalLines(reply) {
		groups := splitGlued(line)
		if len(groups) > 1 {
			p.out.Report.repaired(RepairGlued)
		}
		for _, g := range groups {
			p.record(g)
		}
	}
}

// endMark matches the end mark in either case.
var endMark = regexp.MustCompile(`(?i)` + regexp.QuoteMeta(prompt.EndMarker))

func (p *parser) logicalLines(reply string) [][]string {
	var (
		out    [][]string
		open   bool // the last logical line may go on
		marked bool
	)
	for line := range strings.Lines(reply) {
		for i, piece := range endMark.Split(line, -1) {
			if i > 0 {
				open, marked = false, true
			}
			piece = strings.TrimSpace(piece)
			if piece == "" {
				open = open && i > 0 // the rest of a line after its end mark is not a blank line
				continue
			}
			piece, mended := repairDelimiters(piece, repairRules)
			fields := splitFields(piece)
			if open {
				if joined, ok := join(out[len(out)-1], fields); ok {
					out[len(out)-1] = joined
					p.out.Report.repaired(RepairJoined)
					continue
				}
			}
			if len(fields) < 2 {
				open = false
				if !isFurniture(piece) {
					p.out.Report.dropped(DropUnreadable)
				}
				continue
			}
			if mended {
				p.out.Report.repaired(RepairDelimiter)
			}
			out, open = append(out, fields), true
		}
	}
	if !marked && len(out) > 0 {
		p.out.Report.repaired(RepairEndMark)
	}
	return out
}

// splitFields splits a line at its delimiters, trims the fields and leaves out empty ones. A delimiter in
// quotes or backquotes, as in: the mark "<|#|>" separates, is text.
func splitFields(line string) []string {
	var fields []string
	start, from := 0, 0
	for {
		i := strings.Index(line[from:], delim)
		if i < 0 {
			break
		}
		i += from
		from = i + len(delim)
		if isQuoted(line[:i], line[from:]) {
			continue
		}
		fields = appendField(fields, line[start:i])
		start = from
	}
	return appendField(fields, line[start:])
}

func appendField(fields []string, s string) []string {
	if s = strings.TrimSpace(s); s != "" {
		fields = append(fields, s)
	}
	return fields
}

// isQuoted tells whether what stands between before and after is in quotes of its own: the quote before
// opens (it follows white space or a bracket), the quote after closes (white space, punctuation or the
// end follow it). The quotes of quoted fields fail that: in `"entity"<|#|>"name"` the first one closes.
func isQuoted(before, after string) bool {
	open, n := utf8.DecodeLastRuneInString(before)
	closing, m := utf8.DecodeRuneInString(after)
	if !strings.ContainsRune("\"'`“‘「", open) || !strings.ContainsRune("\"'`”’」", closing) {
		return false
	}
	outer, _ := utf8.DecodeLastRuneInString(before[:len(before)-n])
	next, _ := utf8.DecodeRuneInString(after[m:])
	return (unicode.IsSpace(outer) || unicode.Is(unicode.Ps, outer) || isChinese(outer)) &&
		(len(after) == m || unicode.IsSpace(next) || unicode.IsPunct(next) && next != '<' || isChinese(next))
}

// join continues the record at the end of line with the fields of the next line, if they do.
func join(line, next []string) ([]string, bool) {
	if prefixWord(next[0]) != noRecord || len(next) == 1 && isFurniture(next[0]) {
		return nil, false
	}
	groups := splitGlued(line)
	last := groups[len(groups)-1]
	kind := prefixOf(last[0])
	missing := kind.need() - len(last)
	switch {
	case kind == noRecord:
		return nil, false
	case missing >= len(next): // broken between two fields
		return slices.Concat(line, next), true
	case missing >= 0 && len(next) == missing+1: // broken inside a field
		joined := slices.Concat(line, next[1:])
		joined[len(line)-1] = line[len(line)-1] + " " + next[0]
		return joined, true
	}
	return nil, false
}

// isFurniture tells whether a line without delimiter belongs to the look of a reply rather than to its
// content: fences, rules, headings, introductions, a prefix that was left alone.
func isFurniture(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") || strings.HasPrefix(line, "#") ||
		strings.HasPrefix(line, "<|") || strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：") ||
		strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**") ||
		strings.IndexFunc(line, unicode.IsLetter) < 0 || prefixWord(line) != noRecord
}

// splitGlued splits the fields of one line into records. A prefix begins a new record when the one before
// has all its fields, or when it has too few and what follows is exactly one record.
func splitGlued(fields []string) [][]string {
	var groups [][]string
	start := 0
	for i := 1; i < len(fields); i++ {
		next := prefixWord(fields[i])
		if next == noRecord {
			continue
		}
		have := i - start
		need := prefixOf(fields[start]).need()
		if prefixOf(fields[start]) == noRecord {
			need = entityKind.need() - 1 // without its prefix
		}
		rest := len(fields) - i
		whole := have >= need && rest > 1
		cut := have < need && have+rest != need && have > 1 && rest == next.need() && fields[i] == strings.ToLower(fields[i])
		if whole || cut {
			groups = append(groups, fields[start:i])
			start = i
		}
	}
	return append(groups, fields[start:])
}

// record reads the fields of one record.
func (p *parser) record(f []string) {
	kind, n := prefixOf(f[0]), len(f)
	switch {
	case kind == entityKind && n == 4:
		p.entity(f[1], f[2], f[3])
	case kind == entityKind && n > 4 && p.knownType(f[2]):
		p.out.Report.repaired(RepairSurplus)
		p.entity(f[1], f[2], strings.Join(f[3:], " "))
	case kind == entityKind && n == 5: // two names and a wrong prefix
		p.out.Report.repaired(RepairPrefix)
		p.relation(f[1], f[2], f[3], f[4])
	case kind == relationKind && n == 5:
		p.relation(f[1], f[2], f[3], f[4])
	case kind == noRecord && n == 3 && p.knownType(f[1]):
		p.out.Report.repaired(RepairPrefix)
		p.entity(f[0], f[1], f[2])
	case kind == noRecord && n == 4:
		p.out.Report.repaired(RepairPrefix)
		p.relation(f[0], f[1], f[2], f[3])
	default:
		p.out.Report.dropped(DropFieldCount)
	}
}
