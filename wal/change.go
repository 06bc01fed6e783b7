package wal

import (
	"time"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Change is one record of the feed.
type Change struct {
	LSN  kv.LSN
	Kind string
	IDs  []string
	Time time.Time
}

func changeKey(lsn kv.LSN) []byte {
	return codec.AppendKeyUint64(space.Key(space.Change), uint64(lsn))
}

func (c Change) encode() []byte {
	b := codec.AppendString(nil, c.Kind)
	b = codec.AppendStrings(b, c.IDs)
	return codec.AppendVarint(b, c.Time.UnixNano())
}
