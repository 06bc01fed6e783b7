package kv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// latchFS stands between the engine and the file system. While nothing failed it passes everything on. From
// the first failed change of a file in the store's directory it keeps the directory as it is and tells the
// engine what lets it live on:
//
//   - logs, manifests, markers, removals and renames: success, without effect. The engine answers failures of
//     these with panics under its locks, some of them below an unlocked mutex, which ends the process.
//   - tables: the failure, which the engine takes well but repeats at once, for ever; so the next attempt
//     waits for Close. Tables cannot be pretended: they are read.
//   - files of values beside a table: success, without effect, but not before Close. The engine ends each of them
//     before its table, whose failure then ends the job well, while one of the values makes it panic.
//
// While the store is being opened it is the same, but that the flush of what was replayed from the logs goes to
// memory: the engine would try it for ever. Its opening then succeeds, and ours sees the latch and fails.
//
// Reads and other directories are passed on untouched.
type latchFS struct {
	vfs.FS
	dir    string
	latch  *latch
	shadow *vfs.MemFS // takes files which the engine creates after the failure

	lock  io.Closer    // held on the directory; used by Open and Close alone
	logs  atomic.Int64 // logs created
	named atomic.Int64 // logs whose directory entry was synced

	values atomic.Uint64 // bytes written to files of values

	mu       sync.Mutex
	reopened map[string]int // tables opened after the failure, and how often
}

// log is the number of the newest log.
func (f *latchFS) log() int { return int(f.logs.Load()) }

func newLatchFS(fs vfs.FS, dir string, l *latch) *latchFS {
	return &latchFS{FS: fs, dir: fs.PathDir(fs.PathJoin(dir, "x")), latch: l, shadow: vfs.NewMem(), reopened: make(map[string]int)}
}

// kind of a file in the store's directory.
type kind uint8

const (
	foreignFile kind = iota // outside the directory
	metaFile                // manifest, marker, options
	logFile
	tableFile
	valueFile // values of a table that are not in it
)

func (f *latchFS) kind(name string) kind {
	switch {
	case f.FS.PathDir(name) != f.dir:
		return foreignFile
	case strings.HasSuffix(name, ".log"):
		return logFile
	case strings.HasSuffix(name, ".sst"):
		return tableFile
	case strings.HasSuffix(name, ".blob"):
		return valueFile
	default:
		return metaFile
	}
}

// create runs op, which creates the named file, and decides what the engine gets when it cannot.
func (f *latchFS) create(name string, c vfs.DiskWriteCategory, op func() (vfs.File, error)) (vfs.File, error) {
	k := f.kind(name)
	if k == foreignFile {
		return op()
	}
	p, failed := f.latch.state()
	if !failed {
		file, err := f.ordered(name, op)
		if err == nil {
			return f.wrap(file, k), nil
		}
		f.latch.set(err)
		if k == tableFile {
			return nil, err
		}
	}
	switch {
	case k == tableFile && p == opening && c == flushCategory:
	case k == tableFile && p == opening:
		return nil, f.latch.err()
	case k == tableFile:
		f.latch.awaitClose()
		return nil, f.latch.err()
	case k == valueFile:
		f.latch.awaitClose()
	case k == logFile:
		f.latch.loseLog(int(f.logs.Add(1)), f.latch.err()) // what goes into the shadow is not durable
	}
	return f.shadow.Create(f.FS.PathBase(name), c)
}

// markerPrefix begins the names of files whose name alone says which manifest and format are in force.
const markerPrefix = "marker."

// ordered makes the directory durable before a marker appears in it: the engine syncs it only afterwards,
// so a power loss between the two could keep the marker and lose the manifest that it names.
func (f *latchFS) ordered(name string, op func() (vfs.File, error)) (vfs.File, error) {
	if strings.HasPrefix(f.FS.PathBase(name), markerPrefix) {
		d, err := f.FS.OpenDir(f.dir)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return nil, err
		}
	}
	return op()
}

// flushCategory is what the engine calls the writing of tables from memory.
const flushCategory = "pebble-memtable-flush"

func (f *latchFS) wrap(file vfs.File, k kind) vfs.File {
	lf := &latchFile{File: file, fs: f, kind: k, latch: f.latch}
	if k == logFile {
		lf.log = int(f.logs.Add(1))
	}
	return lf
}

// change runs op, a change of the directory by name that creates nothing.
func (f *latchFS) change(name string, op func() error) error {
	if f.kind(name) == foreignFile {
		return op()
	}
	if _, failed := f.latch.state(); failed {
		return nil
	}
	if err := op(); err != nil {
		f.latch.set(err)
	}
	return nil
}

