package bench

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/cluster"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/hashed"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/wal"
)

// Questions of a routing benchmark, and how many neighbours each wants.
const (
	routedQuestions = 300
	routedK         = 10
)

// routedStore holds chunk vectors without texts, with a navigation layer.
type routedStore struct {
	kv    *kv.Store
	log   *wal.Log
	set   *vector.Set
	coll  *vector.Collection
	layer *cluster.Layer
}

func openRouted(b *testing.B, rows [][]float32) *routedStore {
	b.Helper()
	s := &routedStore{}
	var err error
	must := func(err error) {
		if err != nil {
			b.Helper()
			b.Fatal(err)
		}
	}
	s.kv, err = kv.Open("routed", kv.Options{FS: vfs.NewMem()})
	must(err)
	s.log, err = wal.Open(s.kv, nil)
	must(err)
	snap, err := s.log.View()
	must(err)
	s.set, err = vector.OpenSet(snap, vector.SetOptions{NewIndex: hnsw.Factory, Update: s.log.Update, Oldest: s.kv.OldestLSN}, "")
	must(err)
	emb, err := hashed.New(hashed.Options{Dim: max(hashed.MinDim, len(rows[0]))})
	must(err)
	s.layer, err = cluster.Open(snap, cluster.Config{Updater: s.log, Vectors: s.set, Embedder: func() llm.Embedder { return emb }})
	must(err)
	must(snap.Close())
	b.Cleanup(func() {
		must(s.set.Close())
		must(s.log.Close())
		must(s.kv.Close())
	})
	const batch = 5000
	for from := 0; from < len(rows); from += batch {
		s.put(b, rows[from:min(from+batch, len(rows))], from)
	}
	return s
}

