package hnsw

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// loaded is the persisted graph in terms of ordinals.
type loaded struct {
	entry uint64 // ordinal + 1
	nodes []loadedNode
	at    map[uint64]int
	arena []uint64
}

type loadedNode struct {
	ord    uint64
	parent uint64 // ordinal + 1
	lists  [][]uint64
	drop   bool
}

// Load implements vector.Index.
func (x *Index) Load(r kv.Reader) ([]uint64, uint64, error) {
	v, err := r.Get(x.key(kindHeader))
	if errors.Is(err, kv.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("hnsw: load: %w", err)
	}
	f, err := x.decodeHeader(v)
	if err != nil {
		return nil, 0, err
	}
	l := &loaded{at: make(map[uint64]int), entry: f[8]}
	for i := range f[3] {
		if err := x.part(r, kindPart, f[2], int(i), l.part); err != nil {
			return nil, 0, err
		}
	}
	for i := range f[4] {
		if err := x.part(r, kindRecord, f[2], int(i), l.replay); err != nil {
			return nil, 0, err
		}
	}
	ords, err := l.finish(x)
	if err != nil {
		return nil, 0, err
	}
	x.loaded = l
	x.log.rewrite, x.log.erase = false, false
	x.log.epoch, x.log.parts, x.log.records, x.log.fed = f[2], int(f[3]), int(f[4]), f[7]
	x.log.written.Store(int64(f[5]))
	x.log.logged.Store(int64(f[6]))
	return ords, f[7], nil
}

// decodeHeader returns the fields that header encodes.
func (x *Index) decodeHeader(v []byte) (f [9]uint64, err error) {
	h := codec.NewReader(v)
	for i := range f {
		f[i] = h.Uvarint()
	}
	if err := h.Done(); err != nil || f[0] != formatVersion || f[1] != uint64(x.m) || slices.Max(f[:]) > maxField {
		return f, corrupt("header: version %d, M %d, %v", f[0], f[1], err)
	}
	return f, nil
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("hnsw: load: %w: "+format, append([]any{kv.ErrCorrupt}, args...)...)
}

func (x *Index) part(r kv.Reader, kind byte, epoch uint64, n int, decode func(*Index, *codec.Reader) error) error {
	v, err := r.Get(x.numbered(kind, epoch, n))
	if errors.Is(err, kv.ErrNotFound) {
		return corrupt("part %c %d of epoch %d is missing", kind, n, epoch)
	}
	if err != nil {
		return fmt.Errorf("hnsw: load: %w", err)
	}
	if err := x.decodeAll(v, decode); err != nil {
		return corrupt("part %c %d of epoch %d: %w", kind, n, epoch, err)
	}
	return nil
}

// decodeAll consumes v with one call of decode after the other.
func (x *Index) decodeAll(v []byte, decode func(*Index, *codec.Reader) error) error {
	in := codec.NewReader(v)
	for in.Len() > 0 {
		if err := decode(x, in); err != nil {
			return err
		}
	}
	return in.Done()
}

// list consumes a list that fits a level.
func (l *loaded) list(in *codec.Reader, limit int) ([]uint64, error) {
	n := in.Int()
	if n > limit {
		return nil, fmt.Errorf("list of %d links, limit %d", n, limit)
	}
	from := len(l.arena)
	for range n {
		l.arena = append(l.arena, in.Uvarint())
	}
	return l.arena[from:len(l.arena):len(l.arena)], in.Err()
}

func (x *Index) limit(level int) int {
	if level == 0 {
		return 2 * x.m
	}
	return x.m
}

func (l *loaded) add(x *Index, ord uint64) (*loadedNode, error) {
	if _, twice := l.at[ord]; twice {
		return nil, fmt.Errorf("node %d comes twice", ord)
	}
	l.at[ord] = len(l.nodes)
	l.nodes = append(l.nodes, loadedNode{ord: ord, lists: make([][]uint64, x.levelOf(ord)+1)})
	return &l.nodes[len(l.nodes)-1], nil
}

// part consumes one node of a checkpoint.
func (l *loaded) part(x *Index, in *codec.Reader) error {
	n, err := l.add(x, in.Uvarint())
	if err != nil {
		return err
	}
	n.parent = in.Uvarint()
	for level := range n.lists {
		if n.lists[level], err = l.list(in, x.limit(level)); err != nil {
			return err
		}
	}
	return in.Err()
}

// replay consumes one operation of a record.
func (l *loaded) replay(x *Index, in *codec.Reader) error {
	op, ord := in.Uvarint(), in.Uvarint()
	if err := in.Err(); err != nil {
		return err
	}
	if op == uint64(opNode) {
		_, err := l.add(x, ord)
		return err
	}
	at, ok := l.at[ord]
	if !ok {
		return fmt.Errorf("operation %d on node %d, which does not exist", op, ord)
	}
	n := &l.nodes[at]
	switch op {
	case uint64(opParent):
		n.parent = in.Uvarint()
	case uint64(opDrop):
		n.drop = true
		delete(l.at, ord)
	case uint64(opSet), uint64(opPush):
		level := in.Int()
		if level >= len(n.lists) {
			return fmt.Errorf("level %d of node %d, which has %d", level, ord, len(n.lists))
		}
		if op == uint64(opPush) {
			if len(n.lists[level]) >= x.limit(level) {
				return fmt.Errorf("full list of node %d grows", ord)
			}
			n.lists[level] = append(n.lists[level], in.Uvarint())
			break
		}
		list, err := l.list(in, x.limit(level))
		if err != nil {
			return err
		}
		n.lists[level] = list
	default:
		return fmt.Errorf("unknown operation %d", op)
	}
	return in.Err()
}

