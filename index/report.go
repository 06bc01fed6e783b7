package index

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reasons in ExtractReport.Dropped and in Info.Dropped, whoever handed the record in: a reply, an extractor, a custom graph.
const (
	DropFieldCount  = "field_count"       // too many or too few fields, and no rule that says which is wrong
	DropName        = "empty_name"        // a name that is empty once cleaned
	DropType        = "bad_type"          // a type that is empty or holds signs that no type has
	DropDescription = "empty_description" // nothing said about it
	DropSelfLoop    = "self_loop"         // both ends of a relation are the same entity
	DropUnreadable  = "unreadable"        // a line of the reply that is no record and continues none
)

// Kinds in ExtractReport.Repaired.
const (
	RepairDelimiter = "delimiter"     // a damaged field delimiter
	RepairGlued     = "glued"         // several records on one line
	RepairPrefix    = "prefix"        // a record without its prefix, or with the wrong one, told by its fields
	RepairSurplus   = "surplus_field" // a delimiter inside an entity's description
	RepairJoined    = "joined_lines"  // a record that went on in the next line
	RepairJSON      = "json"          // an object that is not JSON as it stands: commas, quotes, bare keys
	RepairName      = "long_name"     // a name cut to its greatest length
	RepairEndMark   = "end_mark"      // a reply without end mark, which was not cut off by a limit
)

// Add adds the counts and warnings of s.
func (r *ExtractReport) Add(s ExtractReport) {
	addCounts(&r.Dropped, s.Dropped)
	addCounts(&r.Repaired, s.Repaired)
	r.Truncated = r.Truncated || s.Truncated
	r.Unusable = r.Unusable || s.Unusable
	r.Warnings = append(r.Warnings, s.Warnings...)
	r.Calls += s.Calls
	r.CachedCalls += s.CachedCalls
	r.PromptTokens += s.PromptTokens
	r.CompletionTokens += s.CompletionTokens
}

// Summary says in one line what was dropped and repaired, with numbers, and whether a reply was cut off or of no use;
// empty when there is nothing to say.
func (r ExtractReport) Summary() string {
	var parts []string
	if s := countList("dropped", r.Dropped); s != "" {
		parts = append(parts, s)
	}
	if s := countList("repaired", r.Repaired); s != "" {
		parts = append(parts, s)
	}
	if r.Truncated {
		parts = append(parts, "reply cut off by its token limit")
	}
	if r.Unusable {
		parts = append(parts, "reply of no use")
	}
	return strings.Join(parts, "; ")
}

func countList(verb string, counts map[string]int) string {
	total := 0
	var items []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		total += counts[kind]
		items = append(items, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s (%s)", total, verb, strings.Join(items, ", "))
}

func addCounts(dst *map[string]int, src map[string]int) {
	for kind, n := range src {
		count(dst, kind, n)
	}
}

func count(counts *map[string]int, kind string, n int) {
	if *counts == nil {
		*counts = map[string]int{}
	}
	(*counts)[kind] += n
}

func (r *ExtractReport) dropped(kind string)  { count(&r.Dropped, kind, 1) }
func (r *ExtractReport) repaired(kind string) { count(&r.Repaired, kind, 1) }
