package kv_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/glimdb/db/kv"
)

func TestMetrics(t *testing.T) {
	s := open(t, "s", kv.Options{MemTableBytes: 64 << 10, CacheBytes: 1 << 20})
	r := rand.New(rand.NewPCG(1, 1))
	value := make([]byte, 2000)
	for i := range 200 {
		for j := range value {
			value[j] = byte(r.Uint32())
		}
		if err := s.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := put(s, fmt.Sprintf("k%03d", i), string(value)); err != nil {
			t.Fatal(err)
		}
	}
	sn := snapshot(t, s)
	c, err := sn.Cursor(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for c.Next() {
		n++
	}
	if n != 200 || c.Err() != nil {
		t.Fatalf("%d keys, %v", n, c.Err())
	}
	m, err := s.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	if m.LogBytesIn < 400_000 || m.LogBytesWritten < m.LogBytesIn || m.Flushes == 0 || m.DiskBytes < 300_000 || m.MemTables == 0 ||
		m.MemTableBytes == 0 || m.Snapshots != 1 || m.Cursors != 1 || m.CacheHits+m.CacheMiss == 0 || m.WriteAmplification() < 1 {
		t.Errorf("%+v", m)
	}
	tables := int64(0)
	for _, l := range m.Levels {
		tables += l.Tables
	}
	if tables == 0 {
		t.Errorf("no tables: %+v", m.Levels)
	}
	c.Close()
	sn.Close()
	if m, err := s.Metrics(); err != nil || m.Snapshots != 0 || m.Cursors != 0 {
		t.Errorf("%d snapshots, %d cursors, %v", m.Snapshots, m.Cursors, err)
	}
}