// Open implements vfs.FS. While the engine opens, none but its background jobs ask for tables: they wait. If the
// opening fails, it takes the caches away which the jobs read through, and on their goroutines no recover of
// ours reaches the panic; so they end here instead.
func (f *latchFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if k := f.kind(name); k == tableFile || k == valueFile {
		if !f.latch.awaitOpened() {
			runtime.Goexit()
		}
		f.pace(name)
	}
	file, err := f.FS.Open(name, opts...)
	if err != nil && f.keeps(name) {
		if hidden, err := f.shadow.Open(f.FS.PathBase(name), opts...); err == nil {
			return hidden, nil
		}
	}
	return file, err
}

// The engine collects statistics of the tables that it found when it opened, and what it cannot read for them
// it opens again at once, for ever. A table that is opened more than reopenFree times after a failure waits for
// reopenPause each time, so that this costs next to nothing.
const (
	reopenFree  = 4
	reopenPause = 5 * time.Millisecond
)

func (f *latchFS) pace(name string) {
	if _, failed := f.latch.state(); !failed {
		return
	}
	f.mu.Lock()
	f.reopened[name]++
	n := f.reopened[name]
	f.mu.Unlock()
	if n > reopenFree {
		time.Sleep(reopenPause)
	}
}

// List implements vfs.FS. The engine lists the directory once more at the end of its opening; were that to
// fail, it would fall over the jobs that it has already started. An empty list tells it of no garbage.
func (f *latchFS) List(dir string) ([]string, error) {
	names, err := f.FS.List(dir)
	if p, _ := f.latch.state(); err == nil || p != opening || f.FS.PathDir(f.FS.PathJoin(dir, "x")) != f.dir {
		return names, err
	}
	f.latch.set(err)
	return nil, nil
}

// Create implements vfs.FS.
func (f *latchFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.create(name, c, func() (vfs.File, error) { return f.FS.Create(name, c) })
}

// OpenReadWrite implements vfs.FS.
func (f *latchFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.create(name, c, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, c, opts...) })
}

// ReuseForWrite implements vfs.FS.
func (f *latchFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.create(newname, c, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, c) })
}

// Rename implements vfs.FS.
func (f *latchFS) Rename(oldname, newname string) error {
	return f.change(newname, func() error { return f.FS.Rename(oldname, newname) })
}

// MkdirAll implements vfs.FS.
func (f *latchFS) MkdirAll(dir string, perm os.FileMode) error {
	return f.change(dir, func() error { return f.FS.MkdirAll(dir, perm) })
}

// Link implements vfs.FS. Its failures are legal answers (the target is on another device) and set nothing.
func (f *latchFS) Link(oldname, newname string) error {
	if _, failed := f.latch.state(); failed && f.kind(newname) != foreignFile {
		return f.latch.err()
	}
	return f.FS.Link(oldname, newname)
}

// Remove implements vfs.FS. A file that could not be removed is garbage, not a failure; but once the latch
// is set nothing is removed, for the engine may believe what is not on disk.
func (f *latchFS) Remove(name string) error {
	if f.keeps(name) {
		return nil
	}
	return f.FS.Remove(name)
}

// RemoveAll implements vfs.FS.
func (f *latchFS) RemoveAll(name string) error {
	if f.keeps(name) {
		return nil
	}
	return f.FS.RemoveAll(name)
}

func (f *latchFS) keeps(name string) bool {
	_, failed := f.latch.state()
	return failed && f.kind(name) != foreignFile
}

// OpenDir implements vfs.FS.
func (f *latchFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	if err != nil || f.FS.PathDir(f.FS.PathJoin(name, "x")) != f.dir {
		return file, err
	}
	return &latchDir{File: file, fs: f}, nil
}

// Lock implements vfs.FS. The lock is ours: the engine gets one without effect, so that even one which cannot
// be closed does not keep the directory.
func (f *latchFS) Lock(name string) (io.Closer, error) {
	if f.lock != nil {
		return io.NopCloser(nil), nil
	}
	c, err := f.FS.Lock(name)
	if err == nil {
		f.lock = c
		return io.NopCloser(nil), nil
	}
	switch {
	case strings.Contains(err.Error(), "lock held by current process"): // the engine has no error of its own for it
		return nil, fmt.Errorf("%w: by this process, which has it open already", ErrLocked)
	case heldElsewhere(err):
		return nil, fmt.Errorf("%w: by another process: %w", ErrLocked, err)
	}
	return nil, err
}

// unlock gives the directory free, once.
func (f *latchFS) unlock() error {
	if f.lock == nil {
		return nil
	}
	err := f.lock.Close()
	f.lock = nil
	return err
}

// GetDiskUsage implements vfs.FS. The engine uses the answer to pick compactions, and reports a failure in the
// way of one that matters; so what cannot be told counts as unsupported.
func (f *latchFS) GetDiskUsage(path string) (vfs.DiskUsage, error) {
	usage, err := f.FS.GetDiskUsage(path)
	if err != nil {
		return vfs.DiskUsage{}, vfs.ErrUnsupported
	}
	return usage, nil
}

// Unwrap implements vfs.FS.
func (f *latchFS) Unwrap() vfs.FS { return f.FS }
