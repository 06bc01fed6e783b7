package hnsw_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

// choices are the ways in which links may be chosen.
var choices = []vector.Config{{}, {ExtendCandidates: true}, {KeepPruned: true}, {ExtendCandidates: true, KeepPruned: true}}

// paper is SELECT-NEIGHBORS-HEURISTIC (Malkov and Yashunin, algorithm 4), word by word but for the candidates that
// all fit: these are all taken.
func paper(c vector.Config, m int, found []uint32, neighbours func(uint32) []uint32, distance func(a, b uint32) float32, q uint32) (r []uint32) {
	w := slices.Clone(found)
	if c.ExtendCandidates {
		for _, e := range found {
			for _, adj := range neighbours(e) {
				if !slices.Contains(w, adj) {
					w = append(w, adj)
				}
			}
		}
	}
	slices.SortFunc(w, func(a, b uint32) int { return cmp.Compare(distance(q, a), distance(q, b)) })
	if len(w) <= m {
		return w
	}
	var discarded []uint32
	for _, e := range w {
		if len(r) == m {
			break
		}
		if slices.ContainsFunc(r, func(s uint32) bool { return distance(e, s) < distance(q, e) }) {
			discarded = append(discarded, e)
		} else {
			r = append(r, e)
		}
	}
	if c.KeepPruned {
		r = append(r, discarded[:min(len(discarded), m-len(r))]...)
	}
	return r
}

// A new node gets the links of the paper on every level; on the ground, its parent among them.
func TestLinksAreThoseOfThePaper(t *testing.T) {
	const n, from, m = 500, 200, 6
	points := vectorkit.Points(t, vector.Config{Dim: 6, M: m, EfConstruction: 16, Metric: vector.L2, Quantization: vector.Float32}, vectorkit.Clumps(vectorkit.Rand(t, 2), n, 6, 40))
	probe := points.NewProbe()
	distance := func(a, b uint32) float32 {
		var out [1]float32
		probe.SetSlot(a)
		probe.Distances([]uint32{b}, out[:])
		return out[0]
	}
	seen := map[string]int{} // how often a choice made a difference
	for _, c := range choices {
		config := points.Config()
		config.ExtendCandidates, config.KeepPruned = c.ExtendCandidates, c.KeepPruned
		x := hnsw.New(vector.IndexOptions{Config: config})
		x.Attach(points, nil)
		for slot := range uint32(from) {
			x.Insert(slot)
		}
		for slot := uint32(from); slot < n; slot++ {
			var want [][]uint32
			for level, found := range x.Found(slot) {
				neighbours := func(s uint32) []uint32 { return x.Links(s, level) }
				want = append(want, paper(config, m, found, neighbours, distance, slot))
				if !slices.Equal(want[level], paper(vector.Config{}, m, found, neighbours, distance, slot)) {
					seen[config.String()]++
				}
			}
			x.Insert(slot)
			for level, want := range want {
				got := x.Links(slot, level)
				if parent, _ := x.Parent(slot); level == 0 && !slices.Contains(want, parent) {
					want = append(want[:min(len(want), m-1)], parent)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%v: slot %d links to %v on level %d, want %v", config, slot, got, level, want)
				}
			}
		}
		if c != (vector.Config{}) && seen[config.String()] < 20 {
			t.Errorf("%v: only %d nodes have other links for it", config, seen[config.String()])
		}
	}
}

// Whatever links are chosen, the graph is whole after inserts, removals and reopening, and is configured as it was
// when it is opened again. Extended candidates find more among clumps, and with pruned links around centres;
// each choice finds about as much as none elsewhere.
func TestLinkChoices(t *testing.T) {
	n := vectorkit.Scaled(2000)
	const dim, queries = 12, 100
	shapes := []struct {
		name    string
		vectors [][]float32
		better  vector.Config
	}{
		{"clumps", vectorkit.Clumps(vectorkit.Rand(t, 3), n+queries, dim, 50), vector.Config{ExtendCandidates: true}},
		{"centres", vectorkit.Around(vectorkit.Rand(t, 4), n+queries, dim), vector.Config{ExtendCandidates: true, KeepPruned: true}},
	}
	for _, shape := range shapes {
		plain, plainLinks := 0.0, int64(0)
		for _, choice := range choices {
			s := newStore(t)
			config := choice
			config.Dim, config.M, config.EfConstruction = dim, 6, 24
			c := s.Create("v", config)
			m := s.Load(c, shape.vectors[:n])
			s.Check()
			links := c.Stats().Index.Links
			s.Write(func(b *kv.Batch) error {
				var errs []error
				for i := 0; i < n; i += 3 {
					id := fmt.Sprintf("v%05d", i)
					delete(m, id)
					errs = append(errs, c.Delete(b, id))
				}
				return errors.Join(errs...)
			})
			s.Settle()
			s.Reopen()
			s.Check()
			c = s.Collection("v")
			if got := c.Config(); got.ExtendCandidates != choice.ExtendCandidates || got.KeepPruned != choice.KeepPruned {
				t.Errorf("stored as %v, created as %v", got, config)
			}
			got := s.RecallOfEach(c, m, shape.vectors[n:], vector.SearchOptions{K: 10, Ef: 10})
			t.Logf("%s, %v: %d links, recall %.4f", shape.name, config, links, got)
			switch choice {
			case vector.Config{}:
				plain, plainLinks = got, links
				continue
			case shape.better:
				if got <= plain && !vectorkit.Race { // which leaves too few vectors to tell
					t.Errorf("%s, %v: recall %.4f, %.4f without it", shape.name, config, got, plain)
				}
			}
			if got < plain-0.03 || links <= plainLinks {
				t.Errorf("%s, %v: recall %.4f with %d links, %.4f with %d without it", shape.name, config, got, links, plain, plainLinks)
			}
		}
	}
}
