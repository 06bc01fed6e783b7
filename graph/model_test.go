package graph

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/invariants"
	"github.com/glimdb/db/kv"
)

// model is the graph as maps: what every read is compared with.
type model struct {
	directed bool
	nodes    map[string]Node
	edges    map[edgeName]Edge
}

type edgeName struct{ src, dst, typ string }

func newModel(directed bool) *model {
	return &model{directed: directed, nodes: map[string]Node{}, edges: map[edgeName]Edge{}}
}

func (m *model) clone() *model {
	return &model{directed: m.directed, nodes: maps.Clone(m.nodes), edges: maps.Clone(m.edges)}
}

func (m *model) key(src, dst, typ string) edgeName {
	if !m.directed && src > dst {
		src, dst = dst, src
	}
	return edgeName{src, dst, typ}
}

func (m *model) has(name string) bool { _, ok := m.nodes[name]; return ok }

func (m *model) degrees() map[string]int {
	d := map[string]int{}
	for k := range m.edges {
		d[k.src]++
		d[k.dst]++
	}
	return d
}

func (m *model) remove(name string) {
	delete(m.nodes, name)
	maps.DeleteFunc(m.edges, func(k edgeName, _ Edge) bool { return k.src == name || k.dst == name })
}

func (m *model) rename(from, to string) {
	n := m.nodes[from]
	n.Name = to
	delete(m.nodes, from)
	m.nodes[to] = n
	for k, e := range maps.Clone(m.edges) {
		if k.src != from && k.dst != from {
			continue
		}
		delete(m.edges, k)
		if k.src == from {
			k.src = to
		}
		if k.dst == from {
			k.dst = to
		}
		k = m.key(k.src, k.dst, k.typ)
		e.Src, e.Dst = k.src, k.dst
		m.edges[k] = e
	}
}

func (m *model) sortedNodes() []Node {
	var out []Node
	degrees := m.degrees()
	for _, name := range slices.Sorted(maps.Keys(m.nodes)) {
		n := m.nodes[name]
		n.Degree = degrees[name]
		out = append(out, n)
	}
	return out
}

func (m *model) sortedEdges() []Edge {
	out := slices.Collect(maps.Values(m.edges))
	slices.SortFunc(out, func(x, y Edge) int { return compareEdges(&x, &y) })
	return out
}

func (m *model) neighbors(name string) []Neighbor {
	var out []Neighbor
	for _, e := range m.sortedEdges() {
		if e.Src == name {
			out = append(out, Neighbor{Name: e.Dst, Type: e.Type, Weight: e.Weight})
		}
		if e.Dst == name && e.Src != name {
			out = append(out, Neighbor{Name: e.Src, Type: e.Type, Weight: e.Weight, Incoming: m.directed})
		}
	}
	slices.SortStableFunc(out, func(x, y Neighbor) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Type, y.Type), cmp.Compare(b2i(x.Incoming), b2i(y.Incoming)))
	})
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *model) ranked(names []string, limit int) []RankedEdge {
	best := map[[2]string]float64{}
	degrees := m.degrees()
	for k, e := range m.edges {
		if slices.Contains(names, k.src) || slices.Contains(names, k.dst) {
			p := [2]string{min(k.src, k.dst), max(k.src, k.dst)}
			if w, ok := best[p]; !ok || e.Weight > w {
				best[p] = e.Weight
			}
		}
	}
	var out []RankedEdge
	for p, w := range best {
		out = append(out, RankedEdge{Src: p[0], Dst: p[1], Weight: w, Rank: degrees[p[0]] + degrees[p[1]]})
	}
	slices.SortFunc(out, func(x, y RankedEdge) int {
		return cmp.Or(cmp.Compare(y.Rank, x.Rank), cmp.Compare(y.Weight, x.Weight), strings.Compare(x.Src, y.Src), strings.Compare(x.Dst, y.Dst))
	})
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}

// bare is ranked without what only RankedEdges needs.
func bare(ranked []RankedEdge) []RankedEdge {
	out := slices.Clone(ranked)
	for i := range out {
		out[i].src, out[i].dst = 0, 0
	}
	return out
}

