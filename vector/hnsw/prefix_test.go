package hnsw_test

import (
	"errors"
	"testing"

	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

// However many of the index's commits go through before they begin to fail, what they left loads as a
// whole graph, or as none, and the vectors are all there. Checkpoints take many commits here, and the
// store is reopened with what the failures left, so that one form is written over another.
func TestEveryPrefixOfTheWritesLoads(t *testing.T) {
	down := errors.New("refused on purpose")
	s := newStore(t, indexAlways)
	s.close()
	s.o.NewIndex = hnsw.SmallParts
	s.open()
	s.settle()
	c := s.create("v", vector.Config{Dim: 4, M: 4, EfConstruction: 16})
	m := model{}
	for k := 0; k < 40; k++ {
		left := k
		failed := false
		s.refuse = func(kind string) error {
			if kind != vector.ChangeKind {
				return nil
			}
			if left == 0 {
				failed = true
				return down
			}
			left--
			return nil
		}
		fill(s, c, m, k*150, 150)
		if err := s.set.Settle(t.Context()); err != nil && !errors.Is(err, down) {
			t.Fatal(err)
		}
		s.close()
		if k == 0 && !failed {
			t.Fatal("nothing was refused")
		}
		s.refuse = nil
		s.open()
		c = s.collection("v")
		s.check()
		if got := meanRecall(s, c, m, 3); got < 0.9 {
			t.Errorf("recall is %v when commit %d fails", got, k)
		}
	}
}
