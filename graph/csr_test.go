package graph

import (
	"bufio"
	"cmp"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/glimdb/db/internal/invariants"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

func TestSnapshotCSR(t *testing.T) {
	for _, directed := range []bool{false, true} {
		s := newStore(t)
		g := s.create("g", Config{Directed: directed})
		s.update(func(b *kv.Batch) error {
			if err := putAll(g, b, []string{"D", "C", "B", "A"}, pairs("BA AC CC")); err != nil {
				return err
			}
			return g.PutEdge(b, Edge{Src: "B", Dst: "A", Type: "more", Weight: 2})
		})
		c, err := g.Snapshot(t.Context(), s.view(), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Len() != 4 || c.Edges() != 3 || c.Directed() != directed {
			t.Errorf("%d nodes, %d edges, directed %v", c.Len(), c.Edges(), c.Directed())
		}
		at := func(name string) int {
			i, ok := c.Index(name)
			if !ok || c.Name(i) != name {
				t.Fatalf("Index(%q) = %d, %v", name, i, ok)
			}
			return i
		}
		if _, ok := c.Index("E"); ok {
			t.Error("an absent name has an index")
		}
		row := func(read func(int) ([]uint32, []float64), name string) string {
			targets, weights := read(at(name))
			var out []string
			for i, to := range targets {
				out = append(out, c.Name(int(to))+strings.Repeat("+", int(weights[i])))
			}
			return strings.Join(out, " ")
		}
		want := map[string][2]string{"A": {"B+++ C+", "B+++ C+"}, "B": {"A+++", "A+++"}, "C": {"A+ C+", "A+ C+"}, "D": {"", ""}}
		if directed {
			want = map[string][2]string{"A": {"C+", "B+++"}, "B": {"A+++", ""}, "C": {"C+", "A+ C+"}, "D": {"", ""}}
		}
		for name, w := range want {
			if out, in := row(c.Row, name), row(c.InRow, name); out != w[0] || in != w[1] {
				t.Errorf("directed %v, %s: out %q, in %q; want %q", directed, name, out, in, w)
			}
		}
		if _, ok := c.Undirected(); ok == directed {
			t.Errorf("Undirected of a directed=%v graph: ok %v", directed, ok)
		}
		v := c.AsDirected()
		if v.Edge(int64(at("C")), int64(at("C"))) != nil || v.To(int64(at("C"))).Len() != 1 || !v.HasEdgeFromTo(int64(at("A")), int64(at("C"))) {
			t.Error("gonum's view shows the self-loop or misses an edge")
		}
		if got := v.HasEdgeFromTo(int64(at("C")), int64(at("A"))); got == directed {
			t.Errorf("directed %v: edge back from C to A: %v", directed, got)
		}
		if v.Node(99) != nil || v.From(-1).Len() != 0 || v.Edge(0, 99) != nil {
			t.Error("gonum's view knows nodes that do not exist")
		}
		if w, ok := v.Weight(int64(at("B")), int64(at("A"))); !ok || w != 3 {
			t.Errorf("weight %v, %v", w, ok)
		}
		for _, l := range []Limits{{Nodes: 3}, {Edges: 3}} {
			var limit *LimitError
			if _, err := g.Snapshot(t.Context(), s.view(), l); !errors.As(err, &limit) || limit.Limit != 3 || !errors.Is(err, ErrLimit) {
				t.Errorf("limits %+v: %v, want a LimitError", l, err)
			}
		}
	}
}

// TestGonum runs gonum's algorithms on a snapshot where the answers are known.
func TestGonum(t *testing.T) {
	s := newStore(t)
	g := s.build("g", []string{"Z"}, pairs("AB BC CD DA AE")...)
	r := s.view()
	c, err := g.Snapshot(t.Context(), r, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	u, ok := c.Undirected()
	if !ok {
		t.Fatal("not undirected")
	}
	if got := len(topo.ConnectedComponents(u)); got != 2 {
		t.Errorf("%d components, want 2", got)
	}
	from, _ := c.Index("C")
	to, _ := c.Index("E")
	nodes, weight := path.DijkstraFrom(u.Node(int64(from)), u).To(int64(to))
	if len(nodes) != 4 || weight != 3 {
		t.Errorf("gonum's path %v, weight %v", nodes, weight)
	}
	ours, err := g.Path(t.Context(), r, "C", "E", 5)
	if err != nil || len(ours) != len(nodes) {
		t.Errorf("our path %v, %v", ours, err)
	}
	rank := network.PageRank(c.AsDirected(), 0.85, 1e-10)
	sum := 0.0
	best := int64(-1)
	for id, p := range rank {
		sum += p
		if best < 0 || p > rank[best] {
			best = id
		}
	}
	if math.Abs(sum-1) > 1e-6 || c.Name(int(best)) != "A" {
		t.Errorf("page rank sums to %v, its best is %q", sum, c.Name(int(best)))
	}
}

// loadEdges reads an edge list as undirected pairs, smaller name first, without repetitions.
func loadEdges(t testing.TB, name string) [][2]string {
	t.Helper()
	f, err := os.Open(filepath.Join(testkit.Data(t, "graph-edges"), name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[[2]string]bool{}
	var out [][2]string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		fields := strings.Fields(sc.Text())
		if len(fields) != 2 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		p := [2]string{min(fields[0], fields[1]), max(fields[0], fields[1])}
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// TestFacebook loads a real social graph and compares counts, degrees, components and paths with what
// maps and gonum say.
func TestFacebook(t *testing.T) {
	edges := loadEdges(t, "facebook_combined.txt")
	if len(edges) != 88_234 {
		t.Fatalf("the data set has %d edges", len(edges))
	}
	targets := []string{"1", "107", "686", "1912", "3437", "4038"}
	if invariants.Enabled { // checked builds take ten times as long: the circles of the first member
		edges = edges[:4_000]
		targets = []string{"1", "107", "346", "347"}
	}
	degree := map[string]int{}
	for _, e := range edges {
		degree[e[0]]++
		degree[e[1]]++
	}
	s := newStore(t)
	g := s.create("facebook", Config{})
	s.update(func(b *kv.Batch) error { return putAll(g, b, nil, edges) })
	r := s.view()
	if st, err := g.Stats(r); err != nil || st != (Stats{Nodes: len(degree), Edges: len(edges)}) {
		t.Errorf("stats %v, %v", st, err)
	}
	for n, err := range g.AllNodes(r) {
		if err != nil {
			t.Fatal(err)
		}
		if n.Degree != degree[n.Name] {
			t.Fatalf("degree of %s is %d, want %d", n.Name, n.Degree, degree[n.Name])
		}
	}
	var want []Label
	for name, d := range degree {
		want = append(want, Label{name, d})
	}
	slices.SortFunc(want, func(x, y Label) int { return cmp.Or(cmp.Compare(y.Degree, x.Degree), cmp.Compare(x.Name, y.Name)) })
	top, err := g.PopularLabels(t.Context(), r, 30)
	if err != nil || !slices.Equal(top, want[:30]) {
		t.Errorf("most popular %v, %v; want %v", top, err, want[:30])
	}
	c, err := g.Snapshot(t.Context(), r, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	u, _ := c.Undirected()
	if n := len(topo.ConnectedComponents(u)); n != 1 {
		t.Errorf("%d components, want 1", n)
	}
	start, _ := c.Index("0")
	hops := path.DijkstraFrom(u.Node(int64(start)), u)
	for _, to := range targets {
		i, _ := c.Index(to)
		p, err := g.Path(t.Context(), r, "0", to, 20)
		if err != nil || float64(len(p)-1) != hops.WeightTo(int64(i)) {
			t.Errorf("path 0 to %s: %v, %v; gonum's has %v edges", to, p, err, hops.WeightTo(int64(i)))
		}
	}
	w, err := g.KHop(t.Context(), r, "0", 2, 10_000)
	if err != nil || w.Truncated {
		t.Fatalf("k-hop: %v, %v", w.Truncated, err)
	}
	within := 0
	for i := range c.Len() {
		if hops.WeightTo(int64(i)) <= 2 {
			within++
		}
	}
	if len(w.Hops) != within {
		t.Errorf("%d nodes within 2 hops, gonum finds %d", len(w.Hops), within)
	}
}
