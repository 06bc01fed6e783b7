package graph

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/kv"
)

// steps is who reaches whom in one step.
type steps map[string]map[string]bool

func (s steps) add(from, to string) {
	if s[from] == nil {
		s[from] = map[string]bool{}
	}
	s[from][to] = true
}

// hubModel commits a graph in which a few nodes have most of the edges, hubs joined with hubs, loops and parallel
// edges among them.
func hubModel(s *store, rng *rand.Rand, directed bool) (g *Graph, m *model, out, both steps) {
	const nodes = 70
	g = s.create("g", Config{Directed: directed})
	g.hub = 10
	m, out, both = newModel(directed), steps{}, steps{}
	label := func(i int) string { return fmt.Sprintf("n%02d", i) }
	popular := func() string { return label(int(nodes * math.Pow(rng.Float64(), 4))) }
	s.update(func(b *kv.Batch) error {
		for _, i := range rng.Perm(nodes) {
			m.nodes[label(i)] = Node{Name: label(i)}
			if err := g.PutNode(b, Node{Name: label(i)}); err != nil {
				return err
			}
		}
		for range 40 + rng.IntN(200) {
			e := Edge{Src: popular(), Dst: label(rng.IntN(nodes)), Type: []string{"", "", "x"}[rng.IntN(3)], Weight: float64(rng.IntN(3))}
			out.add(e.Src, e.Dst)
			both.add(e.Src, e.Dst)
			both.add(e.Dst, e.Src)
			if !directed {
				out.add(e.Dst, e.Src)
			}
			k := m.key(e.Src, e.Dst, e.Type)
			e.Src, e.Dst = k.src, k.dst
			m.edges[k] = e
			if err := g.PutEdge(b, e); err != nil {
				return err
			}
		}
		return nil
	})
	return g, m, out, both
}

// within counts the nodes at most depth steps from start.
func within(both steps, start string, depth int) int {
	seen := map[string]bool{start: true}
	level := []string{start}
	for ; depth > 0; depth-- {
		var next []string
		for _, from := range level {
			for to := range both[from] {
				if !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		level = next
	}
	return len(seen)
}

func TestHubWalkOracle(t *testing.T) {
	hubs := 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := newStore(t)
		g, m, _, both := hubModel(s, rng, seed%2 == 1)
		r := s.view()
		degree := m.degrees()
		for name := range m.nodes {
			if degree[name] >= g.hub {
				hubs++
			}
			maxDepth, maxNodes := rng.IntN(4), 1+rng.IntN(30)
			want := bfs(both, degree, name, maxDepth, maxNodes)
			if left := within(both, name, maxDepth) > len(want.Hops); left != want.Truncated {
				t.Fatalf("seed %d: from %s, depth %d, nodes %d: the oracle says truncated %v", seed, name, maxDepth, maxNodes, want.Truncated)
			}
			got, err := g.KHop(t.Context(), r, name, maxDepth, maxNodes)
			if err != nil || fmt.Sprint(*got) != fmt.Sprint(want) {
				t.Fatalf("seed %d: from %s, depth %d, nodes %d:\n got %+v, %v\nwant %+v", seed, name, maxDepth, maxNodes, got, err, want)
			}
			sub, err := g.Subgraph(t.Context(), r, name, maxDepth, maxNodes)
			if err != nil || sub.Truncated != want.Truncated || sub.DepthLimited != want.DepthLimited {
				t.Fatalf("seed %d: subgraph from %s: %v; truncated %v, depth limited %v; want %v, %v", seed, name, err,
					sub.Truncated, sub.DepthLimited, want.Truncated, want.DepthLimited)
			}
			inside := map[string]bool{}
			for i, n := range sub.Nodes {
				inside[n.Name] = true
				if n.Name != want.Hops[i].Name {
					t.Fatalf("seed %d: node %d is %s, want %s", seed, i, n.Name, want.Hops[i].Name)
				}
			}
			edges := slices.DeleteFunc(m.sortedEdges(), func(e Edge) bool { return !inside[e.Src] || !inside[e.Dst] })
			if len(edges) != len(sub.Edges) {
				t.Fatalf("seed %d: from %s: %d induced edges, want %d", seed, name, len(sub.Edges), len(edges))
			}
			for i, e := range sub.Edges {
				if e.Src != edges[i].Src || e.Dst != edges[i].Dst || e.Type != edges[i].Type || e.Weight != edges[i].Weight {
					t.Fatalf("seed %d: edge %d is %+v, want %+v", seed, i, *e, edges[i])
				}
			}
		}
	}
	if hubs < 20 {
		t.Errorf("only %d hubs were walked from", hubs)
	}
}

// firstPath is the first shortest path in the order of names: from each node to the smallest that is nearer to the end.
func firstPath(out steps, from, to string, maxDepth int) []string {
	into := steps{}
	for a, bs := range out {
		for b := range bs {
			into.add(b, a)
		}
	}
	away := map[string]int{to: 0}
	for level := []string{to}; len(level) > 0; {
		var next []string
		for _, b := range level {
			for a := range into[b] {
				if _, known := away[a]; !known {
					away[a] = away[b] + 1
					next = append(next, a)
				}
			}
		}
		level = next
	}
	left, ok := away[from]
	if !ok || left > maxDepth {
		return nil
	}
	path := []string{from}
	for at := from; at != to; path = append(path, at) {
		for _, next := range sortedKeys(out[at]) {
			if d, ok := away[next]; ok && d == away[at]-1 {
				at = next
				break
			}
		}
	}
	return path
}

func TestHubPathOracle(t *testing.T) {
	found := map[int]int{}
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 8))
		s := newStore(t)
		g, m, out, _ := hubModel(s, rng, seed%2 == 1)
		r := s.view()
		names := slices.Sorted(maps.Keys(m.nodes))
		for _, from := range names {
			for range 6 {
				to, maxDepth := names[rng.IntN(len(names))], rng.IntN(8)
				want := firstPath(out, from, to, maxDepth)
				got, err := g.Path(t.Context(), r, from, to, maxDepth)
				if want == nil && errors.Is(err, ErrNoPath) {
					continue
				}
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("seed %d: path %s to %s, at most %d: %v, %v; want %v", seed, from, to, maxDepth, got, err, want)
				}
				found[len(want)-1]++
			}
		}
	}
	for length := 1; length <= 4; length++ {
		if found[length] < 50 {
			t.Errorf("only %d paths of %d edges were compared", found[length], length)
		}
	}
}

