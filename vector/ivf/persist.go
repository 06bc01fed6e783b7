package ivf

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"sort"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/oplog"
)

// Operations, which are the elements of a checkpoint, too. On disk.
const (
	opCentroid byte = 1 // cell, values: a new cell when it is the first behind the last, else a centroid moves
	opAdd      byte = 2 // ordinal, cell: a vector; ordinals ascend
	opMove     byte = 3 // ordinal, cell: it goes to another cell
	opDrop     byte = 4 // ordinal: it is gone
	opPop      byte = 5 // the last cell, which is empty, is gone
)

// formatVersion is that of the operations and the header. Version 1 had no checksums; 2 and 3 are of package hnsw.
const formatVersion = 4

// maxOrdinal is beyond every ordinal.
const maxOrdinal = 1 << 62

// state is what the log asks for.
type state struct{ x *Index }

// Header implements oplog.State: the dimension, and whose turn it is.
func (s state) Header() []byte {
	b := codec.AppendUvarint(nil, uint64(s.x.o.Config.Dim))
	b = codec.AppendUvarint(b, s.x.tending.turns)
	return codec.AppendUvarint(b, s.x.tending.next)
}

// Elements implements oplog.State: the centroids, then the vectors.
func (s state) Elements() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		l := s.x.layout.Load()
		var b []byte
		for at := range l.cells {
			b = codec.AppendUvarint(append(b[:0], opCentroid), uint64(at))
			if b = oplog.AppendFloats(b, l.centroids.row(at)); !yield(b) {
				return
			}
		}
		for slot := range uint32(len(s.x.homes)) {
			if at, ok := s.x.home(slot); ok {
				b = codec.AppendUvarint(append(b[:0], opAdd), s.x.points.Ordinal(slot))
				if b = codec.AppendUvarint(b, uint64(at)); !yield(b) {
					return
				}
			}
		}
	}
}

// Skip implements vector.Index.
func (x *Index) Skip(ord uint64) { x.log.Skip(ord) }

// Lost implements vector.Index.
func (x *Index) Lost() { x.log.Lost() }

// Drain implements vector.Index.
func (x *Index) Drain() []func(*kv.Batch) error { return x.log.Drain(state{x}) }

// Load implements vector.Index.
func (x *Index) Load(r kv.Reader) ([]uint64, uint64, error) {
	d := &decoder{x: x, l: &layout{centroids: newTable(x.o.Config.Dim, x.spherical)}}
	fed, found, err := x.log.Load(r, d)
	if err != nil {
		return nil, 0, fmt.Errorf("ivf: %w", err)
	}
	if !found {
		return nil, 0, nil
	}
	return d.place(), fed, nil
}

// Attach implements vector.Index.
func (x *Index) Attach(p *vector.Points, slots []uint32) {
	x.points = p
	l := x.layout.Load()
	lists := make([][]uint32, len(l.cells))
	for i, at := range x.loaded {
		lists[at] = append(lists[at], slots[i])
		x.settle(slots[i], int(at))
	}
	for at, c := range l.cells {
		c.set(x.longer(list{}, lists[at]...))
	}
	x.nodes.Store(int64(len(x.loaded)))
	x.loaded = nil
}

// decoder builds cells from their persisted form.
type decoder struct {
	x       *Index
	l       *layout
	tending tending
	ords    []uint64 // ascending
	homes   []uint32 // of each ordinal: its cell + 1, 0 when it is gone
	counts  []int    // slots by cell
}

// Header implements oplog.Decoder.
func (d *decoder) Header(in *codec.Reader) error {
	dim := in.Uvarint()
	d.tending.turns, d.tending.next = in.Uvarint(), in.Uvarint()
	if in.Err() == nil && dim != uint64(d.x.o.Config.Dim) {
		return fmt.Errorf("dimension %d", dim)
	}
	return in.Err()
}

// Element implements oplog.Decoder.
func (d *decoder) Element(in *codec.Reader) error { return d.Operation(in) }

