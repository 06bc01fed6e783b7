package index

import (
	"slices"
	"strings"

	"github.com/glimdb/db/internal/record"
)

// Separator joins description fragments while they are few.
const Separator = "<SEP>"

// UnknownType is the type of an entity that no record describes.
const UnknownType = "UNKNOWN"

// Caps bound what one entity or relation shows, never what is stored behind it.
type Caps struct {
	Sources, Paths int
	KeepNewest     bool // the last ones instead of the first
}

// merged is the view of one object before its description is settled.
type merged struct {
	typ       string   // entities
	keywords  []string // relations
	weight    float64  // relations
	fragments []string // distinct description fragments in order
	sources   []string
	count     int // of distinct chunks, uncapped
	paths     []string
}

// mergeEntity derives an entity. tally sums all its records; records are those that describe it and
// endpoints those that name it as the end of a relation, both in order of position and within the caps
// (see within). The result depends on nothing else (invariant I2):
//
//   - The type is voted for by all records that know one; of equal counts the one seen first in records wins,
//     then the smaller name. "other" and "unknown" win only when no record says more.
//   - Fragments come from records. An entity without any takes the text of its first endpoint record.
//   - Sources and paths are those of both lists in order of position.
func mergeEntity(tally *record.Tally, records, endpoints []record.Source, c Caps) merged {
	m := merged{typ: vote(tally.Types, records), count: tally.Chunks}
	if tally.Records > 0 {
		m.fragments = fragments(records)
	} else if len(endpoints) > 0 {
		m.fragments = fragments(endpoints[:1])
	}
	m.sources, m.paths = provenance(c, records, endpoints)
	return m
}

// mergeRelation derives a relation from its records, which are within the caps. The weight is the sum
// over all records, at least the number of distinct chunks.
func mergeRelation(tally *record.Tally, records []record.Source, c Caps) merged {
	m := merged{count: tally.Chunks, fragments: fragments(records)}
	m.weight = max(tally.Weight.Float(), float64(tally.Chunks))
	for i := range records {
		for _, k := range records[i].Keywords {
			if k = strings.TrimSpace(k); k != "" {
				m.keywords = append(m.keywords, k)
			}
		}
	}
	slices.Sort(m.keywords)
	m.keywords = slices.Compact(m.keywords)
	m.sources, m.paths = provenance(c, records, nil)
	return m
}

// edited replaces what is set by hand. A weight is raised to the evidence all the same.
func (m *merged) edited(set *record.Fields) {
	if set.Type != nil {
		m.typ = *set.Type
	}
	if set.Description != nil {
		m.fragments = []string{*set.Description}
	}
	if set.Keywords != nil {
		m.keywords = set.Keywords
	}
	if set.Weight != nil {
		m.weight = max(set.Weight.Float(), float64(m.count))
	}
}

// vote returns the type with most records.
func vote(counts []record.TypeCount, records []record.Source) string {
	tied := leaders(counts)
	if len(tied) > 1 {
		for i := range records {
			if slices.Contains(tied, records[i].Type) {
				return records[i].Type
			}
		}
	}
	return tied[0]
}

// leaders returns the types that share the highest count, by name; there is always one.
func leaders(counts []record.TypeCount) []string {
	if tied := mostFrequent(counts, func(typ string) bool { return !abstains(typ) }); len(tied) > 0 {
		return tied
	}
	if tied := mostFrequent(counts, func(typ string) bool { return typ != "" }); len(tied) > 0 {
		return tied
	}
	return []string{UnknownType}
}

// abstains reports whether a type only says that no type was found.
func abstains(typ string) bool {
	return typ == "" || strings.EqualFold(typ, typeOther) || strings.EqualFold(typ, UnknownType)
}

func mostFrequent(counts []record.TypeCount, votes func(typ string) bool) (tied []string) {
	n := 0
	for _, c := range counts { // by name
		switch {
		case !votes(c.Type) || c.Count < n:
		case c.Count == n:
			tied = append(tied, c.Type)
		default:
			n, tied = c.Count, []string{c.Type}
		}
	}
	return tied
}

func fragments(records []record.Source) []string {
	var out []string
	seen := make(map[string]bool, len(records))
	for i := range records {
		if d := strings.TrimSpace(records[i].Description); d != "" && !seen[d] {
			seen[d] = true
			out = append(out, d)
		}
	}
	return out
}

// provenance lists the distinct chunks of two ordered lists in order, and the distinct paths of these
// chunks, within the caps.
func provenance(c Caps, a, b []record.Source) (sources, paths []string) {
	all := make([]*record.Source, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		next := &a
		if len(a) == 0 || len(b) > 0 && b[0].Mark().Compare(a[0].Mark()) < 0 {
			next = &b
		}
		s := &(*next)[0]
		*next = (*next)[1:]
		if n := len(all); n == 0 || all[n-1].Mark() != s.Mark() {
			all = append(all, s)
		}
	}
	all = capped(all, c.Sources, c.KeepNewest)
	seen := make(map[string]bool)
	for _, s := range all {
		if s.Order != record.NoChunk {
			sources = append(sources, s.ChunkID())
		}
		if s.Path != "" && !seen[s.Path] {
			seen[s.Path] = true
			paths = append(paths, s.Path)
		}
	}
	return sources, capped(paths, c.Paths, c.KeepNewest)
}

func capped[T any](list []T, n int, newest bool) []T {
	switch {
	case len(list) <= n:
		return list
	case newest:
		return list[len(list)-n:]
	default:
		return list[:n]
	}
}

// entity puts the view into its stored form; description and tokens are still to be settled.
func (m *merged) entity(name string) record.Entity {
	return record.Entity{Name: name, Type: m.typ, Sources: m.sources, SourceCount: m.count, Paths: m.paths}
}

// relation is entity for relations.
func (m *merged) relation(o record.Object) record.Relation {
	return record.Relation{Src: o.A, Dst: o.B, Keywords: m.keywords, Weight: m.weight, Sources: m.sources,
		SourceCount: m.count, Paths: m.paths}
}
