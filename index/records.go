package index

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/internal/record"
)

// Limits of what an extractor may hand in. They keep keys and lines within reason whatever a model or a
// caller's own extractor makes up; the rest of a name is cut at a character, of a description likewise.
const (
	maxNameBytes        = 4000 // two names and their lengths make the id of a vector (vector.MaxIDBytes)
	maxKeywordBytes     = 512
	maxTypeBytes        = 128
	maxDescriptionBytes = 64 << 10
	maxKeywords         = 64
	maxRecordsPerChunk  = 10_000
	maxWarningsPerChunk = 8
	maxWarningBytes     = 1000
	maxReported         = 1 << 30 // calls or tokens of one chunk: beyond it a count is a mistake, and sums stay numbers
)

// droppedOverLimit is the reason for records beyond maxRecordsPerChunk.
const droppedOverLimit = "over_limit"

// accept turns what an extractor returned into the form that is stored: trimmed and capped, self-loops
// and records without a name dropped and counted. Record numbers count the accepted records.
func accept(x Extraction) Extraction {
	out := Extraction{Report: x.Report}
	dropped := countsOf(x.Report.Dropped)
	for _, e := range x.Entities {
		e.Name, e.Type = clip(e.Name, maxNameBytes), clip(e.Type, maxTypeBytes)
		e.Description = clip(e.Description, maxDescriptionBytes)
		switch {
		case e.Name == "":
			dropped[DropName]++
		case len(out.Entities) == maxRecordsPerChunk:
			dropped[droppedOverLimit]++
		default:
			if e.Type == "" {
				e.Type = UnknownType
			}
			out.Entities = append(out.Entities, e)
		}
	}
	for _, r := range x.Relations {
		r.Src, r.Dst = clip(r.Src, maxNameBytes), clip(r.Dst, maxNameBytes)
		r.Description = clip(r.Description, maxDescriptionBytes)
		switch {
		case r.Src == "" || r.Dst == "":
			dropped[DropName]++
		case r.Src == r.Dst:
			dropped[DropSelfLoop]++
		case len(out.Relations) == maxRecordsPerChunk:
			dropped[droppedOverLimit]++
		default:
			r.Keywords = keywords(r.Keywords)
			out.Relations = append(out.Relations, r)
		}
	}
	r := &out.Report
	r.Dropped, r.Repaired = dropped, countsOf(x.Report.Repaired)
	r.Warnings = nil
	for _, w := range capped(x.Report.Warnings, maxWarningsPerChunk, false) {
		r.Warnings = append(r.Warnings, clip(w, maxWarningBytes))
	}
	for _, n := range [...]*int{&r.Calls, &r.CachedCalls, &r.PromptTokens, &r.CompletionTokens} {
		*n = min(max(*n, 0), maxReported)
	}
	return out
}

// countsOf copies counts by kind, without those that count nothing.
func countsOf(counts map[string]int) map[string]int {
	out := make(map[string]int, len(counts))
	for kind, n := range counts {
		if n > 0 {
			kind = clip(kind, maxTypeBytes)
			out[kind] = min(out[kind]+min(n, maxReported), maxReported)
		}
	}
	return out
}

func keywords(list []string) []string {
	var out []string
	for _, k := range list {
		if k = clip(k, maxKeywordBytes); k != "" && !slices.Contains(out, k) && len(out) < maxKeywords {
			out = append(out, k)
		}
	}
	return out
}

// clip trims s, makes it valid UTF-8 and cuts it to n bytes at a character.
func clip(s string, n int) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n])
}

// sourcesFrom lists the source records of one chunk: its entity and relation records, and an endpoint
// record for each end of each relation.
func sourcesFrom(seq uint64, c *record.Chunk, x Extraction) []record.Source {
	out := make([]record.Source, 0, len(x.Entities)+3*len(x.Relations))
	base := record.Source{Doc: c.Doc, Path: c.Path, Position: record.Position{Seq: seq, Order: c.Order}}
	for i, e := range x.Entities {
		s := base
		s.Kind, s.Object, s.Record = record.KindEntity, record.EntityObject(e.Name), i
		s.Type, s.Description = e.Type, e.Description
		out = append(out, s)
	}
	for i, r := range x.Relations {
		s := base
		s.Kind, s.Object, s.Record = record.KindRelation, record.RelationObject(r.Src, r.Dst), i
		s.Description, s.Keywords, s.Reversed = r.Description, r.Keywords, r.Src > r.Dst
		s.Weight, _ = record.WeightOf(r.Weight)
		out = append(out, s)
		for _, name := range [...]string{r.Src, r.Dst} {
			e := base
			e.Kind, e.Object, e.Record, e.Description = record.KindEndpoint, record.EntityObject(name), i, r.Description
			out = append(out, e)
		}
	}
	return out
}

// moved returns the records of a chunk as those of the same text at another place or path.
func moved(list []record.Source, seq uint64, c *record.Chunk) []record.Source {
	out := slices.Clone(list)
	for i := range out {
		out[i].Doc, out[i].Path, out[i].Seq, out[i].Order = c.Doc, c.Path, seq, c.Order
	}
	return out
}
