package hnsw

import (
	"github.com/glimdb/db/internal/codec"
)

// Kinds of keys under the collection's prefix. The bytes are on disk.
const (
	kindHeader byte = 'h' // the valid epoch and what it consists of
	kindPart   byte = 'c' // epoch, number -> nodes of the checkpoint
	kindRecord byte = 'o' // epoch, number -> operations since
)

// Operations of a record, each followed by the ordinal of the node it is about. On disk.
const (
	opNode   byte = 1 // a new node
	opSet    byte = 2 // level, links: replaces a list
	opPush   byte = 3 // level, link: appends one
	opParent byte = 4 // parent's ordinal + 1, 0 for the root
	opDrop   byte = 5 // the node is gone
)

// maxField bounds ordinals and the fields of the header: no store gets there, and counting on from them
// cannot overflow.
const maxField = 1 << 62

// formatVersion is the first value of the header.
const formatVersion = 1

func (x *Index) key(kind byte) []byte {
	return append(append([]byte(nil), x.o.Prefix...), kind)
}

func (x *Index) numbered(kind byte, epoch uint64, n int) []byte {
	return codec.AppendKeyUint32(codec.AppendKeyUint64(x.key(kind), epoch), uint32(n))
}

// header encodes version, M, epoch, number of parts, number of records, bytes of the checkpoint and of
// the records, the first ordinal not fed, and the entry point's ordinal + 1.
func (x *Index) header() []byte {
	entry := uint64(0)
	if e := x.entry.Load(); e != noEntry {
		entry = x.points.Ordinal(uint32(e)) + 1
	}
	l := &x.log
	var b []byte
	for _, v := range []uint64{formatVersion, uint64(x.m), l.epoch, uint64(l.parts), uint64(l.records),
		uint64(l.written.Load()), uint64(l.logged.Load()), l.fed, entry} {
		b = codec.AppendUvarint(b, v)
	}
	return b
}

func (x *Index) appendParent(b []byte, parent uint32) []byte {
	if parent == 0 {
		return codec.AppendUvarint(b, 0)
	}
	return codec.AppendUvarint(b, x.points.Ordinal(parent-1)+1)
}

func (x *Index) appendList(b []byte, links []uint32) []byte {
	b = codec.AppendUvarint(b, uint64(len(links)))
	for _, s := range links {
		b = codec.AppendUvarint(b, x.points.Ordinal(s))
	}
	return b
}

// appendNode encodes a node of a checkpoint: ordinal, parent, one list a level. The number of levels
// follows from the ordinal.
func (x *Index) appendNode(b []byte, slot uint32, level int) []byte {
	b = codec.AppendUvarint(b, x.points.Ordinal(slot))
	blk, i := x.block(slot)
	b = x.appendParent(b, blk.parent[i])
	for l := 0; l <= level; l++ {
		b = x.appendList(b, read(x.list(slot, l), nil))
	}
	return b
}
