package vector

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// packStore is a store whose collection "c" is packed, and whose background work is done when the test says so.
type packStore struct {
	*store
	r    *rand.Rand
	rows map[string][]float32
	log  bytes.Buffer
}

const packDim = 10

func newPackStore(t *testing.T) *packStore {
	t.Helper()
	s := &packStore{store: openUnchecked(t, SetOptions{}), r: rand.New(rand.NewPCG(4, 4)), rows: map[string][]float32{}}
	s.o = SetOptions{NewIndex: func(IndexOptions) Index { return &lazyIndex{} }, ExactBytes: -1, Oldest: s.kv.OldestLSN, Logger: slog.New(slog.NewTextHandler(&s.log, nil)),
		Update: func(_ context.Context, _ string, _ []string, fn func(b *kv.Batch) error) (kv.LSN, error) {
			err := s.update(fn)
			return s.lsn, err
		}}
	s.again()
	s.must(func(b *kv.Batch) error {
		_, err := s.set.Create(b, "", "c", Config{Dim: packDim})
		return err
	})
	t.Cleanup(s.checkAll)
	return s
}

// again opens the set anew, without an indexer of its own: a test settles.
func (s *packStore) again() {
	s.t.Helper()
	if err := s.set.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.set = &Set{o: s.o, log: s.o.Logger, loaded: make(map[string]bool), byID: make(map[collectionKey]*Collection), byName: make(map[collectionName][]*naming)}
	s.set.indexer = &indexer{set: s.set, cancel: func() {}, poke: make(chan struct{}, 1), done: make(chan struct{})}
	close(s.set.indexer.done)
	snap := s.view()
	defer snap.Close()
	if err := s.set.Load(snap, ""); err != nil {
		s.t.Fatal(err)
	}
}

// change puts the vectors from to to, and deletes those that gone tells.
func (s *packStore) change(from, to int, gone func(i int) bool) {
	s.t.Helper()
	s.must(func(b *kv.Batch) error {
		c, err := s.set.Collection(b, "", "c")
		for i := from; i < to && err == nil; i++ {
			id := fmt.Sprintf("v%04d", i)
			if gone != nil && gone(i) {
				delete(s.rows, id)
				err = c.Delete(b, id)
				continue
			}
			s.rows[id] = random(s.r, packDim)
			err = c.Put(b, id, s.rows[id])
		}
		return err
	})
}

func (s *packStore) drop(ids func(i int) bool) { s.t.Helper(); s.dropIn(0, 5000, ids) }

func (s *packStore) dropIn(from, to int, ids func(i int) bool) {
	s.t.Helper()
	s.must(func(b *kv.Batch) error {
		c, err := s.set.Collection(b, "", "c")
		for i := from; i < to && err == nil; i++ {
			if ids(i) {
				id := fmt.Sprintf("v%04d", i)
				delete(s.rows, id)
				err = c.Delete(b, id)
			}
		}
		return err
	})
}

// holds compares the collection with what must be in it: every vector, and exact searches.
func (s *packStore) holds(resident bool) {
	s.t.Helper()
	c := s.named("c")
	if got := c.gen.Load().points.resident(); got != resident {
		s.t.Errorf("rows in memory: %v, want %v", got, resident)
	}
	table := c.gen.Load().points.table.Load()
	if len(table.scales) != len(table.segs) || len(table.codes) != len(table.segs) {
		s.t.Fatalf("%d segments, codes of %d and scales of %d", len(table.segs), len(table.codes), len(table.scales))
	}
	for i, seg := range table.segs {
		if table.codes[i] != &seg.codes[0] || &table.scales[i][0] != &seg.scales[0] {
			s.t.Fatalf("codes or scales of segment %d are those of another", i)
		}
	}
	snap := s.view()
	defer snap.Close()
	got := map[string][]float32{}
	for row, err := range c.All(snap) {
		if err != nil {
			s.t.Fatal(err)
		}
		got[row.ID] = row.Vector
	}
	want := map[string][]float32{}
	for id, row := range s.rows {
		want[id] = make([]float32, packDim)
		prepare(c.config, want[id], row)
	}
	if !maps.EqualFunc(got, want, func(a, b []float32) bool { return slices.Equal(a, b) }) {
		s.t.Fatalf("%d vectors, want %d, or other ones", len(got), len(want))
	}
	for range 5 {
		q := random(s.r, packDim)
		hits, err := c.Search(context.Background(), snap, q, SearchOptions{K: 7, Exact: true})
		if err != nil {
			s.t.Fatal(err)
		}
		same(s.t, hits, brute(s.rows, Cosine, q, 7))
	}
	s.check("c")
}

