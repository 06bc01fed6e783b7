package hnsw

import (
	"slices"
	"testing"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/vector"
)

func fuzzIndex() *Index { return New(vector.IndexOptions{Config: vector.Config{Dim: 2, M: 4}}) }

// chain encodes n nodes, each the parent of the next, as a checkpoint, and the entry point's place + 1. The
// ordinal of place i is 10+i.
func chain(x *Index, n int) (part []byte, entry uint64) {
	best := -1
	for i := range uint64(n) {
		level := x.levelOf(10 + i)
		if level > best {
			best, entry = level, i+1
		}
		part = codec.AppendUvarint(codec.AppendUvarint(part, 10+i), i)
		var links []uint64
		if i > 0 {
			links = append(links, i)
		}
		if i < uint64(n)-1 {
			links = append(links, i+2)
		}
		part = codec.AppendUvarint(part, uint64(len(links)))
		for _, to := range links {
			part = codec.AppendUvarint(part, to)
		}
		for range level {
			part = codec.AppendUvarint(part, 0)
		}
	}
	return part, entry
}

func operations(values ...uint64) (b []byte) {
	for _, v := range values {
		b = codec.AppendUvarint(b, v)
	}
	return b
}

// decode is Load without the store.
func decode(x *Index, part, record []byte, entry uint64) ([]uint64, error) {
	d := &decoder{x: x, entry: entry}
	if err := decodeAll(part, d.Element); err != nil {
		return nil, err
	}
	if err := decodeAll(record, d.Operation); err != nil {
		return nil, err
	}
	if err := d.Finish(); err != nil {
		return nil, err
	}
	return d.nodes(), nil
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

func TestDecode(t *testing.T) {
	part, entry := chain(fuzzIndex(), 20)
	const node, set, push, parent, drop = uint64(opNode), uint64(opSet), uint64(opPush), uint64(opParent), uint64(opDrop)
	for _, c := range []struct {
		name   string
		record []byte
		entry  uint64
		nodes  int // 0: refused
	}{
		{"as written", nil, entry, 20},
		{"grown", operations(node, 30, set, 20, 0, 1, 20, parent, 20, 20, push, 19, 0, 21), entry, 21},
		{"grown, ordinals apart", operations(node, 77, set, 20, 0, 1, 20, parent, 20, 20, push, 19, 0, 21), entry, 21},
		{"new node without a parent", operations(node, 30), entry, 0},
		{"new node before the others", operations(node, 9, set, 20, 0, 1, 20, parent, 20, 20, push, 19, 0, 21), entry, 0},
		{"node twice", operations(node, 29, set, 20, 0, 1, 20, parent, 20, 20, push, 19, 0, 21), entry, 0},
		{"parent without a link back", operations(node, 30, set, 20, 0, 1, 20, parent, 20, 20), entry, 0},
		{"parent nowhere", operations(parent, 19, 99), entry, 0},
		{"parent beyond 32 bits", operations(parent, 19, 1<<32+19), entry, 0},
		{"link repeated", operations(push, 19, 0, 19), entry, 0},
		{"link to itself", operations(push, 19, 0, 20), entry, 0},
		{"link to nowhere", operations(push, 19, 0, 99), entry, 0},
		{"link beyond 32 bits", operations(push, 19, 0, 1<<32+1), entry, 0},
		{"no link pushed", operations(push, 19, 0, 0), entry, 0},
		{"no link among links", operations(set, 19, 0, 2, 0, 19), entry, 0},
		{"circle of parents", operations(push, 0, 0, 20, push, 19, 0, 1, parent, 0, 20), entry, 0},
		{"two roots", operations(parent, 10, 0), entry, 0},
		{"last node dropped, linked to", operations(drop, 19), entry, 0},
		{"last node dropped", operations(set, 18, 0, 1, 18, drop, 19), entry, 19},
		{"dropped twice", operations(set, 18, 0, 1, 18, drop, 19, drop, 19), entry, 0},
		{"no entry", nil, 0, 0},
		{"entry nowhere", nil, 99, 0},
		{"entry dropped", operations(set, 1, 0, 1, 3, parent, 1, 0, drop, 0), 1, 0},
		{"unknown operation", operations(9, 1), entry, 0},
		{"level too high", operations(push, 1, 15, 2), entry, 0},
		{"list too long", operations(set, 1, 0, 1<<40), entry, 0},
		{"cut", operations(set, 1, 0, 2, 1), entry, 0},
		{"vast ordinal", operations(node, 1<<63, set, 20, 0, 1, 20, parent, 20, 20, push, 19, 0, 21), entry, 0},
	} {
		ords, err := decode(fuzzIndex(), part, c.record, c.entry)
		if (err == nil) != (c.nodes > 0) || err == nil && len(ords) != c.nodes {
			t.Errorf("%s: %d nodes, %v, want %d", c.name, len(ords), err, c.nodes)
		}
	}
}

// Whatever is accepted is whole: ordinals ascend, and the check of a graph that was grown finds nothing.
func FuzzDecode(f *testing.F) {
	part, entry := chain(fuzzIndex(), 20)
	f.Add(part, operations(uint64(opNode), 30, uint64(opSet), 20, 0, 1, 20, uint64(opParent), 20, 20, uint64(opPush), 19, 0, 21), entry)
	f.Add(part, operations(uint64(opSet), 18, 0, 1, 18, uint64(opDrop), 19), entry)
	f.Add([]byte{}, []byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, part, record []byte, entry uint64) {
		x := fuzzIndex()
		ords, err := decode(x, part, record, entry)
		if err != nil {
			return
		}
		if !slices.IsSorted(ords) || len(slices.Compact(slices.Clone(ords))) != len(ords) {
			t.Fatalf("ordinals %v", ords)
		}
		for problem := range x.checkGraph() {
			t.Error(problem)
		}
	})
}

// The header names M, for which the lists were made.
func TestHeader(t *testing.T) {
	for _, c := range []struct {
		header []byte
		entry  uint64
		fails  bool
	}{
		{operations(4, 7), 7, false},
		{operations(4, 0), 0, false},
		{operations(5, 7), 0, true},
		{operations(4), 0, true},
		{nil, 0, true},
	} {
		d := &decoder{x: fuzzIndex()}
		if err := d.Header(codec.NewReader(c.header)); (err != nil) != c.fails || !c.fails && d.entry != c.entry {
			t.Errorf("% x: entry %d, %v", c.header, d.entry, err)
		}
	}
}
