package kv

import (
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// cutBytes is how much of the log is overwritten to end it at its last synced byte: more than one chunk
// header (19 bytes) behind the padding that may end a block, so that no later record is found.
const cutBytes = 64

// latchFile is a file of the store's directory that is open for writing. The engine writes and syncs each
// file from one goroutine at a time.
type latchFile struct {
	vfs.File
	fs    *latchFS
	kind  kind
	latch *latch

	// Of a log: its number, its length, what of it was synced, and whether it was cut back to that.
	log          int
	size, synced int64
	cut          bool
}

// Write implements vfs.File.
func (f *latchFile) Write(p []byte) (n int, err error) {
	err = f.change(func() error {
		n, err = f.File.Write(p)
		f.size += int64(n)
		if f.kind == valueFile {
			f.fs.values.Add(uint64(n))
		}
		return err
	})
	if err != nil {
		return n, err
	}
	return len(p), nil
}

// WriteAt implements vfs.File.
func (f *latchFile) WriteAt(p []byte, off int64) (n int, err error) {
	if err = f.change(func() error { _, err := f.File.WriteAt(p, off); return err }); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Sync implements vfs.File.
func (f *latchFile) Sync() error { return f.sync(f.File.Sync) }

// SyncData implements vfs.File.
func (f *latchFile) SyncData() error { return f.sync(f.File.SyncData) }

func (f *latchFile) sync(op func() error) error {
	return f.change(func() error {
		size := f.size
		if err := op(); err != nil {
			return err
		}
		f.synced = size
		return nil
	})
}

// SyncTo implements vfs.File.
func (f *latchFile) SyncTo(length int64) (full bool, err error) {
	err = f.change(func() error {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

// Stat implements vfs.File. The engine asks a log that it reuses for its size before it writes to it, and takes
// an error no better than one of writing.
func (f *latchFile) Stat() (vfs.FileInfo, error) {
	info, err := f.File.Stat()
	if err == nil || f.kind != logFile {
		return info, err
	}
	f.latch.loseLog(f.log, err)
	empty, err := f.fs.shadow.Create("empty", vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	info, err = empty.Stat()
	return info, errors.Join(err, empty.Close())
}

// Preallocate implements vfs.File. It is a hint, and so is its failure.
func (f *latchFile) Preallocate(offset, length int64) error {
	if _, failed := f.latch.state(); failed {
		return nil
	}
	return f.File.Preallocate(offset, length)
}

// Close implements vfs.File.
func (f *latchFile) Close() error {
	if f.kind == logFile && f.latch.durable(f.log) != nil {
		f.cutBack()
	}
	err := f.File.Close()
	if err == nil || f.kind == tableFile {
		return err
	}
	f.latch.set(err)
	return nil
}

// change runs op unless the failure of the store forbids it, and turns its error into what the engine may
// see (latchFS says why).
func (f *latchFile) change(op func() error) error {
	_, failed := f.latch.state()
	switch {
	case f.kind == logFile && failed && f.latch.durable(f.log) != nil:
		f.cutBack()
		return nil
	case f.kind == metaFile && failed:
		return nil
	case f.kind == tableFile && failed:
		return f.latch.err()
	case f.kind == valueFile && failed:
		f.latch.awaitClose()
		return nil
	}
	err := op()
	if err == nil {
		return nil
	}
	switch f.kind {
	case logFile:
		f.latch.loseLog(f.log, err)
		f.cutBack()
		return nil
	case tableFile:
		f.latch.set(err)
		return err
	case valueFile:
		f.latch.set(err)
		f.latch.awaitClose()
		return nil
	default:
		f.latch.set(err)
		return nil
	}
}

// cutBack ends a lost log at its last synced byte, so that a reopened store holds what was acknowledged and
// not what failed. A disk that refuses this too leaves the outcome of the failed commits open.
func (f *latchFile) cutBack() {
	if f.cut {
		return
	}
	f.cut = true
	n := min(f.size-f.synced, cutBytes)
	if n <= 0 {
		return
	}
	_, err := f.File.WriteAt(make([]byte, n), f.synced)
	if err == nil {
		err = f.File.Sync()
	}
	if err != nil {
		f.latch.log.Warn("commits that failed may come back when the store is reopened", "error", err)
	}
}

// latchDir is the store's directory, open for syncing.
type latchDir struct {
	vfs.File
	fs *latchFS
}

// Sync implements vfs.File. It is passed on even after a failure: it makes nothing but what was there
// durable, and a log that still works may need it. A failure loses the logs whose names it was to save.
func (d *latchDir) Sync() error {
	created := d.fs.logs.Load()
	err := d.File.Sync()
	if err == nil {
		d.fs.named.Store(created)
		return nil
	}
	d.fs.latch.loseLog(int(d.fs.named.Load())+1, err)
	return nil
}
