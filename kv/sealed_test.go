package kv_test

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// sealedFS refuses every change, as a read-only mount does.
type sealedFS struct{ vfs.FS }

func (sealedFS) Create(string, vfs.DiskWriteCategory) (vfs.File, error) { return nil, syscall.EROFS }
func (sealedFS) Link(string, string) error                              { return syscall.EROFS }
func (sealedFS) Remove(string) error                                    { return syscall.EROFS }
func (sealedFS) RemoveAll(string) error                                 { return syscall.EROFS }
func (sealedFS) Rename(string, string) error                            { return syscall.EROFS }
func (sealedFS) MkdirAll(string, os.FileMode) error                     { return syscall.EROFS }
func (sealedFS) Lock(string) (io.Closer, error)                         { return nil, syscall.EROFS }
func (sealedFS) OpenReadWrite(string, vfs.DiskWriteCategory, ...vfs.OpenOption) (vfs.File, error) {
	return nil, syscall.EROFS
}
func (sealedFS) ReuseForWrite(string, string, vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, syscall.EROFS
}

// A store on a read-only file system can be read, what is in its logs alone included, and says why it cannot be written.
func TestReadOnlyFileSystem(t *testing.T) {
	fs := testkit.MemFS()
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
	if _, err := kv.Open("s", kv.Options{FS: sealedFS{fs}}); !errors.Is(err, kv.ErrReadOnly) || !errors.Is(err, syscall.EROFS) {
		t.Errorf("opened for writing: %v", err)
	}
	s, err = kv.Open("s", kv.Options{FS: sealedFS{fs}, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	sn, err := s.Snapshot(0)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := sn.Get([]byte("k")); err != nil || string(v) != "v" {
		t.Errorf("read %q, %v", v, err)
	}
	if err := errors.Join(sn.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}
