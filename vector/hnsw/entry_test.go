package hnsw_test

import (
	"slices"

	"github.com/glimdb/db/vector"
)

// entryOf returns the id at the entry point of c's index, or the least id when it has none.
func entryOf(c *vector.Collection, m model) string {
	if x := c.Stats().Index; x != nil && x.Entry != "" {
		return x.Entry
	}
	ids := make([]string, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	return slices.Min(ids)
}
