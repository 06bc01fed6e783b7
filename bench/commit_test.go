package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/wal"
)

// ourMemTable is kv's default.
const ourMemTable = 8 << 20

// document is a batch of the size one document's commit has: 300 keys, 200 kB.
type document struct{ keys, values [][]byte }

func makeDocument(seed uint64) document {
	const n, size = 300, 200_000
	r := rand.New(rand.NewPCG(seed, 1))
	var d document
	for i := range n {
		v := make([]byte, size/n)
		for j := range v {
			v[j] = byte(r.Uint32())
		}
		d.keys = append(d.keys, fmt.Appendf(nil, "doc/%016x/%04d", r.Uint64(), i))
		d.values = append(d.values, v)
	}
	return d
}

// BenchmarkCommitDocument commits one document's batch and, in turn with it, writes the same bytes to bare Pebble
// in one synced batch: to one with its own defaults, and to one with our size of memtable, which sets the price
// of an insertion more than anything that lies above the engine.
func BenchmarkCommitDocument(b *testing.B) {
	l := openLog(b)
	writers := []func(document) error{
		func(d document) error { return commitDocument(l, d) },
		bareWriter(b, &pebble.Options{}),
		bareWriter(b, &pebble.Options{MemTableSize: ourMemTable}),
	}
	took := make([][]time.Duration, len(writers))
	i := 0
	for b.Loop() {
		d := makeDocument(uint64(i))
		for j := range writers {
			w := (i + j) % len(writers)
			start := time.Now()
			if err := writers[w](d); err != nil {
				b.Fatal(err)
			}
			took[w] = append(took[w], time.Since(start))
		}
		i++
	}
	d := makeDocument(uint64(i - 1))
	checkKeys(b, l, d.keys, d.values)
	for w, name := range []string{1: "pebble", 2: "pebble-same-memtable"} {
		if w > 0 {
			b.ReportMetric(float64(median(took[0]))/float64(median(took[w])), "x-"+name+"-p50")
			b.ReportMetric(float64(sum(took[0]))/float64(sum(took[w])), "x-"+name+"-mean")
		}
	}
	b.ReportMetric(float64(median(took[0]).Microseconds()), "us-p50")
}

func commitDocument(l *wal.Log, d document) error {
	_, err := l.Update(context.Background(), "bench", []string{"doc"}, func(tx *kv.Batch) error {
		for i, k := range d.keys {
			if err := tx.Set(k, d.values[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// bareWriter opens a bare engine and returns what writes one document to it.
func bareWriter(b *testing.B, o *pebble.Options) func(document) error {
	b.Helper()
	o.Logger = quiet{}
	db, err := pebble.Open(filepath.Join(b.TempDir(), "bare"), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return func(d document) error {
		pb := db.NewBatch()
		for i, k := range d.keys {
			if err := pb.Set(k, d.values[i], nil); err != nil {
				return err
			}
		}
		return errors.Join(db.Apply(pb, pebble.Sync), pb.Close())
	}
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}

func sum(d []time.Duration) (n time.Duration) {
	for _, x := range d {
		n += x
	}
	return n
}

// checkKeys fails the benchmark unless the store holds the keys with these values.
func checkKeys(b *testing.B, l *wal.Log, keys, values [][]byte) {
	b.Helper()
	v, err := l.View()
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	for i, k := range keys {
		if got, err := v.Get(k); err != nil || !bytes.Equal(got, values[i]) {
			b.Fatalf("%q: %d bytes, %v", k, len(got), err)
		}
	}
}

// BenchmarkCommitWriters compares the synced commits a second of 16 writers with those of one, in turn.
func BenchmarkCommitWriters(b *testing.B) {
	ctx := context.Background()
	l := openLog(b)
	run := func(writers, commits int) float64 {
		start := time.Now()
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range commits {
					_, err := l.Update(ctx, "bench", nil, func(tx *kv.Batch) error {
						return tx.Set(fmt.Appendf(nil, "w/%d/%d", w, i), make([]byte, 100))
					})
					if err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		return float64(writers*commits) / time.Since(start).Seconds()
	}
	const each = 100
	var one, many float64
	for b.Loop() {
		one += run(1, each)
		many += run(16, each)
	}
	if want := kv.LSN(b.N * 17 * each); l.LSN() != want || l.Durable() != want {
		b.Fatalf("LSN %d, durable %d, want %d", l.LSN(), l.Durable(), want)
	}
	b.ReportMetric(many/one, "x-one-writer")
	b.ReportMetric(one/float64(b.N), "commits/s-1")
	b.ReportMetric(many/float64(b.N), "commits/s-16")
}
