package vector

import (
	"sync"

	"github.com/glimdb/db/kv"
)

// byID knows the last slot of each id. It is made when many ids are asked for at once, which most collections never see,
// and grows with the points.
type byID struct {
	mu   sync.RWMutex
	last map[string]uint32
	n    uint32 // slots below it are in last
}

const (
	// manyIDs is how many ids of one call are worth a map of all.
	manyIDs = 64
	// perID is what byID takes for an id, whose text it shares, roughly.
	perID = 40
)

// extend takes the slots below n in.
func (b *byID) extend(p *Points, n uint32) {
	b.mu.RLock()
	whole := b.n >= n
	b.mu.RUnlock()
	if whole {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil {
		b.last = make(map[string]uint32, n)
	}
	for ; b.n < n; b.n++ {
		b.last[p.ID(b.n)] = b.n
	}
}

func (b *byID) bytes() int64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return int64(len(b.last)) * perID
}

// slotsOf returns the slots of ids as a view at lsn shows them. Of those that it does not find, whose place is then in
// rest, nothing is known: the view may be an old one, or their last vector removed.
func (p *Points) slotsOf(ids []string, lsn kv.LSN) (slots []uint32, rest []int) {
	b := &p.byID
	b.extend(p, p.Len())
	slots = make([]uint32, len(ids))
	b.mu.RLock()
	defer b.mu.RUnlock()
	for i, id := range ids {
		slot, ok := b.last[id]
		if slots[i] = slot; !ok || !p.VisibleAt(slot, lsn) {
			rest = append(rest, i)
		}
	}
	return slots, rest
}

// visitLoaded calls fn for the ids whose rows are in memory, if there are many, and returns the places of the others.
func (c *Collection) visitLoaded(r kv.Reader, ids []string, fn func(i int, v []float32)) (rest []int) {
	p := c.gen.Load().points
	if len(ids) < manyIDs || c.changesIn(r) != nil || !p.resident() {
		return everyPlace(ids)
	}
	slots, missed := p.slotsOf(ids, r.LSN())
	for i, slot := range slots {
		if len(missed) > 0 && missed[0] == i {
			rest, missed = append(rest, i), missed[1:]
			continue
		}
		if v := p.Vector(slot); v != nil {
			fn(i, v)
		} else { // let go of meanwhile
			rest = append(rest, i)
		}
	}
	return rest
}

func everyPlace(ids []string) []int {
	all := make([]int, len(ids))
	for i := range all {
		all[i] = i
	}
	return all
}
