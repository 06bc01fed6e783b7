package graph

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/kv"
)

// randomGraph commits a random graph, its nodes created in random order, and returns who reaches whom in
// one step: forwards, and in either direction.
func randomGraph(s *store, rng *rand.Rand, name string, directed bool) (g *Graph, nodes []string, out, both map[string]map[string]bool) {
	n := 2 + rng.IntN(9)
	out, both = map[string]map[string]bool{}, map[string]map[string]bool{}
	for i := range n {
		v := string(rune('A' + i))
		nodes = append(nodes, v)
		out[v], both[v] = map[string]bool{}, map[string]bool{}
	}
	g = s.create(name, Config{Directed: directed})
	s.update(func(b *kv.Batch) error {
		for _, i := range rng.Perm(n) {
			if err := g.PutNode(b, Node{Name: nodes[i]}); err != nil {
				return err
			}
		}
		for range rng.IntN(2 * n) {
			x, y := nodes[rng.IntN(n)], nodes[rng.IntN(n)]
			if err := g.PutEdge(b, Edge{Src: x, Dst: y, Type: []string{"", "t"}[rng.IntN(2)]}); err != nil {
				return err
			}
			out[x][y], both[x][y], both[y][x] = true, true, true
			if !directed {
				out[y][x] = true
			}
		}
		return nil
	})
	return g, nodes, out, both
}

// shortest finds the first shortest path in the order of names by trying all in that order.
func shortest(out map[string]map[string]bool, from, to string, maxDepth int) []string {
	for depth := 0; depth <= maxDepth; depth++ {
		var try func(path []string) []string
		try = func(path []string) []string {
			last := path[len(path)-1]
			if len(path) == depth+1 {
				if last == to {
					return path
				}
				return nil
			}
			for _, next := range sortedKeys(out[last]) {
				if slices.Contains(path, next) {
					continue
				}
				if p := try(append(slices.Clone(path), next)); p != nil {
					return p
				}
			}
			return nil
		}
		if p := try([]string{from}); p != nil {
			return p
		}
	}
	return nil
}

func sortedKeys(m map[string]bool) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func TestPathOracle(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 4))
		s := newStore(t)
		g, nodes, out, _ := randomGraph(s, rng, "g", seed%2 == 1)
		r := s.view()
		for _, from := range nodes {
			for _, to := range nodes {
				maxDepth := rng.IntN(6)
				want := shortest(out, from, to, maxDepth)
				got, err := g.Path(t.Context(), r, from, to, maxDepth)
				if want == nil && errors.Is(err, ErrNoPath) {
					continue
				}
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("seed %d: path %s to %s, at most %d: %v, %v; want %v", seed, from, to, maxDepth, got, err, want)
				}
			}
		}
	}
}

// bfs is the walk as the rules tell it, over maps.
func bfs(both map[string]map[string]bool, degree map[string]int, start string, maxDepth, maxNodes int) Walk {
	var w Walk
	depth := map[string]int{}
	level := []string{start}
	for d := 0; d <= maxDepth && len(level) > 0; d++ {
		slices.SortFunc(level, func(x, y string) int {
			return cmp.Or(cmp.Compare(degree[y], degree[x]), strings.Compare(x, y))
		})
		next := map[string]bool{}
		for _, v := range level {
			if _, seen := depth[v]; seen || len(w.Hops) == maxNodes {
				continue
			}
			depth[v] = d
			w.Hops = append(w.Hops, Hop{v, d, degree[v]})
			for n := range both[v] {
				next[n] = true
			}
		}
		level = sortedKeys(next)
	}
	for v, d := range depth {
		for n := range both[v] {
			if _, in := depth[n]; !in {
				w.Truncated = w.Truncated || d < maxDepth
				w.DepthLimited = w.DepthLimited || d == maxDepth
			}
		}
	}
	return w
}

func TestWalkOracle(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		s := newStore(t)
		g, nodes, _, both := randomGraph(s, rng, "g", seed%2 == 1)
		r := s.view()
		degrees, err := g.Degrees(r, nodes)
		if err != nil {
			t.Fatal(err)
		}
		degree := map[string]int{}
		for i, n := range nodes {
			degree[n] = degrees[i]
		}
		for _, start := range nodes {
			maxDepth, maxNodes := rng.IntN(5), 1+rng.IntN(len(nodes)+1)
			want := bfs(both, degree, start, maxDepth, maxNodes)
			got, err := g.KHop(t.Context(), r, start, maxDepth, maxNodes)
			if err != nil || fmt.Sprint(*got) != fmt.Sprint(want) {
				t.Fatalf("seed %d: from %s, depth %d, nodes %d:\n got %+v, %v\nwant %+v", seed, start, maxDepth, maxNodes, got, err, want)
			}
			sub, err := g.Subgraph(t.Context(), r, start, maxDepth, maxNodes)
			if err != nil || sub.Truncated != want.Truncated || sub.DepthLimited != want.DepthLimited || len(sub.Nodes) != len(want.Hops) {
				t.Fatalf("seed %d: subgraph from %s: %+v, %v; want %+v", seed, start, sub, err, want)
			}
			inside := map[string]bool{}
			for i, n := range sub.Nodes {
				inside[n.Name] = true
				if h := want.Hops[i]; n.Name != h.Name || n.Degree != h.Degree {
					t.Fatalf("seed %d: node %d is %+v, want %+v", seed, i, n, h)
				}
			}
			var edges []Edge
			for e, err := range g.AllEdges(r) {
				if err != nil {
					t.Fatal(err)
				}
				if inside[e.Src] && inside[e.Dst] {
					edges = append(edges, *e)
				}
			}
			if len(edges) != len(sub.Edges) {
				t.Fatalf("seed %d: %d induced edges, want %d", seed, len(sub.Edges), len(edges))
			}
			for i, e := range sub.Edges {
				if fmt.Sprint(*e) != fmt.Sprint(edges[i]) {
					t.Fatalf("seed %d: edge %d is %+v, want %+v", seed, i, *e, edges[i])
				}
			}
		}
	}
}
