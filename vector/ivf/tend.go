package ivf

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/glimdb/db/internal/kmeans"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/vector"
)

const (
	// A cell of more than overfull times the size that is meant splits; one of less than 1/meagre of it is
	// dissolved. What a split makes lies well between.
	overfull, meagre = 2, 4
	// A split makes at most so many parts: the first, of all the slots that a single cell held, would otherwise cost
	// as much as hundreds of inserts. Parts that are overfull themselves split with the inserts that follow.
	maxParts = 4
	// reach cells around one that changed are looked at for vectors that lie nearer elsewhere now.
	reach = 32
	// Each cell is looked at once while 1/tendShare of the slots that are meant for it come or go.
	tendShare = 4
)

// tending tells whose turn it is to be looked at.
type tending struct {
	turns uint64 // inserts and removals since the last one
	next  uint64 // the cell
}

// turn counts an insert or a removal, and looks after one cell from time to time.
func (x *Index) turn() {
	t := &x.tending
	t.turns++
	l := x.layout.Load()
	if len(l.cells) < 2 || t.turns < uint64(x.size()/tendShare) {
		return
	}
	t.turns = 0
	at := int(t.next % uint64(len(l.cells)))
	t.next = uint64(at) + 1
	switch n := len(l.cells[at].slots()); {
	case x.overfull(l, at):
		x.split(at)
	case n < x.size()/meagre || n == 0:
		x.dissolve(at)
	default:
		x.refresh(at)
	}
}

// overfull reports whether a cell is to be split.
func (x *Index) overfull(l *layout, at int) bool {
	n := len(l.cells[at].slots())
	return n > overfull*x.size() && (len(l.cells) > 1 || n > single)
}

// members returns the slots of a cell, ascending, so that sums over them do not depend on how they came there.
func (l *layout) members(at int) []uint32 {
	slots := slices.Clone(l.cells[at].slots())
	slices.Sort(slots)
	return slots
}

// clone returns a layout that may be changed until it is stored.
func (l *layout) clone() *layout {
	return &layout{cells: slices.Clone(l.cells), centroids: l.centroids}
}

// split makes several cells out of one.
func (x *Index) split(at int) {
	old := x.layout.Load()
	slots := old.members(at)
	l := old.clone()
	m := &moves{x: x, l: l}
	for i, p := range x.partition(slots) {
		n := at
		if i > 0 {
			n = len(l.cells)
			l.cells = append(l.cells, newCell(list{}))
		}
		l.centroids = l.centroids.with(n, p.centroid)
		x.log.Floats(opCentroid, uint64(n), p.centroid)
		m.cells = append(m.cells, n)
		m.add(p.slots, n)
	}
	near := x.around(l, old.centroids.row(at), m.cells)
	m.outward(append(slices.Clone(m.cells), near...))
	m.inward(near)
	m.apply()
}

// refresh moves the centroid of a cell to the mean of its slots, and those to the cells that are nearest then.
func (x *Index) refresh(at int) {
	l := x.layout.Load().clone()
	slots := l.members(at)
	centroid := kmeans.Mean(x.rows(slots), x.spherical)
	if centroid == nil {
		return
	}
	if !slices.Equal(centroid, l.centroids.row(at)) {
		l.centroids = l.centroids.with(at, centroid)
		x.log.Floats(opCentroid, uint64(at), centroid)
	}
	m := &moves{x: x, l: l, cells: []int{at}}
	m.add(slots, at)
	m.outward(append(m.cells, x.around(l, centroid, m.cells)...))
	m.apply()
}

