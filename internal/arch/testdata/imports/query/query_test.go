package query

import _ "github.com/glimdb/db/wal"
