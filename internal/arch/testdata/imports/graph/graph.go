package graph

import (
	_ "slices"

	_ "github.com/glimdb/db/internal/codec"
	_ "github.com/glimdb/db/kv"
	_ "github.com/glimdb/db/vector"
)
