package vector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// fill creates a collection of n vectors v0, v1, … and returns it.
func (s *store) fill(name string, c Config, n int) *Collection {
	s.t.Helper()
	r := rand.New(rand.NewPCG(11, uint64(n)))
	var coll *Collection
	s.must(func(b *kv.Batch) (err error) {
		coll, err = s.set.Create(b, "", name, c)
		for i := 0; i < n && err == nil; i++ {
			err = coll.Put(b, fmt.Sprint("v", i), random(r, c.Dim))
		}
		return err
	})
	return coll
}

func (s *store) settle() {
	s.t.Helper()
	if err := s.set.Settle(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

// named returns the collection as the present state shows it.
func (s *store) named(name string) *Collection {
	s.t.Helper()
	snap := s.view()
	defer snap.Close()
	c, err := s.set.Collection(snap, "", name)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// The largest collections lose their rows, as many as it takes and no more, while they grow and when they are
// opened alike; those that compare float32 rows never do.
func TestLargestCollectionsLoseTheirRows(t *testing.T) {
	const dim = 16
	segment := int64(simd.SegmentRows * 4 * dim)
	sizes := map[string]int{"a": 1, "b": 2, "c": 3, "d": 4} // in segments
	for limit, want := range map[int64]string{
		0: "abcdf", 14 * segment: "abcdf", 14*segment - 1: "abcf", 10 * segment: "abcf", 10*segment - 1: "abf", 5 * segment: "af", 1: "f",
	} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			s := open(t, SetOptions{MemoryBytes: limit})
			for name, n := range sizes {
				s.fill(name, Config{Dim: dim}, n*simd.SegmentRows-5)
			}
			s.fill("f", Config{Dim: dim, Quantization: Float32}, 4*simd.SegmentRows)
			s.settle()
			resident := func() (names string) {
				for _, name := range []string{"a", "b", "c", "d", "f"} {
					if s.named(name).Stats().Memory.Rows > 0 {
						names += name
					}
				}
				return names
			}
			total := int64(0)
			for _, c := range s.set.collections() {
				total += c.Stats().Memory.Rows
			}
			// The order in which they grew decides which ones lost theirs.
			if got := resident(); limit > 4*segment && total > limit || limit == 1 && got != want || limit == 0 && got != want {
				t.Errorf("while growing: rows of %q, %d bytes, limit %d", got, total, limit)
			}
			s.reopen()
			if got := resident(); got != want {
				t.Errorf("opened: rows of %q, want %q", got, want)
			}
		})
	}
}

// Without their rows in memory collections give the same answers, to the bit where they are exact: searches of
// every kind, reads, views, batches, and what a batch changes.
func TestRowsInTheStore(t *testing.T) {
	const dim, n = 48, 1000
	ctx := context.Background()
	for _, c := range comparisons(dim) {
		if c.Quantization == Float32 {
			continue
		}
		t.Run(fmt.Sprintf("%v/%v", c.Metric, c.Quantization), func(t *testing.T) {
			both := [2]*store{open(t, SetOptions{}), open(t, SetOptions{MemoryBytes: 1})}
			r := rand.New(rand.NewPCG(6, 6))
			for _, s := range both {
				s.o.Oldest = s.kv.OldestLSN
				s.reopen()
				s.fill("c", c, n)
				s.settle()
			}
			queries := make([][]float32, 10)
			for i := range queries {
				queries[i] = random(r, dim)
			}
			few := func(id string) bool { return id[len(id)-1] == '7' }
			answers := func(s *store, r kv.Reader) (out []any) {
				v, err := s.set.Collection(r, "", "c")
				note := func(x any, err error) {
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, x)
				}
				note(v.config, err)
				for _, q := range queries {
					for _, o := range []SearchOptions{
						{K: 1}, {K: 10}, {K: 2 * n}, {K: 10, Filter: few}, {K: 10, Set: v.IDSetWhere(few)},
						{K: 5, IDs: []string{"v3", "v900", "gone", "v3"}},
					} {
						note(v.Search(ctx, r, q, o))
					}
					note(v.Range(ctx, r, q, RangeOptions{MinScore: -4}))
				}
				note(v.GetMany(r, []string{"v1", "v2", "none", "v999", "v5", "v6"}))
				for row, err := range v.All(r) {
					note(row, err)
				}
				return out
			}
			compare := func(what string, at func(s *store) []any) {
				t.Helper()
				if a, b := fmt.Sprint(at(both[0])), fmt.Sprint(at(both[1])); a != b {
					t.Errorf("%s: answers differ", what)
				}
			}
			now := func(s *store) []any {
				snap := s.view()
				defer snap.Close()
				return answers(s, snap)
			}
			compare("filled", now)
			if rows := both[1].named("c").Stats().Memory.Rows; rows != 0 {
				t.Fatalf("%d bytes of rows in memory", rows)
			}
			var views [2]*kv.Snapshot
			for i, s := range both {
				views[i] = s.view()
				defer views[i].Close()
			}
			change := func(s *store) (out []any) {
				r := rand.New(rand.NewPCG(7, 7))
				s.must(func(b *kv.Batch) error {
					v, err := s.set.Collection(b, "", "c")
					for i := 0; i < n && err == nil; i += 3 {
						err = errors.Join(v.Delete(b, fmt.Sprint("v", i)), v.Put(b, fmt.Sprint("v", i+1), random(r, dim)))
					}
					out = answers(s, b)
					return err
				})
				return out
			}
			compare("in a batch", change)
			compare("after it", now)
			compare("an old view", func(s *store) []any {
				if s == both[0] {
					return answers(s, views[0])
				}
				return answers(s, views[1])
			})
			for i, s := range both {
				views[i].Close()
				s.must(func(b *kv.Batch) error { // more garbage than living: the points move
					v, err := s.set.Collection(b, "", "c")
					for i := 20; i < n && err == nil; i++ {
						err = v.Delete(b, fmt.Sprint("v", i))
					}
					return err
				})
				s.settle()
			}
			compare("moved", now)
			for _, s := range both {
				s.reopen()
				if st := s.named("c").Stats(); (st.Memory.Rows == 0) != (s == both[1]) {
					t.Errorf("opened: %+v", st.Memory)
				}
			}
			compare("opened", now)
			unchanged := func(s *store) (out []any) {
				s.must(func(b *kv.Batch) error {
					v, err := s.set.Collection(b, "", "c")
					if err != nil {
						return err
					}
					row, err := v.Get(b, "v1")
					err = errors.Join(err, v.Put(b, "v1", row))
					if !b.Empty() {
						t.Error("an unchanged vector was staged")
					}
					return err
				})
				return nil
			}
			compare("unchanged", unchanged)
		})
	}
}

