package index

import (
	"fmt"
	"unicode/utf8"
)

// GleanRule says how the records of a gleaning reply join those of the replies before it.
type GleanRule uint8

const (
	// GleanLonger takes new names and pairs, and replaces the records of a known one when the first
	// gleaned description is longer, in characters, than the first one there: the model was asked to
	// give corrected records again.
	GleanLonger GleanRule = iota
	// GleanNew takes only names and pairs that were not there (LightRAG from 2025-03 to 2025-08).
	GleanNew
	// GleanAppend takes everything, so that repeated records count twice (LightRAG before 2025-03).
	GleanAppend
)

func (g GleanRule) String() string {
	names := []string{"longer", "new", "append"}
	if int(g) < len(names) {
		return names[g]
	}
	return fmt.Sprintf("glean(%d)", uint8(g))
}

// mergeGleaned joins the records of a gleaning reply to those of the replies before it. Relations are
// keyed by direction. Reports are added up.
func mergeGleaned(first, gleaned Extraction, rule GleanRule) Extraction {
	out := Extraction{
		Entities: mergeRecords(first.Entities, gleaned.Entities, rule,
			func(e EntityRecord) string { return e.Name },
			func(e EntityRecord) string { return e.Description }),
		Relations: mergeRecords(first.Relations, gleaned.Relations, rule,
			func(r RelationRecord) [2]string { return [2]string{r.Src, r.Dst} },
			func(r RelationRecord) string { return r.Description }),
		Report: first.Report,
	}
	out.Report.Add(gleaned.Report)
	return out
}

func mergeRecords[R any, K comparable](first, gleaned []R, rule GleanRule, key func(R) K, text func(R) string) []R {
	if rule == GleanAppend {
		return append(first, gleaned...)
	}
	known := map[K][]R{}
	for _, r := range first {
		known[key(r)] = append(known[key(r)], r)
	}
	again := map[K][]R{}
	for _, r := range gleaned {
		again[key(r)] = append(again[key(r)], r)
	}
	better := func(k K) bool {
		return rule == GleanLonger && len(again[k]) > 0 &&
			utf8.RuneCountInString(text(again[k][0])) > utf8.RuneCountInString(text(known[k][0]))
	}
	var out []R
	done := map[K]bool{}
	for _, r := range first {
		k := key(r)
		switch {
		case !better(k):
			out = append(out, r)
		case !done[k]:
			done[k] = true
			out = append(out, again[k]...)
		}
	}
	for _, r := range gleaned {
		if len(known[key(r)]) == 0 {
			out = append(out, r)
		}
	}
	return out
}
