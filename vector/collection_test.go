package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/glimdb/db/kv"
)

func TestConfigIsCheckedAndStamped(t *testing.T) {
	s := open(t, SetOptions{})
	good := Config{Metric: Dot, Dim: 4, Model: "m1"}
	for _, is := range []struct {
		field string
		bad   Config
	}{
		{"Dim", Config{Dim: 0}}, {"Dim", Config{Dim: -1}}, {"Dim", Config{Dim: MaxDim + 1}},
		{"Metric", Config{Dim: 4, Metric: L2 + 1}}, {"Quantization", Config{Dim: 4, Metric: L2, Quantization: Binary}}, {"Kind", Config{Dim: 4, Kind: IVF + 1}},
		{"Quantization", Config{Dim: 4, Quantization: Binary + 1}}, {"Model", Config{Dim: 4, Model: "\xff"}},
		{"M", Config{Dim: 4, M: MinM - 1}}, {"M", Config{Dim: 4, M: MaxM + 1}}, {"M", Config{Dim: 4, M: 1 << 40}}, {"M", Config{Dim: 4, M: -1}},
		{"EfConstruction", Config{Dim: 4, EfConstruction: 1}}, {"EfConstruction", Config{Dim: 4, EfConstruction: MaxEfConstruction + 1}},
	} {
		bad := is.bad
		err := s.update(func(b *kv.Batch) error {
			_, err := s.set.Create(b, "", "bad", bad)
			if !b.Empty() {
				t.Errorf("%v staged something", bad)
			}
			return err
		})
		var e *ParameterError
		if !errors.Is(err, ErrConfig) || !errors.As(err, &e) || e.Field != is.field || e.Collection != "bad" || e.Want == "" {
			t.Errorf("%v: %v", bad, err)
		}
	}
	create := func(c Config) error {
		return s.update(func(b *kv.Batch) error { _, err := s.set.Create(b, "", "c", c); return err })
	}
	if err := create(good); err != nil {
		t.Fatal(err)
	}
	s.reopen()
	if err := create(good); err != nil {
		t.Errorf("same configuration: %v", err)
	}
	tuned := good
	tuned.M = 32
	if err := create(tuned); err != nil {
		t.Errorf("other tuning: %v", err)
	}
	for _, other := range []Config{{Metric: Cosine, Dim: 4, Model: "m1"}, {Metric: Dot, Dim: 5, Model: "m1"}, {Metric: Dot, Dim: 4, Model: "m2"}} {
		err := create(other)
		var both *ConfigError
		if !errors.As(err, &both) || !errors.Is(err, ErrConfig) || both.Stored.Model != "m1" || both.Asked.Model != other.Model {
			t.Errorf("%v: %v", other, err)
		}
	}
}

func TestBadVectors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, metric := range []Metric{Cosine, Dot, L2} {
		s := open(t, SetOptions{})
		s.must(func(b *kv.Batch) error {
			_, err := s.set.Create(b, "", "c", Config{Metric: metric, Dim: 3})
			return err
		})
		s.must(func(b *kv.Batch) error {
			c, err := s.set.Collection(b, "", "c")
			if err != nil {
				return err
			}
			for _, v := range [][]float32{nil, {1, 2}, {1, 2, 3, 4}} {
				var e *DimensionError
				if err := c.Put(b, "a", v); !errors.As(err, &e) || !errors.Is(err, ErrDimension) || e.Got != len(v) || e.Want != 3 {
					t.Errorf("%v %v: %v", metric, v, err)
				}
			}
			bad := [][]float32{{1, nan, 0}, {inf, 0, 0}, {0, 0, -inf}}
			if metric == Cosine {
				bad = append(bad, []float32{0, 0, 0})
			} else {
				bad = append(bad, []float32{math.MaxFloat32, 0, 0})
			}
			for _, v := range bad {
				var e *ValueError
				if err := c.Put(b, "a", v); !errors.As(err, &e) || !errors.Is(err, ErrVector) || e.ID != "a" {
					t.Errorf("%v %v: %v", metric, v, err)
				}
			}
			if !b.Empty() {
				t.Errorf("%v: something was staged", metric)
			}
			return nil
		})
	}
}

// Extreme but legal vectors keep their order.
func TestExtremeVectors(t *testing.T) {
	s := open(t, SetOptions{})
	s.must(func(b *kv.Batch) error {
		c, err := s.set.Create(b, "", "c", Config{Dim: 4})
		if err != nil {
			return err
		}
		return errors.Join(
			c.Put(b, "huge", []float32{math.MaxFloat32, 0, 0, 1}),
			c.Put(b, "tiny", []float32{0, math.SmallestNonzeroFloat32, 0, 0}),
			c.Put(b, "mixed", []float32{1e-30, 1e-30, 1, 0}))
	})
	snap := s.view()
	defer snap.Close()
	c, err := s.set.Collection(snap, "", "c")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"huge", "tiny", "mixed"} {
		q := make([]float32, 4)
		q[i] = 1e-40
		hits, err := c.Search(context.Background(), snap, q, SearchOptions{K: 1})
		if err != nil || len(hits) != 1 || hits[0].ID != want || hits[0].Score < 0.999 {
			t.Errorf("axis %d: %v, %v", i, hits, err)
		}
	}
}

