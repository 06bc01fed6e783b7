package ivf

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/glimdb/db/internal/kmeans"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/oplog"
)

// Index implements vector.Index.
type Index struct {
	o         vector.IndexOptions
	points    *vector.Points
	spherical bool // cells are cones of directions; else Euclidean

	layout atomic.Pointer[layout] // what searches read
	nodes  atomic.Int64
	slots  atomic.Int64 // length of homes

	homes   []uint32 // by slot: the number of its cell + 1, 0 for none
	tending tending
	probe   *vector.Probe // of the feeding goroutine, like own
	own     *scratch
	pool    sync.Pool // *scratch

	log    *oplog.Log
	loaded []uint32 // between Load and Attach: the cells of the loaded ordinals
}

// layout is one state of the cells. Centroids and the set of cells are replaced with it, never changed; lists
// grow and shrink under it, each of them in one step.
type layout struct {
	cells     []*cell
	centroids table
}

// cell is a list of slots around a centroid.
type cell struct {
	content atomic.Pointer[list]
}

// list is what lies in a cell. Lists share memory with the shorter ones that they were made of.
type list struct {
	slots []uint32
	strip vector.Strip // of the slots, in their order; empty where they have none
}

func newCell(l list) *cell {
	c := &cell{}
	c.set(l)
	return c
}

func (c *cell) set(l list) { c.content.Store(&l) }

// list returns the content. It is shared: read only.
func (c *cell) list() *list { return c.content.Load() }

// slots returns the slots of the content, shared like it.
func (c *cell) slots() []uint32 { return c.list().slots }

// longer returns l with more slots. Only the longest list that was made of l may be made longer.
func (x *Index) longer(l list, slots ...uint32) list {
	l.slots = append(l.slots, slots...)
	if x.points.Strips() {
		l.strip = x.points.Strip(l.strip, slots...)
	}
	return l
}

const (
	// single slots lie in one cell before there is anything to tell cells apart by: to compare all of them
	// costs less than to find the right ones.
	single = 1024
	// A cell is meant to hold 1/cellShare of the root of the number of slots: more of them cost a search
	// more centroids, fewer of them more slots to the same recall.
	cellShare = 3
	// cellMin slots are compared in less time than their cell is found.
	cellMin = 32
)

// Factory is the vector.NewIndex of this package.
func Factory(o vector.IndexOptions) vector.Index { return New(o) }

// New returns an empty index. Load or Attach comes next.
func New(o vector.IndexOptions) *Index {
	return newIndex(o, oplog.New(oplog.Options{Prefix: o.Prefix, Persist: o.Persist, Version: formatVersion}))
}

func newIndex(o vector.IndexOptions, log *oplog.Log) *Index {
	x := &Index{o: o, spherical: o.Config.Metric != vector.L2, log: log}
	x.clear()
	return x
}

// clear leaves no cell.
func (x *Index) clear() {
	x.layout.Store(&layout{centroids: newTable(x.o.Config.Dim, x.spherical)})
}

// size is the number of slots that a cell is meant to hold.
func (x *Index) size() int {
	return max(cellMin, int(math.Sqrt(float64(x.nodes.Load()))/cellShare))
}

// home returns the cell of slot.
func (x *Index) home(slot uint32) (at int, ok bool) {
	if int(slot) >= len(x.homes) || x.homes[slot] == 0 {
		return 0, false
	}
	return int(x.homes[slot] - 1), true
}

// settle notes that slot is in a cell.
func (x *Index) settle(slot uint32, at int) {
	if n := int(slot) + 1; n > len(x.homes) {
		x.homes = slices.Grow(x.homes, n-len(x.homes))[:n]
		x.slots.Store(int64(n))
	}
	x.homes[slot] = uint32(at) + 1
}

