package analytics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/community"

	"github.com/glimdb/db/graph"
)

var bothKinds = []Algorithm{Louvain, Leiden}

// TestKnownCommunities compares with what is known of two public graphs. The best modularity of karate is known to be
// 0.4198; the twelve conferences of football are its groups, of which one is spread over the others.
func TestKnownCommunities(t *testing.T) {
	for _, set := range []struct {
		edges, truth    string
		modularity, nmi float64
	}{
		{"karate.txt", "Karate_groundtruth.txt", 0.4150, 0.55},
		{"football.txt", "football_groundtruth.txt", 0.6000, 0.85},
	} {
		c, truth := file(t, set.edges, set.truth)
		for _, algorithm := range bothKinds {
			for seed := range uint64(10) {
				r := run(t, c, Options{Algorithm: algorithm, Seed: seed})
				q, nmi := figure(t, r, "modularity"), NMI(r.Groups, truth)
				if q < set.modularity || nmi < set.nmi {
					t.Errorf("%s, %s, seed %d: modularity %.4f, NMI %.3f", set.edges, algorithm, seed, q, nmi)
				}
				checkCommunities(t, c, r)
			}
		}
	}
}

func TestCommunitiesOfRealGraph(t *testing.T) {
	c, _ := file(t, "facebook_combined.txt", "")
	for _, algorithm := range bothKinds {
		r := run(t, c, Options{Algorithm: algorithm, Seed: 1})
		if q := figure(t, r, "modularity"); q < 0.834 { // published values are 0.834 to 0.836
			t.Errorf("%s: modularity %.4f", algorithm, q)
		}
		checkCommunities(t, c, r)
	}
}

// checkCommunities recomputes the modularity by its definition, and sees that no node wants to move and that Leiden's
// communities are connected.
func checkCommunities(t *testing.T, c *graph.CSR, r *Result) {
	t.Helper()
	checkAssignment(t, c, r.Groups)
	q, err := Modularity(c, r.Groups, r.Options.Resolution, r.Options.Unweighted)
	if err != nil {
		t.Fatal(err)
	}
	if said := figure(t, r, "modularity"); math.Abs(q-said) > 1e-12 {
		t.Errorf("modularity %v, said to be %v", q, said)
	}
	if c.Len() <= 200 {
		checkContent(t, c, r)
	}
	if r.Options.Algorithm == Leiden {
		if parts := disconnected(c, r.Groups); parts > 0 {
			t.Errorf("%d communities are in pieces", parts)
		}
	}
}

// checkContent sees that no node would add to the modularity by moving alone, to a neighbour or away from all.
func checkContent(t *testing.T, c *graph.CSR, r *Result) {
	t.Helper()
	g, err := symmetrize(c, r.Options.Unweighted)
	if err != nil {
		t.Fatal(err)
	}
	of := slices.Clone(r.Groups.Of)
	q := g.quality(of, r.Options.Resolution)
	for i, own := range of {
		near, _ := g.row(uint32(i))
		others := []uint32{uint32(r.Groups.Count())}
		for _, j := range near {
			others = append(others, of[j])
		}
		for _, k := range others {
			if int(k) == g.len() {
				continue // every node is alone
			}
			of[i] = k
			if moved := g.quality(of, r.Options.Resolution); moved > q+1e-9 {
				t.Errorf("%s: %s would add %v by moving", r.Options.Algorithm, c.Name(i), moved-q)
			}
		}
		of[i] = own
	}
}

// disconnected counts groups that are not reached from their first member inside.
func disconnected(c *graph.CSR, a Assignment) (n int) {
	for _, members := range a.Members() {
		seen := map[uint32]bool{members[0]: true}
		for walk := []uint32{members[0]}; len(walk) > 0; {
			v := walk[0]
			walk = walk[1:]
			for _, row := range []func(int) ([]uint32, []float64){c.Row, c.InRow} {
				near, weights := row(int(v))
				for k, w := range near {
					if a.Of[w] == a.Of[v] && weights[k] > 0 && !seen[w] {
						seen[w] = true
						walk = append(walk, w)
					}
				}
			}
		}
		if len(seen) != len(members) {
			n++
		}
	}
	return n
}

