package vector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// Rows that several goroutines read in ranges lie in memory as one would have read them: with every ordinal
// present, with gaps, and with ranges that are empty.
func TestLoadingInRanges(t *testing.T) {
	const n, dim = 3*runMin + 77, 3
	for name, gone := range map[string]func(i int) bool{
		"dense":    func(int) bool { return false },
		"gaps":     func(i int) bool { return i%3 == 1 },
		"hole":     func(i int) bool { return i > 100 && i < 2*runMin+500 },
		"one left": func(i int) bool { return i > 0 && i < n-1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, SetOptions{})
			r := rand.New(rand.NewPCG(8, 8))
			rows := make(map[string][]float32)
			s.must(func(b *kv.Batch) error {
				c, err := s.set.Create(b, "", "c", Config{Dim: dim, Metric: Dot})
				for i := range n {
					id := fmt.Sprint("id", i)
					rows[id] = random(r, dim)
					if err == nil {
						err = c.Put(b, id, rows[id])
					}
				}
				return err
			})
			s.must(func(b *kv.Batch) error {
				c, err := s.set.Collection(b, "", "c")
				for i := range n {
					if id := fmt.Sprint("id", i); err == nil && gone(i) {
						delete(rows, id)
						err = c.Delete(b, id)
					}
				}
				return err
			})
			s.reopen()
			snap := s.view()
			defer snap.Close()
			c, err := s.set.Collection(snap, "", "c")
			if err != nil {
				t.Fatal(err)
			}
			p := c.gen.Load().points
			if segs := len(p.table.Load().segs); int(p.Len()) != len(rows) || segs != (len(rows)+simd.SegmentRows-1)/simd.SegmentRows {
				t.Errorf("%d slots in %d segments for %d vectors", p.Len(), segs, len(rows))
			}
			for slot := range p.Len() {
				if slot > 0 && p.Ordinal(slot-1) >= p.Ordinal(slot) {
					t.Fatalf("slot %d has ordinal %d, the one before %d", slot, p.Ordinal(slot), p.Ordinal(slot-1))
				}
				if want := rows[p.ID(slot)]; want == nil || !equal(p.Vector(slot), want) {
					t.Fatalf("slot %d of %q is %v, want %v", slot, p.ID(slot), p.Vector(slot), want)
				}
			}
			for range 5 {
				q := random(r, dim)
				got, err := c.Search(context.Background(), snap, q, SearchOptions{K: 8})
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, brute(rows, Dot, q, 8))
			}
			s.check("c")
		})
	}
}

// A damaged row fails the opening with an error that says so, whichever goroutine met it.
func TestDamagedRow(t *testing.T) {
	for _, at := range []int{0, runMin + 5, 2*runMin + 1} {
		s := openUnchecked(t, SetOptions{})
		var key []byte
		s.must(func(b *kv.Batch) error {
			c, err := s.set.Create(b, "", "c", Config{Dim: 1, Metric: Dot})
			for i := range 2*runMin + 2 {
				if err == nil {
					err = c.Put(b, fmt.Sprint(i), []float32{float32(i)})
				}
			}
			key = c.rowKey(uint64(at))
			return err
		})
		s.must(func(b *kv.Batch) error { return b.Set(key, []byte{1}) })
		snap := s.view()
		if _, err := OpenSet(snap, SetOptions{}, ""); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("row %d: %v", at, err)
		}
		snap.Close()
	}
}