// Operation implements oplog.Decoder.
func (d *decoder) Operation(in *codec.Reader) error {
	switch op := in.Byte(); op {
	case opCentroid:
		return d.centroid(in)
	case opAdd:
		return d.add(in)
	case opMove, opDrop:
		i, err := d.find(in)
		if err != nil {
			return err
		}
		d.counts[d.homes[i]-1]--
		d.homes[i] = 0
		if op == opDrop {
			return nil
		}
		return d.settle(in, i)
	case opPop:
		n := len(d.counts) - 1
		if n < 0 || d.counts[n] != 0 {
			return errors.New("the last cell goes, and is none or not empty")
		}
		d.counts, d.l.cells = d.counts[:n], d.l.cells[:n]
		d.l.centroids = d.l.centroids.withoutLast()
		return nil
	default:
		return errors.Join(in.Err(), fmt.Errorf("unknown operation %d", op))
	}
}

func (d *decoder) centroid(in *codec.Reader) error {
	at, values := in.Int(), in.Bytes()
	if err := in.Err(); err != nil {
		return err
	}
	v := make([]float32, d.x.o.Config.Dim)
	if at > len(d.counts) || len(values) != 4*len(v) {
		return fmt.Errorf("centroid of cell %d of %d, %d bytes", at, len(d.counts), len(values))
	}
	simd.Float32s(v, values)
	if i := notFinite(v); i >= 0 {
		return fmt.Errorf("centroid of cell %d: value %d is %v", at, i, v[i])
	}
	d.l.centroids.put(at, v)
	if at == len(d.counts) {
		d.counts = append(d.counts, 0)
		d.l.cells = append(d.l.cells, newCell(list{}))
	}
	return nil
}

// notFinite returns the index of the first value that is not a number, or -1.
func notFinite(v []float32) int {
	for i, f := range v {
		if f != f || math.IsInf(float64(f), 0) {
			return i
		}
	}
	return -1
}

func (d *decoder) add(in *codec.Reader) error {
	ord := in.Uvarint()
	if err := in.Err(); err != nil {
		return err
	}
	if n := len(d.ords); ord > maxOrdinal || n > 0 && d.ords[n-1] >= ord {
		return fmt.Errorf("ordinal %d behind %d others", ord, n)
	}
	d.ords, d.homes = append(d.ords, ord), append(d.homes, 0)
	return d.settle(in, len(d.ords)-1)
}

// find consumes an ordinal that is there.
func (d *decoder) find(in *codec.Reader) (int, error) {
	ord := in.Uvarint()
	if err := in.Err(); err != nil {
		return 0, err
	}
	i := sort.Search(len(d.ords), func(i int) bool { return d.ords[i] >= ord })
	if i == len(d.ords) || d.ords[i] != ord || d.homes[i] == 0 {
		return 0, fmt.Errorf("ordinal %d is not there", ord)
	}
	return i, nil
}

// settle consumes the cell of the i-th ordinal.
func (d *decoder) settle(in *codec.Reader, i int) error {
	at := in.Int()
	if err := in.Err(); err != nil {
		return err
	}
	if at >= len(d.counts) {
		return fmt.Errorf("cell %d of %d", at, len(d.counts))
	}
	d.homes[i] = uint32(at) + 1
	d.counts[at]++
	return nil
}

// place makes what was decoded the index, but for the lists, and returns the ordinals that it holds.
func (d *decoder) place() []uint64 {
	d.x.layout.Store(d.l)
	d.x.tending = d.tending
	ords := d.ords[:0]
	for i, ord := range d.ords {
		if d.homes[i] != 0 {
			ords = append(ords, ord)
			d.x.loaded = append(d.x.loaded, d.homes[i]-1)
		}
	}
	return ords
}

// Finish implements oplog.Decoder. Every operation was checked by itself; cells without vectors are cells.
func (d *decoder) Finish() error { return nil }
