package hnsw

import (
	"iter"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
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

// formatVersion is that of operations, nodes and header. Version 1 named nodes by their ordinals; 2 had a log of
// its own, without checksums; 4 is of package ivf.
const formatVersion = 3

// maxOrdinal is beyond every ordinal.
const maxOrdinal = 1 << 62

// Skip implements vector.Index.
func (x *Index) Skip(ord uint64) { x.log.Skip(ord) }

// Lost implements vector.Index.
func (x *Index) Lost() { x.log.Lost() }

// Drain implements vector.Index.
func (x *Index) Drain() []func(*kv.Batch) error { return x.log.Drain(persisted{x}) }

// persisted is what the log asks for.
type persisted struct{ x *Index }

// Header implements oplog.State: M, and the place of the entry point + 1, 0 for none.
func (s persisted) Header() []byte {
	entry := uint32(0)
	if e := s.x.entry.Load(); e != noEntry {
		entry = s.x.placed(uint32(e) + 1)
	}
	return codec.AppendUvarint(codec.AppendUvarint(nil, uint64(s.x.m)), uint64(entry))
}

// Elements implements oplog.State: the nodes, numbered anew. Each is its ordinal, its parent, and one list a
// level; the number of levels follows from the ordinal.
func (s persisted) Elements() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		x := s.x
		x.places = 0
		x.eachNode(func(slot uint32, _ int) { x.place(slot) })
		var b []byte
		open := true
		x.eachNode(func(slot uint32, level int) {
			if !open {
				return
			}
			b = codec.AppendUvarint(b[:0], x.points.Ordinal(slot))
			blk, i := x.block(slot)
			b = codec.AppendUvarint(b, uint64(x.placed(blk.parent[i])))
			for l := 0; l <= level; l++ {
				list := x.list(slot, l)
				n := length(list)
				b = codec.AppendUvarint(b, uint64(n))
				for _, v := range list[:n] {
					b = codec.AppendUvarint(b, uint64(x.placed(v)))
				}
			}
			open = yield(b)
		})
	}
}

// place gives slot the next place.
func (x *Index) place(slot uint32) {
	b, i := x.block(slot)
	b.place[i] = x.places
	x.places++
}

// placed turns slot+1 into place+1 and leaves 0 as it is.
func (x *Index) placed(link uint32) uint32 {
	if link == 0 {
		return 0
	}
	b, i := x.block(link - 1)
	return b.place[i] + 1
}

// length is the number of links in a list.
func length(list []uint32) int {
	if n := slices.Index(list, 0); n >= 0 {
		return n
	}
	return len(list)
}

// logOp keeps an operation on slot, followed by values.
func (x *Index) logOp(op byte, slot uint32, values ...uint32) {
	if !x.log.Keeps() {
		return
	}
	x.values = append(x.values[:0], uint64(x.placed(slot+1)-1))
	for _, v := range values {
		x.values = append(x.values, uint64(v))
	}
	x.log.Op(op, x.values...)
}

// logNode gives slot the next place and keeps its creation. When nothing is kept a checkpoint comes next, which
// numbers all nodes.
func (x *Index) logNode(slot uint32) {
	if x.log.Keeps() {
		x.place(slot)
		x.log.Op(opNode, x.points.Ordinal(slot))
	}
}

// logSet keeps what list, that of slot on a level, holds now.
func (x *Index) logSet(slot uint32, level int, list []uint32) {
	if !x.log.Keeps() {
		return
	}
	n := length(list)
	x.values = append(x.values[:0], uint64(x.placed(slot+1)-1), uint64(level), uint64(n))
	for _, v := range list[:n] {
		x.values = append(x.values, uint64(x.placed(v)))
	}
	x.log.Op(opSet, x.values...)
}
