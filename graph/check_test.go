package graph

import (
	"errors"
	"slices"
	"testing"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// TestCheckFindsDamage breaks each invariant once and expects the checker to name it.
func TestCheckFindsDamage(t *testing.T) {
	id := func(n uint32) []byte { return codec.AppendKeyUint32(nil, n) }
	for _, tc := range []struct {
		name     string
		directed bool
		damage   func(g *Graph, b *kv.Batch) error
		rules    []string
	}{
		{"nothing", false, func(*Graph, *kv.Batch) error { return nil }, nil},
		{"name lost", false, func(g *Graph, b *kv.Batch) error { return b.Delete(g.nameKey("A")) }, []string{"G1", "G4", "G8"}},
		{"name to no id", false, func(g *Graph, b *kv.Batch) error { return b.Set(g.nameKey("ghost"), id(77)) }, []string{"G1", "G4"}},
		{"two names of one id", false, func(g *Graph, b *kv.Batch) error { return b.Set(g.nameKey("twin"), id(1)) }, []string{"G1", "G4"}},
		{"id lost", false, func(g *Graph, b *kv.Batch) error { return b.Delete(g.idKey(kindID, 1)) }, []string{"G1"}},
		{"record lost", false, func(g *Graph, b *kv.Batch) error { return b.Delete(g.idKey(kindNode, 1)) }, []string{"G1"}},
		{"record without node", false, func(g *Graph, b *kv.Batch) error { return b.Set(g.idKey(kindNode, 50), encodeNode(Node{})) }, []string{"G1"}},
		{"edge lost", false, func(g *Graph, b *kv.Batch) error { return b.Delete(g.pairKey(kindEdge, 1, 2, "")) }, []string{"G2", "G4"}},
		{"adjacency lost", false, func(g *Graph, b *kv.Batch) error { return b.Delete(g.pairKey(kindOut, 2, 1, "")) }, []string{"G2", "G3", "G7"}},
		{"adjacency invented", false, func(g *Graph, b *kv.Batch) error {
			return b.Set(g.pairKey(kindOut, 1, 3, "t"), appendWeight(nil, 1))
		}, []string{"G2", "G3"}},
		{"weights differ", false, func(g *Graph, b *kv.Batch) error {
			return b.Set(g.pairKey(kindOut, 2, 1, ""), appendWeight(nil, 9))
		}, []string{"G2", "G7"}},
		{"incoming lost", true, func(g *Graph, b *kv.Batch) error { return b.Delete(g.pairKey(kindIn, 2, 1, "")) }, []string{"G2", "G3", "G7"}},
		{"incoming in undirected", false, func(g *Graph, b *kv.Batch) error {
			return b.Set(g.pairKey(kindIn, 2, 1, ""), appendWeight(nil, 1))
		}, []string{"G3", "key"}},
		{"edge the wrong way", false, func(g *Graph, b *kv.Batch) error {
			return b.Set(g.pairKey(kindEdge, 2, 1, ""), encodeEdge(Edge{Weight: 1}))
		}, []string{"G4", "G5"}},
		{"degree wrong", false, func(g *Graph, b *kv.Batch) error {
			return b.Set(g.idKey(kindDegree, 0), appendPage(nil, &degreePage{1: 3, 2: 2, 3: 1}))
		}, []string{"G3", "G7"}},
		{"degrees lost", false, func(g *Graph, b *kv.Batch) error { return b.Delete(g.idKey(kindDegree, 0)) }, []string{"G3", "G7"}},
		{"degree page not trimmed", false, func(g *Graph, b *kv.Batch) error { return b.Set(g.idKey(kindDegree, 3), []byte{0}) }, []string{"value"}},
		{"counters lost", false, func(g *Graph, b *kv.Batch) error { return b.Delete(g.key(kindCounters, 0)) }, []string{"G4"}},
		{"next id behind", false, func(g *Graph, b *kv.Batch) error {
			return b.Set(g.key(kindCounters, 0), (&counters{next: 2, nodes: 3, edges: 2}).encode())
		}, []string{"G4"}},
		{"shelf entry lost", false, func(g *Graph, b *kv.Batch) error {
			return b.Delete(g.shelfKey(2, shelfEntry{1, 1, "A"}))
		}, []string{"G7"}},
		{"shelf entry misplaced", false, func(g *Graph, b *kv.Batch) error {
			return errors.Join(b.Delete(g.shelfKey(2, shelfEntry{1, 1, "A"})), b.Set(g.shelfKey(2, shelfEntry{2, 1, "A"}), id(1)))
		}, []string{"G7"}},
		{"shelf entry of another", false, func(g *Graph, b *kv.Batch) error {
			return b.Set(g.shelfKey(2, shelfEntry{1, 1, "A"}), id(3))
		}, []string{"G7"}},
		{"shelf without hub", false, func(g *Graph, b *kv.Batch) error {
			return b.Set(g.shelfKey(1, shelfEntry{2, 1, "B"}), id(2))
		}, []string{"G7"}},
		{"fold lost", false, func(g *Graph, b *kv.Batch) error { return b.Delete(g.foldKey("a", "A")) }, []string{"G8"}},
		{"fold misplaced", false, func(g *Graph, b *kv.Batch) error {
			return errors.Join(b.Delete(g.foldKey("a", "A")), b.Set(g.foldKey("b", "A"), nil))
		}, []string{"G8"}},
		{"fold of no name", false, func(g *Graph, b *kv.Batch) error { return b.Set(g.foldKey("d", "D"), nil) }, []string{"G8"}},
		{"unreadable record", false, func(g *Graph, b *kv.Batch) error { return b.Set(g.idKey(kindNode, 1), []byte{0xFF}) }, []string{"value"}},
		{"unreadable edge", false, func(g *Graph, b *kv.Batch) error { return b.Set(g.pairKey(kindEdge, 1, 2, ""), []byte{1}) }, []string{"value"}},
		{"unreadable page", false, func(g *Graph, b *kv.Batch) error { return b.Set(g.idKey(kindDegree, 0), []byte{0xFF}) }, []string{"G3", "G7", "value"}},
		{"unreadable name", false, func(g *Graph, b *kv.Batch) error { return b.Set(g.nameKey("A"), []byte{1}) }, []string{"G1", "value"}},
		{"short keys", false, func(g *Graph, b *kv.Batch) error {
			return errors.Join(b.Set(append(g.key(kindID, 1), 1), nil), b.Set(append(g.key(kindEdge, 1), 1), nil), b.Set(append(g.key(kindOut, 1), 1), nil),
				b.Set(append(g.key(kindNode, 1), 1), nil), b.Set(append(g.key(kindDegree, 1), 1), nil), b.Set(append(g.key(kindFold, 1), 1), nil))
		}, []string{"G4", "key"}},
		{"unknown kind", false, func(g *Graph, b *kv.Batch) error {
			return errors.Join(b.Set(g.key('z', 0), nil), b.Set(g.prefix, nil))
		}, []string{"key"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStore(t)
			var g *Graph
			s.update(func(b *kv.Batch) (err error) { // without create: this graph is not clean at the end
				if g, err = Create(b, "", "g", Config{Directed: tc.directed}); err != nil {
					return err
				}
				g.hub = 2 // B
				return putAll(g, b, []string{"A", "B", "C"}, pairs("AB BC"))
			})
			s.update(func(b *kv.Batch) error { return tc.damage(g, b) })
			var rules []string
			for p, err := range g.Check(s.view()) {
				if err != nil {
					t.Fatal(err)
				}
				t.Log(p)
				if !slices.Contains(rules, p.Rule) {
					rules = append(rules, p.Rule)
				}
			}
			slices.Sort(rules)
			if !slices.Equal(rules, tc.rules) {
				t.Errorf("broken rules %v, want %v", rules, tc.rules)
			}
		})
	}
}
