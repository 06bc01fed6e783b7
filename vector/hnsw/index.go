package hnsw

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/oplog"
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

	blocks atomic.Pointer[[]block] // replaced, never changed, when one is added
	entry  atomic.Uint64           // level<<32 | slot
	nodes  atomic.Int64
	links  atomic.Int64
	levels [maxLevel + 1]int // nodes whose highest level it is

	walkers sync.Pool
	build   *walker // of the feeding goroutine
	log     *oplog.Log
	places  uint32   // the place of the next node
	values  []uint64 // of the operation that is logged
	loaded  []uint32 // between Load and Attach: the places of the nodes that were loaded, ascending
}

// block holds blockNodes nodes. Links are stored as slot+1, so that 0 ends a list. Readers look at ground
// and upper alone; the rest belongs to the feeding goroutine.
type block struct {
	ground []uint32 // 2m links a node
	*blockRest
}

// blockRest is what a walk on the ground does not look at.
type blockRest struct {
	upper [blockNodes][]uint32 // a level from 1 up: m links, and the number of links that lead to the node there
	level [blockNodes]uint8
	state [blockNodes]state
	// parent is slot+1 of the node's parent in the spanning tree, 0 for the root.
	parent   [blockNodes]uint32
	children [blockNodes]uint8
	in       [blockNodes]uint32 // links that lead to the node on the ground
	place    [blockNodes]uint32 // the node's number in the persisted form
}

// state of a slot.
type state uint8

const (
	absent  state = iota
	present       // a node
	dying         // a node that the running Remove takes away
)

// Factory is the vector.NewIndex of this package.
func Factory(o vector.IndexOptions) vector.Index { return New(o) }

// New returns an empty index. Load or Attach comes next.
func New(o vector.IndexOptions) *Index {
	return newIndex(o, oplog.New(oplog.Options{Prefix: o.Prefix, Persist: o.Persist, Version: formatVersion}))
}

func newIndex(o vector.IndexOptions, log *oplog.Log) *Index {
	x := &Index{o: o, m: o.Config.M, scale: 1 / math.Log(float64(o.Config.M)), log: log}
	x.blocks.Store(&[]block{})
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
	return &(*x.blocks.Load())[slot>>blockShift], int(slot & (blockNodes - 1))
}

// has reports whether slot is a node. Feeding goroutine only, like dies.
func (x *Index) has(slot uint32) bool {
	bs := *x.blocks.Load()
	return int(slot>>blockShift) < len(bs) && bs[slot>>blockShift].state[slot&(blockNodes-1)] != absent
}

// dies reports whether slot, which some node links to, is being removed.
func (x *Index) dies(slot uint32) bool {
	b, i := x.block(slot)
	return b.state[i] == dying
}

// room makes slot addressable.
func (x *Index) room(slot uint32) {
	old := *x.blocks.Load()
	if bs := grow(old, slot, x.m); len(bs) > len(old) {
		x.blocks.Store(&bs)
	}
}

// grow returns bs with the block of slot. It may write behind the length of bs, where no reader looks.
func grow(bs []block, slot uint32, m int) []block {
	for int(slot>>blockShift) >= len(bs) {
		bs = append(bs, block{make([]uint32, blockNodes*2*m), &blockRest{}})
	}
	return bs
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
	from, up := (level-1)*(m+1), b.upper[i]
	if from >= len(up) {
		return nil // a reader may hold a link that outlived its node's level; it ends here
	}
	return up[from : from+m : from+m]
}

// linksTo is the number of nodes that link to slot on a level.
func (x *Index) linksTo(slot uint32, level int) *uint32 {
	b, i := x.block(slot)
	if level == 0 {
		return &b.in[i]
	}
	return &b.upper[i][level*(x.m+1)-1]
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
			*x.linksTo(to[i], level)++
		}
		if list[i] != 0 {
			*x.linksTo(list[i]-1, level)--
			was++
		}
		if list[i] != v {
			atomic.StoreUint32(&list[i], v)
		}
	}
	x.links.Add(int64(len(to) - was))
	x.logSet(slot, level, list)
}

// push appends one link; the list has room.
func (x *Index) push(slot uint32, level, at int, to uint32) {
	atomic.StoreUint32(&x.list(slot, level)[at], to+1)
	*x.linksTo(to, level)++
	x.links.Add(1)
	x.logOp(opPush, slot, uint32(level), x.placed(to+1))
}

// create makes slot a node without links, of the level that its ordinal draws.
func (x *Index) create(slot uint32, ord uint64) int {
	x.room(slot)
	b, i := x.block(slot)
	level := x.levelOf(ord)
	b.level[i] = uint8(level)
	if level > 0 {
		b.upper[i] = make([]uint32, level*(x.m+1))
	}
	b.state[i] = present
	x.nodes.Add(1)
	x.levels[level]++
	return level
}

// destroy makes slot no node. Its links stay for readers that stand on it.
func (x *Index) destroy(slot uint32) {
	b, i := x.block(slot)
	b.state[i] = absent
	x.nodes.Add(-1)
	x.levels[b.level[i]]--
}

// wipe leaves nothing of a destroyed node. Nobody reads it.
func (x *Index) wipe(slot uint32) {
	b, i := x.block(slot)
	clear(b.list(i, 0, x.m))
	b.upper[i], b.parent[i], b.level[i] = nil, 0, 0
}

// Stats implements vector.Index.
func (x *Index) Stats() vector.IndexStats {
	st := vector.IndexStats{Kind: "hnsw", Nodes: int(x.nodes.Load()), Links: x.links.Load(),
		Log: x.log.Logged(), Written: x.log.Written()}
	if e := x.entry.Load(); e != noEntry {
		st.Levels, st.Entry = int(e>>32)+1, x.points.ID(uint32(e))
	}
	// Upper levels hold one link array per M nodes, on average.
	const perNode = 24 + 1 + 1 + 4 + 1 + 4 + 4
	st.Bytes = int64(len(*x.blocks.Load())) * blockNodes * int64(4*2*x.m+4+perNode)
	return st
}
