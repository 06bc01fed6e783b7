package postings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// createKeyed commits an empty index.
func (s *store) createKeyed(name string) *Keyed {
	s.t.Helper()
	var k *Keyed
	s.update(func(b *kv.Batch) (err error) {
		k, err = CreateKeyed(b, "", name, Config{Analyser: "test"})
		return err
	})
	return k
}

// problems are what Check finds of an index that should hold m.
func (k *Keyed) problems(t testing.TB, r kv.Reader, m model) (list []string) {
	t.Helper()
	for p, err := range k.Check(r, func(id string) ([]Term, bool, error) { terms, ok := m[id]; return terms, ok, nil }) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p.String())
	}
	return list
}

// contents are all keys of postings of a view.
func (s *store) contents() map[string]string {
	s.t.Helper()
	prefix := space.In("", space.Posting)
	c, err := s.view().Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	out := make(map[string]string)
	for c.Next() {
		out[string(c.Key())] = string(c.Value())
	}
	return out
}

// between lists by how much terms come more often in is than in was.
func between(was, is []Term) (changed []Term) {
	counts := make(map[string]int)
	for _, t := range is {
		counts[t.Text] += t.Count
	}
	for _, t := range was {
		counts[t.Text] -= t.Count
	}
	for text, n := range counts {
		if n != 0 {
			changed = append(changed, Term{text, n})
		}
	}
	return changed
}

// TestKeyedHistories adds, changes and removes items in any order, several times in a batch, beside open views, and compares
// every answer with the model's: on the last view, on an old one, and within a batch. In the end the keys are those of a
// store into which what is left was put at once (P2).
func TestKeyedHistories(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			const words = 40
			rng := rand.New(rand.NewPCG(seed, 23))
			s := newStore(t)
			k := s.createKeyed("x")
			m := model{}
			old, oldView := maps.Clone(m), s.view()
			compare := func(r kv.Reader, m model) {
				t.Helper()
				q := drawQuery(rng, words)
				o := KeyedQuery{Terms: q.Terms, K: q.K, BM25: q.BM25}
				if q.All {
					for _, term := range q.Terms {
						o.Must = append(o.Must, []string{term})
					}
				}
				if rng.IntN(3) == 0 {
					q.Accept = func(id string) (bool, error) { return len(id)%2 == 0, nil }
					o.Accept = q.Accept
				}
				got, err := k.Search(context.Background(), r, o)
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, m.search(q), q.K)
			}
			for range 60 {
				s.update(func(b *kv.Batch) error {
					for range rng.IntN(30) {
						id := fmt.Sprintf("%0*d", 1+rng.IntN(4), rng.IntN(80)) + []string{"", "\x00", "名"}[rng.IntN(3)]
						var err error
						switch was, is := m[id], drawTerms(rng, words); {
						case m[id] == nil:
							m[id] = append([]Term{}, is...)
							err = k.Add(b, id, is)
						case rng.IntN(3) == 0:
							delete(m, id)
							err = k.Remove(b, id, was)
						default:
							m[id] = append([]Term{}, is...)
							err = k.Change(b, id, between(was, is))
						}
						if err != nil {
							return err
						}
					}
					if rng.IntN(4) == 0 {
						compare(b, m)
					}
					return nil
				})
				compare(s.view(), m)
				compare(oldView, old)
				if rng.IntN(8) == 0 {
					old, oldView = maps.Clone(m), s.view()
				}
			}
			if p := k.problems(t, s.view(), m); len(p) > 0 {
				t.Error(p)
			}
			fresh := newStore(t)
			again := fresh.createKeyed("x")
			fresh.update(func(b *kv.Batch) error {
				for id, terms := range m {
					if err := again.Add(b, id, terms); err != nil {
						return err
					}
				}
				return nil
			})
			if !maps.Equal(s.contents(), fresh.contents()) {
				t.Error("the keys tell how the items came to be")
			}
			stats, err := k.Stats(s.view())
			if err != nil || stats != (KeyedStats{len(m), m.length()}) {
				t.Errorf("%+v, %v of %d items", stats, err, len(m))
			}
		})
	}
}