// dissolve gives the slots of a cell to others and its number to the last one.
func (x *Index) dissolve(at int) {
	old := x.layout.Load()
	if len(old.cells) < 2 {
		return
	}
	l := old.clone()
	m := &moves{x: x, l: l, cells: []int{at}}
	if slots := old.members(at); len(slots) > 0 {
		m.add(slots, at)
		m.outward(x.around(l, old.centroids.row(at), m.cells))
	}
	m.gather()
	last := len(l.cells) - 1
	if at != last {
		for _, slot := range l.members(last) {
			x.settle(slot, at)
			x.log.Op(opMove, x.points.Ordinal(slot), uint64(at))
		}
		l.cells[at] = l.cells[last]
		l.centroids = l.centroids.with(at, l.centroids.row(last))
		x.log.Floats(opCentroid, uint64(at), l.centroids.row(at))
	}
	l.cells = l.cells[:last]
	l.centroids = l.centroids.withoutLast()
	x.log.Op(opPop)
	x.layout.Store(l)
}

// empty forgets the cells of an index without slots.
func (x *Index) empty() {
	for range x.layout.Load().cells {
		x.log.Op(opPop)
	}
	x.tending = tending{}
	x.clear()
}

// part is a piece of a cell that splits.
type part struct {
	centroid []float32
	slots    []uint32
}

// partition divides slots, which ascend, into parts, of about the size that is meant where maxParts of these are
// enough, and at least two. Parts so small that they would be dissolved join the first; searches for the nearest
// cell part them again.
func (x *Index) partition(slots []uint32) []part {
	rows, size := x.rows(slots), x.size()
	k := min(max(2, (len(slots)+size/2)/size), maxParts)
	ctx := context.Background() // never done, so that there are no errors
	c, err := kmeans.Run(ctx, rows, kmeans.Options{K: k, Spherical: x.spherical, Seed: x.points.Ordinal(slots[0])})
	if err != nil {
		return x.copies(slots, k)
	}
	homes, err := c.Assign(ctx, rows, 1)
	if err != nil || c.K < 2 {
		return x.copies(slots, k)
	}
	groups := make([][]uint32, c.K)
	for i, slot := range slots {
		groups[homes[i]] = append(groups[homes[i]], slot)
	}
	var parts []part
	var rest []uint32
	for _, group := range groups {
		if n := len(group); n < size/meagre || n == 0 {
			rest = append(rest, group...)
		} else {
			parts = append(parts, part{x.centre(group), group})
		}
	}
	if len(parts) < 2 {
		return x.halves(slots, c)
	}
	parts[0].slots = append(parts[0].slots, rest...)
	return parts
}

// copies divides slots that nothing tells apart by number, around one centroid.
func (x *Index) copies(slots []uint32, into int) []part {
	centroid := x.centre(slots)
	parts := make([]part, into)
	for i := range parts {
		parts[i] = part{centroid, slots[i*len(slots)/into : (i+1)*len(slots)/into : (i+1)*len(slots)/into]}
	}
	return parts
}

