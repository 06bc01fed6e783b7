package kv_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/kv"
)

// countingFS counts the bytes that are written to its files.
type countingFS struct {
	vfs.FS
	n *atomic.Int64
}

func (f countingFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return countingFile{file, f.n}, err
}

func (f countingFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(old, name, c)
	return countingFile{file, f.n}, err
}

type countingFile struct {
	vfs.File
	n *atomic.Int64
}

func (f countingFile) Write(p []byte) (int, error) {
	f.n.Add(int64(len(p)))
	return f.File.Write(p)
}

// What the metrics call written is what the disk sees, and compaction gives back what was replaced.
func TestBytesWritten(t *testing.T) {
	var disk atomic.Int64
	s, err := kv.Open("db", kv.Options{FS: countingFS{vfs.NewMem(), &disk}, MemTableBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const keys, turns, size = 1000, 6, 2 << 10
	r, lsn := rand.New(rand.NewPCG(1, 2)), kv.LSN(0)
	for range turns * keys / 100 {
		b, err := s.NewBatch(lsn)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			v := make([]byte, size)
			for i := range v {
				v[i] = byte(r.Uint32())
			}
			if err := b.Set(fmt.Appendf(nil, "k%04d", r.IntN(keys)), v); err != nil {
				t.Fatal(err)
			}
		}
		lsn++
		if err := s.Apply(b); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Compact(context.Background(), []byte("k"), []byte("l")); err != nil {
		t.Fatal(err)
	}
	m, err := s.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	told := float64(m.LogBytesWritten + m.ValueBytesWritten)
	for _, l := range m.Levels {
		told += float64(l.BytesWritten)
	}
	if share := told / float64(disk.Load()); share < 0.9 || share > 1.1 {
		t.Errorf("metrics tell of %.2f times the %d bytes that were written", share, disk.Load())
	}
	used, err := s.DiskUsage([]byte("k"), []byte("l"))
	if most := int64(keys * size * 5 / 4); err != nil || used > most {
		t.Errorf("%d bytes are used after compaction, %v; want at most %d", used, err, most)
	}
}
