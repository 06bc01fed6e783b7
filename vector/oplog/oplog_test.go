package oplog

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// list is the smallest state there can be: numbers, of which the header holds the sum.
type list struct{ numbers []uint64 }

func (l *list) sum() (n uint64) {
	for _, v := range l.numbers {
		n += v
	}
	return n
}

func (l *list) Header() []byte { return codec.AppendUvarint(nil, l.sum()) }

func (l *list) Elements() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, v := range l.numbers {
			if !yield(codec.AppendUvarint(nil, v)) {
				return
			}
		}
	}
}

const opPush, opFloats = 1, 2

// reading builds a list.
type reading struct {
	list
	sum    uint64
	floats []byte
}

func (r *reading) Header(in *codec.Reader) error { r.sum = in.Uvarint(); return in.Err() }

func (r *reading) Element(in *codec.Reader) error {
	r.numbers = append(r.numbers, in.Uvarint())
	return in.Err()
}

func (r *reading) Operation(in *codec.Reader) error {
	switch in.Byte() {
	case opPush:
		return r.Element(in)
	case opFloats:
		err := r.Element(in)
		r.floats = append(r.floats, in.Bytes()...)
		return errors.Join(err, in.Err())
	}
	return errors.New("unknown operation")
}

func (r *reading) Finish() error {
	if r.sum != r.list.sum() {
		return fmt.Errorf("sum %d, want %d", r.list.sum(), r.sum)
	}
	return nil
}

// disk is a store with a commit path.
type disk struct {
	t     *testing.T
	store *kv.Store
	lsn   kv.LSN
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	store, err := kv.Open("db", kv.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &disk{t: t, store: store}
}

func (d *disk) commit(w func(*kv.Batch) error) {
	d.t.Helper()
	b, err := d.store.NewBatch(d.lsn)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := w(b); err != nil {
		d.t.Fatal(err)
	}
	if err := d.store.Apply(b); err != nil {
		d.t.Fatal(err)
	}
	d.lsn++
	b.Committed(d.lsn)
	if err := b.Close(); err != nil {
		d.t.Fatal(err)
	}
}

func (d *disk) load(o Options) (*Log, *reading, uint64, bool, error) {
	d.t.Helper()
	snap, err := d.store.Snapshot(d.lsn)
	if err != nil {
		d.t.Fatal(err)
	}
	l, r := New(o), &reading{}
	fed, found, err := l.Load(snap, r)
	if err := snap.Close(); err != nil {
		d.t.Fatal(err)
	}
	return l, r, fed, found, err
}

// keys are those that are stored, with their values.
func (d *disk) keys(prefix string) map[string][]byte {
	d.t.Helper()
	snap, err := d.store.Snapshot(d.lsn)
	if err != nil {
		d.t.Fatal(err)
	}
	cur, err := snap.Cursor([]byte(prefix), codec.PrefixEnd([]byte(prefix)))
	if err != nil {
		d.t.Fatal(err)
	}
	out := map[string][]byte{}
	for cur.Next() {
		out[string(cur.Key())] = slices.Clone(cur.Value())
	}
	if err := errors.Join(cur.Err(), cur.Close(), snap.Close()); err != nil {
		d.t.Fatal(err)
	}
	return out
}

func options() Options {
	return Options{Prefix: []byte("x/"), Persist: true, Version: 3, PartBytes: 60, CommitBytes: 150, LogMin: 200}
}

// O1: whatever prefix of the drained writes is committed, and whoever goes on from there, what loads is the
// state of the last saving that is whole; after Lost, nothing until the next is.
func TestO1_EveryPrefixLoads(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		d, o := newDisk(t), options()
		l, state := New(o), &list{}
		whole, longest, commits := list{}, 0, 0 // what is stored
		fed, stored := uint64(0), false
		for step := range 60 {
			for range r.IntN(40) {
				v := uint64(r.IntN(1 << 20))
				state.numbers = append(state.numbers, v)
				l.Op(opPush, v)
			}
			l.Skip(uint64(step))
			lost := step%17 == 16
			if lost {
				l.Lost()
			}
			if step%5 == 4 {
				l = l.Take()
			}
			writes := l.Drain(state)
			longest = max(longest, len(writes))
			for k, w := range writes {
				d.commit(w)
				commits++
				switch {
				case k == len(writes)-1:
					whole, stored, fed = list{slices.Clone(state.numbers)}, true, uint64(step)+1
				case lost:
					whole, stored, fed = list{}, false, 0
				}
				next, got, gotFed, found, err := d.load(o)
				if err != nil || found != stored || gotFed != fed || !slices.Equal(got.numbers, whole.numbers) {
					t.Fatalf("seed %d, step %d, commit %d of %d: %d numbers, fed %d, found %v, %v; want %d, %d, %v", seed, step, k+1,
						len(writes), len(got.numbers), gotFed, found, err, len(whole.numbers), fed, stored)
				}
				if k == len(writes)-1 && step%3 == 0 {
					if next.Logged() != l.Logged() || next.Written() != l.Written() {
						t.Errorf("loaded: %d bytes logged, %d written; want %d, %d", next.Logged(), next.Written(), l.Logged(), l.Written())
					}
					l = next
				}
			}
			if l.Drain(state) != nil {
				t.Fatal("something is left to write")
			}
		}
		size, limit := 0, 0
		for key, v := range d.keys("x/") {
			size += len(v)
			if key[2] == kindPart {
				limit += len(v)
			}
		}
		if longest < 3 || commits < 60 || size > 3*limit+1000 {
			t.Errorf("%d commits, at most %d a saving, %d bytes stored for a checkpoint of %d", commits, longest, size, limit)
		}
	}
}

