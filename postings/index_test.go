package postings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// fill adds n items of a few terms each, in batches of per.
func (s *store) fill(x *Index, n, per int) model {
	s.t.Helper()
	m := model{}
	for from := 0; from < n; from += per {
		s.update(func(b *kv.Batch) error {
			for i := from; i < min(from+per, n); i++ {
				id := fmt.Sprintf("i%06d", i)
				m[id] = []Term{{"all", 1 + i%3}, {fmt.Sprintf("mod%d", i%100), 1}, {fmt.Sprintf("own%d", i), 2}}
				if i%5000 == 77 {
					m[id] = append(m[id], Term{"rare", 9})
				}
				if err := x.Add(b, id, m[id]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return m
}

func TestErrors(t *testing.T) {
	s := newStore(t)
	x := s.create("x")
	one := []Term{{"a", 2}, {"b", 1}}
	s.update(func(b *kv.Batch) error { return x.Add(b, "1", one) })
	add := func(id string, terms ...Term) error {
		return s.try(func(b *kv.Batch) error { return x.Add(b, id, terms) })
	}
	remove := func(id string, terms ...Term) error {
		return s.try(func(b *kv.Batch) error { _, err := x.Remove(b, id, terms); return err })
	}
	search := func(q Query) error { _, err := x.Search(t.Context(), s.view(), q); return err }
	for _, folded := range []bool{false, true} {
		for name, tc := range map[string]struct{ got, want error }{
			"twice":             {add("1", Term{"c", 1}), ErrExists},
			"no id":             {add("", Term{"c", 1}), ErrInvalid},
			"long id":           {add(strings.Repeat("i", MaxIDBytes+1), Term{"c", 1}), ErrInvalid},
			"no term":           {add("2", Term{"", 1}), ErrInvalid},
			"long term":         {add("2", Term{strings.Repeat("t", MaxTermBytes+1), 1}), ErrInvalid},
			"no count":          {add("2", Term{"c", 0}), ErrInvalid},
			"term twice":        {add("2", Term{"c", 1}, Term{"c", 2}), ErrInvalid},
			"too long":          {add("2", Term{"c", maxLength}, Term{"d", 1}), ErrInvalid},
			"removed otherwise": {remove("1", Term{"a", 1}, Term{"b", 2}), ErrDiffers},
			"other term":        {remove("1", Term{"a", 2}, Term{"z", 1}), ErrDiffers},
			"other length":      {remove("1", Term{"a", 2}), ErrDiffers},
			"absent":            {remove("9", Term{"a", 2}), nil},
			"k":                 {search(Query{Terms: []string{"a"}}), ErrInvalid},
			"k1":                {search(Query{Terms: []string{"a"}, K: 1, BM25: BM25{K1: -1}}), ErrInvalid},
			"b":                 {search(Query{Terms: []string{"a"}, K: 1, BM25: BM25{K1: 1, B: 1.5}}), ErrInvalid},
			"many terms":        {search(Query{Terms: make([]string, MaxTerms+1), K: 1}), ErrInvalid},
		} {
			if !errors.Is(tc.got, tc.want) {
				t.Errorf("%s, folded %t: %v, want %v", name, folded, tc.got, tc.want)
			}
		}
		if !folded {
			s.fill(x, epochSize, 100)
			if s.fold(x) == 0 {
				t.Fatal("nothing was folded")
			}
		}
	}
	// What was refused left nothing.
	if st, err := x.Stats(s.view()); err != nil || st.Items != epochSize+1 {
		t.Errorf("%+v, %v", st, err)
	}
	err := s.try(func(b *kv.Batch) error { _, err := Create(b, "", "x", Config{Analyser: "other"}); return err })
	if !errors.Is(err, ErrConfig) {
		t.Errorf("another analyser: %v", err)
	}
	if _, err := Open(s.view(), "", "y"); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("open: %v", err)
	}
}

// TestAcceptAndAll: hits are asked about in no more numbers than needed, and All wants every term.
func TestAcceptAndAll(t *testing.T) {
	s := newStore(t)
	x := s.create("x")
	m := s.fill(x, 3000, 64)
	s.fold(x)
	for _, q := range []Query{
		{Terms: []string{"all", "mod7"}, K: 5, All: true},
		{Terms: []string{"all", "rare"}, K: 5, All: true},
		{Terms: []string{"all", "none"}, K: 5, All: true},
		{Terms: []string{"own7", "own8"}, K: 5, All: true},
		{Terms: []string{"mod7"}, K: 3, Accept: func(id string) (bool, error) { return id > "i001000", nil }},
	} {
		same(t, s.search(x, s.view(), q).Hits, m.search(q), q.K)
	}
	asked := 0
	q := Query{Terms: []string{"all", "rare"}, K: 1, Accept: func(string) (bool, error) { asked++; return true, nil }}
	if f := s.search(x, s.view(), q); f.Hits[0].ID != "i000077" || asked > 100 {
		t.Errorf("%v after %d questions", f.Hits, asked)
	}
	boom := errors.New("boom")
	q.Accept = func(string) (bool, error) { return false, boom }
	if _, err := x.Search(t.Context(), s.view(), q); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
}

// TestSkipping: where a rare term decides, most of the index is not looked into, and the result is the same.
func TestSkipping(t *testing.T) {
	s := newStore(t)
	x := s.create("x")
	m := s.fill(x, 20*epochSize, 500)
	s.fold(x)
	q := Query{Terms: []string{"rare", "all"}, K: 3}
	f := s.search(x, s.view(), q)
	same(t, f.Hits, m.search(q), q.K)
	if f.OfEpochs != 20 || f.Epochs > 5 {
		t.Errorf("looked into %d of %d epochs", f.Epochs, f.OfEpochs)
	}
}

// TestDropAndMark: an index goes with its mark, and one of the same name begins anew.
func TestDropAndMark(t *testing.T) {
	s := newStore(t)
	x := s.create("x")
	s.fill(x, 10, 3)
	s.update(func(b *kv.Batch) error { return x.SetMark(b, []byte("here")) })
	if mark, err := x.Mark(s.view()); err != nil || string(mark) != "here" {
		t.Fatalf("%q, %v", mark, err)
	}
	s.update(func(b *kv.Batch) error {
		if err := x.Drop(b); err != nil {
			return err
		}
		y, err := Create(b, "", "x", Config{Analyser: "test"})
		if err != nil {
			return err
		}
		return y.Add(b, "new", []Term{{"all", 1}})
	})
	if mark, err := x.Mark(s.view()); err != nil || mark != nil {
		t.Errorf("%q, %v", mark, err)
	}
	if f := s.search(x, s.view(), Query{Terms: []string{"all"}, K: 10}); len(f.Hits) != 1 || f.Hits[0].ID != "new" {
		t.Errorf("%+v", f)
	}
}

// TestSegmentsStayFew: items that come one a batch are joined, so that a search looks into a bounded number of segments.
func TestSegmentsStayFew(t *testing.T) {
	s := newStore(t)
	x := s.create("x")
	m, most := model{}, 0
	for i := range epochSize + 100 {
		id := fmt.Sprint(i)
		m[id] = []Term{{fmt.Sprintf("w%d", i%9), 1}}
		s.update(func(b *kv.Batch) error { return x.Add(b, id, m[id]) })
		due, err := x.Due(s.view())
		if err != nil {
			t.Fatal(err)
		}
		st, err := x.Stats(s.view())
		if err != nil {
			t.Fatal(err)
		}
		if most = max(most, st.Segments); due {
			s.fold(x)
		}
	}
	if most > 3*manySegments {
		t.Errorf("up to %d segments", most)
	}
	checkClean(t, x, s.view(), m)
}

// TestDamage: a key that is gone or holds something else is found by Check, and makes no search panic.
func TestDamage(t *testing.T) {
	build := func() (*store, *Index, [][]byte) {
		s := newStore(t)
		var x *Index
		s.update(func(b *kv.Batch) (err error) { x, err = Create(b, "", "x", Config{}); return err })
		s.update(func(b *kv.Batch) error {
			for i := range epochSize + 3 {
				if err := x.Add(b, fmt.Sprint(i), []Term{{"all", 1 + i%2}, {"some", 3}}); err != nil {
					return err
				}
			}
			return nil
		})
		f, err := x.PlanFold(s.view())
		if err != nil {
			t.Fatal(err)
		}
		s.update(func(b *kv.Batch) error { _, err := f.Stage(b); return err })
		checkClean(t, x, s.view(), nil)
		var all [][]byte
		for _, kind := range []byte{kindCounters, kindID, kindItem, kindSegment, kindBlock} {
			c, err := x.cursor(s.view(), kind)
			if err != nil {
				t.Fatal(err)
			}
			for n := 0; c.Next() && n < 3; n++ {
				all = append(all, slices.Clone(c.Key()))
			}
			c.Close()
		}
		return s, x, all
	}
	_, _, damaged := build()
	for _, key := range damaged {
		for _, change := range []string{"gone", "cut", "flipped"} {
			s, x, _ := build()
			s.update(func(b *kv.Batch) error {
				v, err := b.Get(key)
				switch {
				case err != nil:
					return err
				case change == "gone":
					return b.Delete(key)
				case change == "cut":
					v = v[:len(v)-1]
				default:
					v[len(v)-1] ^= 1
				}
				return b.Set(key, v)
			})
			found := false
			for _, err := range x.Check(s.view(), nil) {
				if err != nil {
					t.Fatalf("%x %s: %v", key, change, err)
				}
				found = true
			}
			if !found {
				t.Errorf("%x %s: not found", key, change)
			}
			_, err := x.Search(t.Context(), s.view(), Query{Terms: []string{"all", "some"}, K: 2000})
			if err != nil && !errors.Is(err, kv.ErrCorrupt) && !errors.Is(err, kv.ErrNotFound) {
				t.Errorf("%x %s: %v", key, change, err)
			}
		}
	}
}

// TestPowerLoss adds, removes and folds on a disk that loses power at each operation: every batch is there whole or not at all.
func TestPowerLoss(t *testing.T) {
	const batches = 6
	acked := 0
	open := func(fs *testkit.CrashFS) (*store, error) {
		k, err := kv.Open("db", kv.Options{FS: fs})
		return &store{t: t, kv: k}, err
	}
	run := func(fs *testkit.CrashFS) (err error) {
		acked = 0
		s, err := open(fs)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.kv.Close()) }()
		commit := func(fn func(b *kv.Batch) error) error {
			b, err := s.kv.NewBatch(s.lsn)
			if err != nil {
				return err
			}
			defer b.Close()
			if err := errors.Join(fn(b), s.kv.Apply(b)); err != nil {
				return err
			}
			s.lsn++
			return b.Durable()
		}
		for i := range batches {
			err := commit(func(b *kv.Batch) error {
				x, err := Create(b, "", "x", Config{})
				if err != nil {
					return err
				}
				for k := range epochSize / 4 {
					if err := x.Add(b, fmt.Sprint(i, "/", k), []Term{{"all", 1}, {fmt.Sprint("batch", i), 1}}); err != nil {
						return err
					}
				}
				if i > 0 {
					_, err = x.Remove(b, fmt.Sprint(i-1, "/0"), []Term{{"all", 1}, {fmt.Sprint("batch", i-1), 1}})
				}
				return err
			})
			if err != nil {
				return err
			}
			acked = i + 1
			snap, err := s.kv.Snapshot(s.lsn)
			if err != nil {
				return err
			}
			f, err := handle("", "x", Config{}).PlanFold(snap)
			if err = errors.Join(err, snap.Close()); err != nil || f == nil {
				return err
			}
			if err := commit(func(b *kv.Batch) error { _, err := f.Stage(b); return err }); err != nil {
				return err
			}
		}
		return nil
	}
	verify := func(fs *testkit.CrashFS, _ bool) {
		s, err := open(fs)
		if err != nil {
			t.Fatal(err)
		}
		defer s.kv.Close()
		snap, err := s.kv.Snapshot(0)
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close()
		x, err := Open(snap, "", "x")
		if errors.Is(err, kv.ErrNotFound) && acked == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkClean(t, x, snap, nil)
		st, err := x.Stats(snap)
		if n := (st.Items - 1) / (epochSize/4 - 1); err != nil || st.Items != n*(epochSize/4)-(n-1) || n < acked || n > acked+1 {
			t.Fatalf("%d items, %v, after %d batches", st.Items, err, acked)
		}
	}
	testkit.EveryCrashPoint(t, testkit.Loop{Seed: 1}, run, verify)
}
