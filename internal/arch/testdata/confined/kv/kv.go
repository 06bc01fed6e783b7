package kv

import _ "github.com/cockroachdb/pebble/v2"
