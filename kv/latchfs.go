package kv

import (
	"os"
	"strings"
	"sync/atomic"

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
//
// Reads, other directories (checkpoints) and everything before the store is open are passed on untouched.
type latchFS struct {
	vfs.FS
	dir    string
	latch  *latch
	shadow *vfs.MemFS // takes files which the engine creates after the failure

	logs  atomic.Int64 // logs created
	named atomic.Int64 // logs whose directory entry was synced
}

// log is the number of the newest log.
func (f *latchFS) log() int { return int(f.logs.Load()) }

func newLatchFS(fs vfs.FS, dir string, l *latch) *latchFS {
	return &latchFS{FS: fs, dir: fs.PathDir(fs.PathJoin(dir, "x")), latch: l, shadow: vfs.NewMem()}
}

// kind of a file in the store's directory.
type kind uint8

const (
	foreignFile kind = iota // outside the directory
	metaFile                // manifest, marker, options
	logFile
	tableFile // table or blob file
)

func (f *latchFS) kind(name string) kind {
	switch {
	case f.FS.PathDir(name) != f.dir:
		return foreignFile
	case strings.HasSuffix(name, ".log"):
		return logFile
	case strings.HasSuffix(name, ".sst"), strings.HasSuffix(name, ".blob"):
		return tableFile
	default:
		return metaFile
	}
}

// create runs op, which creates the named file, and decides what the engine gets when it cannot.
func (f *latchFS) create(name string, op func() (vfs.File, error)) (vfs.File, error) {
	k := f.kind(name)
	p, failed := f.latch.state()
	if k == foreignFile || p == opening && !failed {
		file, err := op()
		return f.wrap(file, err, k)
	}
	if failed && k == tableFile {
		if p == running {
			<-f.latch.release
		}
		return nil, f.latch.err()
	}
	if !failed {
		file, err := op()
		if err == nil {
			return f.wrap(file, nil, k)
		}
		f.latch.set(err)
		if k == tableFile {
			return nil, err
		}
	}
	if k == logFile {
		f.latch.loseLog(int(f.logs.Add(1)), f.latch.err()) // what goes into the shadow is not durable
	}
	return f.shadow.Create(f.FS.PathBase(name), vfs.WriteCategoryUnspecified)
}

func (f *latchFS) wrap(file vfs.File, err error, k kind) (vfs.File, error) {
	if err != nil || k == foreignFile {
		return file, err
	}
	lf := &latchFile{File: file, fs: f, kind: k, latch: f.latch}
	if k == logFile {
		lf.log = int(f.logs.Add(1))
	}
	return lf, nil
}

// change runs op, a change of the directory by name that creates nothing.
func (f *latchFS) change(name string, op func() error) error {
	p, failed := f.latch.state()
	if f.kind(name) == foreignFile || p == opening {
		return op()
	}
	if failed {
		return nil
	}
	if err := op(); err != nil {
		f.latch.set(err)
	}
	return nil
}

// Create implements vfs.FS.
func (f *latchFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.create(name, func() (vfs.File, error) { return f.FS.Create(name, c) })
}

// OpenReadWrite implements vfs.FS.
func (f *latchFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.create(name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, c, opts...) })
}

// ReuseForWrite implements vfs.FS.
func (f *latchFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.create(newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, c) })
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

// Unwrap implements vfs.FS.
func (f *latchFS) Unwrap() vfs.FS { return f.FS }