// halves divides slots in two of one size, along the line between the first two of c.
func (x *Index) halves(slots []uint32, c *kmeans.Centroids) []part {
	along := make([]float32, len(slots))
	rows := x.rows(slots)
	for i := range slots {
		row := rows.Row(i)
		along[i] = simd.Dot(row, c.Centroid(0)) - simd.Dot(row, c.Centroid(1))
	}
	order := make([]int, len(slots))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := cmp.Compare(along[a], along[b]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	parts := make([]part, 2)
	for i, at := range order {
		p := &parts[2*i/len(order)]
		p.slots = append(p.slots, slots[at])
	}
	for i, p := range parts {
		slices.Sort(p.slots)
		parts[i].centroid = x.centre(p.slots)
	}
	return parts
}

// centre is the mean of slots or, where their directions cancel out, the first of them.
func (x *Index) centre(slots []uint32) []float32 {
	rows := x.rows(slots)
	if mean := kmeans.Mean(rows, x.spherical); mean != nil {
		return mean
	}
	return slices.Clone(rows.Row(0))
}

// around returns up to reach cells nearest to a centroid, without those in but.
func (x *Index) around(l *layout, centroid []float32, but []int) []int {
	s := x.scratch()
	s.far = l.centroids.distances(s.pad(centroid), s.far[:0])
	s.cells = s.cells[:0]
	for at, d := range s.far {
		if !slices.Contains(but, at) {
			s.cells = append(s.cells, key(d, uint32(at)))
		}
	}
	heapify(s.cells)
	out := make([]int, 0, reach)
	for len(out) < reach && len(s.cells) > 0 {
		var k uint64
		k, s.cells = popLeast(s.cells)
		out = append(out, int(slotOf(k)))
	}
	return out
}

// moves are slots on their way to other cells of a layout that no search reads yet.
type moves struct {
	x     *Index
	l     *layout
	cells []int    // all of whose slots are among
	slots []uint32 // these,
	to    []int    // and where each goes
}

func (m *moves) add(slots []uint32, to int) {
	m.slots = append(m.slots, slots...)
	for range slots {
		m.to = append(m.to, to)
	}
}

// outward sends every slot to the nearest of some cells: of several to where it goes already, so that copies
// of one vector stay divided.
func (m *moves) outward(cells []int) {
	best, far := make([]float32, len(m.slots)), make([]float32, len(m.slots))
	for i := range best {
		best[i] = float32(math.Inf(1))
	}
	was := slices.Clone(m.to)
	for _, at := range cells {
		m.x.distances(m.l.centroids.row(at), m.slots, far)
		for i, d := range far {
			if d < best[i] || d == best[i] && at == was[i] {
				best[i], m.to[i] = d, at
			}
		}
	}
}

// inward finds slots of other cells that are nearer to one of m's.
func (m *moves) inward(from []int) {
	var best, far []float32
	for _, at := range from {
		slots := m.l.cells[at].slots()
		to := make([]int, len(slots))
		best = slices.Grow(best[:0], len(slots))[:len(slots)]
		far = slices.Grow(far[:0], len(slots))[:len(slots)]
		m.x.distances(m.l.centroids.row(at), slots, best)
		for i := range to {
			to[i] = at
		}
		for _, n := range m.cells {
			m.x.distances(m.l.centroids.row(n), slots, far)
			for i, d := range far {
				if d < best[i] {
					best[i], to[i] = d, n
				}
			}
		}
		for i, slot := range slots {
			if to[i] != at {
				m.add([]uint32{slot}, to[i])
			}
		}
	}
}

// distances sets out[i] to the distance of slots[i] from a centroid, as near as the codes tell. One bit a value
// tells too little of two centroids that are near each other: then the rows do.
func (x *Index) distances(centroid []float32, slots []uint32, out []float32) {
	p := x.feeder()
	if x.o.Config.Quantization == vector.Binary {
		for i, slot := range slots {
			p.SetSlot(slot)
			if x.spherical {
				out[i] = -simd.Dot(p.Vector(), centroid)
			} else {
				out[i] = simd.L2(p.Vector(), centroid)
			}
		}
		return
	}
	p.Set(centroid)
	for at := 0; at < len(slots); at += vector.MaxGather {
		end := min(at+vector.MaxGather, len(slots))
		p.Distances(slots[at:end], out[at:end])
	}
}

// apply brings the lists up to date and lets searches see the layout.
func (m *moves) apply() {
	m.gather()
	m.x.layout.Store(m.l)
}

// gather brings the lists of the layout up to date.
func (m *moves) gather() {
	gained, lost := map[int][]uint32{}, map[int]int{}
	for i, slot := range m.slots {
		from, to := int(m.x.homes[slot]-1), m.to[i]
		if from != to {
			m.x.settle(slot, to)
			m.x.log.Op(opMove, m.x.points.Ordinal(slot), uint64(to))
			lost[from]++
		}
		gained[to] = append(gained[to], slot)
	}
	for _, at := range m.cells { // their lists are made from nothing
		m.l.cells[at] = newCell(m.x.longer(list{}, gained[at]...))
		delete(gained, at)
		delete(lost, at)
	}
	for at, n := range lost {
		m.l.cells[at] = newCell(*m.l.cells[at].list())
		m.x.keep(m.l.cells[at], at, n)
	}
	for at, slots := range gained {
		m.l.cells[at] = newCell(m.x.longer(*m.l.cells[at].list(), slots...))
	}
}
