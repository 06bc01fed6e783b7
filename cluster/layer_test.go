package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/vector"
)

func TestBuildFindsTopics(t *testing.T) {
	for _, o := range []Options{{K: 8}, {K: 8, Reduce: 6}, {Method: DBSCAN, Radius: 0.25}, {Method: Communities}, {Method: Hierarchical}, {K: 8, Replicas: 3, Epsilon: 0.5}, {Elbow: true}} {
		t.Run(fmt.Sprintf("%s K %d reduce %d replicas %d", o.Method, o.K, o.Reduce, o.Replicas), func(t *testing.T) {
			s := openStore(t, vfs.NewMem(), 64)
			s.put(topics(seeded(t, 7), 8, 60, 64, 0.1))
			rep := s.build(o)
			if !o.Elbow && len(rep.Clusters) != 8 || rep.Chunks != 480 || rep.Always != 0 {
				t.Fatalf("%d clusters, %d chunks, %d always searched", len(rep.Clusters), rep.Chunks, rep.Always)
			}
			if rep.Quality.Silhouette < 0.5 {
				t.Errorf("silhouette %v of topics far apart", rep.Quality.Silhouette)
			}
			n, v := s.layer.Current(), s.view()
			defer v.Close()
			for _, c := range rep.Clusters {
				members := n.Members(v, c.ID)
				if want, _, _ := record.ParseChunkID(members[0]); !o.Elbow && o.Replicas < 2 {
					for _, id := range members {
						if doc, _, _ := record.ParseChunkID(id); doc != want {
							t.Fatalf("cluster %d has %s and %s", c.ID, members[0], id)
						}
					}
				}
				if c.Summary == "" || len(c.Keywords) == 0 || len(c.Representatives) == 0 {
					t.Errorf("cluster %d is not described: %+v", c.ID, c)
				}
			}
		})
	}
}

// An equal store gives equal clusters, whatever the order of commits.
func TestDeterministic(t *testing.T) {
	all := topics(seeded(t, 3), 6, 50, 64, 0.6)
	var want string
	for i := range 3 {
		s := openStore(t, vfs.NewMem(), 64)
		ids := slices.Sorted(maps.Keys(all))
		rand.New(rand.NewPCG(uint64(i), 9)).Shuffle(len(ids), func(a, b int) { ids[a], ids[b] = ids[b], ids[a] })
		for part := range slices.Chunk(ids, 37+i) {
			some := make(map[string][]float32)
			for _, id := range part {
				some[id] = all[id]
			}
			s.put(some)
		}
		got := ""
		for range 2 {
			rep := s.build(Options{K: 9, Replicas: 2, Epsilon: 0.3})
			v, n := s.view(), s.layer.Current()
			b, err := json.Marshal(rep.Clusters)
			if err != nil {
				t.Fatal(err)
			}
			text := string(b) + fmt.Sprint(rep.Quality, rep.Limits)
			for _, c := range rep.Clusters {
				text += fmt.Sprint(n.Members(v, c.ID))
			}
			if v.Close(); got != "" && got != text {
				t.Fatal("two builds of one store differ")
			}
			got = text
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("order of commits %d gives other clusters", i)
		}
	}
}

// Random histories leave what Check recomputes from the vectors, and searches that agree with brute force.
func TestHistories(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := seeded(t, seed)
			s := openStore(t, vfs.NewMem(), 64)
			live := topics(r, 5, 30, 64, 0.5)
			s.put(live)
			s.build(Options{K: 6, Replicas: 1 + int(seed%3), Epsilon: 0.2})
			for range 60 {
				switch r.IntN(12) {
				case 0:
					s.reopen()
				case 1:
					if _, err := s.layer.Tend(ctx); err != nil {
						t.Fatal(err)
					}
				case 2:
					if r.IntN(3) == 0 {
						s.build(Options{Replicas: 1 + r.IntN(2)})
					}
				default:
					s.put(randomChanges(r, live))
				}
				s.check()
			}
			s.searchesAgree(r, live)
		})
	}
}

// randomChanges puts, replaces and deletes some chunks in live, and returns the changes.
func randomChanges(r *rand.Rand, live map[string][]float32) map[string][]float32 {
	out := make(map[string][]float32)
	ids := slices.Sorted(maps.Keys(live))
	grow := r.IntN(3)
	for range 1 + r.IntN(12) {
		id := record.ChunkID(fmt.Sprintf("new%02d", r.IntN(30)), r.IntN(8))
		if r.IntN(3) > grow && len(ids) > 0 {
			id = ids[r.IntN(len(ids))]
			if _, twice := out[id]; !twice {
				out[id] = nil
				delete(live, id)
			}
			continue
		}
		v := gauss(r, 64)
		out[id], live[id] = v, v
	}
	return out
}