// step does one random operation on both sides and compares the outcome.
func step(t *testing.T, rng *rand.Rand, g *Graph, b *kv.Batch, m *model) {
	t.Helper()
	name := func() string { return string("abcdefghijABC"[rng.IntN(13)]) }
	typ := func() string { return []string{"", "", "x", "y"}[rng.IntN(4)] }
	want := func(op string, err error, missing bool) {
		t.Helper()
		if missing != errors.Is(err, kv.ErrNotFound) || !missing && err != nil {
			t.Fatalf("%s: %v, absent in the model: %v", op, err, missing)
		}
	}
	switch rng.IntN(10) {
	case 0, 1:
		n := Node{Name: name(), Type: typ(), Props: randomProps(rng)}
		if err := g.PutNode(b, n); err != nil {
			t.Fatal(err)
		}
		m.nodes[n.Name] = n
	case 2:
		n := name()
		want("delete node", g.DeleteNode(b, n), !m.has(n))
		m.remove(n)
	case 3:
		from, to := name(), name()
		err := g.RenameNode(b, from, to)
		if m.has(from) && m.has(to) && from != to {
			if !errors.Is(err, ErrExists) {
				t.Fatalf("rename %s to %s: %v, want ErrExists", from, to, err)
			}
			return
		}
		want("rename", err, !m.has(from))
		if !m.has(from) || from == to {
			return
		}
		m.rename(from, to)
	case 4:
		src, dst, ty := name(), name(), typ()
		k := m.key(src, dst, ty)
		_, ok := m.edges[k]
		want("delete edge", g.DeleteEdge(b, src, dst, ty), !ok)
		delete(m.edges, k)
	default:
		e := Edge{Src: name(), Dst: name(), Type: typ(), Weight: float64(rng.IntN(3)), Props: randomProps(rng)}
		want("put edge", g.PutEdge(b, e), !m.has(e.Src) || !m.has(e.Dst))
		if m.has(e.Src) && m.has(e.Dst) {
			k := m.key(e.Src, e.Dst, e.Type)
			e.Src, e.Dst = k.src, k.dst
			m.edges[k] = e
		}
	}
}

func randomProps(rng *rand.Rand) Props {
	p := Props{}
	for range rng.IntN(3) {
		k := string(rune('p' + rng.IntN(4)))
		switch rng.IntN(5) {
		case 0:
			p[k] = strings.Repeat("text\x00\x01", rng.IntN(80))
		case 1:
			p[k] = rng.Int64() - 1<<62
		case 2:
			p[k] = rng.NormFloat64()
		case 3:
			p[k] = rng.IntN(2) == 0
		case 4:
			p[k] = []string{"", "b\x00", "ü"}[:1+rng.IntN(3)]
		}
	}
	if len(p) == 0 {
		return nil
	}
	return p
}

// compare reads everything through every read path.
func compare(t *testing.T, rng *rand.Rand, g *Graph, r kv.Reader, m *model) {
	t.Helper()
	equal := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
		}
	}
	var nodes []Node
	for n, err := range g.AllNodes(r) {
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, *n)
	}
	equal("all nodes", nodes, m.sortedNodes())
	var edges []Edge
	for e, err := range g.AllEdges(r) {
		if err != nil {
			t.Fatal(err)
		}
		edges = append(edges, *e)
	}
	wantEdges := m.sortedEdges()
	if len(wantEdges) == 0 {
		wantEdges = nil
	}
	equal("all edges", edges, wantEdges)
	st, err := g.Stats(r)
	if err != nil {
		t.Fatal(err)
	}
	equal("stats", st, Stats{Nodes: len(m.nodes), Edges: len(m.edges)})

	var names []string
	for range 1 + rng.IntN(6) {
		names = append(names, string(rune('a'+rng.IntN(13))))
	}
	alike, err := g.NamesAlike(r, names)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		var want []string
		for _, spelling := range []string{strings.ToUpper(name), name} {
			if m.has(spelling) {
				want = append(want, spelling)
			}
		}
		equal("names like "+name, alike[i], want)
	}
	batched, err := g.Nodes(r, names)
	if err != nil {
		t.Fatal(err)
	}
	visited := make([]*Node, len(names))
	if err := g.EachNode(r, names, func(at int, n *Node, values Values) error {
		found := *n
		visited[at] = &found
		return values(collectProps(&found.Props))
	}); err != nil {
		t.Fatal(err)
	}
	equal("visited nodes", visited, batched)
	degrees, err := g.Degrees(r, names)
	if err != nil {
		t.Fatal(err)
	}
	var pairs [][2]string
	for i, name := range names {
		pairs = append(pairs, [2]string{name, names[(i+1)%len(names)]})
		single, err := g.Node(r, name)
		if !m.has(name) {
			if batched[i] != nil || !errors.Is(err, kv.ErrNotFound) || degrees[i] != 0 {
				t.Fatalf("absent node %q: %v, %v, degree %d", name, batched[i], err, degrees[i])
			}
			continue
		}
		want := m.nodes[name]
		want.Degree = m.degrees()[name]
		equal("node", single, want)
		equal("batched node", *batched[i], want)
		equal("degree", degrees[i], want.Degree)
		var ns []Neighbor
		for n, err := range g.Neighbors(r, name) {
			if err != nil {
				t.Fatal(err)
			}
			ns = append(ns, n)
		}
		equal("neighbors of "+name, ns, m.neighbors(name))
	}
	read, err := g.Edges(r, pairs)
	if err != nil {
		t.Fatal(err)
	}
	joined := make([]*Edge, len(pairs))
	if err := g.EachEdge(r, pairs, collectEdges(joined)); err != nil {
		t.Fatal(err)
	}
	equal("visited edges", joined, read)
	for i, p := range pairs {
		want, ok := m.edges[m.key(p[0], p[1], "")]
		single, err := g.Edge(r, p[0], p[1], "")
		if !ok {
			if read[i] != nil || !errors.Is(err, kv.ErrNotFound) {
				t.Fatalf("absent edge %v: %v, %v", p, read[i], err)
			}
			continue
		}
		equal("edge", single, want)
		equal("batched edge", *read[i], want)
	}
	for _, limit := range []int{0, 1, 3} {
		ranked, err := g.RankedIncident(r, names, limit)
		if err != nil {
			t.Fatal(err)
		}
		if want := m.ranked(names, limit); len(ranked) > 0 || len(want) > 0 {
			equal(fmt.Sprintf("ranked incident of %v, limit %d", names, limit), bare(ranked), want)
		}
		shown := make([]*Edge, len(ranked))
		if err := g.EachRankedEdge(r, ranked, collectEdges(shown)); err != nil {
			t.Fatal(err)
		}
		for i, e := range ranked {
			if want, ok := m.edges[m.key(e.Src, e.Dst, "")]; ok != (shown[i] != nil) {
				t.Fatalf("ranked edge %+v: %v, in the model: %v", e, shown[i], ok)
			} else if ok {
				equal("ranked edge", *shown[i], want)
			}
		}
	}
	checkClean(t, g, r)
}

