package vectortest_test

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/vectortest"
)

// flat is the least that an index may be: a list of slots, all of which every search compares.
type flat struct {
	points *vector.Points
	slots  atomic.Pointer[[]uint32] // replaced when some go; behind its length, where no reader looks, it grows
}

func newFlat(vector.IndexOptions) vector.Index {
	x := &flat{}
	x.slots.Store(&[]uint32{})
	return x
}

func (x *flat) Search(q vector.Query, out []uint32) []uint32 {
	type candidate struct {
		slot uint32
		dist float32
	}
	var all []candidate
	var dist [vector.MaxGather]float32
	admitted := make([]uint32, 0, vector.MaxGather)
	for part := range slices.Chunk(*x.slots.Load(), vector.MaxGather) {
		admitted = admitted[:0]
		for _, slot := range part {
			if slot < q.Probe.Limit() && q.Admit(slot) {
				admitted = append(admitted, slot)
			}
		}
		q.Probe.Distances(admitted, dist[:len(admitted)])
		for i, slot := range admitted {
			all = append(all, candidate{slot, dist[i]})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.dist, b.dist) })
	for _, c := range all[:min(q.K, len(all))] {
		out = append(out, c.slot)
	}
	return out
}

func (x *flat) Insert(slot uint32) {
	slots := append(*x.slots.Load(), slot)
	x.slots.Store(&slots)
}

func (x *flat) Remove(gone []uint32) {
	kept := slices.DeleteFunc(slices.Clone(*x.slots.Load()), func(slot uint32) bool { return slices.Contains(gone, slot) })
	x.slots.Store(&kept)
}

func (x *flat) Move(p *vector.Points, to []uint32) vector.Index {
	y := newFlat(vector.IndexOptions{}).(*flat)
	y.points = p
	for _, slot := range *x.slots.Load() {
		y.Insert(to[slot])
	}
	return y
}

func (x *flat) Check(live func(slot uint32) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for slot := range x.points.Len() {
			if live(slot) && !slices.Contains(*x.slots.Load(), slot) && !yield(fmt.Sprintf("slot %d is missing", slot)) {
				return
			}
		}
	}
}

func (x *flat) Stats() vector.IndexStats {
	n := len(*x.slots.Load())
	return vector.IndexStats{Kind: "flat", Nodes: n, Bytes: int64(4 * n)}
}

// It saves nothing: whenever a collection is opened, its vectors are inserted again.

func (x *flat) Load(kv.Reader) ([]uint64, uint64, error) { return nil, 0, nil }
func (x *flat) Attach(p *vector.Points, _ []uint32)      { x.points = p }
func (x *flat) Skip(uint64)                              {}
func (x *flat) Drain() []func(*kv.Batch) error           { return nil }
func (x *flat) Lost()                                    {}

func TestFlat(t *testing.T) {
	vectortest.Run(t, vectortest.Suite{New: newFlat, Forgets: true})
}
