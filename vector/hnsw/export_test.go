package hnsw

import (
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/oplog"
)

// SmallParts is Factory with frequent checkpoints of many parts and many commits.
func SmallParts(o vector.IndexOptions) vector.Index {
	return newIndex(o, oplog.New(oplog.Options{Prefix: o.Prefix, Persist: o.Persist, Version: formatVersion,
		PartBytes: 2 << 10, CommitBytes: 6 << 10, LogMin: 4 << 10}))
}

// Reads is the number of lists that x has read to remove nodes.
func Reads(x vector.Index) int { return x.(*Index).builder().reads }