// TestModel runs random operations against maps: reads through the batch that staged them, through a
// snapshot after the commit, and through old snapshots later.
func TestModel(t *testing.T) {
	rounds := 60
	if testing.Short() || invariants.Enabled { // checked builds take ten times as long
		rounds = 15
	}
	for _, directed := range []bool{false, true} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("directed=%v/seed=%d", directed, seed), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 1))
				s := newStore(t)
				g := s.create("g", Config{Directed: directed})
				if seed%2 == 1 {
					g.hub = 3 // most nodes become hubs and cease to be, again and again
				}
				m := newModel(directed)
				type past struct {
					r kv.Reader
					m *model
				}
				var old []past
				for range rounds {
					next := m.clone()
					drop := errors.New("dropped")
					err := s.try(func(b *kv.Batch) error {
						for range 1 + rng.IntN(12) {
							step(t, rng, g, b, next)
						}
						compare(t, rng, g, b, next)
						if rng.IntN(5) == 0 {
							return drop
						}
						return nil
					})
					if err == nil {
						m = next
					}
					old = append(old, past{s.view(), m})
					compare(t, rng, g, old[len(old)-1].r, m)
				}
				for range 10 {
					p := old[rng.IntN(len(old))]
					compare(t, rng, g, p.r, p.m)
				}
			})
		}
	}
}

// TestWideGraph covers what twelve names cannot: several degree pages, several scan windows, ties at the
// limit among thousands, more pairs than are ranked at a time.
func TestWideGraph(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 2))
	s := newStore(t)
	g := s.create("g", Config{})
	m := newModel(false)
	order := rng.Perm(rankBatch + 500)
	s.update(func(b *kv.Batch) error {
		for _, i := range order {
			n := Node{Name: fmt.Sprintf("n%05d", i)}
			m.nodes[n.Name] = n
			if err := g.PutNode(b, n); err != nil {
				return err
			}
		}
		put := func(i, j int) error {
			e := Edge{Src: fmt.Sprintf("n%05d", min(i, j)), Dst: fmt.Sprintf("n%05d", max(i, j)), Weight: float64(rng.IntN(2))}
			m.edges[m.key(e.Src, e.Dst, "")] = e
			return g.PutEdge(b, e)
		}
		for i := range order {
			if err := put(17, i); err != nil {
				return err
			}
		}
		for range 300 {
			if err := put(rng.IntN(len(order)), rng.IntN(len(order))); err != nil {
				return err
			}
		}
		return nil
	})
	degree := m.degrees()
	want := m.ranked([]string{"n00017"}, 0)
	r := s.view()
	for _, limit := range []int{0, 1, 10, 400, 3000, len(want) + 1} {
		got, err := g.RankedIncident(r, []string{"n00017"}, limit)
		if err != nil {
			t.Fatal(err)
		}
		w := want
		if limit > 0 && limit < len(want) {
			w = want[:limit]
		}
		if !slices.Equal(bare(got), w) {
			t.Errorf("seed %d, limit %d: %d edges differ from the sorted list", seed, limit, len(got))
		}
	}
	seen := 0
	for n, err := range g.AllNodes(r) {
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("n%05d", seen); n.Name != want || n.Degree != degree[want] {
			t.Fatalf("node %d is %q of degree %d, want degree %d", seen, n.Name, n.Degree, degree[want])
		}
		seen++
	}
	if seen != len(order) {
		t.Errorf("%d nodes, want %d", seen, len(order))
	}
	s.update(func(b *kv.Batch) error { return g.DeleteNode(b, "n00017") })
}

// collectEdges fills the places of edges that a read visits.
func collectEdges(edges []*Edge) func(at int, e *Edge, values Values) error {
	return func(at int, e *Edge, values Values) error {
		found := *e
		edges[at] = &found
		return values(collectProps(&found.Props))
	}
}

func collectProps(p *Props) func(key string, v codec.Value) {
	return func(key string, v codec.Value) {
		if *p == nil {
			*p = Props{}
		}
		(*p)[key] = v.Any()
	}
}