// O2: the first checkpoint of a new log, and that after Lost, leave nothing of another.
func TestO2_NothingOfAnotherIsLeft(t *testing.T) {
	d, o := newDisk(t), options()
	old, state := New(o), &list{}
	for range 3 {
		for range 100 {
			state.numbers = append(state.numbers, 7)
			old.Op(opPush, 7)
		}
		old.Skip(1)
		for _, w := range old.Drain(state) {
			d.commit(w)
		}
	}
	d.commit(func(b *kv.Batch) error { return b.Set([]byte("x/zzz"), []byte("of nobody")) })
	d.commit(func(b *kv.Batch) error { return b.Set([]byte("y"), []byte("of another")) })
	fresh := New(o)
	fresh.Skip(9)
	for _, w := range fresh.Drain(&list{[]uint64{1, 2}}) {
		d.commit(w)
	}
	if keys := d.keys("x/"); len(keys) != 2 {
		t.Errorf("%d keys: %q", len(keys), keys)
	}
	if len(d.keys("y")) != 1 {
		t.Error("a key behind the prefix is gone")
	}
	if _, got, fed, found, err := d.load(o); err != nil || !found || fed != 10 || !slices.Equal(got.numbers, []uint64{1, 2}) {
		t.Errorf("%v, %d, %v, %v", got.numbers, fed, found, err)
	}
}

// O3: damage to any value is corruption.
func TestO3_DamageIsCorruption(t *testing.T) {
	d, o := newDisk(t), options()
	l, state := New(o), &list{}
	for step := range 4 {
		for i := range max(10, 100-90*step) {
			state.numbers = append(state.numbers, uint64(i))
			l.Op(opPush, uint64(i))
		}
		l.Skip(uint64(step))
		for _, w := range l.Drain(state) {
			d.commit(w)
		}
	}
	kinds, another := map[byte]int{}, []byte(nil)
	for key, value := range d.keys("x/") {
		kinds[key[2]]++
		damages := map[string][]byte{"cut": value[:len(value)-1], "longer": append(slices.Clone(value), 0xFF), "empty": {}, "missing": nil, "another": another}
		for i := range value {
			flipped := slices.Clone(value)
			flipped[i] ^= 1 << (i % 8)
			damages[fmt.Sprint("bit in byte ", i)] = flipped
		}
		another = value
		for name, damaged := range damages {
			if name == "another" && damaged == nil {
				continue
			}
			if name == "missing" && key[2] == kindHeader {
				continue // then there is nothing
			}
			d.commit(func(b *kv.Batch) error {
				if damaged == nil {
					return b.Delete([]byte(key))
				}
				return b.Set([]byte(key), damaged)
			})
			if _, _, _, _, err := d.load(o); !errors.Is(err, kv.ErrCorrupt) {
				t.Errorf("%q %s: %v", key, name, err)
			}
			d.commit(func(b *kv.Batch) error { return b.Set([]byte(key), value) })
		}
	}
	if kinds[kindHeader] != 1 || kinds[kindPart] < 2 || kinds[kindRecord] < 1 {
		t.Errorf("keys by kind: %v", kinds)
	}
	o.Version++
	if _, _, _, _, err := d.load(o); !errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("another version: %v", err)
	}
}

func TestNothingToPersist(t *testing.T) {
	o := options()
	o.Persist = false
	l := New(o)
	l.Op(opPush, 1)
	l.Skip(1)
	if l.Keeps() || l.Drain(&list{}) != nil {
		t.Error("a log that persists nothing keeps something")
	}
	o.Persist = true
	if New(o).Drain(&list{}) != nil {
		t.Error("an index that was fed nothing has something to write")
	}
}

func TestFloats(t *testing.T) {
	d, o := newDisk(t), options()
	l := New(o)
	l.Skip(0)
	for _, w := range l.Drain(&list{}) {
		d.commit(w)
	}
	l.Floats(opFloats, 5, []float32{1, -2})
	for _, w := range l.Drain(&list{[]uint64{5}}) {
		d.commit(w)
	}
	_, got, _, _, err := d.load(o)
	if want := []byte{0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0}; err != nil || !slices.Equal(got.floats, want) || !slices.Equal(got.numbers, []uint64{5}) {
		t.Errorf("% x, %v, %v", got.floats, got.numbers, err)
	}
}

func FuzzHeader(f *testing.F) {
	l := New(options())
	f.Add(l.header(&list{[]uint64{1, 2, 3}}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, v []byte) {
		r := &reading{}
		h, err := l.decodeHeader(v, r.Header)
		if err != nil {
			if !errors.Is(err, kv.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		for i, n := range h.fields() {
			if *n > maxField {
				t.Errorf("field %d is %d", i, *n)
			}
		}
	})
}
