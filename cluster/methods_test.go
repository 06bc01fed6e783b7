package cluster

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/internal/record"
)

// Average linkage finds the clusters that joining the two nearest of all finds, step by step, until none are within the radius.
func TestLinkedJoinsTheNearest(t *testing.T) {
	for seed := range uint64(8) {
		r := seeded(t, seed)
		s := openStore(t, vfs.NewMem(), 64)
		s.put(topics(r, 4, 15, 64, 0.4+0.2*float32(seed%4)))
		v := s.view()
		coll, err := s.layer.chunks(v)
		if err != nil {
			t.Fatal(err)
		}
		survey, err := coll.Survey(v)
		if err != nil {
			t.Fatal(err)
		}
		f := newField(survey)
		o := Options{Method: Hierarchical, Radius: 0.3 + 0.1*float64(seed%5)}
		got, err := linked(ctx, f, 64, o)
		if err != nil {
			t.Fatal(err)
		}
		want := number(f, joined(f, o.Radius), f.Len(), pairLeast)
		if fmt.Sprint(got.primary) != fmt.Sprint(want.primary) || got.k != want.k {
			t.Errorf("radius %v: %d clusters %v, want %d %v", o.Radius, got.k, got.primary, want.k, want.primary)
		}
		v.Close()
	}
}

// joined is average linkage by its definition.
func joined(f *field, radius float64) []uint32 {
	clusters := make([][]int, f.Len())
	for i := range clusters {
		clusters[i] = []int{i}
	}
	mean := func(a, b []int) (d float64) {
		for _, i := range a {
			for _, j := range b {
				cos := 0.0
				for k, x := range f.vector(i) {
					cos += float64(x) * float64(f.vector(j)[k])
				}
				d += 1 - cos
			}
		}
		return d / float64(len(a)*len(b))
	}
	for {
		best, a, b := math.Inf(1), 0, 0
		for i := range clusters {
			for j := range i {
				if d := mean(clusters[j], clusters[i]); d < best {
					best, a, b = d, j, i
				}
			}
		}
		if best > radius {
			break
		}
		clusters[a] = append(clusters[a], clusters[b]...)
		clusters = append(clusters[:b], clusters[b+1:]...)
	}
	of := make([]uint32, f.Len())
	for _, c := range clusters {
		for _, i := range c {
			of[i] = uint32(min(c[0], i))
			for _, j := range c {
				of[i] = min(of[i], uint32(j))
			}
		}
	}
	return of
}

// HC-25 for each method: chunks like no other are always searched; equal chunks are one cluster, and so few as one or none are no failure.
func TestHC25_MethodsOnOddVectors(t *testing.T) {
	for _, m := range []Method{KMeans, DBSCAN, Communities, Hierarchical} {
		t.Run(string(m), func(t *testing.T) {
			odd := func(n int, vector func(i int) []float32) Report {
				s := openStore(t, vfs.NewMem(), 64)
				all := make(map[string][]float32)
				for i := range n {
					all[record.ChunkID("doc", i)] = vector(i)
				}
				if n > 0 {
					s.put(all)
				}
				rep := s.build(Options{Method: m, K: 70})
				s.reopen()
				return rep
			}
			axis := func(i int) []float32 { v := make([]float32, 64); v[i%64] = 1; return v }
			odd(0, nil)
			odd(1, axis)
			if rep := odd(50, func(int) []float32 { return axis(3) }); len(rep.Clusters) != 1 || rep.Clusters[0].Size != 50 {
				t.Errorf("equal vectors: %d clusters, %d always searched", len(rep.Clusters), rep.Always)
			}
			if rep := odd(20, axis); m != KMeans && (len(rep.Clusters) != 0 || rep.Always != 20) {
				t.Errorf("vectors at right angles: %d clusters, %d always searched", len(rep.Clusters), rep.Always)
			}
		})
	}
}

// Documents go on coming where a method takes no more chunks: the clusters are built anew by k-means.
func TestMethodOutgrown(t *testing.T) {
	r := seeded(t, 5)
	s := openStore(t, vfs.NewMem(), 64)
	s.put(topics(r, 4, MaxLinked/8, 64, 0.1))
	s.build(Options{Method: Hierarchical, Summary: SummaryNone})
	more := make(map[string][]float32)
	for id, v := range topics(r, 4, MaxLinked/8+1, 64, 0.1) {
		more["more-"+id] = v
	}
	s.put(more)
	rep, err := s.layer.Tend(ctx)
	if err != nil || !rep.Rebuilt || s.layer.Current().head.Options.Method != KMeans || s.layer.Current().Len() != MaxLinked+4 {
		t.Errorf("%+v, %v: %+v", rep, err, s.layer.Current().head)
	}
	var bad *OptionError
	if _, err := s.layer.Build(ctx, Options{Method: Hierarchical}); !errors.As(err, &bad) || bad.Field != "Method" {
		t.Errorf("more chunks than the method takes: %v", err)
	}
}