// A stored vector put back as it was read does not change: dumps load to the same bytes.
func TestNormalisingIsIdempotent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, dim := range []int{1, 2, 5, 100, 768, 4096} {
		c := Config{Dim: dim}
		once, twice := make([]float32, dim), make([]float32, dim)
		for range 50 {
			v := random(r, dim)
			for i := range v {
				v[i] *= float32(math.Pow(10, r.Float64()*10-5))
			}
			prepare(c, once, v)
			prepare(c, twice, once)
			if !slices.Equal(once, twice) {
				t.Fatalf("dimension %d: %v became %v", dim, once, twice)
			}
		}
	}
}

// A batch sees its own collections and drops; others see them when it commits, views never lose theirs.
func TestCollectionsComeAndGoWithTheirBatch(t *testing.T) {
	s := open(t, SetOptions{})
	s.o.Oldest = s.kv.OldestLSN
	s.reopen()
	ctx := context.Background()
	errDrop := errors.New("drop the batch")
	var early *Collection
	err := s.update(func(b *kv.Batch) (err error) {
		early, err = s.set.Create(b, "w", "c", Config{Dim: 2})
		if err != nil {
			return err
		}
		if err := early.Put(b, "a", []float32{1, 0}); err != nil {
			return err
		}
		if hits, err := early.Search(ctx, b, []float32{1, 0}, SearchOptions{K: 1}); err != nil || len(hits) != 1 {
			t.Errorf("in its own batch: %v, %v", hits, err)
		}
		if again, err := s.set.Create(b, "w", "c", Config{Dim: 2}); err != nil || again != early {
			t.Errorf("created twice: %v", err)
		}
		snap := s.view()
		defer snap.Close()
		if _, err := s.set.Collection(snap, "w", "c"); !errors.Is(err, kv.ErrNotFound) {
			t.Errorf("visible before the commit: %v", err)
		}
		return errDrop
	})
	if !errors.Is(err, errDrop) {
		t.Fatal(err)
	}
	if err := s.update(func(b *kv.Batch) error { return early.Put(b, "a", []float32{1, 0}) }); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("put into a collection whose batch was dropped: %v", err)
	}
	s.must(func(b *kv.Batch) error {
		c, err := s.set.Create(b, "w", "c", Config{Dim: 2})
		if err != nil {
			return err
		}
		return c.Put(b, "a", []float32{1, 0})
	})
	before := s.view()
	defer before.Close()
	old, err := s.set.Collection(before, "w", "c")
	if err != nil {
		t.Fatal(err)
	}
	s.must(func(b *kv.Batch) error {
		if err := s.set.DropWorkspace(b, "w"); err != nil {
			return err
		}
		if err := old.Put(b, "x", []float32{0, 1}); !errors.Is(err, kv.ErrNotFound) {
			t.Errorf("put after the drop: %v", err)
		}
		if names, err := s.set.Names(b, "w"); err != nil || len(names) != 0 {
			t.Errorf("names after the drop: %v, %v", names, err)
		}
		c, err := s.set.Create(b, "w", "c", Config{Dim: 3})
		if err != nil {
			return err
		}
		return c.Put(b, "b", []float32{1, 0, 0})
	})
	if err := s.set.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if hits, err := old.Search(ctx, before, []float32{1, 0}, SearchOptions{K: 5}); err != nil || len(hits) != 1 || hits[0].ID != "a" {
		t.Errorf("old view: %v, %v", hits, err)
	}
	now := s.view()
	defer now.Close()
	if _, err := old.Search(ctx, now, []float32{1, 0}, SearchOptions{K: 5}); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("new view of the old collection: %v", err)
	}
	c, err := s.set.Collection(now, "w", "c")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := c.Get(now, "b"); err != nil || !slices.Equal(v, []float32{1, 0, 0}) {
		t.Errorf("new collection: %v, %v", v, err)
	}
	if _, err := c.Get(now, "a"); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("a vector of the old one: %v", err)
	}
	before.Close()
	if err := s.set.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if n := len(s.set.collections()); n != 1 {
		t.Errorf("%d collections in memory", n)
	}
	s.reopen()
	for p, err := range s.set.Check(ctx, now, "w") {
		t.Errorf("check: %v %v", p, err)
	}
}

