package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/wal"
	"pgregory.net/rapid"
)

var (
	ctx    = context.Background()
	prefix = []byte("cache/")
)

type store struct {
	t   testing.TB
	log *wal.Log
}

func open(t testing.TB) *store {
	t.Helper()
	s, err := kv.Open("db", kv.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	log, err := wal.Open(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	st := &store{t, log}
	t.Cleanup(func() {
		st.sound(New(prefix, 0))
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func (s *store) update(f func(b *kv.Batch) error) {
	s.t.Helper()
	if _, err := s.log.Update(ctx, "test", nil, f); err != nil {
		s.t.Fatal(err)
	}
}

func (s *store) view(f func(r kv.Reader)) {
	s.t.Helper()
	snap, err := s.log.View()
	if err != nil {
		s.t.Fatal(err)
	}
	defer snap.Close()
	f(snap)
}

func (s *store) problems(c Cache) (out []string) {
	s.t.Helper()
	s.view(func(r kv.Reader) {
		var err error
		if out, err = c.Check(ctx, r); err != nil {
			s.t.Fatal(err)
		}
	})
	return out
}

func (s *store) sound(c Cache) {
	s.t.Helper()
	for _, p := range s.problems(c) {
		s.t.Error("check: ", p)
	}
}

func (s *store) put(c Cache, pairs ...string) {
	s.t.Helper()
	var keys []string
	var values [][]byte
	for i := 0; i < len(pairs); i += 2 {
		keys, values = append(keys, pairs[i]), append(values, []byte(pairs[i+1]))
	}
	s.update(func(b *kv.Batch) error { return c.Put(b, keys, values) })
}

// listed are the entries in the order in which they would go.
func (s *store) listed(c Cache) (out []string) {
	s.t.Helper()
	s.view(func(r kv.Reader) {
		err := c.each(ctx, r, kindPlace, func(_ string, e []byte) {
			key, _, err := decodeEntry(e)
			if err != nil {
				s.t.Fatal(err)
			}
			v, ok, err := c.Get(r, key)
			if err != nil || !ok {
				s.t.Fatalf("%q: %v, %v", key, ok, err)
			}
			out = append(out, key+"="+string(v))
		})
		if err != nil {
			s.t.Fatal(err)
		}
	})
	return out
}

// The oldest go first, whatever was read or written again meanwhile, and the neighbours of the prefix stay.
func TestOldestGoesFirst(t *testing.T) {
	s := open(t)
	for _, k := range []string{"cache.", "cache0"} {
		s.update(func(b *kv.Batch) error { return b.Set([]byte(k), []byte("other")) })
	}
	c := New(prefix, 12) // three entries of four bytes
	s.put(c, "a", "111", "b", "222", "c", "333")
	s.put(c, "a", "444") // keeps its place
	if got := fmt.Sprint(s.listed(c)); got != "[a=444 b=222 c=333]" {
		t.Errorf("within the limit: %s", got)
	}
	s.put(c, "d", "555")
	s.put(c, "e", strings.Repeat("x", 12)) // over the limit alone
	if got := fmt.Sprint(s.listed(c)); got != "[b=222 c=333 d=555]" {
		t.Errorf("over the limit: %s", got)
	}
	s.put(c, "b", "2222222") // grows, and is the oldest
	if got := fmt.Sprint(s.listed(c)); got != "[c=333 d=555]" {
		t.Errorf("after growth: %s", got)
	}
	s.update(func(b *kv.Batch) error {
		had, err := c.Clear(b)
		if want := (Size{2, 8}); had != want {
			t.Errorf("cleared %+v, want %+v", had, want)
		}
		return err
	})
	if got := s.listed(c); got != nil {
		t.Errorf("after clearing: %q", got)
	}
	s.view(func(r kv.Reader) {
		cur, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
		if err != nil {
			t.Fatal(err)
		}
		defer cur.Close()
		if cur.First() {
			t.Errorf("key %q is left", cur.Key())
		}
		for _, k := range []string{"cache.", "cache0"} {
			if v, err := r.Get([]byte(k)); string(v) != "other" {
				t.Errorf("%s: %q, %v", k, v, err)
			}
		}
	})
}

// A limit that was lowered is reached in bounded steps, not at once.
func TestC2_StepsAreBounded(t *testing.T) {
	s := open(t)
	c := New(prefix, 1<<20)
	for i := range 200 {
		s.put(c, fmt.Sprintf("%03d", i), "value")
	}
	small := New(prefix, 80)
	for want := 200; want > 10; {
		s.put(small, fmt.Sprintf("n%d", want), "value")
		want = max(want+1-(evictPerEntry+evictBeside), 10) // ten entries of eight bytes at most
		if n := len(s.listed(small)); n > want || want > 10 && n != want {
			t.Fatalf("%d entries left, want %d", n, want)
		}
	}
	s.view(func(r kv.Reader) {
		if size, err := small.Size(r); err != nil || size.Bytes > 80 {
			t.Errorf("%+v, %v", size, err)
		}
	})
}

// Random writes leave what a list with a limit would hold.
func TestC1_Model(t *testing.T) {
	type entry struct{ key, value string }
	rapid.Check(t, func(rt *rapid.T) {
		s := open(t)
		var model []entry
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			limit := rapid.IntRange(0, 60).Draw(rt, "limit")
			c := New(prefix, int64(limit))
			if rapid.IntRange(0, 9).Draw(rt, "clear") == 0 {
				s.update(func(b *kv.Batch) error { _, err := c.Clear(b); return err })
				model = nil
			}
			var pairs []string
			for range rapid.IntRange(1, 4).Draw(rt, "entries") {
				e := entry{rapid.StringMatching(`[a-f\x00]{0,2}`).Draw(rt, "key"), rapid.StringMatching(`[xy]{0,12}`).Draw(rt, "value")}
				pairs = append(pairs, e.key, e.value)
				if len(e.key)+len(e.value) > limit {
					continue
				}
				at := 0
				for at < len(model) && model[at].key != e.key {
					at++
				}
				if at == len(model) {
					model = append(model, e)
				}
				model[at] = e
			}
			s.put(c, pairs...)
			size := 0
			for _, e := range model {
				size += len(e.key) + len(e.value)
			}
			for n := 0; n < evictBeside+len(pairs) && size > limit; n++ {
				size -= len(model[0].key) + len(model[0].value)
				model = model[1:]
			}
			var want []string
			for _, e := range model {
				want = append(want, e.key+"="+e.value)
			}
			if got := s.listed(c); fmt.Sprint(got) != fmt.Sprint(want) {
				rt.Fatalf("entries %q, want %q", got, want)
			}
			if p := s.problems(c); p != nil {
				rt.Fatal(p)
			}
			s.view(func(r kv.Reader) {
				if got, err := c.Size(r); err != nil || got != (Size{len(model), int64(size)}) {
					rt.Fatalf("%+v, %v", got, err)
				}
			})
		}
	})
}

// What an earlier build left under the prefix goes with the first Put.
func TestEarlierLayoutGoes(t *testing.T) {
	s := open(t)
	c := New(prefix, 100).Raw()
	s.update(func(b *kv.Batch) error { return b.Set(append(c.below('e'), "a"...), []byte("1")) })
	s.put(c, "b", "2")
	s.view(func(r kv.Reader) {
		if _, err := r.Get(append(c.below('e'), "a"...)); !errors.Is(err, kv.ErrNotFound) {
			t.Error(err)
		}
		if v, ok, err := c.Get(r, "b"); string(v) != "2" || !ok || err != nil {
			t.Errorf("%q, %v, %v", v, ok, err)
		}
		if _, ok, err := c.Get(r, "a"); ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
	})
}

func FuzzEntry(f *testing.F) {
	f.Add(encodeEntry("key", []byte("value")))
	f.Add([]byte{5, 'a'})
	f.Fuzz(func(t *testing.T, v []byte) {
		key, value, err := decodeEntry(v)
		if err != nil {
			return
		}
		k, again, err := decodeEntry(encodeEntry(key, value))
		if err != nil || k != key || !bytes.Equal(again, value) {
			t.Errorf("%q %q, %q %q, %v", key, value, k, again, err)
		}
	})
}

// Every kind of damage is found, and clearing heals it.
func TestCheckFindsDamage(t *testing.T) {
	c := New(prefix, 100)
	for name, damage := range map[string]func(b *kv.Batch) error{
		"no sums":       func(b *kv.Batch) error { return b.Delete(c.below(kindSums)) },
		"unknown sums":  func(b *kv.Batch) error { return b.Set(c.below(kindSums), []byte{0xff}) },
		"other sums":    func(b *kv.Batch) error { return b.Set(c.below(kindSums), sums{2, 9, 0, 2}.encode()) },
		"key gone":      func(b *kv.Batch) error { return b.Delete(c.key("a")) },
		"key elsewhere": func(b *kv.Batch) error { return b.Set(c.key("a"), codec.AppendKeyUint64(nil, 1)) },
		"key to none":   func(b *kv.Batch) error { return b.Set(c.key("z"), codec.AppendKeyUint64(nil, 9)) },
		"key damaged":   func(b *kv.Batch) error { return b.Set(c.key("z"), nil) },
		"place gone":    func(b *kv.Batch) error { return b.Delete(c.place(0)) },
		"place changed": func(b *kv.Batch) error { return b.Set(c.place(0), encodeEntry("a", []byte("longer"))) },
		"place damaged": func(b *kv.Batch) error { return b.Set(c.place(0), []byte{9}) },
		"place more":    func(b *kv.Batch) error { return b.Set(c.place(7), encodeEntry("a", nil)) },
		"place twice":   func(b *kv.Batch) error { return b.Set(c.place(1), encodeEntry("a", []byte("1"))) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			s.put(c, "a", "1", "b", "2")
			s.sound(c)
			s.update(damage)
			if s.problems(c) == nil {
				t.Error("not found")
			}
			s.update(func(b *kv.Batch) error { _, err := c.Clear(b); return err })
			s.put(c, "a", "1")
			s.sound(c)
		})
	}
}

func FuzzSums(f *testing.F) {
	f.Add(sums{}.encode())
	f.Add(sums{2, 300, 5, 7}.encode())
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, v []byte) {
		s, err := decodeSums(v)
		if err != nil {
			return
		}
		again, err := decodeSums(s.encode())
		if err != nil || again != s || !bytes.Equal(s.encode(), again.encode()) {
			t.Errorf("%+v, %+v, %v", s, again, err)
		}
	})
}
