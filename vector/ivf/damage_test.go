package ivf

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/oplog"
)

// Check names each damage, and says nothing of what is whole.
func TestCheckFindsDamage(t *testing.T) {
	const n = 1500
	p := vectorkit.Points(t, vector.Config{Dim: 4, Kind: vector.IVF}, around(vectorkit.Rand(t, 1), n, 10, 4, 0.5))
	for _, c := range []struct {
		name   string
		damage func(x *Index, l *layout) []string
	}{
		{"nothing", func(*Index, *layout) []string { return nil }},
		{"a slot in no list", func(x *Index, l *layout) []string {
			slots := l.cells[3].slots()
			l.cells[3].set(x.longer(list{}, slots[1:]...))
			return []string{fmt.Sprintf("slot %d is not in cell 3, noted for it", slots[0])}
		}},
		{"a slot in two lists", func(x *Index, l *layout) []string {
			slot := l.cells[3].slots()[0]
			l.cells[5].set(x.longer(*l.cells[5].list(), slot))
			return []string{fmt.Sprintf("slot %d is in cell 5 and noted for cell 3", slot)}
		}},
		{"a slot twice in its list", func(x *Index, l *layout) []string {
			slot := l.cells[3].slots()[0]
			l.cells[3].set(x.longer(*l.cells[3].list(), slot))
			return []string{fmt.Sprintf("slot %d is in cell 3 twice", slot)}
		}},
		{"a slot that was never inserted", func(x *Index, l *layout) []string {
			c := l.cells[3].list()
			l.cells[3].set(list{append(slices.Clone(c.slots), n+7), x.points.Strip(c.strip, c.slots[0])})
			return []string{fmt.Sprintf("slot %d is in cell 3 and counts as removed", n+7)}
		}},
		{"a vector that is gone while it lives", func(x *Index, _ *layout) []string {
			x.Remove([]uint32{7})
			return []string{`vector "v00007" is in no cell`}
		}},
		{"too few centroids", func(_ *Index, l *layout) []string {
			l.centroids = l.centroids.withoutLast()
			return []string{fmt.Sprintf("%d cells, %d centroids", len(l.cells), len(l.cells)-1)}
		}},
		{"too few cells", func(_ *Index, l *layout) []string {
			last := len(l.cells) - 1
			want := []string{fmt.Sprintf("%d cells, %d centroids", last, last+1)}
			for _, slot := range l.cells[last].slots() {
				want = append(want, fmt.Sprintf("slot %d is not in cell %d, noted for it", slot, last))
			}
			l.cells = l.cells[:last]
			return want
		}},
		{"a centroid that is no vector", func(_ *Index, l *layout) []string {
			l.centroids.row(2)[1] = float32(math.NaN())
			return []string{"cell 2: value 1 of the centroid is NaN"}
		}},
		{"codes of too many slots", func(x *Index, l *layout) []string {
			c := *l.cells[3].list()
			c.strip = x.points.Strip(c.strip, 1)
			l.cells[3].set(c)
			return []string{fmt.Sprintf("cell 3: %d slots, codes of %d", len(c.slots), len(c.slots)+1)}
		}},
		{"codes of another slot", func(x *Index, l *layout) []string {
			c := *l.cells[3].list()
			last := len(c.slots) - 1
			c.strip = x.points.Strip(x.points.Strip(vector.Strip{}, c.slots[:last]...), l.cells[4].slots()[0])
			l.cells[3].set(c)
			return []string{fmt.Sprintf("slot %d has other codes in cell 3 than its own", c.slots[last])}
		}},
		{"slots miscounted", func(x *Index, _ *layout) []string {
			x.nodes.Add(1)
			return []string{fmt.Sprintf("counted %d slots, there are %d", n+1, n)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := New(vector.IndexOptions{Config: p.Config()})
			x.Attach(p, nil)
			for slot := range uint32(n) {
				x.Insert(slot)
			}
			check(t, x, all)
			want := c.damage(x, x.layout.Load())
			var found []string
			for problem := range x.Check(all) {
				found = append(found, problem)
			}
			slices.Sort(want)
			if slices.Sort(found); !slices.Equal(found, want) {
				t.Errorf("found\n\t%s\nwant\n\t%s", strings.Join(found, "\n\t"), strings.Join(want, "\n\t"))
			}
			seen := 0
			for range x.Check(all) { // a yield after the end would panic
				seen++
				break
			}
			if seen != min(1, len(want)) {
				t.Errorf("saw %d problems", seen)
			}
		})
	}
}

// op encodes one operation.
func op(kind byte, values ...uint64) []byte {
	b := []byte{kind}
	for _, v := range values {
		b = codec.AppendUvarint(b, v)
	}
	return b
}

func centroid(at uint64, v ...float32) []byte { return oplog.AppendFloats(op(opCentroid, at), v) }

// decode is Load without the store.
func decode(operations []byte) (*Index, []uint64, error) {
	x := New(vector.IndexOptions{Config: vector.Config{Dim: 2}})
	d := &decoder{x: x, l: x.layout.Load()}
	in := codec.NewReader(operations)
	for in.Len() > 0 {
		if err := d.Operation(in); err != nil {
			return nil, nil, err
		}
	}
	return x, d.place(), errors.Join(in.Done(), d.Finish())
}

func TestDecode(t *testing.T) {
	nan := float32(math.NaN())
	base := slices.Concat(centroid(0, 1, 0), centroid(1, 0, 1), op(opAdd, 10, 0), op(opAdd, 12, 1), op(opAdd, 13, 1))
	for _, c := range []struct {
		name string
		more []byte
		want []uint64 // ordinals; nil: refused
	}{
		{"as written", nil, []uint64{10, 12, 13}},
		{"one more", op(opAdd, 14, 1), []uint64{10, 12, 13, 14}},
		{"one more cell", slices.Concat(centroid(2, 5, 5), op(opMove, 12, 2)), []uint64{10, 12, 13}},
		{"a centroid moves", centroid(0, 7, 7), []uint64{10, 12, 13}},
		{"one gone", op(opDrop, 12), []uint64{10, 13}},
		{"a cell gone", slices.Concat(op(opMove, 12, 0), op(opDrop, 13), op(opPop)), []uint64{10, 12}},
		{"gone twice", slices.Concat(op(opDrop, 12), op(opDrop, 12)), nil},
		{"a move of what is gone", slices.Concat(op(opDrop, 12), op(opMove, 12, 0)), nil},
		{"a move of what never was", op(opMove, 11, 0), nil},
		{"twice the same", op(opAdd, 13, 1), nil},
		{"not ascending", op(opAdd, 11, 1), nil},
		{"vast ordinal", op(opAdd, 1<<63, 1), nil},
		{"no such cell", op(opAdd, 14, 2), nil},
		{"moved nowhere", op(opMove, 12, 2), nil},
		{"vast cell", op(opMove, 12, 1<<40), nil},
		{"a cell that is not empty goes", op(opPop), nil},
		{"more cells go than there are", slices.Concat(op(opDrop, 10), op(opDrop, 12), op(opDrop, 13), op(opPop), op(opPop), op(opPop)), nil},
		{"a cell left out", centroid(3, 1, 1), nil},
		{"short centroid", centroid(2, 1), nil},
		{"long centroid", centroid(2, 1, 2, 3), nil},
		{"NaN", centroid(1, 1, nan), nil},
		{"infinite", centroid(1, float32(math.Inf(1)), 1), nil},
		{"cut", centroid(2, 1, 2)[:8], nil},
		{"unknown operation", op(9), nil},
	} {
		_, ords, err := decode(slices.Concat(base, c.more))
		if (err == nil) != (c.want != nil) || err == nil && !slices.Equal(ords, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, ords, err, c.want)
		}
	}
}

