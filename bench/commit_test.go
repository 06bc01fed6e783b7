package bench

import (
	"bytes"
	"context"
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

// BenchmarkCommitDocument commits one document's batch and, in turn with it, writes the same bytes to bare
// Pebble in one synced batch.
func BenchmarkCommitDocument(b *testing.B) {
	ctx := context.Background()
	s, err := kv.Open(filepath.Join(b.TempDir(), "glim"), kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	l, err := wal.Open(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	// The same memtable: a larger one makes each insertion dearer and flushes rarer.
	bare, err := pebble.Open(filepath.Join(b.TempDir(), "bare"), &pebble.Options{Logger: quiet{}, MemTableSize: 32 << 20})
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	var ours, theirs []time.Duration
	i := uint64(0)
	for b.Loop() {
		i++
		d := makeDocument(i)
		commit := func() {
			start := time.Now()
			_, err := l.Update(ctx, "bench", []string{"doc"}, func(tx *kv.Batch) error {
				for i, k := range d.keys {
					if err := tx.Set(k, d.values[i]); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			ours = append(ours, time.Since(start))
		}
		write := func() {
			start := time.Now()
			pb := bare.NewBatch()
			for i, k := range d.keys {
				if err := pb.Set(k, d.values[i], nil); err != nil {
					b.Fatal(err)
				}
			}
			if err := bare.Apply(pb, pebble.Sync); err != nil {
				b.Fatal(err)
			}
			pb.Close()
			theirs = append(theirs, time.Since(start))
		}
		if i%2 == 0 {
			commit()
			write()
		} else {
			write()
			commit()
		}
	}
	d := makeDocument(i)
	checkKeys(b, l, d.keys, d.values)
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "x-pebble-p50")
	b.ReportMetric(float64(sum(ours))/float64(sum(theirs)), "x-pebble-mean")
	b.ReportMetric(float64(median(ours).Microseconds()), "us-p50")
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
	s, err := kv.Open(filepath.Join(b.TempDir(), "glim"), kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	l, err := wal.Open(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
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