// put stores rows as chunks numbered from at.
func (s *routedStore) put(b *testing.B, rows [][]float32, at int) {
	b.Helper()
	_, err := s.log.Update(b.Context(), "put", nil, func(batch *kv.Batch) error {
		c, err := s.set.Create(batch, "", record.ChunkCollection, vector.Config{Dim: len(rows[0]), Model: "bench"})
		if err != nil {
			return err
		}
		s.coll = c
		for i, v := range rows {
			if err := c.Put(batch, record.ChunkID(fmt.Sprintf("d%07d", at+i), 0), v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// routed is what one question costs and finds by one way.
type routed struct {
	cpu      time.Duration
	recall   float64
	compared float64
}

// askedBy runs all questions by f on one thread.
func askedBy(b *testing.B, questions [][]float32, want [][]vector.Hit, f func(q []float32) ([]vector.Hit, int, error)) routed {
	b.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var r routed
	began := cpuTime()
	got := make([][]vector.Hit, len(questions))
	for i, q := range questions {
		hits, compared, err := f(q)
		if err != nil {
			b.Fatal(err)
		}
		got[i] = hits
		r.compared += float64(compared) / float64(len(questions))
	}
	r.cpu = (cpuTime() - began) / time.Duration(len(questions))
	for i, hits := range got {
		in := make(map[string]bool)
		for _, h := range want[i] {
			in[h.ID] = true
		}
		for _, h := range hits {
			if in[h.ID] {
				r.recall += 1 / float64(routedK*len(questions))
			}
		}
	}
	return r
}

// route searches as a query routed by vector does.
func (s *routedStore) route(b *testing.B, view *kv.Snapshot) func(q []float32) ([]vector.Hit, int, error) {
	n := s.layer.Current()
	lim := n.Limits().WithDefaults()
	return func(q []float32) ([]vector.Hit, int, error) {
		near := n.Nearest(cluster.Unit(q))
		chosen, _ := lim.Choose(near)
		cells := make([]uint32, chosen)
		for i, c := range near[:chosen] {
			cells[i] = c.ID
		}
		return n.Search(b.Context(), view, q, cells, vector.SearchOptions{K: routedK})
	}
}

func (s *routedStore) collection(b *testing.B, view *kv.Snapshot, o vector.SearchOptions) func(q []float32) ([]vector.Hit, int, error) {
	return func(q []float32) ([]vector.Hit, int, error) {
		hits, err := s.coll.Search(b.Context(), view, q, o)
		return hits, 0, err
	}
}

// BenchmarkRouting compares routed search with the exact search of everything and with HNSW at equal recall, all in one
// run, by processor time of one thread.
func BenchmarkRouting(b *testing.B) {
	for _, set := range []struct {
		name string
		rows func(b *testing.B) (rows, questions [][]float32)
	}{
		{"topics-50000x384", func(*testing.B) ([][]float32, [][]float32) { return parted(clustered(3, 50_000+routedQuestions, 384)) }},
		{"topics-200000x384", func(*testing.B) ([][]float32, [][]float32) { return parted(clustered(3, 200_000+routedQuestions, 384)) }},
		{"fashion-10000x784", fashion},
		{"noise-50000x384", func(*testing.B) ([][]float32, [][]float32) { return parted(scattered(50_000+routedQuestions, 384)) }},
	} {
		b.Run(set.name, func(b *testing.B) {
			rows, questions := set.rows(b)
			s := openRouted(b, rows)
			began := processTime()
			if err := s.set.Settle(b.Context()); err != nil {
				b.Fatal(err)
			}
			indexed := processTime() - began
			began = processTime()
			rep, err := s.layer.Build(b.Context(), cluster.Options{Summary: cluster.SummaryNone, Centroid: cluster.CentroidMean})
			if err != nil {
				b.Fatal(err)
			}
			built := processTime() - began
			view, err := s.log.View()
			if err != nil {
				b.Fatal(err)
			}
			defer view.Close()
			want := make([][]vector.Hit, len(questions))
			for i, q := range questions {
				if want[i], err = s.coll.Search(b.Context(), view, q, vector.SearchOptions{K: routedK, Exact: true}); err != nil {
					b.Fatal(err)
				}
			}
			flat := askedBy(b, questions, want, s.collection(b, view, vector.SearchOptions{K: routedK, Exact: true}))
			if flat.recall < 0.9999 {
				b.Fatalf("the exact search finds %v", flat.recall)
			}
			by := askedBy(b, questions, want, s.route(b, view))
			var graph routed
			for _, ef := range []int{10, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512} {
				if graph = askedBy(b, questions, want, s.collection(b, view, vector.SearchOptions{K: routedK, Ef: ef})); graph.recall >= by.recall {
					break
				}
			}
			share := by.compared / float64(len(rows))
			if rep.Pays && by.recall < 0.93 {
				b.Errorf("routing was measured to pay, and finds %v", by.recall)
			}
			for b.Loop() { // what there is to tell was measured above
				_, _, err = s.route(b, view)(questions[0])
			}
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(by.recall, "recall")
			b.ReportMetric(share, "share")
			b.ReportMetric(float64(flat.cpu)/float64(by.cpu), "x-flat")
			b.ReportMetric(float64(graph.cpu)/float64(by.cpu), "x-hnsw")
			b.Logf("%s: K %d, limits %+v, pays %v, silhouette %.3f; routed recall %.4f comparing %.2f%%; µs a question: flat %d, routed %d, HNSW %d (recall %.4f); build %v, HNSW %v",
				set.name, len(rep.Clusters), rep.Limits, rep.Pays, rep.Quality.Silhouette, by.recall, 100*share,
				flat.cpu.Microseconds(), by.cpu.Microseconds(), graph.cpu.Microseconds(), graph.recall, built.Round(time.Millisecond), indexed.Round(time.Millisecond))
		})
	}
}

// BenchmarkRoutingUpkeep puts rows one at a time into clusters that were made of a few, tended whenever a commit asks for it
// as the background does, deletes half of them, and compares what is found with clusters made anew, each with limits tuned
// at that time.
func BenchmarkRoutingUpkeep(b *testing.B) {
	const least = 0.97 // of the recall of clusters made anew
	for _, n := range []int{10_000, 50_000} {
		b.Run(fmt.Sprintf("%dx128", n), func(b *testing.B) {
			rows, questions := parted(clustered(4, n+routedQuestions, 128))
			s := openRouted(b, rows[:1000])
			s.build(b)
			rebuilt := 0
			for i := 1000; i < n; i++ {
				s.put(b, rows[i:i+1], i)
				rebuilt += s.tendIfDue(b)
			}
			inserted := s.found(b, questions)
			s.build(b)
			fresh := s.found(b, questions)
			for i := 0; i < n; i += 2 {
				if _, err := s.log.Update(b.Context(), "delete", nil, func(batch *kv.Batch) error {
					return s.coll.Delete(batch, record.ChunkID(fmt.Sprintf("d%07d", i), 0))
				}); err != nil {
					b.Fatal(err)
				}
				s.tendIfDue(b)
			}
			deleted := s.found(b, questions)
			s.build(b)
			half := s.found(b, questions)
			for b.Loop() { // what there is to tell was measured above
				s.layer.Current().K()
			}
			b.ReportMetric(inserted.recall/fresh.recall, "inserted/fresh")
			b.ReportMetric(deleted.recall/half.recall, "deleted/fresh")
			tell := func(r routed, of int) string {
				return fmt.Sprintf("recall %.4f comparing %.2f%%", r.recall, 100*r.compared/float64(of))
			}
			b.Logf("%d inserts one by one, %d rebuilds: %s, made anew %s; %d deletes one by one: %s, made anew %s",
				n-1000, rebuilt, tell(inserted, n), tell(fresh, n), n/2, tell(deleted, n/2), tell(half, n/2))
			if inserted.recall < least*fresh.recall || deleted.recall < least*half.recall {
				b.Errorf("upkeep loses recall: %.4f of %.4f, %.4f of %.4f", inserted.recall, fresh.recall, deleted.recall, half.recall)
			}
		})
	}
}

func (s *routedStore) build(b *testing.B) {
	b.Helper()
	if _, err := s.layer.Build(b.Context(), cluster.Options{Summary: cluster.SummaryNone, Centroid: cluster.CentroidMean}); err != nil {
		b.Fatal(err)
	}
}

// tendIfDue does what a commit has left to do, and tells how often that was to build anew.
func (s *routedStore) tendIfDue(b *testing.B) int {
	b.Helper()
	select {
	case <-s.layer.Wake():
		rep, err := s.layer.Tend(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if rep.Rebuilt {
			return 1
		}
	default:
	}
	return 0
}

// found is what routed questions find, and compare, under limits that are tuned first.
func (s *routedStore) found(b *testing.B, questions [][]float32) routed {
	b.Helper()
	if _, err := s.layer.Tune(b.Context(), cluster.TuneOptions{}); err != nil {
		b.Fatal(err)
	}
	view, err := s.log.View()
	if err != nil {
		b.Fatal(err)
	}
	defer view.Close()
	want := make([][]vector.Hit, len(questions))
	for i, q := range questions {
		if want[i], err = s.coll.Search(b.Context(), view, q, vector.SearchOptions{K: routedK, Exact: true}); err != nil {
			b.Fatal(err)
		}
	}
	return askedBy(b, questions, want, s.route(b, view))
}

// scattered are n vectors without any structure.
func scattered(n, dim int) (out [][]float32) {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	for range n {
		out = append(out, gaussian(r, dim))
	}
	return out
}

// parted sets questions apart from rows.
func parted(all [][]float32) (rows, questions [][]float32) {
	return all[routedQuestions:], all[:routedQuestions]
}

// fashion are the images of ann-fashion-mnist.
func fashion(b *testing.B) (rows, questions [][]float32) {
	dir := testkit.Data(b, "ann-fashion-mnist")
	return images(b, filepath.Join(dir, "base-images-idx3-ubyte.gz")), images(b, filepath.Join(dir, "query-images-idx3-ubyte.gz"))
}

func images(b *testing.B, name string) (out [][]float32) {
	b.Helper()
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil || len(raw) < 16 {
		b.Fatalf("%d bytes: %v", len(raw), err)
	}
	dim := int(binary.BigEndian.Uint32(raw[8:]) * binary.BigEndian.Uint32(raw[12:]))
	for at := 16; at+dim <= len(raw); at += dim {
		v := make([]float32, dim)
		for i, p := range raw[at : at+dim] {
			v[i] = float32(p)
		}
		out = append(out, v)
	}
	return out
}