// Whatever is accepted is whole: ordinals ascend, and Check finds nothing.
func FuzzDecode(f *testing.F) {
	f.Add(slices.Concat(centroid(0, 1, 0), centroid(1, 0, 1), op(opAdd, 10, 0), op(opAdd, 12, 1), op(opMove, 12, 0), op(opPop)))
	f.Add(slices.Concat(centroid(0, 1, 0), op(opAdd, 10, 0), op(opDrop, 10), op(opPop)))
	f.Add([]byte{})
	p := vectorkit.Points(f, vector.Config{Dim: 2, Kind: vector.IVF}, around(vectorkit.Rand(f, 1), 64, 4, 2, 1))
	f.Fuzz(func(t *testing.T, operations []byte) {
		x, ords, err := decode(operations)
		if err != nil || len(ords) > int(p.Len()) {
			return
		}
		if !slices.IsSorted(ords) || len(slices.Compact(slices.Clone(ords))) != len(ords) {
			t.Fatalf("ordinals %v", ords)
		}
		slots := make([]uint32, len(ords))
		for i := range slots {
			slots[i] = uint32(i)
		}
		x.Attach(p, slots)
		for problem := range x.Check(func(slot uint32) bool { return int(slot) < len(slots) }) {
			t.Error(problem)
		}
		x.Remove(slots)
		for problem := range x.Check(func(uint32) bool { return false }) {
			t.Error(problem)
		}
	})
}

