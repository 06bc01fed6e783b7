package index_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/internal/testkit/replay"
)

// TestReplayedOrders inserts 14 recorded documents. With 1, 4 and 16 workers the dump is the same (P4); in three orders
// of enqueue the sets are: names, weights, keywords, sources, fragments. Then each document is deleted, in random
// order, and after every delete the dump is that of a store that only ever saw those left, in their order (P2).
func TestReplayedOrders(t *testing.T) {
	folder, err := replay.Load(testkit.Data(t, "lightrag-ollama-zh"))
	if err != nil {
		t.Fatal(err)
	}
	open := func(workers int) (*store, []index.Document) {
		// No caps and no summaries: both depend on the order, as documented.
		return openReplayed(t, folder, index.Options{MaxSources: 10_000, SummaryFragments: 10_000, SummaryTokens: 1 << 30,
			Workers: workers, ChunkWorkers: workers}, index.ModelOptions{Format: index.FormatTuples, Rule: index.GleanNew})
	}
	one, docs := open(1)
	one.put(docs...)
	want, sets := one.dump(), one.sets()
	for _, workers := range []int{4, 16} {
		s, _ := open(workers)
		s.put(docs...)
		if d := diff(s.dump(), want); d != "" {
			t.Errorf("%d workers: another dump:\n%.2000s", workers, d)
		}
	}
	rng := rand.New(rand.NewPCG(1, 14))
	for i := range 3 {
		shuffled := slices.Clone(docs)
		if slices.Reverse(shuffled); i > 0 {
			rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		}
		s, _ := open(4)
		s.put(shuffled...)
		if d := diff(s.sets(), sets); d != "" {
			t.Errorf("order %d: other sets:\n%.2000s", i, d)
		}
	}
	left := slices.Clone(docs)
	for _, n := range rng.Perm(len(docs)) {
		gone := docs[n].ID
		one.delete(gone)
		left = slices.DeleteFunc(left, func(d index.Document) bool { return d.ID == gone })
		if testing.Short() && len(left)%4 != 0 {
			continue
		}
		fresh, _ := open(4)
		if len(left) > 0 {
			fresh.put(left...)
		}
		if d := diff(one.dump(), fresh.dump()); d != "" {
			t.Fatalf("after deleting %s with %d left:\n%.2000s", gone, len(left), d)
		}
	}
}

// sets has a line for each node and edge, its lists sorted and chunks named by document and place.
func (s *store) sets() (lines []string) {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	g, err := graph.Open(v, "", record.GraphName)
	if err != nil {
		s.t.Fatal(err)
	}
	for n, err := range g.AllNodes(v) {
		if err != nil {
			s.t.Fatal(err)
		}
		e, err := record.EntityOf(n.Name, n.Type, n.Props)
		if err != nil {
			s.t.Fatal(err)
		}
		text := "(of a relation)" // the first that names the entity
		if e.Type != index.UnknownType {
			text = strings.Join(fragmentsOf(e.Description), "|")
		}
		lines = append(lines, fmt.Sprintf("node %q %d of %q %q: %s", e.Name, n.Degree, sorted(e.Sources), sorted(e.Paths), text))
	}
	for x, err := range g.AllEdges(v) {
		if err != nil {
			s.t.Fatal(err)
		}
		r, err := record.RelationOf(x.Src, x.Dst, x.Weight, x.Props)
		if err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("edge %q %q weight %g %q of %q: %s", r.Src, r.Dst, r.Weight, r.Keywords, sorted(r.Sources), strings.Join(fragmentsOf(r.Description), "|")))
	}
	return lines
}
