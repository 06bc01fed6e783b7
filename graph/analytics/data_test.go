package analytics

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/testkit"
)

// edges makes an undirected or directed graph of "a-b" or "a-b:weight" words, and of bare names.
func edges(tb testing.TB, directed bool, words string) *graph.CSR {
	tb.Helper()
	at := map[string]uint32{}
	var names []string
	place := func(name string) uint32 {
		i, ok := at[name]
		if !ok {
			i = uint32(len(names))
			at[name], names = i, append(names, name)
		}
		return i
	}
	var arcs []graph.Arc
	for _, word := range strings.Fields(words) {
		a, b, ok := strings.Cut(word, "-")
		from := place(a)
		if !ok {
			continue
		}
		b, weight, _ := strings.Cut(b, ":")
		w := 1.0
		if weight != "" {
			if _, err := fmt.Sscan(weight, &w); err != nil {
				tb.Fatal(err)
			}
		}
		arcs = append(arcs, graph.Arc{From: from, To: place(b), Weight: w})
	}
	return csr(tb, directed, names, arcs)
}

func csr(tb testing.TB, directed bool, names []string, arcs []graph.Arc) *graph.CSR {
	tb.Helper()
	c, err := graph.NewCSR(directed, names, arcs)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%07d", i)
	}
	return names
}

// random makes a graph of n nodes and m drawn edges; repeated pairs add up.
func random(tb testing.TB, directed bool, n, m int, seed uint64, weight func(*rand.Rand) float64) *graph.CSR {
	r := rand.New(rand.NewPCG(seed, 7))
	arcs := make([]graph.Arc, m)
	for i := range arcs {
		arcs[i] = graph.Arc{From: uint32(r.IntN(n)), To: uint32(r.IntN(n)), Weight: weight(r)}
	}
	return csr(tb, directed, numbered(n), arcs)
}

func one(*rand.Rand) float64 { return 1 }

// file reads an edge list of the public graphs, and the known group of each node where there is one.
func file(tb testing.TB, edges, truth string) (*graph.CSR, Assignment) {
	tb.Helper()
	dir := testkit.Data(tb, "graph-edges")
	var arcs []graph.Arc
	at := map[string]uint32{}
	var names []string
	lines(tb, filepath.Join(dir, edges), func(fields []string) {
		var a graph.Arc
		for k, end := range []*uint32{&a.From, &a.To} {
			name := fmt.Sprintf("%07s", fields[k])
			i, ok := at[name]
			if !ok {
				i = uint32(len(names))
				at[name], names = i, append(names, name)
			}
			*end = i
		}
		a.Weight = 1
		arcs = append(arcs, a)
	})
	c := csr(tb, false, names, arcs)
	if truth == "" {
		return c, Assignment{}
	}
	of := make([]uint32, 0, c.Len())
	lines(tb, filepath.Join(dir, truth), func(fields []string) {
		var g uint32
		if _, err := fmt.Sscan(fields[0], &g); err != nil {
			tb.Fatal(err)
		}
		of = append(of, g)
	})
	if len(of) != c.Len() {
		tb.Fatalf("%d known groups for %d nodes", len(of), c.Len())
	}
	return c, assign(c, of)
}

func lines(tb testing.TB, path string, f func(fields []string)) {
	tb.Helper()
	r, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	s := bufio.NewScanner(r)
	for s.Scan() {
		if fields := strings.Fields(s.Text()); len(fields) > 0 && !strings.HasPrefix(fields[0], "#") {
			f(fields)
		}
	}
	if err := s.Err(); err != nil {
		tb.Fatal(err)
	}
}

func run(tb testing.TB, c *graph.CSR, o Options) *Result {
	tb.Helper()
	r, err := Run(tb.Context(), c, o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func figure(tb testing.TB, r *Result, name string) float64 {
	tb.Helper()
	v, ok := r.Figure(name)
	if !ok {
		tb.Fatalf("no figure %q in %v", name, r.Figures)
	}
	return v
}
