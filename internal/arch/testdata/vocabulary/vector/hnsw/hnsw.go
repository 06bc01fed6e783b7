package hnsw

import "slices"

type index struct{ lastDocID int }

func chunkOf(parts []int) {
	var undocumented int
	_ = undocumented
	for range slices.Chunk(parts, 2) {
	}
}

type PromptCache struct{ entityCount int }
