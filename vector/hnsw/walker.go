package hnsw

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/vector"
)

// walker is the scratch of one search. It is reused, so that a search allocates nothing once warm.
type walker struct {
	x       *Index
	probe   *vector.Probe // the vector that is looked for
	other   *vector.Probe // compares candidates with each other; feeding goroutine only
	blocks  []block       // of this visit
	visited []uint64      // the epoch in which any of 32 slots was seen, and a bit for each: visit
	epoch   uint32
	pool    []uint64 // beam: key(distance, slot), ascending; the lowest bit marks expanded ones
	front   []uint64 // narrow search and Remove: heap of keys to expand
	ids     [vector.MaxGather]uint32
	out     [vector.MaxGather]float32

	// Of the feeding goroutine only.
	chosen []uint32 // choose: the result
	pruned []uint32 // choose: candidates passed over, nearest first
	cands  []candidate
	keep   []uint32 // set: the links that stay
	found  []uint32 // Remove: the nodes that link to the removed one
	around []uint32 // bypass: the links to choose from
	queue  []uint32 // bypass: the links to look at
	reads  int      // lists that Remove has read, for its tests
}

// candidate is a possible link.
type candidate struct {
	slot uint32
	dist float32
}

// key orders by distance, then slot; slots stay below 2³¹.
func key(d float32, slot uint32) uint64 {
	b := math.Float32bits(d)
	b ^= uint32(int32(b)>>31) | 0x80000000
	return uint64(b)<<32 | uint64(slot)<<1
}

const expanded = 1

func slotOf(k uint64) uint32 { return uint32(k) >> 1 }

func distOf(k uint64) float32 {
	b := uint32(k >> 32)
	if b&0x80000000 != 0 {
		return math.Float32frombits(b ^ 0x80000000)
	}
	return math.Float32frombits(^b)
}

func (x *Index) walker() *walker {
	w, _ := x.walkers.Get().(*walker)
	if w == nil {
		w = &walker{x: x}
	}
	return w
}

// begin starts a new visit over the present blocks and returns the slot behind the last that it may see.
func (w *walker) begin() (limit uint32) {
	w.blocks = *w.x.blocks.Load()
	n := len(w.blocks) << blockShift
	if n>>seenShift > len(w.visited) {
		w.visited = make([]uint64, (n+n/4)>>seenShift)
		w.epoch = 0
	}
	if w.epoch == math.MaxUint32 {
		clear(w.visited)
		w.epoch = 0
	}
	w.epoch++
	return min(w.probe.Limit(), uint32(n))
}

// seenShift turns a slot into the place of its word in walker.visited: 32 slots share one, so that the marks of a
// large graph stay in the cache, and none need be cleared for the next visit.
const seenShift = 5

// visit marks slot seen and reports whether it was not before.
func (w *walker) visit(slot uint32) bool {
	at := &w.visited[slot>>seenShift]
	word, bit := *at, uint64(1)<<(slot&(1<<seenShift-1))
	if uint32(word>>32) != w.epoch {
		word = uint64(w.epoch) << 32
	}
	*at = word | bit
	return word&bit == 0
}

// prefetch asks for the links of slot on a level.
func (w *walker) prefetch(slot uint32, level int) {
	if list := w.blocks[slot>>blockShift].list(int(slot&(blockNodes-1)), level, w.x.m); len(list) > 0 {
		simd.Prefetch(&list[0])
	}
}

// fresh fills w.ids with the unseen links of slot on a level, below limit, and marks them seen.
func (w *walker) fresh(slot uint32, level int, limit uint32) int {
	list := w.blocks[slot>>blockShift].list(int(slot&(blockNodes-1)), level, w.x.m)
	n := 0
	for i := range list {
		v := atomic.LoadUint32(&list[i])
		if v == 0 {
			break
		}
		if v--; v < limit && w.visit(v) {
			w.ids[n&(vector.MaxGather-1)] = v
			n++
		}
	}
	return n
}

// greedy walks a level to a slot none of whose links is nearer.
func (w *walker) greedy(slot uint32, d float32, level int) (uint32, float32) {
	limit := w.probe.Limit()
	for {
		links := read(w.x.list(slot, level), w.ids[:0])
		links = slices.DeleteFunc(links, func(s uint32) bool { return s >= limit })
		w.probe.Distances(links, w.out[:len(links)])
		best := -1
		for i := range links {
			if w.out[i] < d {
				d, best = w.out[i], i
			}
		}
		if best < 0 {
			return slot, d
		}
		slot = links[best]
	}
}

func (w *walker) distance(slot uint32) float32 {
	w.ids[0] = slot
	w.probe.Distances(w.ids[:1], w.out[:1])
	return w.out[0]
}

// beam leaves the ef nearest slots it can reach from slot in w.pool. Skip is never visited.
func (w *walker) beam(slot uint32, d float32, level, ef int, skip uint32) {
	limit := w.begin()
	if skip != vector.NoSlot {
		w.visit(skip)
	}
	w.visit(slot)
	w.pool = append(w.pool[:0], key(d, slot))
	for cur := 0; cur < len(w.pool); {
		if w.pool[cur]&expanded != 0 {
			cur++
			continue
		}
		w.pool[cur] |= expanded
		n := w.fresh(slotOf(w.pool[cur]), level, limit)
		next := cur + 1
		if next < len(w.pool) { // likely the one after this
			w.prefetch(slotOf(w.pool[next]), level)
		}
		w.probe.Distances(w.ids[:n], w.out[:n])
		for i := range n {
			k := key(w.out[i], w.ids[i])
			if len(w.pool) < ef || k < w.pool[len(w.pool)-1] {
				next = min(next, w.insert(k, ef))
			}
		}
		cur = next
	}
}

// insert puts k into the sorted pool of at most ef and returns its place.
func (w *walker) insert(k uint64, ef int) int {
	p := w.pool
	if len(p) == ef {
		p = p[:ef-1]
	}
	at := 0 // found without a jump that depends on the keys: half of those would be foreseen wrongly
	for n := len(p); n > 0; {
		half := (n + 1) / 2
		if p[at+half-1] < k {
			at += half
		}
		n -= half
	}
	p = append(p, 0)
	copy(p[at+1:], p[at:])
	p[at] = k
	w.pool = p
	return at
}
