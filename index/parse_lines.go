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
// A line without delimiter that directly follows a record goes on with its description, and a record that
// is still short of fields takes the next line, unless that begins a record. A blank line, a code fence, a
// heading or the end mark closes a record. A line may hold several records glued together; see splitGlued.
func (p *parser) lines(reply string) {
	var (
		open   openRecord
		found  bool // a line with fields
		marked bool
	)
	for line := range strings.Lines(reply) {
		for i, piece := range endMark.Split(line, -1) {
			if i > 0 {
				p.close(&open)
				marked = true
			}
			piece = strings.TrimSpace(piece)
			if piece == "" {
				p.close(&open)
				continue
			}
			piece, mended := repairDelimiters(piece, repairRules)
			fields := splitFields(piece)
			switch {
			case len(fields) == 0: // delimiters only
			case open.take(fields):
				p.out.Report.repaired(RepairJoined)
			case len(fields) == 1:
				p.close(&open)
				if !isFurniture(piece) {
					p.out.Report.dropped(DropUnreadable)
				}
			default:
				found = true
				if mended {
					p.out.Report.repaired(RepairDelimiter)
				}
				p.close(&open)
				groups := splitGlued(fields)
				if len(groups) > 1 {
					p.out.Report.repaired(RepairGlued)
				}
				for _, g := range groups[:len(groups)-1] {
					p.record(g)
				}
				open.begin(groups[len(groups)-1])
			}
		}
	}
	p.close(&open)
	if found && !marked {
		p.out.Report.repaired(RepairEndMark)
	}
}

// endMark matches the end mark in either case.
var endMark = regexp.MustCompile(`(?i)` + regexp.QuoteMeta(prompt.EndMarker))

// openRecord is a record that the next line may go on with.
type openRecord struct {
	kind   recordKind
	fields []string
	tail   []string // further lines of the last field
}

func (o *openRecord) begin(fields []string) {
	*o = openRecord{kind: prefixOf(fields[0]), fields: fields}
}

// take adds the fields of the next line, if they go on with the record.
func (o *openRecord) take(next []string) bool {
	if o.kind == noRecord || prefixWord(next[0]) != noRecord || len(next) == 1 && isFurniture(next[0]) {
		return false
	}
	missing := o.kind.need() - len(o.fields)
	switch {
	case missing >= len(next): // broken between two fields
		o.flush()
		o.fields = slices.Concat(o.fields, next)
	case missing >= 0 && len(next) == missing+1: // broken inside a field
		o.tail = append(o.tail, next[0])
		if missing > 0 {
			o.flush()
			o.fields = slices.Concat(o.fields, next[1:])
		}
	default:
		return false
	}
	return true
}

// flush puts the further lines of the last field to it.
func (o *openRecord) flush() {
	if len(o.tail) == 0 {
		return
	}
	last := len(o.fields) - 1
	o.fields = slices.Clone(o.fields)
	o.fields[last] = strings.Join(slices.Insert(o.tail, 0, o.fields[last]), " ")
	o.tail = nil
}

// close reads the record that was open.
func (p *parser) close(o *openRecord) {
	if len(o.fields) > 0 {
		o.flush()
		p.record(o.fields)
	}
	*o = openRecord{}
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