// packs returns the number of packs in the store.
func (s *packStore) packs() (n int) {
	s.t.Helper()
	snap := s.view()
	defer snap.Close()
	err := s.named("c").eachPack(snap, 0, maxOrdinal, func(uint64, []byte) error { n++; return nil })
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *packStore) wantPacks(want int) {
	s.t.Helper()
	if n := s.packs(); n != want {
		s.t.Errorf("%d packs, want %d", n, want)
	}
}

// A collection is opened by its packs: without its rows, which come when work is done, and with what was deleted,
// replaced and added since they were written, also while the rows are awaited.
func TestOpeningByPacks(t *testing.T) {
	s := newPackStore(t)
	s.change(0, 20*simd.SegmentRows+100, nil)
	s.settle()
	s.wantPacks(20)
	s.again()
	s.holds(false)
	s.settle()
	s.holds(true)
	s.change(1000, 1100, nil) // replaced: their ordinals move behind the packs
	s.drop(func(i int) bool { return i%7 == 3 })
	s.again()
	s.holds(false)
	old := s.view()
	defer old.Close()
	before := maps.Clone(s.rows)
	s.change(4900, 6000, func(i int) bool { return i%5 == 0 })
	s.drop(func(i int) bool { return i%11 == 5 })
	s.holds(false)
	s.settle()
	s.holds(true)
	c := s.named("c")
	for range 5 { // what was deleted while it was awaited is still there for the view before
		q := random(s.r, packDim)
		hits, err := c.Search(context.Background(), old, q, SearchOptions{K: 7, Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		same(t, hits, brute(before, Cosine, q, 7))
	}
	s.again()
	s.holds(false)
	s.settle()
	s.holds(true)
	if s.log.Len() > 0 {
		t.Errorf("warned: %s", s.log.String())
	}
}

// An ordinal that is in a pack is not used again, though its row is gone.
func TestOrdinalsOfPacksAreNotUsedAgain(t *testing.T) {
	s := newPackStore(t)
	s.change(0, 2*simd.SegmentRows, nil)
	s.settle()
	s.dropIn(simd.SegmentRows+3, 2*simd.SegmentRows, func(int) bool { return true })
	s.again()
	s.change(600, 900, nil)
	s.holds(false)
	s.again()
	s.holds(false)
	s.settle()
	s.holds(true)
}

// Packs in which most vectors are gone are written anew, and those of a collection without an index are removed.
func TestPacksAreShed(t *testing.T) {
	s := newPackStore(t)
	s.change(0, 12*simd.SegmentRows, nil)
	s.settle()
	s.wantPacks(12)
	s.drop(func(i int) bool { return i >= 4*simd.SegmentRows })
	s.settle()
	s.wantPacks(4)
	s.again()
	s.holds(false)
	s.set.o.ExactBytes = 64 * simd.SegmentRows * packDim
	s.settle() // the index is given up
	s.wantPacks(0)
	s.holds(true)
	s.again()
	s.holds(true)
}

// Compact leaves no more packs than a new collection of the same vectors has.
func TestCompactShedsPacks(t *testing.T) {
	s := newPackStore(t)
	s.change(0, 6*simd.SegmentRows, nil)
	s.settle()
	s.drop(func(i int) bool { return i < 2*simd.SegmentRows || i%4 == 0 })
	s.settle()
	s.change(0, 2*simd.SegmentRows+10, nil)
	s.settle()
	if n := s.packs(); n <= 5 {
		t.Fatalf("%d packs, none to shed", n)
	}
	if err := s.named("c").Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.wantPacks(5)
	s.holds(true)
	s.again()
	s.holds(false)
}

// Packs that are damaged, lost, of another version or out of place are not used, reported, and written again.
func TestDamagedPacks(t *testing.T) {
	type damage func(b *kv.Batch, keys [][]byte, values [][]byte) error
	flip := func(b *kv.Batch, keys, values [][]byte) error {
		values[1][len(values[1])/2] ^= 4
		return b.Set(keys[1], values[1])
	}
	for name, do := range map[string]damage{
		"a bit":      flip,
		"short":      func(b *kv.Batch, keys, values [][]byte) error { return b.Set(keys[2], values[2][:9]) },
		"empty":      func(b *kv.Batch, keys, _ [][]byte) error { return b.Set(keys[2], nil) },
		"lost first": func(b *kv.Batch, keys, _ [][]byte) error { return b.Delete(keys[0]) },
		"lost":       func(b *kv.Batch, keys, _ [][]byte) error { return b.Delete(keys[1]) },
		"version": func(b *kv.Batch, keys, values [][]byte) error {
			v := values[0][:len(values[0])-4]
			v[0]++
			return b.Set(keys[0], codec.Seal(keys[0], v))
		},
		"out of place": func(b *kv.Batch, keys, values [][]byte) error { return b.Set(keys[0], values[1]) },
		"twice": func(b *kv.Batch, keys, values [][]byte) error {
			first, err := rowOrdinal(keys[0], len(keys[0])-8)
			key := append(bytes.Clone(keys[0][:len(keys[0])-8]), codec.AppendKeyUint64(nil, first+5)...)
			if err != nil {
				return err
			}
			return b.Set(key, codec.Seal(key, values[0][:len(values[0])-4]))
		},
		"long key": func(b *kv.Batch, keys, values [][]byte) error {
			return b.Set(append(bytes.Clone(keys[0]), 1), values[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newPackStore(t)
			s.change(0, 4*simd.SegmentRows+9, nil)
			s.settle()
			var keys, values [][]byte
			snap := s.view()
			prefix := collectionPrefix("", kindPack, s.named("c").id)
			cur, err := snap.Cursor(prefix, codec.PrefixEnd(prefix))
			if err != nil {
				t.Fatal(err)
			}
			for cur.Next() {
				keys, values = append(keys, bytes.Clone(cur.Key())), append(values, bytes.Clone(cur.Value()))
			}
			cur.Close()
			snap.Close()
			s.must(func(b *kv.Batch) error { return do(b, keys, values) })
			s.again()
			if !strings.Contains(s.log.String(), "packed codes cannot be used") {
				t.Errorf("no warning: %q", s.log.String())
			}
			if !s.named("c").gen.Load().points.resident() {
				t.Error("the rows were not read")
			}
			s.settle()
			s.wantPacks(4)
			s.holds(true)
			s.log.Reset()
			s.again()
			s.holds(false)
			if s.log.Len() > 0 {
				t.Errorf("warned again: %s", s.log.String())
			}
		})
	}
}

// Check finds a pack that is not what memory holds.
func TestCheckComparesPacks(t *testing.T) {
	s := newPackStore(t)
	s.change(0, simd.SegmentRows, nil)
	s.settle()
	c := s.named("c")
	p := c.gen.Load().points
	slots := make([]uint32, simd.SegmentRows)
	for i := range slots {
		slots[i] = uint32(i)
	}
	key := c.packKey(p.Ordinal(0))
	pack := p.appendPack(nil, slots)
	for what, at := range map[string]int{"a code": len(pack) - 1, "a scale": len(pack) - simd.SegmentRows*packDim - 1} {
		bad := bytes.Clone(pack)
		bad[at] ^= 1
		s.must(func(b *kv.Batch) error { return b.Set(key, codec.Seal(key, bad)) })
		snap := s.view()
		var problems []string
		for problem, err := range c.Check(context.Background(), snap) {
			problems = append(problems, fmt.Sprint(problem, err))
		}
		snap.Close()
		if len(problems) != 1 || !strings.Contains(problems[0], "differs from memory") {
			t.Errorf("%s: %q", what, problems)
		}
	}
	s.must(func(b *kv.Batch) error { return b.Set(key, codec.Seal(key, pack)) })
}

// Rows come while others search and write.
func TestRowsComeBesideSearchesAndWrites(t *testing.T) {
	s := newPackStore(t)
	s.change(0, 8*simd.SegmentRows, nil)
	s.settle()
	s.again()
	c := s.named("c")
	var wait sync.WaitGroup
	snap := s.view()
	want := maps.Clone(s.rows)
	for i := range 2 {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			for range 40 {
				q := random(r, packDim)
				hits, err := c.Search(context.Background(), snap, q, SearchOptions{K: 5, Exact: true})
				if err != nil {
					t.Error(err)
					return
				}
				if best := brute(want, Cosine, q, 1); hits[0].ID != best[0].ID {
					t.Errorf("%v, want %v", hits[0], best[0])
				}
			}
		})
	}
	wait.Go(func() {
		if err := c.bring(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for i := range 10 {
		s.change(8000+20*i, 8020+20*i, nil)
		s.dropIn(100*i, 100*i+40, func(int) bool { return true })
	}
	wait.Wait()
	snap.Close()
	s.holds(true)
	s.settle()
	s.holds(true)
}

// A closed set, and a collection that is dropped, let go of the view from which rows were to come.
func TestAwaitedRowsAreLetGo(t *testing.T) {
	s := newPackStore(t)
	s.change(0, 3*simd.SegmentRows, nil)
	s.settle()
	s.again() // closes a set whose rows are in memory
	s.again() // one whose rows are awaited
	if err := s.set.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.kv.OldestLSN(); got < s.lsn {
		t.Errorf("a view of commit %d is open after the set was closed", got)
	}
	s.again()
	at := s.lsn
	s.must(func(b *kv.Batch) error { return s.set.Drop(b, "", "c") })
	s.settle()
	if got := s.kv.OldestLSN(); got <= at {
		t.Errorf("a view of commit %d is open after the collection was dropped", got)
	}
	snap := s.view()
	defer snap.Close()
	for problem, err := range s.set.Check(context.Background(), snap, "") {
		t.Errorf("%v %v", problem, err)
	}
}

func FuzzDecodePack(f *testing.F) {
	p := newPoints(Config{Dim: 3, Quantization: Int8}, false)
	slots := make([]uint32, simd.SegmentRows)
	for i := range slots {
		slots[i] = uint32(i)
		p.append(slots[i], fmt.Sprint(i), uint64(7+2*i), 1, []float32{1, float32(i), -1})
	}
	p.publish(simd.SegmentRows)
	f.Add(p.appendPack(nil, slots), uint64(7))
	f.Add([]byte{packVersion, 0, 1}, uint64(0))
	f.Fuzz(func(t *testing.T, pack []byte, first uint64) {
		first %= maxOrdinal
		q := newPoints(p.config, false)
		s, err := q.decodePack(pack, first, &idArena{})
		if err != nil {
			return
		}
		q.add([]*segment{s}, nil)
		q.publish(simd.SegmentRows)
		if again := q.appendPack(nil, slots); q.Ordinal(0) != first || len(again) > len(pack) {
			t.Errorf("%d bytes are %d again", len(pack), len(again))
		} else if len(again) == len(pack) && !bytes.Equal(again, pack) {
			t.Error("encoded otherwise")
		}
	})
}
