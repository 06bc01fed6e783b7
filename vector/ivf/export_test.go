package ivf

import "github.com/glimdb/db/vector"

// SmallParts is Factory with frequent checkpoints of many parts and many commits.
func SmallParts(o vector.IndexOptions) vector.Index { return small(o) }
