package vector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// ordinalOf is the value of an id key.
func ordinalOf(ord uint64) []byte { return codec.AppendKeyUint64(nil, ord) }

// damages are single faults of a collection that holds a, b, c and d with the ordinals 1, 2, 3 and 4, and
// what Check says of each: all of it, and nothing else.
var damages = []struct {
	name     string
	stored   func(c *Collection, b *kv.Batch) error // breaks the store
	memory   func(c *Collection)                    // breaks what was loaded
	problems []string
}{
	{name: "nothing"},
	{
		name:     "row missing",
		stored:   func(c *Collection, b *kv.Batch) error { return b.Delete(c.rowKey(2)) },
		problems: []string{`id "b" leads to row 2: kv: not found`, "3 rows but 4 ids"},
	},
	{
		name:     "row too short",
		stored:   func(c *Collection, b *kv.Batch) error { return b.Set(c.rowKey(2), appendRow(nil, "b", []float32{1})) },
		problems: []string{"row 2: kv: corrupt: row of 6 bytes for dimension 3"},
	},
	{
		name: "row too long",
		stored: func(c *Collection, b *kv.Batch) error {
			return b.Set(c.rowKey(2), appendRow(nil, "b", []float32{1, 2, 3, 4}))
		},
		problems: []string{"row 2: kv: corrupt: row of 18 bytes for dimension 3"},
	},
	{
		name:     "row without a length",
		stored:   func(c *Collection, b *kv.Batch) error { return b.Set(c.rowKey(2), nil) },
		problems: []string{"row 2: kv: corrupt: row of 0 bytes for dimension 3"},
	},
	{
		name: "row of other values",
		stored: func(c *Collection, b *kv.Batch) error {
			return b.Set(c.rowKey(2), appendRow(nil, "b", []float32{7, 2, 3}))
		},
		problems: []string{`row 2 of "b": differs from memory`},
	},
	{
		name: "row of another id",
		stored: func(c *Collection, b *kv.Batch) error {
			return b.Set(c.rowKey(2), appendRow(nil, "c", []float32{2, 2, 2}))
		},
		problems: []string{`row 2 of "c": differs from memory`, `row 2 of "c": its id leads to 3`},
	},
	{
		name: "row beyond the last",
		stored: func(c *Collection, b *kv.Batch) error {
			return b.Set(c.rowKey(9), appendRow(nil, "z", []float32{1, 2, 3}))
		},
		problems: []string{
			`row 9 of "z": its id leads nowhere: kv: not found`, `row 9 of "z": not in memory`, "5 rows but 4 ids",
		},
	},
	{
		name:   "ordinal beyond all",
		stored: func(c *Collection, b *kv.Batch) error { return b.Set(c.rowKey(maxOrdinal), nil) },
		problems: []string{
			"kv: corrupt: row key of 21 bytes, ordinal 9223372036854775807", "5 rows but 4 ids",
		},
	},
	{
		name:     "row key too long",
		stored:   func(c *Collection, b *kv.Batch) error { return b.Set(append(c.rowKey(2), 7), nil) },
		problems: []string{"kv: corrupt: row key of 22 bytes, ordinal 2", "5 rows but 4 ids"},
	},
	{
		name:   "id missing",
		stored: func(c *Collection, b *kv.Batch) error { return b.Delete(c.idKey("b")) },
		problems: []string{
			`row 2 of "b": its id leads nowhere: kv: not found`,
			"4 rows but 3 ids", "4 vectors counted but 3 ids", "4 vectors in memory but 3 ids",
		},
	},
	{
		name:   "id without a row",
		stored: func(c *Collection, b *kv.Batch) error { return b.Set(c.idKey("z"), ordinalOf(9)) },
		problems: []string{
			`id "z" leads to row 9: kv: not found`,
			"4 rows but 5 ids", "4 vectors counted but 5 ids", "4 vectors in memory but 5 ids",
		},
	},
	{
		name:   "two ids of one row",
		stored: func(c *Collection, b *kv.Batch) error { return b.Set(c.idKey("z"), ordinalOf(2)) },
		problems: []string{
			"4 rows but 5 ids", "4 vectors counted but 5 ids", "4 vectors in memory but 5 ids",
		},
	},
	{
		name: "two ids exchanged",
		stored: func(c *Collection, b *kv.Batch) error {
			return errors.Join(b.Set(c.idKey("b"), ordinalOf(3)), b.Set(c.idKey("c"), ordinalOf(2)))
		},
		problems: []string{`row 2 of "b": its id leads to 3`, `row 3 of "c": its id leads to 2`},
	},
	{
		name:   "id with half an ordinal",
		stored: func(c *Collection, b *kv.Batch) error { return b.Set(c.idKey("b"), ordinalOf(2)[:4]) },
		problems: []string{
			`row 2 of "b": its id leads nowhere: kv: corrupt: ordinal of 4 bytes`, `id "b": kv: corrupt: ordinal of 4 bytes`,
		},
	},
	{
		name:     "vector changed in memory",
		memory:   func(c *Collection) { c.gen.Load().points.Vector(1)[0]++ },
		problems: []string{`row 2 of "b": differs from memory`},
	},
	{
		name:     "id changed in memory",
		memory:   func(c *Collection) { c.gen.Load().points.seg(1).ids[1] = "c" },
		problems: []string{`row 2 of "b": differs from memory`},
	},
	{
		name:     "code changed in memory",
		memory:   func(c *Collection) { p := c.gen.Load().points; p.seg(1).codes[p.codeStride]-- },
		problems: []string{`row 2 of "b": codes in memory are those of another vector`},
	},
	{
		name:     "bound changed in memory",
		memory:   func(c *Collection) { c.gen.Load().points.seg(1).facts[1].resid /= 2 },
		problems: []string{`row 2 of "b": codes in memory are those of another vector`},
	},
	{
		name:     "slot ended in memory",
		memory:   func(c *Collection) { c.gen.Load().points.end(1, 1) },
		problems: []string{`row 2 of "b": not in memory`, "3 vectors in memory but 4 ids"},
	},
	{
		name: "vector in memory alone",
		memory: func(c *Collection) {
			p := c.gen.Load().points
			p.append(p.Len(), "z", 9, 0, []float32{1, 2, 3})
			p.publish(p.Len() + 1)
		},
		problems: []string{"5 vectors in memory but 4 ids"},
	},
	{
		name: "vectors miscounted",
		memory: func(c *Collection) {
			now := *c.count.Load()
			now.n++
			c.count.Store(&now)
		},
		problems: []string{"5 vectors counted but 4 ids"},
	},
}

