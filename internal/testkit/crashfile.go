package testkit

import (
	"math/rand/v2"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// crashFile is an open file of a CrashFS. Close always reaches the file below, so that a crashed store can
// release what it holds.
type crashFile struct {
	vfs.File
	fs *CrashFS
}

func (f *crashFile) Read(p []byte) (n int, err error) {
	err = f.fs.read(func() error { n, err = f.File.Read(p); return err })
	return n, err
}

func (f *crashFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.fs.read(func() error { n, err = f.File.ReadAt(p, off); return err })
	return n, err
}

func (f *crashFile) Write(p []byte) (n int, err error) {
	torn := func(r *rand.Rand) { _, _ = f.File.Write(p[:r.IntN(len(p)+1)]) }
	err = f.fs.change(someSpace, torn, func() error { n, err = f.File.Write(p); return err })
	return n, err
}

func (f *crashFile) WriteAt(p []byte, off int64) (n int, err error) {
	torn := func(r *rand.Rand) { _, _ = f.File.WriteAt(p[:r.IntN(len(p)+1)], off) }
	takes := someSpace
	if info, err := f.File.Stat(); err == nil && off+int64(len(p)) <= info.Size() {
		takes = noSpace
	}
	err = f.fs.change(takes, torn, func() error { n, err = f.File.WriteAt(p, off); return err })
	return n, err
}

func (f *crashFile) Sync() error {
	return f.fs.change(noSpace, nil, f.File.Sync)
}

func (f *crashFile) SyncData() error {
	return f.fs.change(noSpace, nil, f.File.SyncData)
}

func (f *crashFile) SyncTo(length int64) (full bool, err error) {
	err = f.fs.change(noSpace, nil, func() error { full, err = f.File.SyncTo(length); return err })
	return full, err
}

func (f *crashFile) Stat() (info vfs.FileInfo, err error) {
	err = f.fs.read(func() error { info, err = f.File.Stat(); return err })
	return info, err
}
