package hnsw

import (
	"slices"

	"github.com/glimdb/db/internal/codec"
)

// Kinds of keys under the collection's prefix. The bytes are on disk.
const (
	kindHeader byte = 'h' // the valid epoch and what it consists of
	kindPart   byte = 'c' // epoch, number -> nodes of the checkpoint
	kindRecord byte = 'o' // epoch, number -> operations since
)

// Operations of a record. On disk. Every node has a place: its number among the nodes of the checkpoint and
// those that records added since, dropped ones included. Places ascend with the ordinals.
const (
	opNode   byte = 1 // ordinal: a new node, at the next place
	opSet    byte = 2 // place, level, links: replaces a list
	opPush   byte = 3 // place, level, link: appends one
	opParent byte = 4 // place, parent's place + 1, 0 for the root
	opDrop   byte = 5 // place: the node is gone; no list leads to it
)

// maxField bounds ordinals and the fields of the header: no store gets there, and counting on from them
// cannot overflow.
const maxField = 1 << 62

// formatVersion is the first value of the header. Version 1 named nodes by their ordinals.
const formatVersion = 2

func (x *Index) key(kind byte) []byte {
	return append(append([]byte(nil), x.o.Prefix...), kind)
}

func (x *Index) numbered(kind byte, epoch uint64, n int) []byte {
	return codec.AppendKeyUint32(codec.AppendKeyUint64(x.key(kind), epoch), uint32(n))
}

// header is the decoded header of the persisted form.
type header struct {
	version, m      uint64
	epoch           uint64
	parts, records  uint64
	written, logged uint64 // bytes of the parts and of the records
	fed             uint64 // the first ordinal not fed
	entry           uint64 // place of the entry point + 1, 0 for none
}

func (h *header) fields() []*uint64 {
	return []*uint64{&h.version, &h.m, &h.epoch, &h.parts, &h.records, &h.written, &h.logged, &h.fed, &h.entry}
}

// header encodes the header of what was drained last.
func (x *Index) header() []byte {
	l := &x.log
	h := header{version: formatVersion, m: uint64(x.m), epoch: l.epoch, parts: uint64(l.parts), records: uint64(l.records),
		written: uint64(l.written.Load()), logged: uint64(l.logged.Load()), fed: l.fed}
	if e := x.entry.Load(); e != noEntry {
		h.entry = uint64(x.placed(uint32(e) + 1))
	}
	var b []byte
	for _, v := range h.fields() {
		b = codec.AppendUvarint(b, *v)
	}
	return b
}

func (x *Index) decodeHeader(v []byte) (h header, err error) {
	in := codec.NewReader(v)
	for _, f := range h.fields() {
		if *f = in.Uvarint(); *f > maxField {
			return h, corrupt("header: field of %d", *f)
		}
	}
	if err := in.Done(); err != nil {
		return h, corrupt("header: %w", err)
	}
	if h.version != formatVersion || h.m != uint64(x.m) {
		return h, corrupt("header: version %d, M %d", h.version, h.m)
	}
	return h, nil
}

// placed turns slot+1 into place+1 and leaves 0 as it is.
func (x *Index) placed(link uint32) uint32 {
	if link == 0 {
		return 0
	}
	b, i := x.block(link - 1)
	return b.place[i] + 1
}

// appendList encodes a list as it lies in memory: its length, and place + 1 of each link.
func (x *Index) appendList(b []byte, list []uint32) []byte {
	n := slices.Index(list, 0)
	if n < 0 {
		n = len(list)
	}
	b = codec.AppendUvarint(b, uint64(n))
	for _, v := range list[:n] {
		b = codec.AppendUvarint(b, uint64(x.placed(v)))
	}
	return b
}

// appendNode encodes a node of a checkpoint: ordinal, parent, one list a level. The number of levels
// follows from the ordinal.
func (x *Index) appendNode(b []byte, slot uint32, level int) []byte {
	b = codec.AppendUvarint(b, x.points.Ordinal(slot))
	blk, i := x.block(slot)
	b = codec.AppendUvarint(b, uint64(x.placed(blk.parent[i])))
	for l := 0; l <= level; l++ {
		b = x.appendList(b, x.list(slot, l))
	}
	return b
}
