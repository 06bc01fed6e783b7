package ivf

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

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

// around returns n vectors near centres whose groups are of very unequal size.
func around(r *rand.Rand, n, centres, dim int, spread float64) [][]float32 {
	at := make([][]float32, centres)
	for i := range at {
		at[i] = vectorkit.Random(r, dim)
	}
	out := make([][]float32, n)
	for i := range out {
		out[i] = vectorkit.Random(r, dim)
		u := r.Float64()
		for j, x := range at[int(u*u*float64(centres))] {
			out[i][j] = x + float32(spread)*out[i][j]
		}
	}
	return out
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
