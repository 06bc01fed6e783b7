package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/wal"
)

// The store whose opening is measured.
const (
	openVectors, openDim  = 100_000, 384
	openNodes, openEdges  = 20_000, 100_000
	openQueries, openHits = 20, 10
)

// BenchmarkOpen opens one directory in turn in three ways: the whole database, its vector rows without
// their graph index, and bare Pebble, which then reads the rows once. The ratios of the medians to bare
// Pebble are the promise. Every opening of the database must find what an exact search found before, and
// index nothing anew.
func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "db")
	queries, truth := fillOpenStore(b, dir)
	var whole, rows, bare, search []time.Duration
	b.ResetTimer()
	for b.Loop() {
		var d *db.DB
		whole = append(whole, timed(b, func() (err error) { d, err = db.Open(dir); return err }))
		search = append(search, checkOpened(b, d, queries, truth))
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
		rows = append(rows, openRows(b, dir))
		bare = append(bare, openBare(b, dir))
	}
	base := float64(median(bare))
	b.ReportMetric(float64(median(whole))/base, "x-pebble")
	b.ReportMetric(float64(median(rows))/base, "x-pebble-rows")
	b.ReportMetric(median(whole).Seconds()*1e3, "open-ms")
	b.ReportMetric(median(bare).Seconds()*1e3, "bare-ms")
	b.ReportMetric(median(search).Seconds()*1e3, "first-search-ms")
}

func timed(b *testing.B, f func() error) time.Duration {
	b.Helper()
	start := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

// fillOpenStore writes the store, and returns queries and the ids that an exact search finds for them.
func fillOpenStore(b *testing.B, dir string) (queries [][]float32, truth [][]string) {
	b.Helper()
	ctx := context.Background()
	d, err := db.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	all := clustered(2, openVectors+openQueries, openDim)
	queries = all[openVectors:]
	const batch = 500
	for at := 0; at < openVectors; at += batch {
		err := d.Update(ctx, func(tx *db.Tx) error {
			c, err := tx.CreateVectors("v", vector.Config{Dim: openDim})
			if err != nil {
				return err
			}
			for i := at; i < at+batch; i++ {
				if err := c.Put(vectorID(i), all[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	fillOpenGraph(b, d)
	if err := d.Settle(ctx); err != nil {
		b.Fatal(err)
	}
	for _, q := range queries {
		ids, _ := find(b, d, q, vector.SearchOptions{K: openHits, Exact: true})
		truth = append(truth, ids)
	}
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
	return queries, truth
}

func fillOpenGraph(b *testing.B, d *db.DB) {
	b.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	name := func(i int) string { return fmt.Sprintf("node-%05d", i) }
	nodes, edges := 0, make(map[[2]int]bool)
	for nodes < openNodes || len(edges) < openEdges {
		err := d.Update(context.Background(), func(tx *db.Tx) error {
			g, err := tx.CreateGraph("g", graph.Config{})
			if err != nil {
				return err
			}
			for staged := 0; staged < 2000; staged++ {
				if nodes < openNodes {
					if err := g.PutNode(graph.Node{Name: name(nodes), Type: "thing"}); err != nil {
						return err
					}
					nodes++
					continue
				}
				at := [2]int{r.IntN(openNodes), r.IntN(openNodes)}
				if at[0] >= at[1] || edges[at] || len(edges) == openEdges {
					continue
				}
				edges[at] = true
				if err := g.PutEdge(graph.Edge{Src: name(at[0]), Dst: name(at[1]), Weight: 1}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// find searches the collection and returns the ids found and what it cost.
func find(b *testing.B, d *db.DB, q []float32, o vector.SearchOptions) (ids []string, cost time.Duration) {
	b.Helper()
	ctx := context.Background()
	err := d.View(ctx, func(tx *db.Tx) error {
		c, err := tx.Vectors("v")
		if err != nil {
			return err
		}
		start := time.Now()
		hits, err := c.Search(q, o)
		cost = time.Since(start)
		for _, h := range hits {
			ids = append(ids, h.ID)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return ids, cost
}

// checkOpened holds a database that was just opened against the exact answers, and returns the cost of its
// first search.
func checkOpened(b *testing.B, d *db.DB, queries [][]float32, truth [][]string) (first time.Duration) {
	b.Helper()
	found := 0
	for i, q := range queries {
		ids, cost := find(b, d, q, vector.SearchOptions{K: openHits})
		if i == 0 {
			first = cost
		}
		for j, id := range ids {
			if j < len(truth[i]) && id == truth[i][j] {
				found++
			}
		}
	}
	if most := len(queries) * openHits; found < most*9/10 {
		b.Fatalf("%d of %d neighbours are what and where the exact search found them", found, most)
	}
	return first
}

// openRows opens the store and reads the vectors, but not the graph index over them.
func openRows(b *testing.B, dir string) time.Duration {
	b.Helper()
	var store *kv.Store
	var set *vector.Set
	var l *wal.Log
	cost := timed(b, func() (err error) {
		if store, err = kv.Open(dir, kv.Options{}); err != nil {
			return err
		}
		if l, err = wal.Open(store, nil); err != nil {
			return err
		}
		snap, err := l.View()
		if err != nil {
			return err
		}
		if set, err = vector.OpenSet(snap, vector.SetOptions{}, ""); err != nil {
			return err
		}
		return snap.Close()
	})
	if err := set.Close(); err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(l.Close(), store.Close()); err != nil {
		b.Fatal(err)
	}
	return cost
}

// openBare opens the directory with bare Pebble and copies every vector row into one buffer.
func openBare(b *testing.B, dir string) time.Duration {
	b.Helper()
	lower := append(space.In("", space.Vector), 'r')
	cache := pebble.NewCache(64 << 20)
	defer cache.Unref()
	var pb *pebble.DB
	rows, bytes := 0, 0
	cost := timed(b, func() (err error) {
		pb, err = pebble.Open(dir, &pebble.Options{Cache: cache, MemTableSize: ourMemTable,
			FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
		if err != nil {
			return err
		}
		it, err := pb.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: codec.PrefixEnd(lower)})
		if err != nil {
			return err
		}
		var buf []byte
		for it.First(); it.Valid(); it.Next() {
			v, err := it.ValueAndErr()
			if err != nil {
				return err
			}
			buf = append(buf[:0], v...)
			rows++
			bytes += len(buf)
		}
		return it.Close()
	})
	if err := pb.Close(); err != nil {
		b.Fatal(err)
	}
	if rows != openVectors || bytes < openVectors*openDim*4 {
		b.Fatalf("bare Pebble read %d rows of %d bytes", rows, bytes)
	}
	return cost
}