// A row that the store has lost or that is damaged is an error of what needs it, never a wrong answer.
func TestDamageToRowsInTheStore(t *testing.T) {
	for name, damage := range map[string]func(b *kv.Batch, key []byte) error{
		"lost":    func(b *kv.Batch, key []byte) error { return b.Delete(key) },
		"damaged": func(b *kv.Batch, key []byte) error { return b.Set(key, []byte{1, 'x', 0}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openUnchecked(t, SetOptions{MemoryBytes: 1})
			c := s.fill("c", Config{Dim: 8}, 300)
			s.settle()
			s.must(func(b *kv.Batch) error {
				ord, err := c.ordinal(b, "v7")
				return errors.Join(err, damage(b, c.rowKey(ord)))
			})
			snap := s.view()
			defer snap.Close()
			q := make([]float32, 8)
			q[0] = 1
			if _, err := c.Search(context.Background(), snap, q, SearchOptions{K: 300}); !errors.Is(err, kv.ErrCorrupt) {
				t.Errorf("search: %v", err)
			}
			if _, err := c.Get(snap, "v7"); !errors.Is(err, kv.ErrCorrupt) {
				t.Errorf("get: %v", err)
			}
			if _, err := c.Get(snap, "v8"); err != nil {
				t.Errorf("get of another: %v", err)
			}
			var problems []string
			for p, err := range c.Check(context.Background(), snap) {
				problems = append(problems, fmt.Sprint(p, err))
			}
			if len(problems) == 0 {
				t.Error("Check finds nothing")
			}
			s.must(func(b *kv.Batch) error { return c.Put(b, "v7", q) }) // mends it
			after := s.view()
			defer after.Close()
			if v, err := c.Get(after, "v7"); err != nil || !slices.Equal(v, q) {
				t.Errorf("put anew: %v, %v", v, err)
			}
		})
	}
}

func TestMemoryLimitIsChecked(t *testing.T) {
	s := open(t, SetOptions{})
	snap := s.view()
	defer snap.Close()
	var e *ParameterError
	if _, err := OpenSet(snap, SetOptions{MemoryBytes: -1}); !errors.As(err, &e) || e.Field != "MemoryBytes" {
		t.Errorf("%v", err)
	}
}

// The recall of searches whose rows are in the store is watched through views of their own, which end with the
// set.
func TestWatchReadsTheStore(t *testing.T) {
	s := open(t, SetOptions{NewIndex: func(IndexOptions) Index { return &lazyIndex{} }, ExactBytes: -1, RecallSample: 1, MemoryBytes: 1})
	c := s.fill("c", Config{Dim: 8}, 600)
	s.settle()
	s.set.watch.rest = 0
	snap := s.view()
	defer snap.Close()
	if e, err := c.EstimateRecall(context.Background(), snap, EstimateOptions{Queries: 20}); err != nil || e.Queries != 20 {
		t.Errorf("on demand: %+v, %v", e, err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		if _, err := c.Search(context.Background(), snap, random(r, 8), SearchOptions{K: 10}); err != nil {
			t.Fatal(err)
		}
	}
	for c.Stats().Recall == nil {
		if c.recall.dropped.Load() > 0 {
			t.Fatal("a sample failed")
		}
	}
}