// damagedStore returns the store that the damages belong to, and its collection.
func damagedStore(t *testing.T) (*store, *Collection) {
	t.Helper()
	s := openUnchecked(t, SetOptions{})
	var c *Collection
	s.must(func(b *kv.Batch) (err error) {
		if c, err = s.set.Create(b, "", "c", Config{Metric: L2, Dim: 3}); err != nil {
			return err
		}
		return c.Put(b, "0", []float32{9, 9, 9}) // takes ordinal 0, and is deleted: slots are not ordinals
	})
	s.must(func(b *kv.Batch) error {
		err := c.Delete(b, "0")
		for i, id := range []string{"a", "b", "c", "d"} {
			err = errors.Join(err, c.Put(b, id, []float32{float32(i) + 1, 2, 3}))
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
	return s, c
}

// Check names each damage, and nothing that is whole; in a batch that did the damage as in a view of it.
func TestCheckFindsDamage(t *testing.T) {
	for _, tc := range damages {
		t.Run(tc.name, func(t *testing.T) {
			s, c := damagedStore(t)
			found := func(r kv.Reader) {
				t.Helper()
				var got []string
				for p, err := range s.set.Check(context.Background(), r, "") {
					if err != nil || p.Collection != "c" || p.String() != fmt.Sprintf("vectors %q: %s", "c", p.Detail) {
						t.Errorf("%v, %v", p, err)
					}
					got = append(got, p.Detail)
				}
				want := slices.Sorted(slices.Values(tc.problems))
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("found\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
				}
			}
			s.must(func(b *kv.Batch) error {
				if tc.memory != nil {
					tc.memory(c)
				}
				if tc.stored != nil {
					if err := tc.stored(c, b); err != nil {
						return err
					}
				}
				found(b)
				return nil
			})
			snap := s.view()
			defer snap.Close()
			found(snap)
		})
	}
}

// Check of a batch holds what the batch itself put and deleted to the same rules.
func TestCheckOfABatch(t *testing.T) {
	s, c := damagedStore(t)
	check := func(b *kv.Batch) (got []string) {
		t.Helper()
		for p, err := range c.Check(context.Background(), b) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p.Detail)
		}
		return got
	}
	for name, tc := range map[string]struct {
		damage   func(b *kv.Batch) error
		problems []string
	}{
		"nothing": {func(*kv.Batch) error { return nil }, nil},
		"other values": {
			func(b *kv.Batch) error { return b.Set(c.rowKey(6), appendRow(nil, "e", []float32{5, 5, 5})) },
			[]string{`row 6 of "e": differs from memory`},
		},
		"row of a deleted vector": {
			func(b *kv.Batch) error { return b.Set(c.rowKey(5), appendRow(nil, "x", []float32{1, 1, 1})) },
			[]string{`row 5 of "x": its id leads nowhere: kv: not found`, `row 5 of "x": not in memory`, "5 rows but 4 ids"},
		},
		"row beyond the batch": {
			func(b *kv.Batch) error { return b.Set(c.rowKey(7), appendRow(nil, "y", []float32{1, 1, 1})) },
			[]string{`row 7 of "y": its id leads nowhere: kv: not found`, `row 7 of "y": not in memory`, "5 rows but 4 ids"},
		},
	} {
		errDrop := errors.New("drop the batch")
		err := s.update(func(b *kv.Batch) error {
			err := errors.Join(c.Put(b, "x", []float32{8, 8, 8}), c.Delete(b, "x"), c.Put(b, "e", []float32{5, 2, 3}), c.Delete(b, "a"))
			if err = errors.Join(err, tc.damage(b)); err != nil {
				return err
			}
			if got := check(b); !slices.Equal(got, tc.problems) {
				t.Errorf("%s: found %q, want %q", name, got, tc.problems)
			}
			return errDrop
		})
		if !errors.Is(err, errDrop) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A collection whose configuration cannot be read, or leads to no collection, is not passed over.
func TestCheckOfTheNames(t *testing.T) {
	for name, tc := range map[string]struct {
		meta    []byte
		problem bool // else an error
	}{
		"unreadable":       {[]byte{0xFF}, false},
		"no dimension":     {encodeMeta(newCollectionID(1, 0), Config{M: DefaultM, EfConstruction: DefaultEfConstruction}), false},
		"of no collection": {encodeMeta(newCollectionID(77, 0), Config{Dim: 3, M: DefaultM, EfConstruction: DefaultEfConstruction}), true},
	} {
		s, _ := damagedStore(t)
		s.must(func(b *kv.Batch) error { return b.Set(metaKey("", "c"), tc.meta) })
		snap := s.view()
		problems, strays, failures := 0, 0, 0
		for p, err := range s.set.Check(context.Background(), snap, "") {
			switch {
			case errors.Is(err, kv.ErrCorrupt):
				failures++
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case p.Collection == "c":
				problems++
			default: // the rows and ids are nobody's now
				strays++
			}
		}
		if tc.problem && (problems != 1 || strays != 2 || failures != 0) || !tc.problem && (problems+strays != 0 || failures != 1) {
			t.Errorf("%s: %d problems, %d strays, %d errors", name, problems, strays, failures)
		}
		snap.Close()
	}
}

// Check stops when its consumer has seen enough, and says so when it was cancelled.
func TestCheckStops(t *testing.T) {
	s, c := damagedStore(t)
	s.must(func(b *kv.Batch) error {
		return errors.Join(b.Delete(c.rowKey(1)), b.Delete(c.rowKey(2)), b.Delete(c.idKey("c")), b.Delete(c.idKey("d")))
	})
	snap := s.view()
	defer snap.Close()
	all := 0
	for _, err := range c.Check(context.Background(), snap) {
		if all++; err != nil {
			t.Fatal(err)
		}
	}
	if all < 5 {
		t.Fatalf("%d problems", all)
	}
	for stop := 1; stop <= all; stop++ {
		seen := 0
		for _, err := range s.set.Check(context.Background(), snap, "") { // a yield after the end would panic
			if seen++; seen == stop || err != nil {
				break
			}
		}
		if seen != stop {
			t.Errorf("saw %d problems, want %d", seen, stop)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var last error
	for _, err := range c.Check(ctx, snap) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled check: %v", last)
	}
}