// planted draws a graph of groups that are denser inside.
func planted(tb testing.TB, groups, size int, inside, outside float64, seed uint64) (*graph.CSR, Assignment) {
	r := rand.New(rand.NewPCG(seed, 1))
	n := groups * size
	var arcs []graph.Arc
	of := make([]uint32, n)
	for i := range n {
		of[i] = uint32(i / size)
		for j := range i {
			p := outside
			if i/size == j/size {
				p = inside
			}
			if r.Float64() < p {
				arcs = append(arcs, graph.Arc{From: uint32(i), To: uint32(j), Weight: 1})
			}
		}
	}
	c := csr(tb, false, numbered(n), arcs)
	return c, assign(c, of)
}

func TestPlantedCommunitiesAreFound(t *testing.T) {
	for seed := range uint64(5) {
		c, truth := planted(t, 8, 25, 0.4, 0.01, seed)
		for _, algorithm := range bothKinds {
			r := run(t, c, Options{Algorithm: algorithm, Seed: seed})
			if nmi := NMI(r.Groups, truth); nmi < 0.98 {
				t.Errorf("%s, seed %d: NMI %.3f, %d communities", algorithm, seed, nmi, r.Groups.Count())
			}
			checkCommunities(t, c, r)
		}
	}
}

// TestCommunitiesBesideGonum: gonum's Louvain is no better than ours by more than chance, on any graph.
func TestCommunitiesBesideGonum(t *testing.T) {
	for name, c := range small(t) {
		u, ok := c.Undirected()
		if !ok || c.Edges() == 0 {
			continue
		}
		const gamma = 1.2
		theirs := math.Inf(-1)
		for seed := range uint64(3) {
			theirs = max(theirs, community.Q(u, community.Modularize(u, gamma, rand.NewPCG(seed, seed)).Communities(), gamma))
		}
		for _, algorithm := range bothKinds {
			ours := math.Inf(-1)
			for seed := range uint64(3) {
				r := run(t, c, Options{Algorithm: algorithm, Seed: seed, Resolution: gamma})
				ours = max(ours, figure(t, r, "modularity"))
				checkCommunities(t, c, r)
			}
			if ours < theirs-0.005 {
				t.Errorf("%s, %s: modularity %.4f, gonum reaches %.4f", name, algorithm, ours, theirs)
			}
		}
	}
}

// TestModularityEqualsGonum, which computes it in another way.
func TestModularityEqualsGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, c := range small(t) {
		u, ok := c.Undirected()
		if !ok || c.Edges() == 0 {
			continue
		}
		of := make([]uint32, c.Len())
		for i := range of {
			of[i] = uint32(r.IntN(min(5, c.Len())))
		}
		a := assign(c, of)
		var sets [][]gonum.Node
		for _, members := range a.Members() {
			var set []gonum.Node
			for _, i := range members {
				set = append(set, c.Node(int64(i)))
			}
			sets = append(sets, set)
		}
		q, err := Modularity(c, a, 0.7, false)
		if err != nil {
			t.Fatal(err)
		}
		if want := community.Q(u, sets, 0.7); math.Abs(q-want) > 1e-12 && !math.IsNaN(want) {
			t.Errorf("%s: modularity %v, gonum has %v", name, q, want)
		}
	}
}

// TestBestPartition: on graphs so small that all partitions can be tried, Leiden finds the best one from some seed,
// and none of its results is better than that.
func TestBestPartition(t *testing.T) {
	for seed := range uint64(12) {
		c := random(t, false, 8, 12, seed, one)
		g, err := symmetrize(c, false)
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(-1)
		of := make([]uint32, 8)
		var try func(i int, groups uint32)
		try = func(i int, groups uint32) {
			if i == len(of) {
				best = max(best, g.quality(of, 1))
				return
			}
			for k := range groups + 1 {
				of[i] = k
				try(i+1, max(groups, k+1))
			}
		}
		try(0, 0)
		found := math.Inf(-1)
		for s := range uint64(8) {
			found = max(found, figure(t, run(t, c, Options{Algorithm: Leiden, Seed: s}), "modularity"))
		}
		if math.Abs(found-best) > 1e-12 {
			t.Errorf("graph %d: the best partition has %v, the best found one %v", seed, best, found)
		}
	}
}

