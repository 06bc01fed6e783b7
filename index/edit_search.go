package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// NameMatch is an entity that SearchNames found.
type NameMatch struct {
	Name  string `json:"name"`
	Alias string `json:"alias,omitempty"` // the name that was found, where it is another
	Score int    `json:"score"`
}

// SearchNames returns the entities one of whose names holds text, as graph.Graph.SearchLabels scores them, each by its
// best name. Where none does the text is taken as NormalizeName has it. limit is 1..graph.MaxSearch. It reads all names
// once, twice for a text that none holds.
func SearchNames(ctx context.Context, r kv.Reader, ws, text string, limit int) ([]NameMatch, error) {
	g, err := graph.Open(r, ws, record.GraphName)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	for _, text := range spellings(text) {
		var found []NameMatch
		if err == nil {
			found, err = searchNames(ctx, r, g, ws, text, limit)
		}
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, err
}

func searchNames(ctx context.Context, r kv.Reader, g *graph.Graph, ws, text string, limit int) ([]NameMatch, error) {
	labels, err := g.SearchLabels(ctx, r, text, limit)
	if err != nil {
		return nil, err
	}
	var all []NameMatch
	for _, m := range labels {
		all = append(all, NameMatch{Name: m.Name, Score: m.Score})
	}
	prefix := record.AliasesPrefix(ws)
	for kvp, err := range scan(r, prefix) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("index: search names: %w", err)
		}
		alias, err := record.ParseAliasKey(kvp.key[len(prefix):])
		if err != nil {
			return nil, fmt.Errorf("index: search names: %w: alias: %w", kv.ErrCorrupt, err)
		}
		score, ok := graph.LabelScore(alias, text)
		if !ok {
			continue
		}
		name := string(kvp.value)
		t, err := tallyOf(r, ws, record.EntityObject(name))
		if err != nil {
			return nil, err
		}
		if t.Version != 0 { // it was not deleted by hand
			all = append(all, NameMatch{Name: name, Alias: alias, Score: score})
		}
	}
	// The best name of each, its own before an alias.
	slices.SortFunc(all, func(x, y NameMatch) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Alias, y.Alias))
	})
	seen := make(map[string]bool)
	all = slices.DeleteFunc(all, func(m NameMatch) bool {
		twice := seen[m.Name]
		seen[m.Name] = true
		return twice
	})
	return all[:min(limit, len(all))], nil
}
