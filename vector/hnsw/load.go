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

// Load implements vector.Index. It decodes the lists to where they stay, unless Attach finds that places and
// slots differ.
func (x *Index) Load(r kv.Reader) ([]uint64, uint64, error) {
	d := &decoder{x: x}
	fed, found, err := x.log.Load(r, d)
	if err != nil {
		return nil, 0, fmt.Errorf("hnsw: %w", err)
	}
	if !found {
		return nil, 0, nil
	}
	return d.nodes(), fed, nil
}

// decoder builds a graph from its persisted form: an index whose slots are places.
type decoder struct {
	x     *Index
	ords  []uint64 // by place, ascending
	entry uint64   // place + 1, 0 for none
}

// Header implements oplog.Decoder.
func (d *decoder) Header(in *codec.Reader) error {
	m := in.Uvarint()
	d.entry = in.Uvarint()
	if in.Err() == nil && m != uint64(d.x.m) {
		return fmt.Errorf("M %d", m)
	}
	return in.Err()
}

// Element implements oplog.Decoder: one node.
func (d *decoder) Element(in *codec.Reader) error {
	place, level, err := d.add(in)
	if err != nil {
		return err
	}
	b, i := d.x.block(place)
	if b.parent[i], err = link(in); err != nil {
		return err
	}
	for at := 0; at <= level; at++ {
		if err := list(in, b.list(i, at, d.x.m)); err != nil {
			return err
		}
	}
	return nil
}

// add consumes the ordinal of the node at the next place.
func (d *decoder) add(in *codec.Reader) (place uint32, level int, err error) {
	ord := in.Uvarint()
	if err := in.Err(); err != nil {
		return 0, 0, err
	}
	if n := len(d.ords); ord > maxOrdinal || n > 0 && d.ords[n-1] >= ord || n >= maxPlaces {
		return 0, 0, fmt.Errorf("ordinal %d at place %d", ord, n)
	}
	place = uint32(len(d.ords))
	d.ords = append(d.ords, ord)
	return place, d.x.create(place, ord), nil
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

// Operation implements oplog.Decoder.
func (d *decoder) Operation(in *codec.Reader) error {
	op := in.Byte()
	if op == opNode {
		_, _, err := d.add(in)
		return err
	}
	at := in.Uvarint()
	if err := in.Err(); err != nil {
		return err
	}
	if at >= uint64(len(d.ords)) || !d.x.has(uint32(at)) {
		return fmt.Errorf("operation %d at place %d, where no node is", op, at)
	}
	place := uint32(at)
	b, i := d.x.block(place)
	switch op {
	case opParent:
		parent, err := link(in)
		b.parent[i] = parent
		return err
	case opDrop:
		d.x.destroy(place)
		d.x.wipe(place) // the slot of that number may come to be another node's
		return nil
	case opSet, opPush:
		level := in.Int()
		if level > int(b.level[i]) {
			return fmt.Errorf("level %d of place %d, whose highest is %d", level, place, b.level[i])
		}
		dst := b.list(i, level, d.x.m)
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

// Finish implements oplog.Decoder: it checks that what was read is a graph.
func (d *decoder) Finish() error {
	x := d.x
	x.places = uint32(len(d.ords))
	if x.nodes.Load() == 0 {
		if d.entry != 0 {
			return fmt.Errorf("entry %d of an empty graph", d.entry-1)
		}
		return nil
	}
	if err := x.validate(len(d.ords), d.entry); err != nil {
		return err
	}
	b, i := x.block(uint32(d.entry - 1))
	x.entry.Store(uint64(b.level[i])<<32 | (d.entry - 1))
	return nil
}

// nodes returns the ordinals of the nodes.
func (d *decoder) nodes() []uint64 {
	x := d.x
	ords := make([]uint64, 0, x.nodes.Load())
	x.loaded = make([]uint32, 0, x.nodes.Load())
	x.eachNode(func(place uint32, _ int) {
		b, i := x.block(place)
		b.place[i] = place
		ords = append(ords, d.ords[place])
		x.loaded = append(x.loaded, place)
	})
	return ords
}

// Attach implements vector.Index.
func (x *Index) Attach(p *vector.Points, slots []uint32) {
	x.points = p
	if !slices.Equal(slots, x.loaded) {
		to := make([]uint32, x.places)
		for i, place := range x.loaded {
			to[place] = slots[i]
		}
		x.blocks.Store(x.moved(to))
		if e := x.entry.Load(); e != noEntry {
			x.entry.Store(movedEntry(e, to))
		}
	}
	x.loaded = nil
}

// moved returns blocks with every node at its new slot.
func (x *Index) moved(to []uint32) *[]block {
	bs := []block{}
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
		c, j := &bs[at>>blockShift], int(at&(blockNodes-1))
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
	y := newIndex(x.o, x.log.Take())
	y.points, y.places = p, x.places
	y.blocks.Store(x.moved(slots))
	if e := x.entry.Load(); e != noEntry {
		y.entry.Store(movedEntry(e, slots))
	}
	y.nodes.Store(x.nodes.Load())
	y.links.Store(x.links.Load())
	y.levels = x.levels
	return y
}