// TestKeyedWritesDifferences: what stays as it was is not written again.
func TestKeyedWritesDifferences(t *testing.T) {
	s := newStore(t)
	k := s.createKeyed("x")
	var hub []Term
	for i := range 500 {
		hub = append(hub, Term{fmt.Sprint("w", i), 1 + i%3})
	}
	s.update(func(b *kv.Batch) error { return k.Add(b, "hub", hub) })
	written := 0
	s.update(func(b *kv.Batch) error {
		if err := k.Change(b, "hub", []Term{{"w1", 1}, {"w3", -1}, {"new", 2}}); err != nil {
			return err
		}
		if _, err := k.Stats(b); err != nil { // settles
			return err
		}
		written = b.Len()
		return nil
	})
	if written > 300 {
		t.Errorf("%d bytes are written for three terms of 500", written)
	}
	hub[1].Count, hub[3] = 3, Term{"new", 2}
	if p := k.problems(t, s.view(), model{"hub": hub}); len(p) > 0 {
		t.Error(p)
	}
}

func TestKeyedTerms(t *testing.T) {
	s := newStore(t)
	k := s.createKeyed("x")
	s.update(func(b *kv.Batch) error {
		return errors.Join(k.Add(b, "a", []Term{{"lamp", 1}, {"light", 1}, {"lighthouse", 2}, {"l\x00x", 1}}), k.Add(b, "b", []Term{{"light", 1}, {"mill", 1}}))
	})
	for _, c := range []struct {
		prefix, want string
		limit        int
		more         bool
	}{{"light", "light lighthouse", 10, false}, {"l", "l\x00x lamp", 2, true}, {"", "l\x00x lamp light lighthouse mill", 5, false}, {"z", "", 1, false}} {
		got, more, err := k.Terms(context.Background(), s.view(), c.prefix, c.limit)
		if err != nil || more != c.more || strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, %t, %v", c.prefix, got, more, err)
		}
	}
}

