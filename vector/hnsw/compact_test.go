package hnsw_test

import (
	"context"
	"errors"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector"
)

// A cancelled Compact leaves the collection as it was; a closed set refuses.
func TestCompactIsCancelled(t *testing.T) {
	s := newStore(t)
	c := s.Create("v", vector.Config{Dim: 8})
	m := vectorkit.Model{}
	s.Fill(c, m, 0, 300)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Set.Compact(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got := s.MeanRecall(c, m, 5); got < 0.98 {
		t.Errorf("recall %v", got)
	}
	s.Check()
	set := s.Set
	s.Reopen()
	if err := set.Compact(context.Background()); !errors.Is(err, vector.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
