package main

import (
	"slices"
	"strings"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/brief"
	"github.com/spf13/cobra"
)

// filterFlags select documents; docs and delete have them.
type filterFlags struct {
	index.Filter
	metadata []string
}

func (f *filterFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.Status, "status", "", "only pending, processing, processed or failed ones")
	fl.StringVar(&f.PathPrefix, "prefix", "", "only those whose path begins so")
	fl.StringVar(&f.Track, "track", "", "only those of one insert")
	fl.StringArrayVarP(&f.metadata, "metadata", "m", nil, "only those with this `key=value`, may be repeated; of a list, any item; 2020 finds the text 2020, too")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(index.Statuses(), cobra.ShellCompDirectiveNoFileComp))
}

// filter returns what the flags select; any is false when they select everything.
func (f *filterFlags) filter() (_ index.Filter, any bool, err error) {
	if f.Status != "" && !slices.Contains(index.Statuses(), f.Status) {
		return f.Filter, false, usage("--status %s: want %s", f.Status, strings.Join(index.Statuses(), ", "))
	}
	if f.Metadata, err = metadataOf(f.metadata); err != nil {
		return f.Filter, false, err
	}
	return f.Filter, f.Status+f.PathPrefix+f.Track != "" || len(f.Metadata) > 0, nil
}

// String describes the documents that the flags select.
func (f *filterFlags) String() string {
	var parts []string
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
