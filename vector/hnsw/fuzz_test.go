package hnsw

import (
	"errors"
	"testing"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

func fuzzIndex() *Index { return New(vector.IndexOptions{Config: vector.Config{Dim: 2, M: 4}}) }

// chain encodes n nodes, each the parent of the next, as a checkpoint, and the entry point's ordinal + 1.
func chain(x *Index, n int) (part []byte, entry uint64) {
	best := -1
	for i := range n {
		ord := uint64(i)
		level := x.levelOf(ord)
		if level > best {
			best, entry = level, ord+1
		}
		part = codec.AppendUvarint(codec.AppendUvarint(part, ord), ord)
		var links []uint64
		if i > 0 {
			links = append(links, ord-1)
		}
		if i < n-1 {
			links = append(links, ord+1)
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
func decode(x *Index, part, record []byte, entry uint64) (*loaded, []uint64, error) {
	l := &loaded{at: make(map[uint64]int), entry: entry}
	if err := x.decodeAll(part, l.part); err != nil {
		return nil, nil, err
	}
	if err := x.decodeAll(record, l.replay); err != nil {
		return nil, nil, err
	}
	ords, err := l.finish(x)
	return l, ords, err
}

func TestDecode(t *testing.T) {
	x := fuzzIndex()
	part, entry := chain(x, 20)
	const node, set, push, parent, drop = uint64(opNode), uint64(opSet), uint64(opPush), uint64(opParent), uint64(opDrop)
	for _, c := range []struct {
		name   string
		record []byte
		entry  uint64
		nodes  int // 0: refused
	}{
		{"as written", nil, entry, 20},
		{"grown", operations(node, 20, set, 20, 0, 1, 19, parent, 20, 20, push, 19, 0, 20), entry, 21},
		{"new node without a parent", operations(node, 20), entry, 0},
		{"parent without a link back", operations(node, 20, set, 20, 0, 1, 19, parent, 20, 20), entry, 0},
		{"link repeated", operations(push, 19, 0, 18), entry, 0},
		{"link to itself", operations(push, 19, 0, 19), entry, 0},
		{"link to nowhere", operations(push, 19, 0, 99), entry, 0},
		{"circle of parents", operations(push, 0, 0, 19, push, 19, 0, 0, parent, 0, 20), entry, 0},
		{"two roots", operations(parent, 10, 0), entry, 0},
		{"last node dropped, linked to", operations(drop, 19), entry, 0},
		{"last node dropped", operations(set, 18, 0, 1, 17, drop, 19), entry, 19},
		{"dropped twice", operations(set, 18, 0, 1, 17, drop, 19, drop, 19), entry, 0},
		{"no entry", nil, 0, 0},
		{"entry nowhere", nil, 99, 0},
		{"unknown operation", operations(9, 1), entry, 0},
		{"level too high", operations(push, 1, 15, 2), entry, 0},
		{"list too long", operations(set, 1, 0, 1<<40), entry, 0},
		{"cut", operations(set, 1, 0, 2, 0), entry, 0},
		{"vast ordinal", operations(node, 1<<63, set, 1<<63, 0, 1, 19, parent, 1<<63, 20, push, 19, 0, 1<<63), entry, 0},
	} {
		_, ords, err := decode(x, part, c.record, c.entry)
		if (err == nil) != (c.nodes > 0) || err == nil && len(ords) != c.nodes {
			t.Errorf("%s: %d nodes, %v, want %d", c.name, len(ords), err, c.nodes)
		}
	}
}

// Whatever is accepted is whole: every node is reachable from the entry point, and no list is overfull.
func FuzzDecode(f *testing.F) {
	x := fuzzIndex()
	part, entry := chain(x, 20)
	f.Add(part, operations(uint64(opNode), 20, uint64(opSet), 20, 0, 1, 19, uint64(opParent), 20, 20, uint64(opPush), 19, 0, 20), entry)
	f.Add(part, operations(uint64(opSet), 18, 0, 1, 17, uint64(opDrop), 19), entry)
	f.Add([]byte{}, []byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, part, record []byte, entry uint64) {
		l, ords, err := decode(x, part, record, entry)
		if err != nil {
			return
		}
		at := make(map[uint64]int)
		for i, ord := range ords {
			if i > 0 && ords[i-1] >= ord {
				t.Fatalf("ordinals %d, %d", ords[i-1], ord)
			}
			at[ord] = i
		}
		if len(ords) == 0 {
			return
		}
		seen := map[uint64]bool{entry - 1: true}
		for queue := []uint64{entry - 1}; len(queue) > 0; queue = queue[1:] {
			n := l.nodes[at[queue[0]]]
			if len(n.lists[0]) > 2*x.m {
				t.Fatalf("%d links", len(n.lists[0]))
			}
			for _, to := range n.lists[0] {
				if !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				}
			}
		}
		if len(seen) != len(ords) {
			t.Fatalf("%d of %d nodes are reachable", len(seen), len(ords))
		}
	})
}

func FuzzHeader(f *testing.F) {
	f.Add(operations(formatVersion, 4, 1, 2, 3, 4, 5, 6, 7))
	f.Add(operations(formatVersion, 4, 1, 2, 3, 4, 5, 1<<63, 7))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, v []byte) {
		fields, err := fuzzIndex().decodeHeader(v)
		if err != nil {
			if !errors.Is(err, kv.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		for i, n := range fields {
			if n > maxField {
				t.Errorf("field %d is %d", i, n)
			}
		}
	})
}