// TestSplitRefines: parts lie within their communities and are connected; that is what Leiden's promise rests on.
func TestSplitRefines(t *testing.T) {
	for seed := range uint64(20) {
		c := random(t, false, 60, 90, seed, one)
		g, err := symmetrize(c, false)
		if err != nil {
			t.Fatal(err)
		}
		s := &seeker{ctx: t.Context(), resolution: 1, refine: true, random: rand.New(rand.NewPCG(seed, 0))}
		of := newUnion(g.len())
		if err := s.move(g, of); err != nil {
			t.Fatal(err)
		}
		count := compact(of)
		parts, err := s.split(g, of, count)
		if err != nil {
			t.Fatal(err)
		}
		inside := map[uint32]uint32{}
		for i, p := range parts {
			if k, ok := inside[p]; ok && k != of[i] {
				t.Fatalf("part %d lies in communities %d and %d", p, k, of[i])
			}
			inside[p] = of[i]
		}
		if len(inside) == g.len() && count < g.len() {
			t.Errorf("seed %d: nothing was joined in %d communities", seed, count)
		}
		if n := disconnected(c, assign(c, parts)); n > 0 {
			t.Errorf("seed %d: %d parts are in pieces", seed, n)
		}
	}
}

func TestNMI(t *testing.T) {
	c := edges(t, false, "a b c d")
	of := func(groups ...uint32) Assignment { return assign(c, groups) }
	for _, x := range []struct {
		a, b Assignment
		want float64
	}{
		{of(0, 0, 1, 1), of(1, 1, 0, 0), 1},
		{of(0, 0, 1, 1), of(0, 1, 0, 1), 0},
		{of(0, 0, 0, 0), of(0, 0, 0, 0), 1},
		{of(0, 0, 0, 0), of(0, 1, 2, 3), 0},
		{of(0, 0, 1, 1), of(0, 1, 2, 3), 2 * math.Log(2) / (math.Log(2) + math.Log(4))}, // MI is ln 2
	} {
		for _, got := range []float64{NMI(x.a, x.b), NMI(x.b, x.a)} {
			if math.Abs(got-x.want) > 1e-12 {
				t.Errorf("NMI of %v and %v is %v, want %v", x.a.Of, x.b.Of, got, x.want)
			}
		}
	}
	if got := NMI(Assignment{}, Assignment{}); got != 1 {
		t.Errorf("NMI of nothing is %v", got)
	}
}

func TestResolution(t *testing.T) {
	c, _ := planted(t, 8, 25, 0.4, 0.01, 1)
	last := 0
	for _, gamma := range []float64{0.01, 1, 20} {
		n := run(t, c, Options{Algorithm: Leiden, Resolution: gamma}).Groups.Count()
		if n <= last {
			t.Errorf("resolution %v makes %d communities, a lower one %d", gamma, n, last)
		}
		last = n
	}
}

func TestAssignmentMembers(t *testing.T) {
	a := assign(edges(t, false, "a b c d e"), []uint32{4, 2, 4, 2, 4})
	if !slices.Equal(a.Of, []uint32{0, 1, 0, 1, 0}) || !slices.Equal(a.Sizes, []int{3, 2}) {
		t.Errorf("%v %v", a.Of, a.Sizes)
	}
	if got := fmt.Sprint(a.Members()); got != "[[0 2 4] [1 3]]" {
		t.Errorf("members %s", got)
	}
	text := ""
	for name, g := range a.All() {
		text += fmt.Sprint(name, g)
	}
	if text != "a0b1c0d1e0" {
		t.Error(text)
	}
}
