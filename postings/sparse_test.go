package postings

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/glimdb/db/kv"
)

// size is what the lists of an index take in its view: keys, and bytes of keys and values.
func (s *store) size(x *Index) (keys, bytes int) {
	s.t.Helper()
	v := s.view()
	for _, kind := range []byte{kindSegment, kindBlock} {
		c, err := x.cursor(v, kind)
		if err != nil {
			s.t.Fatal(err)
		}
		for c.Next() {
			keys++
			bytes += len(c.Key()) + len(c.Value())
		}
		if err := c.Close(); err != nil {
			s.t.Fatal(err)
		}
	}
	return keys, bytes
}

// compact moves the items of all sparse epochs, a commit a round, and folds; between says what others do meanwhile.
func (s *store) compact(x *Index, m model, between func()) (moved int) {
	s.t.Helper()
	from, done := uint32(0), false
	for !done {
		var (
			list []Place
			err  error
		)
		if list, from, done, err = x.Sparse(s.view(), from); err != nil {
			s.t.Fatal(err)
		}
		if !done && len(list) < movedItems || len(list) > movedItems+sparseItems {
			s.t.Fatalf("%d items at once, done %t", len(list), done)
		}
		between()
		s.update(func(b *kv.Batch) error {
			for _, p := range list {
				ok, err := x.Move(b, p, m[p.ID])
				if err != nil {
					return err
				}
				if _, there := m[p.ID]; ok && !there {
					return fmt.Errorf("%s was moved, and is gone", p.ID)
				}
				if ok {
					moved++
				}
			}
			return nil
		})
	}
	s.fold(x)
	return moved
}

// TestSparseEpochs removes most of many epochs: their items are moved together, lists shrink, and every number and answer stays
// that of the model; items that others replace or remove between the plan and the commit are left alone.
func TestSparseEpochs(t *testing.T) {
	const words = 300
	rng := rand.New(rand.NewPCG(1, 21))
	s := newStore(t)
	x := s.create("x")
	m := model{}
	s.update(func(b *kv.Batch) error {
		for i := range 24 * epochSize {
			id := fmt.Sprintf("item %05d", i)
			m[id] = drawTerms(rng, words)
			if err := x.Add(b, id, m[id]); err != nil {
				return err
			}
		}
		return nil
	})
	s.fold(x)
	before, beforeView := maps.Clone(m), s.view()
	full, fullBytes := s.size(x)
	remove := func(ids []string) {
		s.update(func(b *kv.Batch) error {
			for _, id := range ids {
				if ok, err := x.Remove(b, id, m[id]); err != nil || !ok {
					return fmt.Errorf("remove: %t, %w", ok, err)
				}
				delete(m, id)
			}
			return nil
		})
	}
	// Of the first 20 epochs an eighth is left, the others stay dense.
	remove(keys(m, func(id string) bool { return id < fmt.Sprintf("item %05d", 20*epochSize) && rng.IntN(8) > 0 }))
	sparse, sparseBytes := s.size(x)
	first := true
	moved := s.compact(x, m, func() {
		if !first {
			return
		}
		first = false
		ids := keys(m, func(string) bool { return true })
		remove(ids[:3])
		s.update(func(b *kv.Batch) error { // replaced: it has another place
			id := ids[3]
			if _, err := x.Remove(b, id, m[id]); err != nil {
				return err
			}
			m[id] = drawTerms(rng, words)
			return x.Add(b, id, m[id])
		})
	})
	dense, denseBytes := s.size(x)
	t.Logf("%d keys, %d bytes; after removing %d of %d items %d, %d; after moving %d items %d, %d",
		full, fullBytes, len(before)-len(m), len(before), sparse, sparseBytes, moved, dense, denseBytes)
	if moved < 2*epochSize || dense > full/2 || denseBytes > sparseBytes {
		t.Error("the lists did not shrink")
	}
	if again := s.compact(x, m, func() {}); again != 0 {
		t.Errorf("%d items were moved again", again)
	}
	checkClean(t, x, s.view(), m)
	checkClean(t, x, beforeView, before)
	st, err := x.Stats(s.view())
	if err != nil || st.Items != len(m) || st.Length != m.length() {
		t.Errorf("%+v, %v of %d items of length %d", st, err, len(m), m.length())
	}
	for range 60 {
		q := drawQuery(rng, words)
		same(t, s.search(x, s.view(), q).Hits, m.search(q), q.K)
		same(t, s.search(x, beforeView, q).Hits, before.search(q), q.K)
	}
	remove(slices.Collect(maps.Keys(m)))
	if keys, bytes := s.size(x); keys > 0 {
		t.Errorf("%d keys and %d bytes of nothing", keys, bytes)
	}
}