func TestStrongestOracle(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 9))
		s := newStore(t)
		g, m, _, _ := hubModel(s, rng, seed%2 == 1)
		r := s.view()
		for name := range m.nodes {
			other := func(e RankedEdge) string {
				if e.Src == name {
					return e.Dst
				}
				return e.Src
			}
			want := m.ranked([]string{name}, 0)
			slices.SortFunc(want, func(x, y RankedEdge) int {
				return cmp.Or(cmp.Compare(y.Weight, x.Weight), strings.Compare(other(x), other(y)))
			})
			for _, limit := range []int{1, 4, 15, 100} {
				got, err := g.Strongest(r, name, limit)
				if w := want[:min(limit, len(want))]; err != nil || !slices.Equal(bare(got), w) {
					t.Fatalf("seed %d: strongest %d of %s: %v\n got %+v\nwant %+v", seed, limit, name, err, bare(got), w)
				}
			}
		}
	}
}

func TestStrongestArguments(t *testing.T) {
	s := newStore(t)
	g := s.build("g", []string{"A"})
	if _, err := g.Strongest(s.view(), "A", 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("limit 0: %v, want ErrInvalid", err)
	}
	if _, err := g.Strongest(s.view(), "B", 1); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("an absent node: %v, want ErrNotFound", err)
	}
	if got, err := g.Strongest(s.view(), "A", 1); err != nil || len(got) != 0 {
		t.Errorf("a lone node: %v, %v", got, err)
	}
}

// TestHubCostsItsCut: what walks, paths and lists read of a hub does not grow with its degree.
func TestHubCostsItsCut(t *testing.T) {
	const big, cut = 10 * hubDegree, 40
	stores := map[int]kv.Reader{}
	graphs := map[int]*Graph{}
	for _, degree := range []int{hubDegree, big} {
		s := newStore(t)
		var edges [][2]string
		for i := range degree {
			leaf := fmt.Sprintf("leaf%05d", i)
			edges = append(edges, [2]string{"hub", leaf}, [2]string{"hub two", leaf})
		}
		edges = append(edges, [2]string{"hub", "hub two"}, [2]string{"hub", "gate"}, [2]string{"gate", "far"})
		graphs[degree] = s.build("g", nil, edges...)
		stores[degree] = s.view()
	}
	for _, tc := range []struct {
		name string
		most int // steps, generously
		read func(g *Graph, r kv.Reader) error
	}{
		{"k-hop", 10 * cut, func(g *Graph, r kv.Reader) error { _, err := g.KHop(t.Context(), r, "hub", 1, cut); return err }},
		{"two hops", 10 * cut, func(g *Graph, r kv.Reader) error { _, err := g.KHop(t.Context(), r, "far", 3, cut); return err }},
		{"subgraph", 20 * cut, func(g *Graph, r kv.Reader) error { _, err := g.Subgraph(t.Context(), r, "hub", 2, cut); return err }},
		{"popular", 20*cut + 2*big, func(g *Graph, r kv.Reader) error { _, err := g.Subgraph(t.Context(), r, All, 0, cut); return err }},
		{"strongest", 4 * cut, func(g *Graph, r kv.Reader) error { _, err := g.Strongest(r, "hub", cut); return err }},
		{"path between hubs", cut, func(g *Graph, r kv.Reader) error { _, err := g.Path(t.Context(), r, "hub", "hub two", 9); return err }},
		{"path out of a hub", cut, func(g *Graph, r kv.Reader) error { _, err := g.Path(t.Context(), r, "hub", "far", 9); return err }},
		{"no path", cut, func(g *Graph, r kv.Reader) error {
			if _, err := g.Path(t.Context(), r, "hub two", "far", 2); !errors.Is(err, ErrNoPath) {
				return fmt.Errorf("got %w, want ErrNoPath", err)
			}
			return nil
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cost := map[int]int{}
			for degree, g := range graphs {
				r := &countingReader{Reader: stores[degree]}
				if err := tc.read(g, r); err != nil {
					t.Fatal(err)
				}
				cost[degree] = r.steps
			}
			if cost[big] > tc.most || tc.name != "popular" && cost[big] > cost[hubDegree]+cut {
				t.Errorf("%d steps at degree %d, %d at degree %d; at most %d", cost[hubDegree], hubDegree, cost[big], big, tc.most)
			}
		})
	}
}
