package ivf

import (
	"fmt"
	"iter"
	"slices"

	"github.com/glimdb/db/vector"
)

// Check implements vector.Index: it holds the cells against I1 and I2.
func (x *Index) Check(live func(slot uint32) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		k := checker{x: x, yield: yield, open: true, seen: make([]bool, len(x.homes))}
		k.cells()
		k.homes(live)
	}
}

type checker struct {
	x     *Index
	yield func(string) bool
	open  bool
	seen  []bool // slots found in the list of their cell
	n     int    // slots in lists
}

func (k *checker) report(format string, args ...any) {
	k.open = k.open && k.yield(fmt.Sprintf(format, args...))
}

// cells looks at every list and centroid.
func (k *checker) cells() {
	l := k.x.layout.Load()
	if len(l.cells) != l.centroids.n {
		k.report("%d cells, %d centroids", len(l.cells), l.centroids.n)
	}
	for at := range min(len(l.cells), l.centroids.n) {
		if i := notFinite(l.centroids.row(at)); i >= 0 {
			k.report("cell %d: value %d of the centroid is %v", at, i, l.centroids.row(at)[i])
		}
	}
	for at, c := range l.cells {
		k.strip(at, c.list())
		for _, slot := range c.slots() {
			k.n++
			switch home, ok := k.x.home(slot); {
			case !ok:
				k.report("slot %d is in cell %d and counts as removed", slot, at)
			case home != at:
				k.report("slot %d is in cell %d and noted for cell %d", slot, at, home)
			case k.seen[slot]:
				k.report("slot %d is in cell %d twice", slot, at)
			default:
				k.seen[slot] = true
			}
		}
	}
}

// strip compares the codes of a list with those of its slots, by how far both say they are from the first.
func (k *checker) strip(at int, l *list) {
	p := k.x.points.NewProbe()
	if striped := k.x.points.Strips(); !striped || l.strip.Len() != len(l.slots) {
		if n := l.strip.Len(); striped || n > 0 {
			k.report("cell %d: %d slots, codes of %d", at, len(l.slots), n)
		}
		return
	}
	var near, far [vector.MaxGather]float32
	for i := 0; i < len(l.slots); i += vector.MaxGather {
		slots := l.slots[i:min(i+vector.MaxGather, len(l.slots))]
		if slices.Max(slots) >= k.x.points.Len() {
			return // reported with the slot
		}
		p.SetSlot(slots[0])
		p.Distances(slots, near[:len(slots)])
		p.StripDistances(l.strip, i, far[:len(slots)])
		for j, slot := range slots {
			if near[j] != far[j] {
				k.report("slot %d has other codes in cell %d than its own", slot, at)
			}
		}
	}
}

// homes looks at every slot that was inserted, and at every one that must be found.
func (k *checker) homes(live func(slot uint32) bool) {
	nodes := int64(0)
	for slot := range uint32(len(k.x.homes)) {
		if at, ok := k.x.home(slot); ok {
			nodes++
			if !k.seen[slot] {
				k.report("slot %d is not in cell %d, noted for it", slot, at)
			}
		}
	}
	if counted := k.x.nodes.Load(); counted != nodes {
		k.report("counted %d slots, there are %d", counted, nodes)
	}
	for slot := range k.x.points.Len() {
		if _, ok := k.x.home(slot); live(slot) && !ok {
			k.report("vector %q is in no cell", k.x.points.ID(slot))
		}
	}
}
