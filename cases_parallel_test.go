package db_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// harbour is the i-th document of HC-23: all of them speak of one office and of one another.
func harbour(i int) index.Document {
	return doc(fmt.Sprintf("harbour-%02d", i), fmt.Sprintf("E Harbor Office (fact %d)\nE Pier %d (built)\nR Harbor Office - Pier %d (runs %d)\nR Harbor Office - Pier %d (watches %d)", i, i%5, i%5, i, (i+1)%5, i))
}

// Thirty-two writers and eight readers at once, on two databases of one process: no error, no lost update,
// every context from one state, and in the end, byte for byte, what one by one would have given.
func TestHC23_Parallel(t *testing.T) {
	var both sync.WaitGroup
	for seed, name := range []string{"first", "second"} {
		d := openTest(t, modelled(extracting(), llmtest.NewEmbedder(8)))
		both.Go(func() { parallel(t, name, d, rand.New(rand.NewPCG(uint64(seed), 23)).Perm(32)) })
	}
	both.Wait()
}

func parallel(t *testing.T, name string, d *db.DB, docs []int) {
	pair := func(version int) index.Document {
		v := fmt.Sprint("version ", version)
		return doc("pair", fmt.Sprintf("E Left Half (%s)\nE Right Half (%s)\nR Left Half - Right Half (%s)", v, v, v))
	}
	if _, err := d.Insert(ctx, pair(0)); err != nil {
		t.Error(err)
		return
	}
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for _, i := range docs {
		writers.Go(func() {
			if _, err := d.Insert(ctx, harbour(i)); err != nil {
				t.Errorf("%s: insert %d: %v", name, i, err)
			}
			if i%8 == 0 { // both halves change together
				if _, err := d.Put(ctx, pair(1+i)); err != nil {
					t.Errorf("%s: put %d: %v", name, i, err)
				}
			}
		})
	}
	for i := range 8 {
		readers.Go(func() {
			mode := retrieving[i%len(retrieving)]
			for range 60 { // enough to meet every commit, and to leave the writers a processor
				res, err := d.Query(ctx, "the halves", query.Options{Mode: mode, Want: query.WantContext,
					LowKeywords: []string{"Left Half"}, HighKeywords: []string{"with"}, TopK: 1000, ChunkTopK: 1000})
				if err != nil {
					t.Errorf("%s: %s: %v", name, mode, err)
					return
				}
				if v := versions(res); len(v) != 1 {
					t.Errorf("%s: %s at LSN %d shows versions %v", name, mode, res.LSN, v)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if e := entity(t, d, "Harbor Office"); e == nil || e.SourceCount != len(docs) {
		t.Errorf("%s: Harbor Office is %+v", name, e)
	}
	if _, err := d.Delete(ctx, "pair"); err != nil {
		t.Error(err)
	}
	// One by one, in the order in which the documents came to be enqueued.
	single := openTest(t, stubbed())
	var order []int
	for c, err := range d.Changes(ctx, 0) {
		if err != nil {
			t.Error(err)
			return
		}
		var i int
		if c.Kind != "enqueue" {
			continue
		}
		if _, err := fmt.Sscanf(c.IDs[0], "harbour-%d", &i); err != nil {
			continue // of the pair
		}
		order = append(order, i)
		if _, err := single.Insert(ctx, harbour(i)); err != nil {
			t.Error(err)
		}
	}
	if len(order) != len(docs) {
		t.Errorf("%s: enqueued %v", name, order)
	}
	equalDumps(t, logical(t, d), logical(t, single))
}

// versions are the versions of the two halves that a result shows, in any of its parts.
func versions(res *query.Result) map[string]bool {
	out := make(map[string]bool)
	for _, e := range res.Data.Entities {
		if strings.HasSuffix(e.Name, "Half") {
			out[e.Description] = true
		}
	}
	for _, r := range res.Data.Relations {
		if strings.HasSuffix(r.Src, "Half") && strings.HasSuffix(r.Dst, "Half") {
			out[r.Description] = true
		}
	}
	for _, c := range res.Data.Chunks {
		if c.Document == "pair" {
			for _, e := range records(c.Content).Entities {
				out[e.Description] = true
			}
		}
	}
	return out
}
