package vector

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/glimdb/db/kv"
)

// Cells is a partition of a collection's vectors, given by a caller, that lets each cell be searched on its own. It
// chooses no cell for a vector: whoever does tells it with Assign. Vectors that were put into no cell are found by no
// search of it. A vector may be in several cells; it is one hit.
//
// It is memory only, a slot number a vector and cell. Safe for concurrent use.
type Cells struct {
	c *Collection

	mu    sync.Mutex // one change at a time
	state atomic.Pointer[cellLists]
}

// cellLists are the slots of each cell. It is replaced, never changed; a list may grow behind the length that readers
// know.
type cellLists struct {
	points *Points
	lists  [][]uint32 // by number of the cell; deleted slots stay for older views
	dead   []int      // of them deleted
}

// CellChange moves the vector stored under Ordinal from some cells to others. Without To the vector was deleted: older
// views go on finding it.
type CellChange struct {
	Ordinal  uint64
	From, To []uint32
}

// deadShare of a list may be deleted before it is made anew: one in five.
const deadShare = 5

// NewCells returns cells without vectors.
func (c *Collection) NewCells() *Cells {
	x := &Cells{c: c}
	x.state.Store(&cellLists{points: c.gen.Load().points})
	return x
}

// Assign applies changes, whose vectors must have been committed. It costs what the changed lists are long where vectors
// move, and little else where they come and go. It may be called by a hook of a commit.
func (x *Cells) Assign(changes []CellChange) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.over(x.c.gen.Load().points)
	next := &cellLists{s.points, slices.Clone(s.lists), slices.Clone(s.dead)}
	leaving := make(map[uint32]map[uint32]struct{})
	for _, ch := range changes {
		slot, ok := s.points.find(ch.Ordinal)
		if !ok { // deleted, and shown by no view any more
			continue
		}
		for _, cell := range ch.From {
			if len(ch.To) == 0 {
				next.grow(cell)
				next.dead[cell]++
			} else if !slices.Contains(ch.To, cell) {
				if leaving[cell] == nil {
					leaving[cell] = make(map[uint32]struct{})
				}
				leaving[cell][slot] = struct{}{}
			}
		}
		for _, cell := range ch.To {
			if !slices.Contains(ch.From, cell) {
				next.grow(cell)
				next.lists[cell] = append(next.lists[cell], slot)
			}
		}
	}
	for cell, gone := range leaving {
		next.keep(cell, func(slot uint32) bool { _, left := gone[slot]; return !left })
	}
	if x.c.set.o.Oldest != nil {
		oldest := x.c.set.o.Oldest()
		for cell, n := range next.dead {
			if n*deadShare > len(next.lists[cell]) {
				next.keep(uint32(cell), func(slot uint32) bool { end := next.points.Ended(slot); return end == 0 || end > oldest })
			}
		}
	}
	x.state.Store(next)
}

// grow makes room for cell.
func (l *cellLists) grow(cell uint32) {
	for len(l.lists) <= int(cell) {
		l.lists, l.dead = append(l.lists, nil), append(l.dead, 0)
	}
}

// keep replaces the list of cell by one of the slots that pass.
func (l *cellLists) keep(cell uint32, pass func(slot uint32) bool) {
	list := make([]uint32, 0, len(l.lists[cell]))
	dead := 0
	for _, slot := range l.lists[cell] {
		if pass(slot) {
			list = append(list, slot)
			if l.points.Ended(slot) != 0 {
				dead++
			}
		}
	}
	l.lists[cell], l.dead[cell] = list, dead
}

// over returns the lists among the slots of p, some points of the collection. Vectors that only one of two points has
// are shown by no view. It is called with mu held.
func (x *Cells) over(p *Points) *cellLists {
	s := x.state.Load()
	if s.points == p {
		return s
	}
	moved := &cellLists{points: p, lists: make([][]uint32, len(s.lists)), dead: make([]int, len(s.dead))}
	for cell, list := range s.lists {
		for _, slot := range list {
			if at, ok := p.find(s.points.Ordinal(slot)); ok {
				moved.lists[cell] = append(moved.lists[cell], at)
				if p.Ended(at) != 0 {
					moved.dead[cell]++
				}
			}
		}
	}
	if x.c.gen.Load().points == p {
		x.state.Store(moved)
	}
	return moved
}

// at returns the lists for a search of p.
func (x *Cells) at(p *Points) *cellLists {
	if s := x.state.Load(); s.points == p {
		return s
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.over(p)
}

// Search compares the vectors of some cells, all of them: its result is the exact one among these, ordered as that of
// Collection.Search and with the same errors. compared is the number of vectors that it looked at. Of o it takes K,
// MinScore, Set and Filter. A batch is searched without its own changes. Unknown cells are empty.
func (x *Cells) Search(ctx context.Context, r kv.Reader, q []float32, cells []uint32, o SearchOptions) (hits []Hit, compared int, err error) {
	o = SearchOptions{K: o.K, MinScore: o.MinScore, Set: o.Set, Filter: o.Filter}
	if err := o.check(x.c); err != nil {
		return nil, 0, err
	}
	t, err := x.c.begin(ctx, r, q, o.Set, o.Filter)
	if t == nil {
		return nil, 0, err
	}
	defer x.c.scratch.Put(t.s)
	t.o = o
	in := x.at(t.g.points).union(cells, t.n)
	v := t.sieve(o.K)
	if t.g.points.blind() {
		v.k, v.b.guess = t.candidates(), true
	}
	near := subset{p: t.g.points, end: t.n}
	var batch [MaxGather]uint32
	n := 0
	for w, word := range in {
		for ; word != 0; word &= word - 1 {
			batch[n] = uint32(w<<wordShift + bits.TrailingZeros64(word))
			if n++; n == len(batch) {
				near.gather(v, batch[:], t.admit)
				compared, n = compared+n, 0
			}
		}
	}
	near.gather(v, batch[:n], t.admit)
	compared += n
	t.s.slots = v.slots(t.s.slots[:0])
	if err := t.score(ctx, o.K); err != nil {
		return nil, 0, err
	}
	slices.SortFunc(t.s.hits, order)
	hits = t.s.hits[:min(o.K, len(t.s.hits))]
	if o.MinScore != nil {
		hits = hits[:reaching(hits, *o.MinScore)]
	}
	return slices.Clone(hits), compared, nil
}

// wordShift turns a slot into the word of a bitmap.
const wordShift = 6

// union is the bitmap of the slots below n of some cells: in order of slot memory is read forwards, and who is in two
// cells comes once.
func (l *cellLists) union(cells []uint32, n uint32) []uint64 {
	out := make([]uint64, (n+63)>>wordShift)
	for _, cell := range cells {
		if int(cell) >= len(l.lists) {
			continue
		}
		for _, slot := range l.lists[cell] {
			if slot < n {
				out[slot>>wordShift] |= 1 << (slot & 63)
			}
		}
	}
	return out
}

// Member is a vector in a cell.
type Member struct {
	ID      string
	Ordinal uint64
}

// Members lists the vectors in cell that r shows, in order of commit.
func (x *Cells) Members(r kv.Reader, cell uint32) []Member {
	l := x.at(x.c.gen.Load().points)
	if int(cell) >= len(l.lists) {
		return nil
	}
	var out []Member
	for _, slot := range slices.Sorted(slices.Values(l.lists[cell])) {
		if l.points.VisibleAt(slot, r.LSN()) {
			out = append(out, Member{l.points.ID(slot), l.points.Ordinal(slot)})
		}
	}
	return out
}
