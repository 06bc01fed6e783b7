package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/glimdb/db/kv"
)

// hubGraph has 20,000 nodes, 60,000 edges of power-law-like degrees and one hub of degree 5,000.
func hubGraph(b *testing.B) (*Graph, kv.Reader, func(i int) string) {
	const nodes, edges, hub = 20_000, 60_000, 5_000
	rng := rand.New(rand.NewPCG(1, 3))
	name := func(i int) string { return fmt.Sprintf("entity number %05d", i) }
	s := newStore(b)
	var g *Graph
	s.update(func(batch *kv.Batch) (err error) {
		if g, err = Create(batch, "", "hub", Config{}); err != nil {
			return err
		}
		for _, i := range rng.Perm(nodes) {
			if err := g.PutNode(batch, Node{Name: name(i), Type: "thing", Props: Props{"description": "x"}}); err != nil {
				return err
			}
		}
		for _, i := range rng.Perm(nodes - 1)[:hub] {
			if err := g.PutEdge(batch, Edge{Src: name(0), Dst: name(i + 1), Weight: 1}); err != nil {
				return err
			}
		}
		for n := hub; n < edges; n++ {
			i, j := int(float64(nodes-1)*rng.Float64()*rng.Float64()), rng.IntN(nodes-1)
			if err := g.PutEdge(batch, Edge{Src: name(i + 1), Dst: name(j + 1), Weight: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	return g, s.view(), name
}

// BenchmarkRankedIncident compares the edges of a hub with those of 40 entities around the median degree,
// which is what one local question asks for.
func BenchmarkRankedIncident(b *testing.B) {
	g, r, name := hubGraph(b)
	rng := rand.New(rand.NewPCG(2, 3))
	var forty []string
	for range 40 {
		forty = append(forty, name(1+rng.IntN(19_999)))
	}
	for _, bc := range []struct {
		name  string
		names []string
	}{{"one median", forty[:1]}, {"forty median", forty}, {"hub", []string{name(0)}}, {"forty and hub", append([]string{name(0)}, forty...)}} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				edges, err := g.RankedIncident(r, bc.names, 400)
				if err != nil {
					b.Fatal(err)
				}
				n = len(edges)
			}
			b.ReportMetric(float64(n), "edges")
		})
	}
}

func BenchmarkPutEdge(b *testing.B) {
	edges := loadEdges(b, "facebook_combined.txt")
	for b.Loop() {
		s := newStore(b)
		s.update(func(batch *kv.Batch) error {
			g, err := Create(batch, "", "facebook", Config{})
			if err != nil {
				return err
			}
			return putAll(g, batch, nil, edges)
		})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(edges)), "ns/edge")
}
