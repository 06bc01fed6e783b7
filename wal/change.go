package wal

import (
	"time"

	"github.com/glimdb/db/kv"
)

// Change is one record of the feed: that a commit happened, of which kind, and what it touched. What kind and
// ids mean is the writer's affair.
type Change struct {
	LSN  kv.LSN
	Kind string
	IDs  []string
	// Workspace is the one that was written to. Empty: the default workspace, or none, as for Truncate.
	Workspace string
	Time      time.Time // of the commit, to the nanosecond, in the local zone
}
