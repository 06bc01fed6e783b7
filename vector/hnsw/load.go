package hnsw

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// loading is the persisted graph while it is read: an index whose slots are places.
type loading struct {
	x    *Index
	ords []uint64 // by place, ascending
}

// Load implements vector.Index. It decodes the lists to where they stay, unless Attach finds that places and
// slots differ.
func (x *Index) Load(r kv.Reader) ([]uint64, uint64, error) {
	v, err := r.Get(x.key(kindHeader))
	if errors.Is(err, kv.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("hnsw: load: %w", err)
	}
	h, err := x.decodeHeader(v)
	if err != nil {
		return nil, 0, err
	}
	l := &loading{x: x}
	for i := range h.parts {
		if err := l.value(r, x.numbered(kindPart, h.epoch, int(i)), l.node); err != nil {
			return nil, 0, err
		}
	}
	for i := range h.records {
		if err := l.value(r, x.numbered(kindRecord, h.epoch, int(i)), l.operation); err != nil {
			return nil, 0, err
		}
	}
	ords, err := l.finish(h.entry)
	if err != nil {
		return nil, 0, err
	}
	x.log.rewrite, x.log.erase = false, false
	x.log.epoch, x.log.parts, x.log.records, x.log.fed = h.epoch, int(h.parts), int(h.records), h.fed
	x.log.written.Store(int64(h.written))
	x.log.logged.Store(int64(h.logged))
	return ords, h.fed, nil
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("hnsw: load: %w: "+format, append([]any{kv.ErrCorrupt}, args...)...)
}

// value decodes what is stored under key.
func (l *loading) value(r kv.Reader, key []byte, decode func(*codec.Reader) error) error {
	v, err := r.Get(key)
	if errors.Is(err, kv.ErrNotFound) {
		return corrupt("key %x is missing", key)
	}
	if err != nil {
		return fmt.Errorf("hnsw: load: %w", err)
	}
	if err := decodeAll(v, decode); err != nil {
		return corrupt("key %x: %w", key, err)
	}
	return nil
}

// decodeAll consumes v with one call of decode after the other.
func decodeAll(v []byte, decode func(*codec.Reader) error) error {
	in := codec.NewReader(v)
	for in.Len() > 0 {
		if err := decode(in); err != nil {
			return err
		}
	}
	return in.Done()
}

// node consumes one node of a checkpoint.
func (l *loading) node(in *codec.Reader) error {
	place, level, err := l.add(in)
	if err != nil {
		return err
	}
	b, i := l.x.block(place)
	if b.parent[i], err = link(in); err != nil {
		return err
	}
	for at := 0; at <= level; at++ {
		if err := list(in, b.list(i, at, l.x.m)); err != nil {
			return err
		}
	}
	return nil
}

// add consumes the ordinal of the node at the next place.
func (l *loading) add(in *codec.Reader) (place uint32, level int, err error) {
	ord := in.Uvarint()
	if err := in.Err(); err != nil {
		return 0, 0, err
	}
	if n := len(l.ords); ord > maxField || n > 0 && l.ords[n-1] >= ord || n >= maxPlaces {
		return 0, 0, fmt.Errorf("ordinal %d at place %d", ord, n)
	}
	place = uint32(len(l.ords))
	l.ords = append(l.ords, ord)
	return place, l.x.create(place, ord), nil
}

// maxPlaces keeps places, and slots with them, within what key can hold.
const maxPlaces = 1 << 31

// link consumes place + 1, or 0. Whether there is such a place is for validate.
func link(in *codec.Reader) (uint32, error) {
	v := in.Uvarint()
	if v > math.MaxUint32 {
		return 0, fmt.Errorf("link to place %d", v-1)
	}
	return uint32(v), in.Err()
}

// list consumes the links of a list to dst, and ends them there.
func list(in *codec.Reader, dst []uint32) error {
	n := in.Int()
	if n > len(dst) {
		return fmt.Errorf("list of %d links, limit %d", n, len(dst))
	}
	in.Uvarint32s(dst[:n])
	clear(dst[n:])
	if err := in.Err(); err != nil {
		return err
	}
	if slices.Contains(dst[:n], 0) {
		return errNoLink
	}
	return nil
}

var errNoLink = errors.New("0 among links")

