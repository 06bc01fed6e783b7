package wal

import (
	"time"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// changeKey: space.Change, LSN (8 bytes, big endian).
func changeKey(lsn kv.LSN) []byte {
	return codec.AppendKeyUint64(space.Key(space.Change), uint64(lsn))
}

// encode: kind, ids, time in nanoseconds since 1970, and the workspace unless it is the default one. The LSN is in
// the key.
func (c *Change) encode() []byte {
	b := codec.AppendString(nil, c.Kind)
	b = codec.AppendStrings(b, c.IDs)
	b = codec.AppendVarint(b, c.Time.UnixNano())
	if c.Workspace != "" {
		b = codec.AppendString(b, c.Workspace)
	}
	return b
}

func (c *Change) decode(b []byte) error {
	r := codec.NewReader(b)
	c.Kind = r.String()
	c.IDs = r.Strings()
	c.Time = time.Unix(0, r.Varint())
	if r.Err() == nil && r.Len() > 0 {
		if c.Workspace = r.String(); r.Err() == nil && c.Workspace == "" {
			return codec.ErrCorrupt // its absence is how the default one is written
		}
	}
	return r.Done()
}
