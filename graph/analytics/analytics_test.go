package analytics

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/glimdb/db/graph"
)

// small are graphs with every oddity: loops, parallel edges, directions, weights, isolated nodes.
func small(t *testing.T) map[string]*graph.CSR {
	uneven := func(r *rand.Rand) float64 { return math.Round(r.Float64()*8) / 4 } // 0 among them
	return map[string]*graph.CSR{
		"empty":             csr(t, false, nil, nil),
		"one node":          edges(t, false, "a"),
		"a loop":            edges(t, true, "a-a"),
		"a pair":            edges(t, true, "a-b"),
		"triangles":         edges(t, false, "a-b b-c c-a d-e e-f f-d c-d g"),
		"sparse":            random(t, false, 60, 45, 1, one),
		"dense":             random(t, false, 40, 300, 2, one),
		"directed":          random(t, true, 80, 160, 3, one),
		"directed weighted": random(t, true, 50, 200, 4, uneven),
		"weighted":          random(t, false, 50, 200, 5, uneven),
	}
}

func TestPageRankEqualsGonum(t *testing.T) {
	for name, c := range small(t) {
		if c.Len() == 0 {
			continue // gonum divides by the number of nodes
		}
		got := run(t, c, Options{Algorithm: PageRank, Tolerance: 1e-13, Rounds: 1000})
		want := network.PageRankSparse(c.AsDirected(), 0.85, 1e-13)
		sum := 0.0
		for i, rank := range got.Scores {
			sum += rank
			if math.Abs(rank-want[int64(i)]) > 1e-9 {
				t.Errorf("%s: rank of %s is %v, gonum has %v", name, c.Name(i), rank, want[int64(i)])
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: ranks sum to %v", name, sum)
		}
	}
}

func TestPageRankOfRealGraphEqualsGonum(t *testing.T) {
	c, _ := file(t, "facebook_combined.txt", "")
	if c.Len() != 4039 || c.Edges() != 88234 {
		t.Fatalf("%d nodes, %d edges", c.Len(), c.Edges())
	}
	got := run(t, c, Options{Algorithm: PageRank, Tolerance: 1e-12})
	want := network.PageRankSparse(c.AsDirected(), 0.85, 1e-12)
	for i, rank := range got.Scores {
		if math.Abs(rank-want[int64(i)]) > 1e-9 {
			t.Fatalf("rank of %s is %v, gonum has %v", c.Name(i), rank, want[int64(i)])
		}
	}
}

func TestPageRankThatDoesNotConvergeSaysSo(t *testing.T) {
	c := random(t, true, 50, 100, 9, one)
	if _, ok := run(t, c, Options{Algorithm: PageRank}).Figure("not_converged"); ok {
		t.Error("200 rounds did not do")
	}
	if figure(t, run(t, c, Options{Algorithm: PageRank, Rounds: 1}), "not_converged") != 1 {
		t.Error("one round was enough")
	}
}

// peel is the definition of a core number: what is left when nodes of fewer than k neighbours go, again and again.
func peel(c *graph.CSR) []float64 {
	near := make([]map[int]bool, c.Len())
	for i := range near {
		near[i] = map[int]bool{}
	}
	for i := range near {
		targets, _ := c.Row(i)
		for _, j := range targets {
			if int(j) != i {
				near[i][int(j)], near[j][i] = true, true
			}
		}
	}
	core := make([]float64, c.Len())
	alive := make([]bool, c.Len())
	for i := range alive {
		alive[i] = true
	}
	for k := 1; slices.Contains(alive, true); k++ {
		for again := true; again; {
			again = false
			for i := range alive {
				n := 0
				for j := range near[i] {
					if alive[j] {
						n++
					}
				}
				if alive[i] && n < k {
					alive[i], core[i], again = false, float64(k-1), true
				}
			}
		}
	}
	return core
}

func TestCoresEqualBruteForce(t *testing.T) {
	graphs := small(t)
	for seed := range uint64(30) {
		graphs[fmt.Sprint("random ", seed)] = random(t, seed%2 == 0, 40, int(20+10*seed), seed, one)
	}
	for name, c := range graphs {
		if got, want := run(t, c, Options{Algorithm: Cores}).Scores, peel(c); !slices.Equal(got, want) {
			t.Errorf("%s: cores\n%v, want\n%v", name, got, want)
		}
	}
}

func TestCoresOfRealGraph(t *testing.T) {
	c, _ := file(t, "facebook_combined.txt", "")
	r := run(t, c, Options{Algorithm: Cores})
	if !slices.Equal(r.Scores, peel(c)) {
		t.Error("cores differ from those of the brute-force peel")
	}
	if k := figure(t, r, "highest"); k != 115 { // as networkx has it
		t.Errorf("the highest core is %v", k)
	}
}

// sameGroups compares groups with lists of numbers that another program made.
func sameGroups(t *testing.T, name string, a Assignment, want [][]int64) {
	t.Helper()
	var sets [][]int64
	for _, m := range a.Members() {
		var ids []int64
		for _, i := range m {
			ids = append(ids, int64(i))
		}
		sets = append(sets, ids)
	}
	for _, w := range want {
		slices.Sort(w)
	}
	slices.SortFunc(want, func(x, y []int64) int {
		if len(x) != len(y) {
			return len(y) - len(x)
		}
		return slices.Compare(x, y)
	})
	if !reflect.DeepEqual(sets, want) {
		t.Errorf("%s: groups %v, gonum has %v", name, sets, want)
	}
}

func TestComponentsEqualGonum(t *testing.T) {
	for name, c := range small(t) {
		var weak, strong [][]int64
		if u, ok := c.Undirected(); ok {
			for _, set := range topo.ConnectedComponents(u) {
				var ids []int64
				for _, n := range set {
					ids = append(ids, n.ID())
				}
				weak = append(weak, ids)
			}
			strong = weak
			sameGroups(t, name, run(t, c, Options{Algorithm: Components}).Groups, weak)
		} else {
			for _, set := range topo.TarjanSCC(c.AsDirected()) {
				var ids []int64
				for _, n := range set {
					ids = append(ids, n.ID())
				}
				strong = append(strong, ids)
			}
		}
		sameGroups(t, name+" (strong)", run(t, c, Options{Algorithm: StrongComponents}).Groups, strong)
	}
	long := make([]graph.Arc, 200_000)
	for i := range long {
		long[i] = graph.Arc{From: uint32(i), To: uint32(i + 1), Weight: 1}
	}
	c := csr(t, true, numbered(len(long)+1), long)
	if n := run(t, c, Options{Algorithm: Components}).Groups.Count(); n != 1 {
		t.Errorf("a path has %d components", n)
	}
	if n := run(t, c, Options{Algorithm: StrongComponents}).Groups.Count(); n != len(long)+1 {
		t.Errorf("a path has %d strong components", n)
	}
}

func TestDegrees(t *testing.T) {
	r := run(t, edges(t, false, "a-a a-b a-b a-c d"), Options{Algorithm: Degree})
	if want := []float64{2, 1, 1, 0}; !slices.Equal(r.Scores, want) {
		t.Errorf("degrees %v, want %v", r.Scores, want)
	}
	for name, want := range map[string]float64{"nodes": 4, "edges": 3, "self_loops": 1, "isolated": 1, "mean": 1, "least": 0, "median": 1, "most": 2} {
		if got := figure(t, r, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	r = run(t, edges(t, true, "a-a a-b b-a c-a"), Options{Algorithm: Degree})
	if want := []float64{3, 2, 1}; !slices.Equal(r.Scores, want) {
		t.Errorf("directed degrees %v, want %v", r.Scores, want)
	}
	if got := r.Top(2); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("top %v", got)
	}
}

func TestDistancesEqualGonum(t *testing.T) {
	for name, c := range small(t) {
		for i := range c.Len() {
			hops := path.DijkstraFrom(c.Node(int64(i)), unit{c})
			weighted := path.DijkstraFrom(c.Node(int64(i)), c)
			for _, o := range []Options{{Algorithm: Distance, From: c.Name(i)}, {Algorithm: Distance, From: c.Name(i), Length: Weight}} {
				r := run(t, c, o)
				for j, d := range r.Scores {
					want := hops.WeightTo(int64(j))
					if o.Length == Weight {
						want = weighted.WeightTo(int64(j))
					}
					if d != want && math.Abs(d-want) > 1e-12 {
						t.Fatalf("%s: %s from %s to %d is %v, gonum has %v", name, o.Length, c.Name(i), j, d, want)
					}
					checkPath(t, r, j)
				}
			}
		}
	}
}

// unit hides weights.
type unit struct{ *graph.CSR }

func (u unit) Weight(x, y int64) (float64, bool) {
	if _, ok := u.CSR.Weight(x, y); !ok {
		return math.Inf(1), false
	}
	if x == y {
		return 0, true
	}
	return 1, true
}

// checkPath walks the path to node j and adds up its lengths.
func checkPath(t *testing.T, r *Result, j int) {
	t.Helper()
	names := r.PathTo(r.Name(j))
	if math.IsInf(r.Scores[j], 1) {
		if names != nil {
			t.Fatalf("a path to a node that is not reached: %v", names)
		}
		return
	}
	sum := 0.0
	for k := 1; k < len(names); k++ {
		a, _ := r.graph.Index(names[k-1])
		b, _ := r.graph.Index(names[k])
		targets, weights := r.graph.Row(a)
		at, ok := slices.BinarySearch(targets, uint32(b))
		if !ok {
			t.Fatalf("no edge %s - %s on the path %v", names[k-1], names[k], names)
		}
		sum += r.length(weights[at])
	}
	if names[0] != r.Options.From || math.Abs(sum-r.Scores[j]) > 1e-12 {
		t.Fatalf("path %v is %v long, the distance is %v", names, sum, r.Scores[j])
	}
}

func TestDistanceInverse(t *testing.T) {
	c := edges(t, false, "a-b:0.5 a-c:4 c-b:4 d")
	r := run(t, c, Options{Algorithm: Distance, From: "a", Length: Inverse})
	if got := r.PathTo("b"); !slices.Equal(got, []string{"a", "c", "b"}) || r.Scores[1] != 0.5 {
		t.Errorf("the strong way is %v, %v long", got, r.Scores[1])
	}
	var names []string
	for name := range r.All() {
		names = append(names, name)
	}
	if strings.Join(names, "") != "abc" || r.PathTo("nobody") != nil {
		t.Errorf("reached: %v", names)
	}
	c = edges(t, false, "s-b s-a b-z a-z") // two equal ways
	if got := run(t, c, Options{Algorithm: Distance, From: "s"}).PathTo("z"); !slices.Equal(got, []string{"s", "a", "z"}) {
		t.Errorf("of equal ways %v was taken", got)
	}
}

// TestOrderOfWriting is N1: what the graph was made from in which order does not matter.
func TestOrderOfWriting(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	names := numbered(90)
	arcs := make([]graph.Arc, 260)
	for i := range arcs {
		arcs[i] = graph.Arc{From: uint32(r.IntN(90)), To: uint32(r.IntN(90)), Weight: float64(1 + r.IntN(4))}
	}
	moved := slices.Clone(names)
	place := r.Perm(len(names))
	other := slices.Clone(arcs)
	for i, p := range place {
		moved[p] = names[i]
	}
	for i := range other {
		other[i].From, other[i].To = uint32(place[other[i].From]), uint32(place[other[i].To])
	}
	r.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	for _, directed := range []bool{false, true} {
		a, b := csr(t, directed, names, arcs), csr(t, directed, moved, other)
		for _, algorithm := range Algorithms() {
			o := Options{Algorithm: algorithm, Seed: 42, From: names[7]}
			x, y, again := run(t, a, o), run(t, b, o), run(t, a, o)
			for _, z := range []*Result{y, again} {
				if !slices.Equal(x.Scores, z.Scores) || !slices.Equal(x.Groups.Of, z.Groups.Of) || !slices.Equal(x.Figures, z.Figures) {
					t.Errorf("directed %v, %s: %v and %v", directed, algorithm, x.Figures, z.Figures)
				}
			}
		}
	}
}

// TestCase_HC25 are the graphs that break clustering jobs, for every algorithm, each twice with one seed.
func TestCase_HC25(t *testing.T) {
	ring := func(prefix string, n int) string {
		var sb strings.Builder
		for i := range n {
			for j := range i {
				fmt.Fprintf(&sb, "%s%02d-%s%02d ", prefix, i, prefix, j)
			}
		}
		return sb.String()
	}
	loose := strings.Join(numbered(40), " ")
	for name, g := range map[string]struct {
		c      *graph.CSR
		groups int
	}{
		"empty":                       {csr(t, false, nil, nil), 0},
		"one node":                    {edges(t, false, "a"), 1},
		"40 nodes without edges":      {edges(t, false, loose), 40},
		"two components of 20":        {edges(t, false, ring("a", 20)+ring("b", 20)), 2},
		"50 nodes all alike":          {edges(t, false, ring("v", 50)), 1}, // as pairs of identical vectors are
		"loops only":                  {edges(t, false, "a-a b-b"), 2},
		"edges of weight 0":           {edges(t, false, "a-b:0 c-d:0"), 4},
		"weights far from each other": {edges(t, false, "a-b:1e100 c-d:1e-100 b-c:1e-100"), 3}, // beside 1e100 the others are nothing
	} {
		for _, algorithm := range Algorithms() {
			o := Options{Algorithm: algorithm, Seed: 1}
			if algorithm == Distance {
				if g.c.Len() == 0 {
					if _, err := Run(t.Context(), g.c, o); err == nil {
						t.Error("a distance from nowhere")
					}
					continue
				}
				o.From = g.c.Name(0)
			}
			r, again := run(t, g.c, o), run(t, g.c, o)
			if !slices.Equal(r.Scores, again.Scores) || !slices.Equal(r.Groups.Of, again.Groups.Of) {
				t.Errorf("%s, %s: two runs differ", name, algorithm)
			}
			if algorithm.Groups() {
				checkAssignment(t, g.c, r.Groups)
			}
			if (algorithm == Louvain || algorithm == Leiden) && r.Groups.Count() != g.groups {
				t.Errorf("%s, %s: %d groups, want %d: %v", name, algorithm, r.Groups.Count(), g.groups, r.Groups.Of)
			}
			for i, s := range r.Scores {
				if math.IsNaN(s) || math.IsInf(s, 0) && algorithm != Distance {
					t.Errorf("%s, %s: node %d has %v", name, algorithm, i, s)
				}
			}
			for _, f := range r.Figures {
				if math.IsNaN(f.Value) || math.IsInf(f.Value, 0) {
					t.Errorf("%s, %s: %s is %v", name, algorithm, f.Name, f.Value)
				}
			}
		}
	}
}

// checkAssignment is N2.
func checkAssignment(t *testing.T, c *graph.CSR, a Assignment) {
	t.Helper()
	if len(a.Of) != c.Len() {
		t.Fatalf("%d nodes have groups, of %d", len(a.Of), c.Len())
	}
	sizes := make([]int, a.Count())
	var first []int
	for _, g := range a.Of {
		if sizes[g]++; sizes[g] == 1 {
			first = append(first, int(g))
		}
	}
	if !slices.Equal(sizes, a.Sizes) {
		t.Errorf("sizes are %v, said to be %v", sizes, a.Sizes)
	}
	for k := 1; k < len(sizes); k++ {
		if sizes[k-1] < sizes[k] || sizes[k-1] == sizes[k] && slices.Index(first, k-1) > slices.Index(first, k) {
			t.Errorf("group %d stands before group %d: sizes %v, order of first members %v", k-1, k, sizes, first)
		}
	}
}

func TestRefusals(t *testing.T) {
	c := edges(t, false, "a-b:-1")
	for name, o := range map[string]Options{
		"algorithm":  {},
		"damping":    {Algorithm: PageRank, Damping: 1},
		"tolerance":  {Algorithm: PageRank, Tolerance: math.Inf(1)},
		"resolution": {Algorithm: Leiden, Resolution: math.NaN()},
		"rounds":     {Algorithm: Leiden, Rounds: -1},
		"length":     {Algorithm: Distance, From: "a", Length: "miles"},
		"memory":     {Algorithm: Degree, MemoryBytes: -1},
	} {
		_, err := Run(t.Context(), c, o)
		if e, ok := errors.AsType[*graph.InvalidError](err); !ok || e.Key != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []Options{{Algorithm: PageRank}, {Algorithm: Louvain}, {Algorithm: Leiden}, {Algorithm: Distance, From: "a", Length: Weight},
		{Algorithm: Distance, From: "a", Length: Inverse}} {
		_, err := Run(t.Context(), c, o)
		if e, ok := errors.AsType[*graph.InvalidError](err); !ok || e.Key != "a - b" {
			t.Errorf("%s of a weight below 0: %v", o.Algorithm, err)
		}
		if o.Length == "" {
			o.Unweighted = true
			run(t, c, o)
		}
	}
	if _, err := Run(t.Context(), edges(t, false, "a-b:0"), Options{Algorithm: Distance, From: "a", Length: Inverse}); !errors.Is(err, graph.ErrInvalid) {
		t.Errorf("the inverse of 0: %v", err)
	}
	if _, err := Run(t.Context(), c, Options{Algorithm: Distance, From: "z"}); !strings.Contains(fmt.Sprint(err), `"z"`) {
		t.Errorf("from nowhere: %v", err)
	}
	_, err := Run(t.Context(), c, Options{Algorithm: Leiden, MemoryBytes: 100})
	if e, ok := errors.AsType[*MemoryError](err); !ok || e.Limit != 100 || e.Need <= 100 || !errors.Is(err, graph.ErrLimit) {
		t.Errorf("beyond the memory: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, algorithm := range Algorithms() {
		if _, err := Run(ctx, edges(t, true, "a-b b-c"), Options{Algorithm: algorithm, From: "a"}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after the end of its context: %v", algorithm, err)
		}
	}
}