// Damage to any one stored value is noticed or harmless: what loads is whole.
func TestDamagedValues(t *testing.T) {
	const n = 1200
	p := vectorkit.Points(t, vector.Config{Dim: 4, Kind: vector.IVF}, around(vectorkit.Rand(t, 2), n, 10, 4, 0.5))
	o := vector.IndexOptions{Config: p.Config(), Prefix: []byte("p/"), Persist: true}
	store, lsn := memory(t), kv.LSN(0)
	commit := func(w func(*kv.Batch) error) {
		write(t, store, lsn, w)
		lsn++
	}
	x := New(o)
	x.Attach(p, nil)
	for slot := range uint32(n) {
		x.Insert(slot)
		x.Skip(p.Ordinal(slot))
		if slot%600 == 500 {
			for _, w := range x.Drain() {
				commit(w)
			}
		}
	}
	for _, w := range x.Drain() {
		commit(w)
	}
	stored := map[string][]byte{}
	snap, err := store.Snapshot(lsn)
	if err != nil {
		t.Fatal(err)
	}
	cur, err := snap.Cursor(o.Prefix, codec.PrefixEnd(o.Prefix))
	if err != nil {
		t.Fatal(err)
	}
	for cur.Next() {
		stored[string(cur.Key())] = slices.Clone(cur.Value())
	}
	if err := errors.Join(cur.Err(), cur.Close(), snap.Close()); err != nil || len(stored) < 4 {
		t.Fatalf("%d keys: %v", len(stored), err)
	}
	r := vectorkit.Rand(t, 4)
	refused := 0
	for key, value := range stored {
		bit := slices.Clone(value)
		bit[r.IntN(len(bit))] ^= 1 << r.IntN(8)
		for name, damaged := range map[string][]byte{"cut": value[:len(value)/2], "longer": append(slices.Clone(value), 0), "a bit": bit, "missing": nil} {
			commit(func(b *kv.Batch) error {
				if damaged == nil {
					return b.Delete([]byte(key))
				}
				return b.Set([]byte(key), damaged)
			})
			y, ords, _, err := load(t, store, lsn, o)
			switch {
			case errors.Is(err, kv.ErrCorrupt):
				refused++
			case err != nil:
				t.Errorf("%q %s: %v", key, name, err)
			case name != "a bit" && !(name == "missing" && key == "p/h"):
				t.Errorf("%q %s: accepted", key, name)
			default:
				slots := make([]uint32, len(ords))
				for i := range slots {
					slots[i] = uint32(i)
				}
				y.Attach(p, slots)
				for problem := range y.Check(func(uint32) bool { return false }) {
					t.Errorf("%q %s: %s", key, name, problem)
				}
			}
			commit(func(b *kv.Batch) error { return b.Set([]byte(key), value) })
		}
	}
	if refused < 3*len(stored)-1 {
		t.Errorf("%d refused of %d keys", refused, len(stored))
	}
}