// searchesAgree searches all clusters, and some, and compares with the whole collection and with their members.
func (s *store) searchesAgree(r *rand.Rand, live map[string][]float32) {
	s.t.Helper()
	v, n := s.view(), s.layer.Current()
	defer v.Close()
	var all []uint32
	total := 0
	for _, c := range n.Info().Clusters {
		all = append(all, c.ID)
		total += c.Size
	}
	if total+n.Info().Always != len(live) || n.Len() != len(live) {
		s.t.Fatalf("%d chunks in clusters, %d always, %d there are", total, n.Info().Always, len(live))
	}
	for range 20 {
		q := gauss(r, 64)
		want, err := n.coll.Search(ctx, v, q, vector.SearchOptions{K: 15, Exact: true})
		if err != nil {
			s.t.Fatal(err)
		}
		got, compared, err := n.Search(ctx, v, q, all, vector.SearchOptions{K: 15})
		if err != nil || compared != len(live) && len(live) > 0 && compared < len(live) {
			s.t.Fatalf("compared %d of %d: %v", compared, len(live), err)
		}
		if !slices.Equal(got, want) {
			s.t.Fatalf("all clusters: %v, want %v", got, want)
		}
		if len(all) == 0 {
			continue
		}
		some := all[:1+r.IntN(len(all))]
		in := make(map[string]bool)
		for _, cell := range append(slices.Clone(some), alwaysSearched) {
			for _, id := range n.Members(v, cell) {
				in[id] = true
			}
		}
		want, err = n.coll.Search(ctx, v, q, vector.SearchOptions{K: 15, Exact: true, Filter: func(id string) bool { return in[id] }})
		if err != nil {
			s.t.Fatal(err)
		}
		if got, _, err = n.Search(ctx, v, q, some, vector.SearchOptions{K: 15}); err != nil || !slices.Equal(got, want) {
			s.t.Fatalf("clusters %v: %v, want %v (%v)", some, got, want, err)
		}
	}
}

// A view goes on seeing its chunks when later commits delete and move them.
func TestOlderViews(t *testing.T) {
	r := seeded(t, 11)
	s := openStore(t, vfs.NewMem(), 64)
	live := topics(r, 4, 40, 64, 0.3)
	s.put(live)
	s.build(Options{K: 4})
	old, before := s.view(), s.layer.Current()
	defer old.Close()
	gone := make(map[string][]float32)
	for i, id := range slices.Sorted(maps.Keys(live)) {
		if i%5 != 0 {
			gone[id] = nil
		}
	}
	s.put(gone)
	s.check()
	more := make(map[string][]float32)
	for id, v := range topics(r, 3, 50, 64, 0.3) {
		more["x"+id] = v
	}
	s.put(more)
	if _, err := s.layer.Tend(ctx); err != nil {
		t.Fatal(err)
	}
	n := s.layer.Current()
	if n == before {
		t.Fatal("the navigation did not move")
	}
	var all []uint32
	for _, c := range n.Info().Clusters {
		all = append(all, c.ID)
	}
	for range 10 {
		q := gauss(r, 64)
		want, err := n.coll.Search(ctx, old, q, vector.SearchOptions{K: 20, Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		if n.Fits(old, n.coll, "test", 64) != "" { // a cluster has become empty: the view must not use it
			t.Fatal("no cluster was to become empty")
		}
		if got, _, err := n.Search(ctx, old, q, all, vector.SearchOptions{K: 20}); err != nil || !slices.Equal(got, want) {
			t.Fatalf("at the old view: %v, want %v (%v)", got, want, err)
		}
	}
}

// Views that show what was in a cluster before it became empty do not use the clusters.
func TestEmptiedCluster(t *testing.T) {
	r := seeded(t, 12)
	s := openStore(t, vfs.NewMem(), 64)
	live := topics(r, 4, 20, 64, 0.1)
	s.put(live)
	s.build(Options{K: 4})
	old := s.view()
	defer old.Close()
	gone := make(map[string][]float32)
	for id := range live {
		if doc, _, _ := record.ParseChunkID(id); doc == "doc02" {
			gone[id] = nil
		}
	}
	s.put(gone)
	n := s.layer.Current()
	v := s.view()
	defer v.Close()
	if n.K() != 3 || n.Fits(v, n.coll, "test", 64) != "" || n.Fits(old, n.coll, "test", 64) == "" {
		t.Fatalf("%d clusters; new view %q, old view %q", n.K(), n.Fits(v, n.coll, "test", 64), n.Fits(old, n.coll, "test", 64))
	}
	if rep, err := s.layer.Tend(ctx); err != nil || rep.Merged != 1 || len(s.layer.Current().Info().Clusters) != 3 {
		t.Fatalf("%+v, %v", rep, err)
	}
	s.check()
	if got := s.layer.Current(); got.Fits(old, got.coll, "test", 64) == "" {
		t.Fatal("an old view may use clusters of which one has gone")
	}
}