// Insert implements vector.Index.
func (x *Index) Insert(slot uint32) {
	if _, ok := x.home(slot); ok {
		return
	}
	p := x.feeder()
	p.SetSlot(slot)
	l := x.layout.Load()
	if len(l.cells) == 0 {
		l = &layout{centroids: l.centroids.with(0, p.Vector()), cells: []*cell{newCell(list{})}}
		x.layout.Store(l)
		x.log.Floats(opCentroid, 0, l.centroids.row(0))
	}
	at := x.nearest(l, p.Vector())
	l.cells[at].set(x.longer(*l.cells[at].list(), slot))
	x.settle(slot, at)
	x.nodes.Add(1)
	x.log.Op(opAdd, x.points.Ordinal(slot), uint64(at))
	if x.overfull(l, at) {
		x.split(at)
	}
	x.turn()
}

// nearest is the cell whose centroid is nearest to v.
func (x *Index) nearest(l *layout, v []float32) int {
	s := x.scratch()
	s.far = l.centroids.distances(s.pad(v), s.far[:0])
	best := 0
	for i, d := range s.far {
		if d < s.far[best] {
			best = i
		}
	}
	return best
}

// Remove implements vector.Index.
func (x *Index) Remove(slots []uint32) {
	left := map[int][]uint32{} // by cell: what goes
	for _, slot := range slots {
		if at, ok := x.home(slot); ok {
			left[at] = append(left[at], slot)
			x.homes[slot] = 0
			x.nodes.Add(-1)
			x.log.Op(opDrop, x.points.Ordinal(slot))
		}
	}
	l := x.layout.Load()
	for at, gone := range left {
		x.keep(l.cells[at], at, len(gone))
	}
	if x.nodes.Load() == 0 {
		x.empty()
		return
	}
	for _, gone := range left {
		for range gone {
			x.turn()
		}
	}
}

// keep shortens the list of a cell by the n slots that are not at home there any more.
func (x *Index) keep(c *cell, at, n int) {
	old := c.slots()
	slots := make([]uint32, 0, len(old)-n)
	for _, slot := range old {
		if home, ok := x.home(slot); ok && home == at {
			slots = append(slots, slot)
		}
	}
	c.set(x.longer(list{}, slots...))
}

// Move implements vector.Index.
func (x *Index) Move(p *vector.Points, slots []uint32) vector.Index {
	y := newIndex(x.o, x.log.Take())
	y.points, y.tending = p, x.tending
	l := x.layout.Load()
	next := &layout{centroids: l.centroids, cells: make([]*cell, len(l.cells))}
	for at, c := range l.cells {
		moved := list{slots: make([]uint32, 0, len(c.slots())), strip: c.list().strip}
		for _, slot := range c.slots() {
			moved.slots = append(moved.slots, slots[slot])
			y.settle(slots[slot], at)
		}
		next.cells[at] = newCell(moved)
	}
	y.nodes.Store(x.nodes.Load())
	y.layout.Store(next)
	return y
}

// Stats implements vector.Index.
func (x *Index) Stats() vector.IndexStats {
	l := x.layout.Load()
	const perCell = 8 + 8 + 24 + 48
	bytes := l.centroids.bytes() + 4*x.slots.Load() + perCell*int64(len(l.cells))
	for _, c := range l.cells {
		bytes += 4*int64(cap(c.slots())) + c.list().strip.Bytes()
	}
	st := vector.IndexStats{Kind: vector.IVF.String(), Nodes: int(x.nodes.Load()), Cells: len(l.cells), Bytes: bytes,
		Log: x.log.Logged(), Written: x.log.Written()}
	if st.Nodes > 0 {
		st.Levels = 1
	}
	return st
}

// feeder returns the probe of the feeding goroutine.
func (x *Index) feeder() *vector.Probe {
	if x.probe == nil {
		x.probe = x.points.NewProbe()
	}
	return x.probe
}

// scratch returns that of the feeding goroutine.
func (x *Index) scratch() *scratch {
	if x.own == nil {
		x.own = x.newScratch()
	}
	return x.own
}

// rows are the vectors of slots, while the probe is not used for others.
func (x *Index) rows(slots []uint32) kmeans.Rows {
	p := x.feeder()
	return kmeans.Rows{N: len(slots), Dim: x.o.Config.Dim, Row: func(i int) []float32 {
		p.SetSlot(slots[i])
		return p.Vector()
	}}
}
