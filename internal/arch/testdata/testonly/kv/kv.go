package kv

import _ "github.com/glimdb/db/internal/testkit"
