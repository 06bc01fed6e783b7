package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/network"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/graph/analytics"
)

// communityGraph draws m edges, some of them twice, between nodes in groups of 50: four of five join nodes
// of one group.
func communityGraph(b *testing.B, nodes, m int) *graph.CSR {
	b.Helper()
	const group = 50
	r := rand.New(rand.NewPCG(1, 2))
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprintf("%07d", i)
	}
	arcs := make([]graph.Arc, m)
	for i := range arcs {
		from := r.IntN(nodes)
		to := r.IntN(nodes)
		if r.IntN(5) > 0 {
			to = from/group*group + to%group
		}
		arcs[i] = graph.Arc{From: uint32(from), To: uint32(to), Weight: 1}
	}
	c, err := graph.NewCSR(false, names, arcs)
	must(b, err)
	return c
}

// costs runs f once and reports its time and the most memory it held beside what was there before, by the size of the
// heap at samples a millisecond apart.
func costs(f func()) (took time.Duration, peak uint64) {
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
			select {
			case <-end:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	began := processTime()
	f()
	took = processTime() - began
	close(end)
	<-done
	return took, peak
}

// BenchmarkAnalytics compares with gonum on one snapshot of a million edges, in CPU time of the process (which includes
// the garbage collector's) and in memory. gonum's Louvain compares each node with each community and is run on a
// twentieth of the graph. Answers are checked: ranks are equal, and the communities are those that the graph was drawn with.
func BenchmarkAnalytics(b *testing.B) {
	ctx := b.Context()
	report := func(b *testing.B, f func()) {
		var took time.Duration
		var peak uint64
		for b.Loop() {
			t, p := costs(f)
			took, peak = took+t, max(peak, p)
		}
		b.ReportMetric(took.Seconds()*1000/float64(b.N), "cpu-ms/op")
		b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
	}
	run := func(b *testing.B, c *graph.CSR, o analytics.Options) (res *analytics.Result) {
		report(b, func() {
			var err error
			res, err = analytics.Run(ctx, c, o)
			must(b, err)
		})
		return res
	}
	big := communityGraph(b, 100_000, 1_150_000)
	small := communityGraph(b, 5_000, 50_000)
	b.Run("edges=1000000", func(b *testing.B) {
		b.Logf("%d nodes, %d distinct edges", big.Len(), big.Edges())
		var ranks *analytics.Result
		b.Run("PageRank", func(b *testing.B) {
			ranks = run(b, big, analytics.Options{Algorithm: analytics.PageRank, Tolerance: 1e-9})
		})
		b.Run("PageRank/gonum", func(b *testing.B) {
			var theirs map[int64]float64
			report(b, func() { theirs = network.PageRankSparse(big.AsDirected(), 0.85, 1e-9) })
			for i := range big.Len() {
				if ranks != nil && math.Abs(ranks.Scores[i]-theirs[int64(i)]) > 1e-8 {
					b.Fatalf("rank of %s is %v, gonum has %v", big.Name(i), ranks.Scores[i], theirs[int64(i)])
				}
			}
		})
		for _, o := range []analytics.Options{{Algorithm: analytics.Louvain}, {Algorithm: analytics.Leiden}, {Algorithm: analytics.Cores}, {Algorithm: analytics.Components}} {
			b.Run(string(o.Algorithm), func(b *testing.B) {
				res := run(b, big, o)
				if q, ok := res.Figure("modularity"); ok {
					b.ReportMetric(q, "modularity")
					if q < 0.78 { // that of the groups of 50 is 0.80
						b.Errorf("modularity %v", q)
					}
				}
			})
		}
	})
	b.Run("edges=50000", func(b *testing.B) {
		var ours float64
		for _, algorithm := range []analytics.Algorithm{analytics.Louvain, analytics.Leiden} {
			b.Run(string(algorithm), func(b *testing.B) {
				ours, _ = run(b, small, analytics.Options{Algorithm: algorithm}).Figure("modularity")
				b.ReportMetric(ours, "modularity")
			})
		}
		b.Run("louvain/gonum", func(b *testing.B) {
			u, _ := small.Undirected()
			var reduced community.ReducedGraph
			report(b, func() { reduced = community.Modularize(u, 1, rand.NewPCG(1, 1)) })
			q := community.Q(u, reduced.Communities(), 1)
			b.ReportMetric(q, "modularity")
			if ours < q-0.01 {
				b.Errorf("modularity %v, gonum reaches %v", ours, q)
			}
		})
	})
}
