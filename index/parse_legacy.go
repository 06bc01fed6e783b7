package index

import (
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/glimdb/db/internal/prompt"
)

// lines2025 reads FormatLines2025: what LightRAG 1.4.9 rejected is rejected here.
func (p *parser) lines2025(reply string) {
	for line := range strings.SplitSeq(reply, "\n") {
		for _, piece := range endMark.Split(line, -1) {
			for _, record := range glued2025(strings.TrimSpace(piece)) {
				record, mended := repairDelimiters(record, repairRules2025)
				if mended {
					p.out.Report.repaired(RepairDelimiter)
				}
				p.record2025(nonEmpty(record, delim))
			}
		}
	}
}

// glued2025 splits records glued on one line and gives pieces without prefix the one that the reference
// gave them: a broken one, so that the piece is mostly rejected later.
func glued2025(line string) []string {
	var out []string
	for _, e := range nonEmpty(line, delim+"entity"+delim) {
		if !strings.HasPrefix(e, "entity") && !strings.HasPrefix(e, "relation") {
			e = "entity<|" + e
		}
		e = strings.ReplaceAll(e, delim+"relationship"+delim, delim+"relation"+delim)
		for _, r := range nonEmpty(e, delim+"relation"+delim) {
			if !strings.HasPrefix(r, "entity") && !strings.HasPrefix(r, "relation") {
				r = "relation" + delim + r
			}
			out = append(out, r)
		}
	}
	return out
}

func (p *parser) record2025(f []string) {
	switch {
	case len(f) == 4 && strings.Contains(f[0], "entity"):
		p.entity(f[1], f[2], f[3])
	case len(f) == 5 && strings.Contains(f[0], "relation"):
		p.relation(f[1], f[2], f[3], f[4])
	case len(f) > 1, len(f) == 1 && prefixWord(f[0]) != noRecord: // a prefix alone: the reply broke off in a record
		p.out.Report.dropped(DropFieldCount)
	}
}

// Marks of the tuple formats.
const (
	tupleDelim   = "<|>"
	tupleRecords = "##"
)

// tupleBody is the longest bracketed run of a record.
var tupleBody = regexp.MustCompile(`\((.*)\)`)

// tuples reads FormatTuples and FormatTuplesUpper.
func (p *parser) tuples(reply string) {
	reply = strings.ReplaceAll(reply, prompt.EndMarker, tupleRecords)
	for _, record := range nonEmpty(reply, tupleRecords) {
		m := tupleBody.FindStringSubmatch(record)
		if m == nil {
			p.out.Report.dropped(DropUnreadable)
			continue
		}
		f := nonEmpty(m[1], tupleDelim)
		switch {
		case len(f) >= 4 && f[0] == `"entity"`:
			p.tupleEntity(f)
		case len(f) >= 5 && f[0] == `"relationship"`:
			p.tupleRelation(f)
		default:
			p.out.Report.dropped(DropFieldCount)
		}
	}
}

func (p *parser) tupleEntity(f []string) {
	e := EntityRecord{Name: p.tupleName(f[1]), Type: p.tupleType(f[2]), Description: p.tupleText(f[3])}
	if e.Name == "" {
		p.out.Report.dropped(DropName)
		return
	}
	p.out.Entities = append(p.out.Entities, e)
}

// number is what counts as the strength of a relation.
var number = regexp.MustCompile(`^[-+]?[0-9]*\.?[0-9]+$`)

func (p *parser) tupleRelation(f []string) {
	r := RelationRecord{Src: p.tupleName(f[1]), Dst: p.tupleName(f[2]), Description: p.tupleText(f[3]), Weight: 1}
	keywords, last := p.tupleText(f[4]), f[len(f)-1]
	if p.o.Format == FormatTuples {
		keywords, last = strings.ReplaceAll(keywords, "，", ","), strings.Trim(last, `"'`)
	}
	r.Keywords = splitKeywords(keywords)
	if number.MatchString(last) {
		if w, err := strconv.ParseFloat(last, 64); err == nil {
			r.Weight = w
		}
	}
	switch {
	case r.Src == "" || r.Dst == "":
		p.out.Report.dropped(DropName)
	case r.Src == r.Dst && p.o.Format != FormatTuplesUpper:
		p.out.Report.dropped(DropSelfLoop)
	default:
		p.out.Relations = append(p.out.Relations, r)
	}
}

func (p *parser) tupleName(s string) string {
	if p.o.Format == FormatTuplesUpper {
		return strings.ToUpper(tupleClean(s))
	}
	return cleanRecordedName(s) // numbers and names of any length were kept
}

func (p *parser) tupleType(s string) string {
	if p.o.Format == FormatTuplesUpper {
		return strings.ToUpper(tupleClean(s))
	}
	return strings.Trim(tupleClean(s), `"`)
}

func (p *parser) tupleText(s string) string {
	if p.o.Format == FormatTuplesUpper {
		return tupleClean(s)
	}
	if inner, ok := strings.CutPrefix(s, `"`); ok {
		if inner, ok = strings.CutSuffix(inner, `"`); ok {
			s = inner // whatever quotes it holds
		}
	}
	return cleanDescription(s)
}

// tupleClean is the cleaning of the first versions: HTML entities decoded, C0 and C1 controls removed.
func tupleClean(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= 0x1f || r >= 0x7f && r <= 0x9f {
			return -1
		}
		return r
	}, html.UnescapeString(strings.TrimSpace(s)))
}