// Replacing one vector over and over does not let memory grow, and putting it back stages nothing.
func TestOverwriting(t *testing.T) {
	s := open(t, SetOptions{})
	s.o.Oldest = s.kv.OldestLSN
	s.reopen()
	r := rand.New(rand.NewPCG(4, 4))
	s.must(func(b *kv.Batch) error { _, err := s.set.Create(b, "", "c", Config{Dim: 4, Metric: L2}); return err })
	v := random(r, 4)
	for range 2000 {
		v = random(r, 4)
		s.must(func(b *kv.Batch) error {
			c, err := s.set.Collection(b, "", "c")
			if err != nil {
				return err
			}
			return errors.Join(c.Put(b, "a", random(r, 4)), c.Put(b, "a", v))
		})
	}
	if err := s.set.Settle(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.must(func(b *kv.Batch) error {
		c, err := s.set.Collection(b, "", "c")
		if err != nil {
			return err
		}
		if err := c.Put(b, "a", v); err != nil || !b.Empty() {
			t.Errorf("unchanged vector was staged: %v", err)
		}
		if st := c.Stats(); st.Live != 1 || st.Dead > 2*compactMin {
			t.Errorf("after overwriting: %+v", st)
		}
		return nil
	})
	s.check("c")
}

func TestGetManyAndClosedSet(t *testing.T) {
	s := open(t, SetOptions{})
	var c *Collection
	s.must(func(b *kv.Batch) (err error) {
		c, err = s.set.Create(b, "", "c", Config{Dim: 2, Metric: Dot})
		return errors.Join(err, c.Put(b, "a", []float32{1, 2}), c.Put(b, "b", []float32{3, 4}))
	})
	snap := s.view()
	defer snap.Close()
	got, err := c.GetMany(snap, []string{"b", "x", "a", "b"})
	if err != nil || fmt.Sprint(got) != "[[3 4] [] [1 2] [3 4]]" || got[1] != nil {
		t.Errorf("got %v, %v", got, err)
	}
	got[0][0] = 99                                                        // the caller's
	many, err := c.GetMany(snap, []string{"b", "zz", "a", "", "b", "ab"}) // enough for a cursor
	if err != nil || fmt.Sprint(many) != "[[3 4] [] [1 2] [] [3 4] []]" || many[1] != nil {
		t.Errorf("got %v, %v", many, err)
	}
	if v, err := c.Get(snap, "b"); err != nil || v[0] != 3 {
		t.Errorf("the stored vector changed: %v, %v", v, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Search(ctx, snap, []float32{1, 1}, SearchOptions{K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled search: %v", err)
	}
	if err := s.set.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.set.Settle(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("settle after close: %v", err)
	}
	if _, err := s.set.Collection(snap, "", "c"); !errors.Is(err, ErrClosed) {
		t.Errorf("collection after close: %v", err)
	}
	s.openSet()
}

// Many ids at once are found as each is found alone: in views held over updates, removals and reclaims, in updates, with
// rows in memory or not.
func TestGetManyIsGet(t *testing.T) {
	for _, o := range []SetOptions{{}, {MemoryBytes: 1}} {
		s := open(t, o)
		r := rand.New(rand.NewPCG(1, 7))
		var c *Collection
		s.must(func(b *kv.Batch) (err error) {
			c, err = s.set.Create(b, "", "c", Config{Dim: 2, Metric: Dot, Quantization: Int8})
			return err
		})
		ids := []string{"never"}
		for i := range 3 * manyIDs {
			ids = append(ids, fmt.Sprint("id", i))
		}
		same := func(r kv.Reader) {
			t.Helper()
			got, err := c.GetMany(r, append(slices.Clone(ids), ids[0], ids[1]))
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				want, err := c.Get(r, ids[i%len(ids)])
				if err != nil && !errors.Is(err, kv.ErrNotFound) || !slices.Equal(v, want) || (v == nil) != (want == nil) {
					t.Fatalf("%s: %v, alone %v, %v", ids[i%len(ids)], v, want, err)
				}
			}
		}
		var views []*kv.Snapshot
		for step := range 30 {
			s.must(func(b *kv.Batch) error {
				var errs []error
				for range 20 {
					id := ids[1+r.IntN(len(ids)-1)]
					if r.IntN(4) == 0 {
						errs = append(errs, c.Delete(b, id))
					} else {
						errs = append(errs, c.Put(b, id, []float32{r.Float32(), 1}))
					}
				}
				same(b)
				return errors.Join(errs...)
			})
			views = append(views, s.view())
			if step%5 == 4 {
				if err := s.set.Settle(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, v := range views {
				same(v)
			}
			if len(views) > 4 {
				at := r.IntN(len(views))
				views[at].Close()
				views = slices.Delete(views, at, at+1)
			}
		}
		for _, v := range views {
			v.Close()
		}
		s.check("c")
	}
}
