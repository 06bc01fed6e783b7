package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// tablesFS fails or works, but counts what the engine tries.
type tablesFS struct {
	vfs.FS
	full    atomic.Bool
	tries   atomic.Int64 // tables that it tried to create while full
	removed atomic.Int64 // files removed while full
}

func (f *tablesFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.full.Load() && strings.HasSuffix(name, ".sst") {
		f.tries.Add(1)
		return nil, syscall.ENOSPC
	}
	return f.FS.Create(name, c)
}

func (f *tablesFS) Remove(name string) error {
	if f.full.Load() {
		f.removed.Add(1)
	}
	return f.FS.Remove(name)
}

// TestFailedFlush: the disk is full for a table, while the log has room. The commits whose log records are
// synced are acknowledged, later ones refused; the engine does not try again and again; reads go on; nothing
// is removed; Close returns (K2).
func TestFailedFlush(t *testing.T) {
	fs := &tablesFS{FS: testkit.MemFS()}
	var log bytes.Buffer
	o := kv.Options{FS: fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	s, err := kv.Open("s", o)
	if err != nil {
		t.Fatal(err)
	}
	fs.full.Store(true)
	acked := 0
	for ; err == nil; acked++ {
		if acked > 1000 {
			t.Fatal("no failure")
		}
		err = put(s, fmt.Sprint("k", acked), strings.Repeat("0123456789", 1000))
	}
	acked--
	if !errors.Is(err, kv.ErrReadOnly) || !errors.Is(err, kv.ErrDiskFull) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("failed write: %v", err)
	}
	if err := s.Err(); !errors.Is(err, kv.ErrDiskFull) {
		t.Errorf("err: %v", err)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, kv.ErrDiskFull) {
		t.Errorf("ready: %v", err)
	}
	check := func(s *kv.Store) {
		t.Helper()
		sn, err := s.Snapshot(0)
		if err != nil {
			t.Fatal(err)
		}
		defer sn.Close()
		for i := range acked {
			if v, err := sn.Get(fmt.Appendf(nil, "k%d", i)); err != nil || len(v) != 10_000 {
				t.Errorf("acknowledged %d: %d bytes, %v", i, len(v), err)
			}
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if fs.tries.Load() > 2 || fs.removed.Load() > 0 {
		t.Errorf("engine tried %d tables and removed %d files", fs.tries.Load(), fs.removed.Load())
	}
	if n := strings.Count(log.String(), "\n"); n == 0 || n > 3 {
		t.Errorf("logged %d lines:\n%s", n, log.String())
	}
	fs.full.Store(false)
	s, err = kv.Open("s", o)
	if err != nil {
		t.Fatal(err)
	}
	check(s)
	if err := put(s, "k", "v"); err != nil {
		t.Errorf("after space returned: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// badTableFS fails or works, and counts how often tables are opened for reading.
type badTableFS struct {
	vfs.FS
	bad   atomic.Bool
	opens atomic.Int64
}

func (f *badTableFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if f.bad.Load() && strings.HasSuffix(name, ".sst") {
		f.opens.Add(1)
		return nil, syscall.EIO
	}
	return f.FS.Open(name, opts...)
}

// TestUnreadableTable: a compaction cannot read a table. The store becomes read-only and says why; the engine
// does not try again and again; what needs no bad table is served; Close returns (K2).
func TestUnreadableTable(t *testing.T) {
	mem := testkit.MemFS()
	o := kv.Options{FS: mem, MemTableBytes: 64 << 10, CacheBytes: 1 << 20}
	s, err := kv.Open("s", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(t.Context(), s, 20); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fs := &badTableFS{FS: mem}
	fs.bad.Store(true)
	var log bytes.Buffer
	o.FS, o.Logger = fs, slog.New(slog.NewTextHandler(&log, nil))
	s, err = kv.Open("s", o)
	if err != nil {
		t.Fatal(err)
	}
	acked := 0
	for ; err == nil; acked++ { // the new tables meet the old ones in a compaction
		if acked > 10_000 {
			t.Fatal("no failure")
		}
		err = put(s, fmt.Sprint("n", acked), strings.Repeat("0123456789", 1000))
	}
	acked--
	if !errors.Is(err, kv.ErrReadOnly) || !errors.Is(err, syscall.EIO) {
		t.Errorf("failed write: %v", err)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, kv.ErrReadOnly) {
		t.Errorf("ready: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if n := fs.opens.Load(); n == 0 || n > 20 {
		t.Errorf("engine opened bad tables %d times", n)
	}
	if n := strings.Count(log.String(), "\n"); n == 0 || n > 3 {
		t.Errorf("logged %d lines:\n%s", n, log.String())
	}
	o.FS = mem
	sn := snapshot(t, open(t, "s", o))
	for i := range acked {
		if v, err := sn.Get(fmt.Appendf(nil, "n%d", i)); err != nil || len(v) != 10_000 {
			t.Errorf("acknowledged %d: %d bytes, %v", i, len(v), err)
		}
	}
}

func TestOpenOnFullDisk(t *testing.T) {
	fs := testkit.NewCrashFS(1)
	s, err := kv.Open("s", kv.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := put(s, "k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for k := 1; k < 40; k++ { // with the lock file as the first operation
		disk := fs.Clone(1)
		disk.FailAt(k, testkit.ErrNoSpace)
		s, err := kv.Open("s", kv.Options{FS: disk})
		if err == nil {
			if err := s.Close(); err != nil && !errors.Is(err, kv.ErrDiskFull) {
				t.Errorf("operation %d: close: %v", k, err)
			}
			continue
		}
		if !errors.Is(err, kv.ErrDiskFull) {
			t.Errorf("operation %d: %v", k, err)
		}
	}
	fs.FailAt(2, testkit.ErrNoSpace) // all but the lock
	s, err = kv.Open("s", kv.Options{FS: fs, ReadOnly: true})
	if err != nil {
		t.Fatalf("read-only: %v", err)
	}
	sn := snapshot(t, s)
	if v, err := sn.Get([]byte("k")); err != nil || string(v) != "v" {
		t.Errorf("%q, %v", v, err)
	}
	sn.Close()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
