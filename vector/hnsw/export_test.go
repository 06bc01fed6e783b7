package hnsw

import (
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/oplog"
)

// SmallParts is Factory with frequent checkpoints of many parts and many commits.
func SmallParts(o vector.IndexOptions) vector.Index {
	return newIndex(o, oplog.New(oplog.Options{Prefix: o.Prefix, Persist: o.Persist, Version: formatVersion,
		PartBytes: 2 << 10, CommitBytes: 6 << 10, LogMin: 4 << 10}))
}

// Reads is the number of lists that x has read to remove nodes.
func Reads(x vector.Index) int { return x.(*Index).builder().reads }

// Found is what Insert of slot, which is no node yet, would choose links from on each level it will have, before
// the candidates are extended.
func (x *Index) Found(slot uint32) (levels [][]uint32) {
	e := x.entry.Load()
	w := x.builder()
	w.probe.SetSlot(slot)
	at, top := uint32(e), int(e>>32)
	d := w.distance(at)
	level := x.levelOf(x.points.Ordinal(slot))
	for l := top; l > level; l-- {
		at, d = w.greedy(at, d, l)
	}
	levels = make([][]uint32, min(level, top)+1)
	for l := len(levels) - 1; l >= 0; l-- {
		w.beam(at, d, l, x.o.Config.EfConstruction, slot)
		at, d = slotOf(w.pool[0]), distOf(w.pool[0])
		for _, k := range w.pool {
			levels[l] = append(levels[l], slotOf(k))
		}
	}
	return levels
}

// Links are those of slot on a level.
func (x *Index) Links(slot uint32, level int) []uint32 { return read(x.list(slot, level), nil) }

// Parent is that of slot in the tree.
func (x *Index) Parent(slot uint32) (uint32, bool) { return x.parent(slot) }