func TestKeyedRefuses(t *testing.T) {
	s := newStore(t)
	k := s.createKeyed("x")
	s.update(func(b *kv.Batch) error { return k.Add(b, "a", []Term{{"t", 2}}) })
	for name, c := range map[string]struct {
		do   func(b *kv.Batch) error
		want error
	}{
		"an item that exists":     {func(b *kv.Batch) error { return k.Add(b, "a", nil) }, ErrExists},
		"a change of none":        {func(b *kv.Batch) error { return k.Change(b, "b", []Term{{"t", 1}}) }, ErrDiffers},
		"the end of none":         {func(b *kv.Batch) error { return k.Remove(b, "b", nil) }, ErrDiffers},
		"another length":          {func(b *kv.Batch) error { return k.Remove(b, "a", []Term{{"t", 1}}) }, ErrDiffers},
		"less than nothing":       {func(b *kv.Batch) error { return k.Change(b, "a", []Term{{"u", -1}}) }, ErrDiffers},
		"too much less":           {func(b *kv.Batch) error { return k.Change(b, "a", []Term{{"t", -3}, {"u", 5}}) }, ErrDiffers},
		"a term twice":            {func(b *kv.Batch) error { return k.Add(b, "b", []Term{{"t", 1}, {"t", 1}}) }, ErrInvalid},
		"no id":                   {func(b *kv.Batch) error { return k.Add(b, "", nil) }, ErrInvalid},
		"no term":                 {func(b *kv.Batch) error { return k.Add(b, "b", []Term{{"", 1}}) }, ErrInvalid},
		"a long term":             {func(b *kv.Batch) error { return k.Add(b, "b", []Term{{strings.Repeat("x", MaxTermBytes+1), 1}}) }, ErrInvalid},
		"a count below 1":         {func(b *kv.Batch) error { return k.Add(b, "b", []Term{{"t", -1}}) }, ErrInvalid},
		"an index of another way": {func(b *kv.Batch) error { _, err := Open(b, "", "x"); return err }, kv.ErrCorrupt},
		"another analyser":        {func(b *kv.Batch) error { _, err := CreateKeyed(b, "", "x", Config{Analyser: "y"}); return err }, ErrConfig},
	} {
		if err := s.try(c.do); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, q := range []KeyedQuery{{K: 0}, {K: MaxK + 1}, {K: 1, BM25: BM25{-1, 0}}, {K: 1, Terms: make([]string, MaxTerms+1)}} {
		if _, err := k.Search(context.Background(), s.view(), q); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if p := k.problems(t, s.view(), model{"a": {{"t", 2}}}); len(p) > 0 {
		t.Error(p)
	}
}

// TestKeyedCheckFinds: each kind of damage is reported by its rule.
func TestKeyedCheckFinds(t *testing.T) {
	m := model{"a": {{"t", 2}, {"u", 1}}, "b": {{"t", 1}}}
	posting := func(k *Keyed, term, id string) []byte { return append(k.termKey(term), id...) }
	for name, c := range map[string]struct {
		damage func(k *Keyed, b *kv.Batch) error
		want   string
	}{
		"a posting lost": {func(k *Keyed, b *kv.Batch) error { return b.Delete(posting(k, "t", "a")) }, "B3"},
		"a posting more": {func(k *Keyed, b *kv.Batch) error { return b.Set(posting(k, "v", "b"), []byte{1}) }, "B3"},
		"another term": {func(k *Keyed, b *kv.Batch) error {
			return errors.Join(b.Delete(posting(k, "u", "a")), b.Set(posting(k, "v", "a"), []byte{1}))
		}, "terms"},
		"of no item":    {func(k *Keyed, b *kv.Batch) error { return b.Set(posting(k, "t", "c"), []byte{1}) }, "B3"},
		"a length lost": {func(k *Keyed, b *kv.Batch) error { return b.Delete(k.itemKey("b")) }, "B2"},
		"stale item":    {func(k *Keyed, b *kv.Batch) error { return k.Add(b, "c", nil) }, "terms"},
		"counters": {func(k *Keyed, b *kv.Batch) error {
			return b.Set(k.x.key(kindCounters, 0), keyedCounters{3, 4}.encode())
		}, "B2"},
		"counters garbled": {func(k *Keyed, b *kv.Batch) error { return b.Set(k.x.key(kindCounters, 0), []byte{0xFF}) }, "value"},
		"a count of 0":     {func(k *Keyed, b *kv.Batch) error { return b.Set(posting(k, "t", "a"), []byte{0}) }, "value"},
		"a broken key":     {func(k *Keyed, b *kv.Batch) error { return b.Set(append(k.x.key(kindPosting, 1), 'x'), []byte{1}) }, "key"},
	} {
		s := newStore(t)
		k := s.createKeyed("x")
		s.update(func(b *kv.Batch) error { return errors.Join(k.Add(b, "a", m["a"]), k.Add(b, "b", m["b"])) })
		s.update(func(b *kv.Batch) error { return c.damage(k, b) })
		if p := k.problems(t, s.view(), m); !slices.ContainsFunc(p, func(p string) bool { return strings.Contains(p, ": "+c.want+": ") }) {
			t.Errorf("%s: %q", name, p)
		}
	}
}

// FuzzKeyedRecords: no panic whatever the bytes; what is accepted survives encoding.
func FuzzKeyedRecords(f *testing.F) {
	f.Add(keyedCounters{3, 300}.encode())
	f.Add([]byte("né\x00\x01id"))
	k := &Keyed{handle("", "x", Config{})}
	f.Fuzz(func(t *testing.T, v []byte) {
		if c, err := decodeKeyedCounters(v); err == nil {
			if again, err := decodeKeyedCounters(c.encode()); err != nil || again != c {
				t.Fatal(again, err)
			}
		}
		if n, err := decodeNumber(v, 1); err == nil {
			if again, err := decodeNumber(codec.AppendUvarint(nil, uint64(n)), 1); err != nil || again != n {
				t.Fatal(again, err)
			}
		}
		key := append(k.x.key(kindPosting, len(v)), v...)
		if term, id, err := k.postingOf(key); err == nil {
			if again := append(k.termKey(term), id...); !bytes.Equal(again, key) {
				t.Fatalf("%x is read as %q and %q", key, term, id)
			}
		}
	})
}
