package main

import (
	"slices"
	"strings"
	"time"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/brief"
	"github.com/spf13/cobra"
)

// filterFlags select documents; docs, delete and query have them.
type filterFlags struct {
	index.Filter
	metadata, has []string
	since, until  string
}

// add adds the flags to a command.
func (f *filterFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.Status, "status", "", "only pending, processing, processed or failed ones")
	fl.StringVar(&f.PathPrefix, "prefix", "", "only those whose path begins so")
	fl.StringVar(&f.Track, "track", "", "only those of one insert")
	fl.StringArrayVarP(&f.metadata, "metadata", "m", nil, "only those with this `key=value` (key>=value, key<=value), may be repeated: one key is any of its values; of a list, any item; 2020 finds the text 2020, too")
	fl.StringArrayVar(&f.has, "has", nil, "only those whose metadata have this `key`")
	fl.StringVar(&f.since, "since", "", "only those whose own time is not before this: 2024, 2024-05, 2024-05-01 (UTC) or 2024-05-01T12:00:00Z")
	fl.StringVar(&f.until, "until", "", "only those whose own time is not after this, which is a whole year, month or day, or a moment")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(index.Statuses(), cobra.ShellCompDirectiveNoFileComp))
}

// filter returns what the flags select; any is false when they select everything.
func (f *filterFlags) filter() (_ index.Filter, any bool, err error) {
	if f.Status != "" && !slices.Contains(index.Statuses(), f.Status) {
		return f.Filter, false, usage("--status %s: want %s", f.Status, strings.Join(index.Statuses(), ", "))
	}
	if f.Where, err = conditionsOf(f.metadata); err != nil {
		return f.Filter, false, err
	}
	for _, key := range f.has {
		f.Where = append(f.Where, index.Condition{Key: key})
	}
	if f.since != "" {
		if f.Since, _, err = periodOf("since", f.since); err != nil {
			return f.Filter, false, err
		}
	}
	if f.until != "" {
		if _, f.Until, err = periodOf("until", f.until); err != nil {
			return f.Filter, false, err
		}
	}
	return f.Filter, !f.IsZero(), nil
}

// periods are the ways to write a time that is one, with what to add for the one after it.
var periods = []struct {
	layout              string
	years, months, days int
}{{"2006", 1, 0, 0}, {"2006-01", 0, 1, 0}, {"2006-01-02", 0, 0, 1}}

// periodOf reads a time: where it begins and where it is over.
func periodOf(flag, text string) (from, to time.Time, err error) {
	for _, p := range periods {
		if t, err := time.Parse(p.layout, text); err == nil {
			return t, t.AddDate(p.years, p.months, p.days), nil
		}
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, t, usage("--%s %s: want a year, a month, a day or a moment: 2024, 2024-05, 2024-05-01, 2024-05-01T12:00:00Z", flag, brief.Quote(text))
	}
	return t, t.Add(1), nil
}

// conditionsOf reads --metadata flags as conditions, those of one key and = together.
func conditionsOf(flags []string) (out []index.Condition, err error) {
	at := make(map[string]int) // of conditions with In, by key
	for _, entry := range flags {
		key, text, ok := strings.Cut(entry, "=")
		value := index.ParseMetadata(text)
		low, least := strings.CutSuffix(key, ">")
		high, most := strings.CutSuffix(key, "<")
		i, again := at[key]
		switch {
		case !ok || low == "" || high == "":
			return nil, usage("--metadata %s: want key=value, key>=value or key<=value", brief.Quote(entry))
		case least:
			out = append(out, index.Condition{Key: low, Min: value})
		case most:
			out = append(out, index.Condition{Key: high, Max: value})
		case again:
			out[i].In = append(out[i].In, value)
		default:
			at[key] = len(out)
			out = append(out, index.Condition{Key: key, In: []any{value}})
		}
	}
	return out, nil
}

// String describes the documents that the flags select.
func (f *filterFlags) String() string {
	var parts []string
	if len(f.IDs) > 0 {
		parts = append(parts, "called "+strings.Join(f.IDs, ", "))
	}
	if f.Status != "" {
		parts = append(parts, "that is "+f.Status)
	}
	if f.PathPrefix != "" {
		parts = append(parts, "whose path begins with "+brief.Quote(f.PathPrefix))
	}
	if f.Track != "" {
		parts = append(parts, "of track "+brief.Quote(f.Track))
	}
	for _, entry := range f.metadata {
		parts = append(parts, "with "+brief.Quote(entry))
	}
	for _, key := range f.has {
		parts = append(parts, "with "+brief.Quote(key))
	}
	if f.since != "" {
		parts = append(parts, "since "+f.since)
	}
	if f.until != "" {
		parts = append(parts, "until "+f.until)
	}
	return strings.Join(parts, " and ")
}

// metadataOf reads --metadata flags: key=value.
func metadataOf(flags []string) (map[string]any, error) {
	if len(flags) == 0 {
		return nil, nil
	}
	m := make(map[string]any, len(flags))
	for _, entry := range flags {
		key, text, ok := strings.Cut(entry, "=")
		if _, twice := m[key]; !ok || key == "" || twice {
			return nil, usage("--metadata %s: want key=value, each key once", brief.Quote(entry))
		}
		m[key] = index.ParseMetadata(text)
	}
	return m, nil
}