// finish drops what the records dropped, checks that the rest is a graph, and returns the ordinals in
// order.
func (l *loaded) finish(x *Index) ([]uint64, error) {
	l.nodes = slices.DeleteFunc(l.nodes, func(n loadedNode) bool { return n.drop })
	slices.SortFunc(l.nodes, func(a, b loadedNode) int { return cmp.Compare(a.ord, b.ord) })
	ords := make([]uint64, len(l.nodes))
	for i, n := range l.nodes {
		ords[i] = n.ord
	}
	l.at = nil
	if len(ords) == 0 {
		if l.entry != 0 {
			return nil, corrupt("entry %d of an empty graph", l.entry-1)
		}
		return nil, nil
	}
	if last := ords[len(ords)-1]; last > maxField {
		return nil, corrupt("ordinal %d", last)
	}
	if err := l.validate(x, newFinder(ords)); err != nil {
		return nil, err
	}
	return ords, nil
}

// finder maps ordinals to their place in an ascending list: by table where they are dense.
type finder struct {
	ords  []uint64
	table []int32 // place + 1 by ordinal − ords[0]; nil where it would be too sparse
}

const tableShare = 16 // entries of the table per ordinal, at most

func newFinder(ords []uint64) finder {
	f := finder{ords: ords}
	if len(ords) == 0 {
		return f
	}
	if span := ords[len(ords)-1] - ords[0] + 1; span <= uint64(len(ords))*tableShare {
		f.table = make([]int32, span)
		for i, o := range ords {
			f.table[o-ords[0]] = int32(i) + 1
		}
	}
	return f
}

func (f finder) index(ord uint64) (int, bool) {
	if f.table == nil {
		return slices.BinarySearch(f.ords, ord)
	}
	if i := ord - f.ords[0]; ord >= f.ords[0] && i < uint64(len(f.table)) {
		return int(f.table[i]) - 1, f.table[i] != 0
	}
	return 0, false
}

// Attach implements vector.Index.
func (x *Index) Attach(p *vector.Points, slots []uint32) {
	x.points = p
	l := x.loaded
	x.loaded = nil
	if l == nil {
		return
	}
	ords := make([]uint64, len(l.nodes))
	for i := range l.nodes {
		ords[i] = l.nodes[i].ord
	}
	find := newFinder(ords)
	slot := func(ord uint64) uint32 {
		i, _ := find.index(ord)
		return slots[i]
	}
	for i := range l.nodes {
		x.create(slots[i])
	}
	for i := range l.nodes {
		n := &l.nodes[i]
		for level, links := range n.lists {
			list := x.list(slots[i], level)
			for j, to := range links {
				list[j] = slot(to) + 1
			}
			x.links.Add(int64(len(links)))
		}
		b, at := x.block(slots[i])
		if n.parent != 0 {
			parent := slot(n.parent - 1)
			b.parent[at] = parent + 1
			pb, pi := x.block(parent)
			pb.children[pi]++
		}
	}
	if l.entry != 0 && len(l.nodes) > 0 {
		at := slot(l.entry - 1)
		b, i := x.block(at)
		x.entry.Store(uint64(b.level[i])<<32 | uint64(at))
	}
}

// Move implements vector.Index.
func (x *Index) Move(p *vector.Points, slots []uint32) vector.Index {
	y := New(x.o)
	y.points = p
	y.log.partBytes, y.log.commitBytes = x.log.partBytes, x.log.commitBytes
	y.log.rewrite, y.log.erase, y.log.dirty, y.log.buf = x.log.rewrite, x.log.erase, x.log.dirty, x.log.buf
	y.log.fed, y.log.epoch, y.log.records, y.log.parts = x.log.fed, x.log.epoch, x.log.records, x.log.parts
	y.log.logged.Store(x.log.logged.Load())
	y.log.written.Store(x.log.written.Load())
	x.eachNode(func(slot uint32, _ int) { y.create(slots[slot]) })
	x.eachNode(func(slot uint32, level int) {
		to := slots[slot]
		for l := 0; l <= level; l++ {
			list := y.list(to, l)
			for i, s := range read(x.list(slot, l), nil) {
				list[i] = slots[s] + 1
			}
		}
		from, i := x.block(slot)
		b, j := y.block(to)
		b.children[j] = from.children[i]
		if from.parent[i] != 0 {
			b.parent[j] = slots[from.parent[i]-1] + 1
		}
	})
	y.links.Store(x.links.Load())
	if e := x.entry.Load(); e != noEntry {
		y.entry.Store(e&^0xFFFFFFFF | uint64(slots[uint32(e)]))
	}
	return y
}
