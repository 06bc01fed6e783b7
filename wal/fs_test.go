package wal_test

import (
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func osFS() vfs.FS { return vfs.Default }

// countingFS counts the bytes written to the newest log.
type countingFS struct {
	vfs.FS
	written atomic.Int64
}

func (f *countingFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	if err != nil || !strings.HasSuffix(name, ".log") {
		return file, err
	}
	f.written.Store(0)
	return &countingFile{File: file, n: &f.written}, nil
}

type countingFile struct {
	vfs.File
	n *atomic.Int64
}

func (f *countingFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.n.Add(int64(n))
	return n, err
}
