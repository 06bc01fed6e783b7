package hnsw_test

import (
	"sync"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

// A search that runs beside inserts never ends at a node that is only half linked: it finds as many
// candidates as it asks for. Low M makes many nodes of many levels.
func TestSearchBesideInsert(t *testing.T) {
	const first, k = 500, 20
	n := vectorkit.Scaled(4000)
	points, _ := graphOf(t, n)
	c := points.Config()
	c.M = 4
	x := hnsw.New(vector.IndexOptions{Config: c})
	x.Attach(points, nil)
	for slot := range uint32(first) {
		x.Insert(slot)
	}
	done := make(chan struct{})
	var searcher sync.WaitGroup
	searcher.Go(func() {
		r := vectorkit.Rand(t, 21)
		probe := points.NewProbe()
		out := make([]uint32, 0, k)
		for {
			select {
			case <-done:
				return
			default:
			}
			probe.SetSlot(uint32(r.IntN(n)))
			out = x.Search(vector.Query{Probe: probe, K: k, Ef: 2 * k, Admit: func(uint32) bool { return true }}, out[:0])
			if len(out) != k {
				t.Errorf("%d candidates: %v", len(out), out)
				return
			}
		}
	})
	for slot := uint32(first); slot < uint32(n); slot++ {
		x.Insert(slot)
	}
	close(done)
	searcher.Wait()
}

// A search of the warm graph allocates nothing, however wide.
func TestSearchAllocatesNothing(t *testing.T) {
	points, x := graphOf(t, 1000)
	probe := points.NewProbe()
	probe.Set(vectorkit.Random(vectorkit.Rand(t, 4), 8))
	out := make([]uint32, 0, 100)
	for _, narrow := range []bool{false, true} {
		q := vector.Query{Probe: probe, K: 20, Ef: 100, Narrow: narrow, Admit: func(slot uint32) bool { return !narrow || slot%2 == 0 }}
		if n := testing.AllocsPerRun(100, func() { out = x.Search(q, out[:0]) }); n >= 1 && !vectorkit.Race {
			t.Errorf("narrow %v: %v allocations a search", narrow, n)
		}
		if len(out) != 20 {
			t.Errorf("narrow %v: %d results", narrow, len(out))
		}
	}
}
