package ivf

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// collector is an index that holds nothing: it lets a test have the points of a collection.
type collector struct{ points *vector.Points }

func (c *collector) Search(_ vector.Query, out []uint32) []uint32   { return out }
func (c *collector) Load(kv.Reader) ([]uint64, uint64, error)       { return nil, 0, nil }
func (c *collector) Attach(p *vector.Points, _ []uint32)            { c.points = p }
func (c *collector) Insert(uint32)                                  {}
func (c *collector) Remove([]uint32)                                {}
func (c *collector) Skip(uint64)                                    {}
func (c *collector) Move(p *vector.Points, _ []uint32) vector.Index { c.points = p; return c }
func (c *collector) Drain() []func(*kv.Batch) error                 { return nil }
func (c *collector) Lost()                                          {}
func (c *collector) Check(func(slot uint32) bool) iter.Seq[string]  { return func(func(string) bool) {} }
func (c *collector) Stats() vector.IndexStats                       { return vector.IndexStats{} }

// pointsOf returns rows as the points of a collection; slot i holds row i.
func pointsOf(t testing.TB, c vector.Config, rows [][]float32) *vector.Points {
	t.Helper()
	store := memory(t)
	var of collector
	snap, err := store.Snapshot(0)
	if err != nil {
		t.Fatal(err)
	}
	set, err := vector.OpenSet(snap, vector.SetOptions{ExactBytes: -1, NewIndex: func(vector.IndexOptions) vector.Index { return &of }})
	if err := errors.Join(err, snap.Close()); err != nil {
		t.Fatal(err)
	}
	write(t, store, 0, func(b *kv.Batch) error {
		coll, err := set.Create(b, "", "points", c)
		for i := 0; i < len(rows) && err == nil; i++ {
			err = coll.Put(b, fmt.Sprintf("v%05d", i), rows[i])
		}
		return err
	})
	if err := errors.Join(set.Settle(context.Background()), set.Close()); err != nil {
		t.Fatal(err)
	}
	if of.points == nil || int(of.points.Len()) != len(rows) {
		t.Fatal("the collection has other points")
	}
	return of.points
}

// memory is a store on a file system in memory.
func memory(t testing.TB) *kv.Store {
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
	return store
}

// write commits what fn stages, after commit lsn.
func write(t testing.TB, store *kv.Store, lsn kv.LSN, fn func(*kv.Batch) error) {
	t.Helper()
	b, err := store.NewBatch(lsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := fn(b); err != nil {
		t.Fatal(err)
	}
	if err := store.Apply(b); err != nil {
		t.Fatal(err)
	}
	b.Committed(lsn + 1)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// load returns what a new index finds in the store.
func load(t testing.TB, store *kv.Store, lsn kv.LSN, o vector.IndexOptions) (x *Index, ords []uint64, fed uint64, err error) {
	t.Helper()
	snap, serr := store.Snapshot(lsn)
	if serr != nil {
		t.Fatal(serr)
	}
	x = small(o)
	ords, fed, err = x.Load(snap)
	if err := snap.Close(); err != nil {
		t.Fatal(err)
	}
	return x, ords, fed, err
}

func newRand(t testing.TB, seed uint64) *rand.Rand {
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 3))
}

func random(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// around returns n vectors near centres whose groups are of very unequal size.
func around(r *rand.Rand, n, centres, dim int, spread float64) [][]float32 {
	at := make([][]float32, centres)
	for i := range at {
		at[i] = random(r, dim)
	}
	out := make([][]float32, n)
	for i := range out {
		out[i] = random(r, dim)
		u := r.Float64()
		for j, x := range at[int(u*u*float64(centres))] {
			out[i][j] = x + float32(spread)*out[i][j]
		}
	}
	return out
}

// scaled is n, or a part of it under the race detector: that makes everything many times slower, and has
// nothing to find in the work of one goroutine.
func scaled(n int) int {
	if raceDetector {
		return n / 5
	}
	return n
}

func all(uint32) bool { return true }

// check reports what Check finds, and what it does not look at: that lists do not grow without bound.
func check(t testing.TB, x *Index, live func(slot uint32) bool) {
	t.Helper()
	for problem := range x.Check(live) {
		t.Error(problem)
	}
	l := x.layout.Load()
	for at := range l.cells {
		// Beside what overfull allows, what others moved there since the last insert.
		if n := len(l.cells[at].slots()); n > max(single, 4*overfull*x.size()) {
			t.Errorf("cell %d of %d holds %d slots, %d are meant", at, len(l.cells), n, x.size())
		}
	}
}
