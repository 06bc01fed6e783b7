package hnsw

import "github.com/glimdb/db/vector"

// SmallParts is Factory with checkpoints of many parts and many commits.
func SmallParts(o vector.IndexOptions) vector.Index {
	x := New(o)
	x.log.partBytes, x.log.commitBytes = 2<<10, 8<<10
	return x
}
