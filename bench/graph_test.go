package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/graph/network"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/wal"
)

// socialEdges reads the Facebook ego networks: 88,234 undirected edges among 4,039 nodes.
func socialEdges(b *testing.B) [][2]string {
	b.Helper()
	f, err := os.Open(filepath.Join(testkit.Data(b, "graph-edges"), "facebook_combined.txt"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var edges [][2]string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if p := strings.Fields(sc.Text()); len(p) == 2 && !strings.HasPrefix(p[0], "#") {
			edges = append(edges, [2]string{p[0], p[1]})
		}
	}
	if len(edges) != 88_234 {
		b.Fatalf("%d edges", len(edges))
	}
	return edges
}

// openLog opens the engine in a fresh directory.
func openLog(b *testing.B) *wal.Log {
	b.Helper()
	s, err := kv.Open(b.TempDir(), kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	l, err := wal.Open(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(l.Close(), s.Close()); err != nil {
			b.Error(err)
		}
	})
	return l
}

func loadGraph(b *testing.B, l *wal.Log, edges [][2]string, perCommit int) *graph.Graph {
	b.Helper()
	var g *graph.Graph
	known := map[string]bool{}
	for part := range slices.Chunk(edges, perCommit) {
		_, err := l.Update(context.Background(), "edges", nil, func(batch *kv.Batch) (err error) {
			if g, err = graph.Create(batch, "", "social", graph.Config{}); err != nil {
				return err
			}
			for _, e := range part {
				for _, name := range e {
					if !known[name] {
						known[name] = true
						if err := g.PutNode(batch, graph.Node{Name: name}); err != nil {
							return err
						}
					}
				}
				if err := g.PutEdge(batch, graph.Edge{Src: e[0], Dst: e[1], Weight: 1}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return g
}

func viewOf(b *testing.B, l *wal.Log) *kv.Snapshot {
	b.Helper()
	r, err := l.View()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	return r
}

// BenchmarkGraphLoad loads a real social graph, edges by the hundred (about what a page of text brings) and
// by the ten thousand, every commit synced.
func BenchmarkGraphLoad(b *testing.B) {
	edges := socialEdges(b)
	for _, perCommit := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("commit=%d", perCommit), func(b *testing.B) {
			for b.Loop() {
				l := openLog(b)
				g := loadGraph(b, l, edges, perCommit)
				if st, err := g.Stats(viewOf(b, l)); err != nil || st.Edges != len(edges) {
					b.Fatalf("%v, %v", st, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(edges)), "ns/edge")
		})
	}
}

// BenchmarkGraphHub ranks the incident edges of the widest node of a 20,000-node graph (degree 5,000) and
// of 40 entities of about median degree, in turns; the ratio is the price of a hub to a local question.
func BenchmarkGraphHub(b *testing.B) {
	const nodes, hub, others, limit = 20_000, 5_000, 55_000, 400
	rng := rand.New(rand.NewPCG(1, 3))
	name := func(i int) string { return fmt.Sprintf("entity number %05d", i) }
	seen := map[[2]string]bool{}
	var edges [][2]string
	add := func(i, j int) {
		p := [2]string{name(min(i, j)), name(max(i, j))}
		if i != j && !seen[p] {
			seen[p] = true
			edges = append(edges, p)
		}
	}
	for _, i := range rng.Perm(nodes - 1)[:hub] {
		add(0, i+1)
	}
	for range others {
		add(1+int(float64(nodes-1)*rng.Float64()*rng.Float64()), 1+rng.IntN(nodes-1))
	}
	l := openLog(b)
	g := loadGraph(b, l, edges, 10_000)
	r := viewOf(b, l)
	var forty []string
	for len(forty) < 40 {
		if n := name(1 + rng.IntN(nodes-1)); !slices.Contains(forty, n) {
			forty = append(forty, n)
		}
	}
	withHub := append([]string{name(0)}, forty[1:]...)
	ranked := func(names []string) time.Duration {
		start := time.Now()
		out, err := g.RankedIncident(r, names, limit)
		took := time.Since(start)
		if err != nil || len(out) == 0 || len(out) > limit {
			b.Fatalf("%d edges, %v", len(out), err)
		}
		if !slices.IsSortedFunc(out, func(x, y graph.RankedEdge) int { return y.Rank - x.Rank }) {
			b.Fatal("edges are not ranked")
		}
		return took
	}
	var median, wide time.Duration
	for b.Loop() {
		median += ranked(forty)
		wide += ranked(withHub)
	}
	b.ReportMetric(float64(median.Microseconds())/float64(b.N), "µs/median")
	b.ReportMetric(float64(wide.Microseconds())/float64(b.N), "µs/hub")
	b.ReportMetric(float64(wide)/float64(median), "hub/median")
}

// BenchmarkGraphExplore times what a graph page asks for, on the social graph.
func BenchmarkGraphExplore(b *testing.B) {
	l := openLog(b)
	g := loadGraph(b, l, socialEdges(b), 10_000)
	r := viewOf(b, l)
	ctx := context.Background()
	for _, bc := range []struct {
		name string
		run  func() (int, error)
		want int
	}{
		{"subgraph", func() (int, error) {
			sub, err := g.Subgraph(ctx, r, "107", graph.DefaultDepth, graph.DefaultNodes)
			return len(sub.Nodes), err
		}, graph.DefaultNodes},
		{"path", func() (int, error) { p, err := g.Path(ctx, r, "0", "4038", 20); return len(p), err }, 6},
		{"popular", func() (int, error) {
			p, err := g.PopularLabels(ctx, r, graph.DefaultPopular)
			return len(p), err
		}, graph.DefaultPopular},
		{"search", func() (int, error) { m, err := g.SearchLabels(ctx, r, "10", graph.MaxSearch); return len(m), err }, graph.MaxSearch},
		{"snapshot", func() (int, error) { c, err := g.Snapshot(ctx, r, graph.Limits{}); return c.Edges(), err }, 88_234},
		{"pagerank", func() (int, error) {
			c, err := g.Snapshot(ctx, r, graph.Limits{})
			if err != nil {
				return 0, err
			}
			return len(network.PageRankSparse(c.AsDirected(), 0.85, 1e-6)), nil
		}, 4_039},
	} {
		b.Run(bc.name, func(b *testing.B) {
			if got, err := bc.run(); err != nil || got != bc.want {
				b.Fatalf("got %d, %v; want %d", got, err, bc.want)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bc.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
