package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	coder "github.com/coder/hnsw"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/wal"
)

// vectorStore is the vector layer over a real commit path, without the rest of the database.
type vectorStore struct {
	kv  *kv.Store
	log *wal.Log
	set *vector.Set
	c   *vector.Collection
}

func openVectorStore(b *testing.B, dir string, fs vfs.FS, exactBytes int64) *vectorStore {
	b.Helper()
	s := &vectorStore{}
	var err error
	if s.kv, err = kv.Open(dir, kv.Options{FS: fs}); err != nil {
		b.Fatal(err)
	}
	if s.log, err = wal.Open(s.kv, nil); err != nil {
		b.Fatal(err)
	}
	snap, err := s.log.View()
	if err != nil {
		b.Fatal(err)
	}
	defer snap.Close()
	s.set, err = vector.OpenSet(snap, vector.SetOptions{NewIndex: hnsw.Factory, Update: s.log.Update,
		Oldest: s.kv.OldestLSN, ExactBytes: exactBytes}, "")
	if err != nil {
		b.Fatal(err)
	}
	s.c, _ = s.set.Collection(snap, "", "v") // nil before load
	return s
}

func (s *vectorStore) close(b *testing.B) {
	b.Helper()
	if err := s.set.Close(); err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(s.log.Close(), s.kv.Close()); err != nil {
		b.Fatal(err)
	}
}

// load commits the vectors in batches, as documents would, and waits for the index.
func (s *vectorStore) load(b *testing.B, vectors [][]float32) {
	b.Helper()
	ctx := context.Background()
	const batch = 500
	for at := 0; at < len(vectors); at += batch {
		_, err := s.log.Update(ctx, "load", nil, func(tx *kv.Batch) (err error) {
			if s.c, err = s.set.Create(tx, "", "v", vector.Config{Dim: len(vectors[0])}); err != nil {
				return err
			}
			for i := at; i < min(at+batch, len(vectors)); i++ {
				if err := s.c.Put(tx, vectorID(i), vectors[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := s.set.Settle(ctx); err != nil {
		b.Fatal(err)
	}
}

func vectorID(i int) string { return fmt.Sprintf("vector-%06d", i) }

// clustered returns n vectors of low intrinsic dimension around many centres, as text embeddings are.
func clustered(seed uint64, n, dim int) [][]float32 {
	const centres, intrinsic = 200, 24
	r := rand.New(rand.NewPCG(seed, 1))
	basis := make([][]float32, intrinsic)
	for i := range basis {
		basis[i] = gaussian(r, dim)
	}
	mid := make([][]float32, centres)
	for i := range mid {
		mid[i] = gaussian(r, intrinsic)
	}
	out := make([][]float32, n)
	for i := range out {
		v := make([]float32, dim)
		at := mid[r.IntN(centres)]
		for j, axis := range basis {
			w := at[j] + 0.6*float32(r.NormFloat64())
			for k, x := range axis {
				v[k] += w * x
			}
		}
		for k := range v {
			v[k] += 0.1 * float32(r.NormFloat64())
		}
		out[i] = v
	}
	return out
}

func gaussian(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// BenchmarkVectorSearch compares, on the same vectors and queries, our exact scan and our graph, through
// the public search of a collection, with github.com/coder/hnsw. Recall is against the exact answer.
func BenchmarkVectorSearch(b *testing.B) {
	const n, dim, queries, k = 10_000, 384, 200, 10
	all := clustered(1, n+queries, dim)
	base, qs := all[:n], all[n:]
	s := openVectorStore(b, "db", vfs.NewMem(), -1)
	defer s.close(b)
	start := time.Now()
	s.load(b, base)
	build := time.Since(start)
	snap, err := s.log.View()
	if err != nil {
		b.Fatal(err)
	}
	defer snap.Close()
	ctx := context.Background()
	find := func(q []float32, o vector.SearchOptions) []string {
		hits, err := s.c.Search(ctx, snap, q, o)
		if err != nil {
			b.Fatal(err)
		}
		ids := make([]string, len(hits))
		for i, h := range hits {
			ids[i] = h.ID
		}
		return ids
	}
	truth := make([][]string, queries)
	for i, q := range qs {
		truth[i] = find(q, vector.SearchOptions{K: k, Exact: true})
	}
	measure := func(name string, extra func(b *testing.B), search func(q []float32) []string) {
		b.Run(name, func(b *testing.B) {
			found := 0
			for i, q := range qs {
				for _, id := range search(q) {
					if slices.Contains(truth[i], id) {
						found++
					}
				}
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				search(qs[i%queries])
				i++
			}
			b.ReportMetric(float64(found)/(k*queries), "recall@10")
			if extra != nil {
				extra(b)
			}
		})
	}
	measure("exact", nil, func(q []float32) []string { return find(q, vector.SearchOptions{K: k, Exact: true}) })
	for _, ef := range []int{20, 40, 96, 200} {
		measure(fmt.Sprintf("hnsw/ef=%d", ef), func(b *testing.B) { b.ReportMetric(build.Seconds(), "build-s") },
			func(q []float32) []string { return find(q, vector.SearchOptions{K: k, Ef: ef}) })
	}
	peer := coder.NewGraph[string]()
	peer.Rng.Seed(1)
	peer.EfSearch = 200
	start = time.Now()
	for i, v := range base {
		peer.Add(coder.MakeNode(vectorID(i), v))
	}
	peerBuild := time.Since(start)
	measure("coder-hnsw/ef=200", func(b *testing.B) { b.ReportMetric(peerBuild.Seconds(), "build-s") },
		func(q []float32) []string {
			nodes := peer.Search(q, k)
			ids := make([]string, len(nodes))
			for i, n := range nodes {
				ids[i] = n.Key
			}
			return ids
		})
}