// operation consumes one operation of a record.
func (l *loading) operation(in *codec.Reader) error {
	op := in.Byte()
	if op == opNode {
		_, _, err := l.add(in)
		return err
	}
	at := in.Uvarint()
	if err := in.Err(); err != nil {
		return err
	}
	if at >= uint64(len(l.ords)) || !l.x.has(uint32(at)) {
		return fmt.Errorf("operation %d at place %d, where no node is", op, at)
	}
	place := uint32(at)
	b, i := l.x.block(place)
	switch op {
	case opParent:
		parent, err := link(in)
		b.parent[i] = parent
		return err
	case opDrop:
		l.x.destroy(place)
		return nil
	case opSet, opPush:
		level := in.Int()
		if level > int(b.level[i]) {
			return fmt.Errorf("level %d of place %d, whose highest is %d", level, place, b.level[i])
		}
		dst := b.list(i, level, l.x.m)
		if op == opSet {
			return list(in, dst)
		}
		n := slices.Index(dst, 0)
		if n < 0 {
			return fmt.Errorf("full list of place %d grows", place)
		}
		v, err := link(in)
		if err == nil && v == 0 {
			err = errNoLink
		}
		dst[n] = v
		return err
	}
	return fmt.Errorf("unknown operation %d", op)
}

// finish checks that what was read is a graph, and returns the ordinals of its nodes.
func (l *loading) finish(entry uint64) ([]uint64, error) {
	x := l.x
	x.log.places = uint32(len(l.ords))
	nodes := int(x.nodes.Load())
	if nodes == 0 {
		if entry != 0 {
			return nil, corrupt("entry %d of an empty graph", entry-1)
		}
		return nil, nil
	}
	if err := x.validate(len(l.ords), entry); err != nil {
		return nil, err
	}
	b, i := x.block(uint32(entry - 1))
	x.entry.Store(uint64(b.level[i])<<32 | (entry - 1))
	ords := make([]uint64, 0, nodes)
	x.places = make([]uint32, 0, nodes)
	x.eachNode(func(place uint32, _ int) {
		b, i := x.block(place)
		b.place[i] = place
		ords = append(ords, l.ords[place])
		x.places = append(x.places, place)
	})
	return ords, nil
}

// Attach implements vector.Index.
func (x *Index) Attach(p *vector.Points, slots []uint32) {
	x.points = p
	if !slices.Equal(slots, x.places) {
		to := make([]uint32, x.log.places)
		for i, place := range x.places {
			to[place] = slots[i]
		}
		x.blocks.Store(x.moved(to))
		if e := x.entry.Load(); e != noEntry {
			x.entry.Store(movedEntry(e, to))
		}
	}
	x.places = nil
}

// moved returns blocks with every node at its new slot.
func (x *Index) moved(to []uint32) *[]*block {
	bs := []*block{}
	move := func(dst, src []uint32) {
		for i, v := range src {
			if v == 0 {
				break
			}
			dst[i] = to[v-1] + 1
		}
	}
	x.eachNode(func(slot uint32, level int) {
		at := to[slot]
		bs = grow(bs, at, x.m)
		b, i := x.block(slot)
		c, j := bs[at>>blockShift], int(at&(blockNodes-1))
		c.level[j], c.state[j], c.children[j], c.in[j], c.place[j] = b.level[i], b.state[i], b.children[i], b.in[i], b.place[i]
		move(c.parent[j:j+1], b.parent[i:i+1])
		c.upper[j] = slices.Clone(b.upper[i])
		for l := 0; l <= level; l++ {
			move(c.list(j, l, x.m), b.list(i, l, x.m))
		}
	})
	return &bs
}

func movedEntry(e uint64, to []uint32) uint64 {
	return e>>32<<32 | uint64(to[uint32(e)])
}

// Move implements vector.Index.
func (x *Index) Move(p *vector.Points, slots []uint32) vector.Index {
	y := New(x.o)
	y.points = p
	y.blocks.Store(x.moved(slots))
	if e := x.entry.Load(); e != noEntry {
		y.entry.Store(movedEntry(e, slots))
	}
	y.nodes.Store(x.nodes.Load())
	y.links.Store(x.links.Load())
	y.levels = x.levels
	y.log.take(&x.log)
	return y
}
