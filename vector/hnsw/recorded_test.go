package hnsw_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// recordedVectors is a vector file of LightRAG's default storage: rows[i] is the vector of ids[i].
type recordedVectors struct {
	ids  []string
	rows [][]float32
}

func readRecorded(t *testing.T, path string) (v recordedVectors) {
	t.Helper()
	var file struct {
		Dim  int `json:"embedding_dim"`
		Data []struct {
			ID string `json:"__id__"`
		}
		Matrix []byte // base64 of float32 rows
	}
	readRecordedJSON(t, path, &file)
	if file.Dim < 1 || len(file.Matrix) != 4*file.Dim*len(file.Data) {
		t.Fatalf("%s: %d bytes are not %d vectors of %d values", path, len(file.Matrix), len(file.Data), file.Dim)
	}
	for i, d := range file.Data {
		row := make([]float32, file.Dim)
		for k := range row {
			row[k] = math.Float32frombits(binary.LittleEndian.Uint32(file.Matrix[4*(i*file.Dim+k):]))
		}
		v.ids, v.rows = append(v.ids, d.ID), append(v.rows, row)
	}
	return v
}

func readRecordedJSON(t *testing.T, path string, to any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// neighbour is an id and its cosine, as the files of exact answers give them.
type neighbour struct {
	id     string
	cosine float64
}

func (n *neighbour) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &[]any{&n.id, &n.cosine}) }

// TestRecordedEmbeddings searches the embeddings of real texts that five models made, with the vector of every
// chunk as the query: a scan gives the ten nearest that were computed in float64, in their order, and the graph
// finds nearly all of them.
func TestRecordedEmbeddings(t *testing.T) {
	for _, name := range []string{"lightrag-carol", "lightrag-wiki24", "lightrag-ollama-zh", "lightrag-xiaomi-zh", "lightrag-tiki-vi"} {
		t.Run(name, func(t *testing.T) {
			dir := testkit.Data(t, name)
			var exact map[string]map[string][]neighbour
			readRecordedJSON(t, filepath.Join(dir, "gt_cosine_top10.json"), &exact)
			queries := readRecorded(t, filepath.Join(dir, "vdb_chunks.json"))
			s := newStore(t)
			for kind, nearest := range exact {
				base := readRecorded(t, filepath.Join(dir, "vdb_"+kind+".json"))
				c := s.Create(kind, vector.Config{Dim: len(base.rows[0])})
				s.Write(func(b *kv.Batch) error {
					for i, id := range base.ids {
						if err := c.Put(b, id, base.rows[i]); err != nil {
							return err
						}
					}
					return nil
				})
				s.Settle()
				if len(nearest) != len(queries.ids) {
					t.Fatalf("%s: %d exact answers for %d chunks", kind, len(nearest), len(queries.ids))
				}
				found, of := 0, 0
				for i, id := range queries.ids {
					want := nearest[id]
					sameOrder(t, kind+" nearest to "+id, search(t, s, c, queries.rows[i], vector.PlanScan), want)
					among := map[string]bool{}
					for _, h := range search(t, s, c, queries.rows[i], vector.PlanIndex) {
						among[h.ID] = true
					}
					for _, n := range want {
						of++
						if among[n.id] {
							found++
						}
					}
				}
				if recall := float64(found) / float64(of); recall < 0.99 {
					t.Errorf("%s: the graph finds %.4f of the ten nearest", kind, recall)
				}
				t.Logf("%s: the graph finds %d of %d", kind, found, of)
			}
		})
	}
}

func search(t *testing.T, s *vectorkit.Store, c *vector.Collection, q []float32, p vector.Plan) []vector.Hit {
	t.Helper()
	snap := s.View()
	defer snap.Close()
	hits, err := c.Search(context.Background(), snap, q, vector.SearchOptions{K: 10, Plan: p})
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// sameOrder compares ids place by place. Where two cosines are nearer to each other than float32 sums can tell,
// either may come first.
func sameOrder(t *testing.T, what string, got []vector.Hit, want []neighbour) {
	t.Helper()
	const indistinct = 1e-6
	if len(got) != len(want) {
		t.Fatalf("%s: %d hits, want %d", what, len(got), len(want))
	}
	cosine := map[string]float64{}
	for _, n := range want {
		cosine[n.id] = n.cosine
	}
	for i, n := range want {
		known, ok := cosine[got[i].ID]
		if !ok && math.Abs(want[len(want)-1].cosine-n.cosine) < indistinct {
			known = n.cosine // one that ties with the last place
		}
		if math.Abs(float64(got[i].Score)-n.cosine) > indistinct || got[i].ID != n.id && math.Abs(known-n.cosine) > indistinct {
			t.Errorf("%s, place %d: %s at %.7f, want %s at %.7f", what, i+1, got[i].ID, got[i].Score, n.id, n.cosine)
		}
		delete(cosine, got[i].ID) // none comes twice
	}
}
