package index

import (
	"fmt"
	"maps"
	"slices"

	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// ExtractorUse tells how many chunks an extractor read.
type ExtractorUse struct {
	ID     string `json:"id"` // Extractor.ID
	Chunks int    `json:"chunks"`
}

// Extractors tells which extractors read the chunks of documents, sorted by ID; none read those of custom graphs. It reads
// all chunks.
func Extractors(r kv.Reader, ws string) ([]ExtractorUse, error) {
	chunks := make(map[string]int)
	prefix := space.In(ws, space.Chunk)
	for kvp, err := range scan(r, prefix) {
		if err != nil {
			return nil, fmt.Errorf("index: extractors: %w", err)
		}
		c, err := decodeChunk(kvp, len(prefix))
		if err != nil {
			return nil, fmt.Errorf("index: extractors: %w", err)
		}
		if c.Extractor != customExtractor {
			chunks[c.Extractor]++
		}
	}
	all := make([]ExtractorUse, 0, len(chunks))
	for _, id := range slices.Sorted(maps.Keys(chunks)) {
		all = append(all, ExtractorUse{id, chunks[id]})
	}
	return all, nil
}
