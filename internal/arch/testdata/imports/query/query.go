package query

import (
	_ "github.com/glimdb/db"
	_ "github.com/glimdb/db/index"
	_ "github.com/glimdb/db/vector/hnsw"
	_ "github.com/glimdb/db/wal"
)
