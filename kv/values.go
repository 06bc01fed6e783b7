package kv

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// separation says which values are written once, to files of their own, and not again with every compaction of their
// keys: vectors, texts and replies, which are most of a store's bytes and seldom change.
type separation struct {
	compacting atomic.Int32 // calls of Compact in progress
}

const (
	// separateFrom is the length of the shortest value that has a place of its own. A shorter one costs more as a
	// second block to read than it saves in compactions.
	separateFrom = 1 << 10
	// separateDepth is the number of files of values that one stretch of a table may refer to before a compaction
	// writes these values anew, side by side: reading a range jumps between so many files.
	separateDepth = 32
	// garbageShare is the share of all separated bytes that nothing refers to from which the files with most of it
	// are written anew.
	garbageShare = 0.25
)

// policy is what the engine asks before each job. While a caller compacts, values are written anew, so that nothing
// is left of the ones that were replaced.
func (s *separation) policy() pebble.ValueSeparationPolicy {
	p := pebble.ValueSeparationPolicy{
		Enabled: true, MinimumSize: separateFrom, MaxBlobReferenceDepth: separateDepth, TargetGarbageRatio: garbageShare,
	}
	if s.compacting.Load() > 0 {
		p.MaxBlobReferenceDepth = 0
	}
	return p
}
