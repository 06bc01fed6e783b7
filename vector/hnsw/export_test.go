package hnsw

import "github.com/glimdb/db/vector"

// SmallParts is Factory with frequent checkpoints of many parts and many commits.
func SmallParts(o vector.IndexOptions) vector.Index {
	x := New(o)
	x.log.partBytes, x.log.commitBytes, x.log.logMin = 2<<10, 6<<10, 4<<10
	return x
}

// Reads is the number of lists that x has read to remove nodes.
func Reads(x vector.Index) int { return x.(*Index).builder().reads }
