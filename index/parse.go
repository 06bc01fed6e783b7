package index

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ReplyFormat is the form of a model's extraction reply.
type ReplyFormat uint8

// Glim asks for and reads FormatLines. The others read replies that LightRAG recorded, with the choices
// its parser made at that time.
const (
	// FormatLines has one record a line, fields separated by <|#|>:
	//
	//	entity<|#|>name<|#|>type<|#|>description
	//	relation<|#|>source<|#|>target<|#|>keywords<|#|>description
	//
	// and ends with <|COMPLETE|>. A reply that is a JSON object with the lists entities (name, type,
	// description) and relationships (source, target, keywords, description) is read too, also with words around it.
	FormatLines ReplyFormat = iota
	// FormatLines2025 is the same as LightRAG 1.4.9 read it (from 2025-09): fewer repairs, no record goes
	// on in the next line.
	FormatLines2025
	// FormatTuples is LightRAG's form from 2025-03 to 2025-08: ("entity"<|>name<|>type<|>description) and
	// ("relationship"<|>source<|>target<|>description<|>keywords<|>strength), separated by ##.
	FormatTuples
	// FormatTuplesUpper is FormatTuples before 2025-03: names and types in upper case with their quotes,
	// self-loops kept.
	FormatTuplesUpper
)

func (f ReplyFormat) String() string {
	names := []string{"lines", "lines-2025", "tuples", "tuples-upper"}
	if int(f) < len(names) {
		return names[f]
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// ParseOptions say how a reply is read.
type ParseOptions struct {
	Format ReplyFormat
	// Types are the entity types that the model was told, in any case. They help to tell an entity whose
	// description holds a delimiter from a relation. Empty means DefaultTypes.
	Types []string
}

// ParseReply reads the records of a reply, in order. It never fails: what cannot be read is dropped and
// counted in the report, what was mended is counted too. Names are normalised, types in lower case,
// keywords split. A name seen only as an end of a relation has no entity record. It costs time linear in
// the reply, and reads a reply that was cut off anywhere as far as it goes.
func ParseReply(reply string, o ParseOptions) Extraction {
	x, _ := readReply(reply, o)
	return x
}

// readReply is ParseReply; usable is false when the reply neither has a record nor says, by the end mark or by a
// whole JSON object, that there are none.
func readReply(reply string, o ParseOptions) (x Extraction, usable bool) {
	p := parser{o: o, types: map[string]bool{}}
	types := o.Types
	if len(types) == 0 {
		types = DefaultTypes()
	}
	for _, t := range types {
		p.types[normalizeType(t)] = true
	}
	switch o.Format {
	case FormatLines2025:
		p.lines2025(reply)
	case FormatTuples, FormatTuplesUpper:
		p.tuples(reply)
	default:
		p.any(reply)
	}
	return p.out, p.records() > 0 || p.whole || endMark.MatchString(reply)
}

// any reads FormatLines, and JSON where the reply begins with it or, read as lines, has no record.
func (p *parser) any(reply string) {
	asJSON := func() bool {
		q := parser{o: p.o, types: p.types}
		if q.json(reply); q.records() == 0 && !q.whole {
			return false
		}
		p.out, p.whole = q.out, q.whole
		return true
	}
	first := looksLikeJSON(reply)
	if first && asJSON() {
		return
	}
	p.lines(reply)
	if !first && p.records() == 0 && strings.Contains(reply, "{") {
		asJSON()
	}
}

// records is the number of records read.
func (p *parser) records() int { return len(p.out.Entities) + len(p.out.Relations) }

// DefaultTypes are the entity types of the built-in guidance.
func DefaultTypes() []string {
	return []string{"person", "creature", "organization", "location", "event", "concept", "method", "content",
		"data", "artifact", "naturalobject", "other"}
}

// parser collects what it reads of one reply.
type parser struct {
	o     ParseOptions
	types map[string]bool // types the model was told
	whole bool            // a JSON object with the lists was read to its end
	out   Extraction
}

// knownType tells whether field is one of the types the model was told.
func (p *parser) knownType(field string) bool {
	t := normalizeType(field)
	return t != "" && p.types[t]
}

// entity adds an entity record of raw fields.
func (p *parser) entity(name, typ, description string) {
	e := EntityRecord{Name: p.name(name), Type: normalizeType(typ), Description: cleanDescription(description)}
	switch {
	case e.Name == "":
		p.out.Report.dropped(DropName)
	case e.Type == "":
		p.out.Report.dropped(DropType)
	case e.Description == "":
		p.out.Report.dropped(DropDescription)
	default:
		p.out.Entities = append(p.out.Entities, e)
	}
}

// relation adds a relation record of raw fields.
func (p *parser) relation(src, dst, keywords, description string) {
	r := RelationRecord{Src: p.name(src), Dst: p.name(dst), Description: cleanDescription(description),
		Keywords: cleanKeywords(keywords), Weight: 1}
	switch {
	case r.Src == "" || r.Dst == "":
		p.out.Report.dropped(DropName)
	case r.Src == r.Dst:
		p.out.Report.dropped(DropSelfLoop)
	case r.Description == "":
		p.out.Report.dropped(DropDescription)
	default:
		p.out.Relations = append(p.out.Relations, r)
	}
}

// name returns the stored form of a name, empty for one of the words that stand for names in the form that
// the prompt shows: models repeat it now and then.
func (p *parser) name(raw string) string {
	clean := cleanName
	if p.o.Format != FormatLines {
		clean = cleanRecordedName
	}
	name := normalizeName(raw, clean)
	switch strings.ToLower(name) {
	case "<name>", "<source name>", "<target name>":
		return ""
	}
	if n := utf8.RuneCountInString(name); n == MaxNameRunes || len(name) > MaxNameBytes-utf8.UTFMax {
		if utf8.RuneCountInString(collapse(raw)) > n {
			p.out.Report.repaired(RepairName)
		}
	}
	return name
}

// nonEmpty splits s at sep and returns the parts that are not white space only, trimmed.
func nonEmpty(s, sep string) []string {
	var out []string
	for part := range strings.SplitSeq(s, sep) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
