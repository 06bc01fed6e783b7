package kv_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// fillKeys commits n keys of adjacency size and flushes nothing.
func fillKeys(tb testing.TB, s *kv.Store, n int) {
	tb.Helper()
	err := update(s, func(b *kv.Batch) error {
		for i := range n {
			if err := b.Set(fmt.Appendf(nil, "node/%08d", i), []byte("12345678")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

const benchKeys = 50_000

// BenchmarkScan moves a cursor over keys and values.
func BenchmarkScan(b *testing.B) {
	s := open(b, "s", kv.Options{})
	fillKeys(b, s, benchKeys)
	sn := snapshot(b, s)
	b.ReportAllocs()
	for b.Loop() {
		c, err := sn.Cursor(nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for c.Next() {
			n += len(c.Key()) + len(c.Value())
		}
		if c.Err() != nil || n != benchKeys*(13+8) {
			b.Fatalf("%d bytes, %v", n, c.Err())
		}
		c.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchKeys, "ns/key")
}

// BenchmarkScanBare is BenchmarkScan on the engine alone.
func BenchmarkScanBare(b *testing.B) {
	db, err := pebble.Open("bare", &pebble.Options{FS: testkit.MemFS(), MemTableSize: 32 << 20})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	pb := db.NewBatch()
	for i := range benchKeys {
		if err := pb.Set(fmt.Appendf(nil, "node/%08d", i), []byte("012345678"), nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := db.Apply(pb, pebble.Sync); err != nil {
		b.Fatal(err)
	}
	if err := pb.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		it, err := db.NewIter(nil)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for it.First(); it.Valid(); it.Next() {
			v, err := it.ValueAndErr()
			if err != nil {
				b.Fatal(err)
			}
			n += len(it.Key()) + len(v)
		}
		if n != benchKeys*(13+9) {
			b.Fatal(n)
		}
		if err := it.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchKeys, "ns/key")
}

// BenchmarkGet reads keys that are there.
func BenchmarkGet(b *testing.B) {
	s := open(b, "s", kv.Options{})
	fillKeys(b, s, benchKeys)
	sn := snapshot(b, s)
	key := []byte("node/00012345")
	b.ReportAllocs()
	for b.Loop() {
		if v, err := sn.Get(key); err != nil || len(v) != 8 {
			b.Fatal(v, err)
		}
	}
}

// BenchmarkCursorOpen opens a cursor and reads one key, as the look-up of one neighbour list does.
func BenchmarkCursorOpen(b *testing.B) {
	s := open(b, "s", kv.Options{})
	fillKeys(b, s, benchKeys)
	sn := snapshot(b, s)
	lower, upper := []byte("node/00012345"), []byte("node/00012346")
	b.ReportAllocs()
	for b.Loop() {
		c, err := sn.Cursor(lower, upper)
		if err != nil || !c.Next() {
			b.Fatal(err)
		}
		c.Close()
	}
}
