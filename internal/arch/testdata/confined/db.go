package db

import (
	_ "github.com/cockroachdb/pebble/v2/sstable"
	_ "github.com/cockroachdb/pebble/v2/vfs"
	_ "pgregory.net/rapid"
)
