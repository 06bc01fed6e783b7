package vector

import (
	"fmt"
	"math"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
)

// IDSet is a set of ids of one collection, prepared to filter many searches: which vectors belong to it is
// worked out once and kept as a bitmap, a bit or less a vector.
//
// It is a set of ids, not of vectors: at every view it stands for the vectors that the view shows under
// these ids. So it serves old views and new ones alike, replacing a vector does not take it out of the set,
// deleting one and putting it again neither, and an id that has no vector yet belongs to it from its first
// Put on. It lives as long as the opened store; a set made before is refused afterwards.
//
// Making one costs a pass over the ids in memory, some 50 ns each; vectors added later are looked at by the
// searches that meet them. Safe for concurrent use.
type IDSet struct {
	c    *Collection
	test func(id string) bool

	mu   sync.Mutex // one extension at a time
	seen atomic.Pointer[members]
}

// members is what is known of a set: which of the first n slots of points are in it. It is replaced, never
// changed.
type members struct {
	points *Points
	n      uint32
	slots  *roaring.Bitmap
	count  uint64
}

// extendFrom is the number of new slots from which a set takes them in; fewer are tested by every search,
// which costs less than a new bitmap.
const extendFrom = 512

// IDSet returns the set of ids. The slice is not kept; repeated ids count once, and unknown ones are no error.
func (c *Collection) IDSet(ids []string) *IDSet {
	in := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		in[id] = struct{}{}
	}
	return c.IDSetWhere(func(id string) bool { _, ok := in[id]; return ok })
}

// IDSetWhere returns the set of the ids that pass test. test must be a pure function and not call the
// collection. It is kept, and called from any goroutine that searches, for ids that are added later.
func (c *Collection) IDSetWhere(test func(id string) bool) *IDSet {
	s := &IDSet{c: c, test: test}
	s.seen.Store(&members{points: c.gen.Load().points, slots: roaring.New()})
	s.in(c.gen.Load().points, 1)
	return s
}

// Has reports whether id is in the set, whether or not it has a vector.
func (s *IDSet) Has(id string) bool { return s.test(id) }

// And returns the ids that are in both sets. The error is a *ParameterError for sets of two collections.
func (s *IDSet) And(t *IDSet) (*IDSet, error) {
	return s.combine(t, roaring.And, func(id string) bool { return s.test(id) && t.test(id) })
}

// Or returns the ids that are in one of the sets or both. The error is that of And.
func (s *IDSet) Or(t *IDSet) (*IDSet, error) {
	return s.combine(t, roaring.Or, func(id string) bool { return s.test(id) || t.test(id) })
}

// AndNot returns the ids that are in s and not in t. The error is that of And.
func (s *IDSet) AndNot(t *IDSet) (*IDSet, error) {
	return s.combine(t, roaring.AndNot, func(id string) bool { return s.test(id) && !t.test(id) })
}

// combine works on the bitmaps; it costs as much as they are large, a fraction of a new pass over the ids.
func (s *IDSet) combine(t *IDSet, op func(a, b *roaring.Bitmap) *roaring.Bitmap, test func(id string) bool) (*IDSet, error) {
	if t == nil || s.c != t.c {
		return nil, t.foreign(s.c)
	}
	p := s.c.gen.Load().points
	a, b := s.in(p, 1), t.in(p, 1)
	n := min(a.n, b.n)
	slots := op(a.slots, b.slots)
	slots.RemoveRange(uint64(n), math.MaxUint32+1)
	out := &IDSet{c: s.c, test: test}
	out.seen.Store(&members{p, n, slots, slots.GetCardinality()})
	return out, nil
}

// foreign is the error of using s, which may be nil, with c.
func (s *IDSet) foreign(c *Collection) error {
	value := "no set"
	if s != nil {
		value = fmt.Sprintf("a set of collection %q", s.c.Name())
		if s.c.Name() == c.Name() {
			value += " before it was opened or created anew"
		}
	}
	return c.refuse("Set", value, "one made by this collection's IDSet or IDSetWhere")
}

// in returns what is known of the slots of p, which some generation of the collection has, with fewer than
// missing slots unknown.
func (s *IDSet) in(p *Points, missing uint32) *members {
	m := s.seen.Load()
	if m.points == p && p.Len()-m.n < missing {
		return m
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m = s.seen.Load(); m.points != p {
		m = m.over(p)
	}
	if n := p.Len(); n-m.n >= missing {
		m = m.extended(n, s.test)
	}
	if s.c.gen.Load().points == p { // or else a search of points that are being left: theirs is not kept
		s.seen.Store(m)
	}
	return m
}

// over returns the same members among the slots of p, the points that the collection moved to, or came from.
// Vectors that only one of the two has are shown by no view.
func (m *members) over(p *Points) *members {
	var slots []uint32
	for it := m.slots.Iterator(); it.HasNext(); {
		if slot, ok := p.find(m.points.Ordinal(it.Next())); ok {
			slots = append(slots, slot)
		}
	}
	n := uint32(0)
	if m.n > 0 {
		n = p.below(m.points.Ordinal(m.n-1) + 1)
	}
	return &members{p, n, roaring.BitmapOf(slots...), uint64(len(slots))}
}

// extended returns m with the slots from m.n to n.
func (m *members) extended(n uint32, test func(id string) bool) *members {
	var slots []uint32
	for slot := m.n; slot < n; slot++ {
		if !m.points.ghost(slot) && test(m.points.ID(slot)) {
			slots = append(slots, slot)
		}
	}
	out := m.slots.Clone()
	out.AddMany(slots)
	out.RunOptimize()
	return &members{m.points, n, out, m.count + uint64(len(slots))}
}

// filter is what a search admits beside what its view shows: the intersection of all that was given.
type filter struct {
	set  *IDSet
	in   *members // of set
	test func(id string) bool
}

// filter checks that the given filters are the collection's and prepares them for p.
func (c *Collection) filter(p *Points, set *IDSet, test func(id string) bool) (filter, error) {
	f := filter{set: set, test: test}
	if set != nil {
		if set.c != c {
			return f, set.foreign(c)
		}
		f.in = set.in(p, extendFrom)
	}
	return f, nil
}

// none reports that nothing is filtered.
func (f *filter) none() bool { return f.set == nil && f.test == nil }

// slot reports whether slot of p passes.
func (f *filter) slot(p *Points, slot uint32) bool {
	if f.set != nil {
		if slot < f.in.n {
			if !f.in.slots.Contains(slot) {
				return false
			}
		} else if !f.set.test(p.ID(slot)) {
			return false
		}
	}
	return f.test == nil || f.test(p.ID(slot))
}

// id reports whether an id passes.
func (f *filter) id(id string) bool {
	return (f.set == nil || f.set.test(id)) && (f.test == nil || f.test(id))
}

// below returns the number of slots whose ordinals are below ord.
func (p *Points) below(ord uint64) uint32 {
	return uint32(sort.Search(int(p.Len()), func(i int) bool { return p.Ordinal(uint32(i)) >= ord }))
}
