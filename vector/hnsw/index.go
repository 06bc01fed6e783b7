package hnsw

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/glimdb/db/vector"
)

const (
	blockShift = 8
	blockNodes = 1 << blockShift
	// maxLevel bounds the tower of a node; with M ≥ 4 it would take 2³⁰ nodes to need more.
	maxLevel = 15
	// noEntry is the entry point of an empty graph.
	noEntry = ^uint64(0)
)

// Index implements vector.Index.
type Index struct {
	o      vector.IndexOptions
	points *vector.Points
	m      int // links of a node on the upper levels; twice as many on the ground
	scale  float64

	blocks atomic.Pointer[[]*block] // replaced, never changed, when one is added
	entry  atomic.Uint64            // level<<32 | slot
	nodes  atomic.Int64
	links  atomic.Int64

	walkers sync.Pool
	build   *walker // of the feeding goroutine
	log     opLog
	loaded  *loaded // between Load and Attach
}

// block holds blockNodes nodes. Links are stored as slot+1, so that 0 ends a list.
type block struct {
	ground []uint32
	upper  [blockNodes][]uint32 // levels 1 and up, m links each
	level  [blockNodes]uint8
	// parent is slot+1 of the node's parent in the spanning tree, 0 for the root.
	parent   [blockNodes]uint32
	children [blockNodes]uint8
	present  [blockNodes]bool
}

// Factory is the vector.NewIndex of this package.
func Factory(o vector.IndexOptions) vector.Index { return New(o) }

// New returns an empty index. Load or Attach comes next.
func New(o vector.IndexOptions) *Index {
	x := &Index{o: o, m: o.Config.M, scale: 1 / math.Log(float64(o.Config.M))}
	x.log.persist, x.log.partBytes, x.log.commitBytes = o.Persist, partBytes, commitBytes
	x.log.rewrite, x.log.erase = true, true
	x.blocks.Store(&[]*block{})
	x.entry.Store(noEntry)
	return x
}

// levelOf draws the level of the node with this ordinal: geometric with ratio 1/M, from a hash.
func (x *Index) levelOf(ord uint64) int {
	u := (float64(mix(ord)>>11) + 1) / (1 << 53)
	return min(int(-math.Log(u)*x.scale), maxLevel)
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

func (x *Index) block(slot uint32) (*block, int) {
	return (*x.blocks.Load())[slot>>blockShift], int(slot & (blockNodes - 1))
}

// has reports whether slot is a node. Feeding goroutine only.
func (x *Index) has(slot uint32) bool {
	bs := *x.blocks.Load()
	return int(slot>>blockShift) < len(bs) && bs[slot>>blockShift].present[slot&(blockNodes-1)]
}

// room makes slot addressable.
func (x *Index) room(slot uint32) {
	bs := *x.blocks.Load()
	for int(slot>>blockShift) >= len(bs) {
		next := append(bs[:len(bs):len(bs)], &block{ground: make([]uint32, blockNodes*2*x.m)})
		x.blocks.Store(&next)
		bs = next
	}
}

// list returns the places of slot's links on a level.
func (x *Index) list(slot uint32, level int) []uint32 {
	b, i := x.block(slot)
	return b.list(i, level, x.m)
}

func (b *block) list(i, level, m int) []uint32 {
	if level == 0 {
		return b.ground[i*2*m : (i+1)*2*m : (i+1)*2*m]
	}
	up := b.upper[i]
	if level*m > len(up) {
		return nil // a reader may hold a link that outlived its node's level; it ends here
	}
	return up[(level-1)*m : level*m : level*m]
}

// read appends the links in list to dst.
func read(list, dst []uint32) []uint32 {
	for i := range list {
		v := atomic.LoadUint32(&list[i])
		if v == 0 {
			break
		}
		dst = append(dst, v-1)
	}
	return dst
}

// set replaces the links of slot on a level and logs it.
func (x *Index) set(slot uint32, level int, to []uint32) {
	list := x.list(slot, level)
	was := 0
	for i := range list {
		v := uint32(0)
		if i < len(to) {
			v = to[i] + 1
		}
		if list[i] != 0 {
			was++
		}
		if list[i] != v {
			atomic.StoreUint32(&list[i], v)
		}
	}
	x.links.Add(int64(len(to) - was))
	x.logSet(slot, level, to)
}

// push appends one link; the list has room.
func (x *Index) push(slot uint32, level, at int, to uint32) {
	atomic.StoreUint32(&x.list(slot, level)[at], to+1)
	x.links.Add(1)
	x.logPush(slot, level, to)
}

// create makes slot a node without links.
func (x *Index) create(slot uint32) int {
	x.room(slot)
	b, i := x.block(slot)
	level := x.levelOf(x.points.Ordinal(slot))
	b.level[i] = uint8(level)
	if level > 0 {
		b.upper[i] = make([]uint32, level*x.m)
	}
	b.present[i] = true
	x.nodes.Add(1)
	return level
}

// Stats implements vector.Index.
func (x *Index) Stats() vector.IndexStats {
	st := vector.IndexStats{Kind: "hnsw", Nodes: int(x.nodes.Load()), Links: x.links.Load(),
		Log: x.log.logged.Load(), Written: x.log.written.Load()}
	if e := x.entry.Load(); e != noEntry {
		st.Levels, st.Entry = int(e>>32)+1, x.points.ID(uint32(e))
	}
	// Upper levels hold one link array per M nodes, on average.
	const perNode = 1 + 4 + 1 + 1 + 24
	st.Bytes = int64(len(*x.blocks.Load())) * blockNodes * int64(4*2*x.m+4+perNode)
	return st
}
