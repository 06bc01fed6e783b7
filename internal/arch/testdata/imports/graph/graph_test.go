package graph_test

import (
	_ "github.com/glimdb/db/graph"
	_ "github.com/glimdb/db/internal/testkit"
	_ "github.com/glimdb/db/wal"
)
