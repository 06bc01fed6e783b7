package testkit

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrCrashed is what every operation returns once the file system lost power.
var ErrCrashed = errors.New("testkit: file system lost power")

// Errors for FailAt and EveryFault.
var (
	ErrNoSpace error = syscall.ENOSPC // a full disk: removing, syncing and overwriting still work
	ErrIO      error = syscall.EIO    // a broken disk: nothing that changes it works
)

// CrashFS is an in-memory file system that counts the operations which change it (create, write, sync,
// link, rename, remove, mkdir, lock) and can fail or lose power at a chosen one, and those that read. Unlike a
// plain in-memory file system it knows what was synced: files and directory entries that were not are kept or lost by chance
// when it crashes. Safe for concurrent use.
type CrashFS struct {
	mem *vfs.MemFS

	mu      sync.Mutex // serialises changing operations, so that one which succeeded is in the crash image
	rng     *rand.Rand
	ops     int
	crashAt int // operation number, 0 for never
	image   *vfs.MemFS
	failAt  int
	failTo  int // last failing operation
	failErr error

	reads      int
	readFailAt int // number of a reading operation, 0 for never
	readErr    error
}

// NewCrashFS returns an empty file system without faults. seed steers which unsynced data a
// crash keeps.
func NewCrashFS(seed uint64) *CrashFS {
	return newCrashFS(vfs.NewCrashableMem(), seed)
}

func newCrashFS(mem *vfs.MemFS, seed uint64) *CrashFS {
	return &CrashFS{mem: mem, rng: rand.New(rand.NewPCG(seed, 0x676c696d))}
}

// Ops is the number of changing operations so far, failed ones included.
func (f *CrashFS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// FailAt makes the k-th changing operation from now (1 is the next one) and all after it fail with err,
// until Heal. With ErrNoSpace, what needs no space still succeeds, as it does on a full disk: removing files,
// syncing them, and writing over what they hold.
func (f *CrashFS) FailAt(k int, err error) { f.fail(k, int(^uint(0)>>1), err) }

// FailOnce makes only the k-th changing operation from now fail: a disk that reports an error once and
// then works again, which is how operating systems report a failed sync.
func (f *CrashFS) FailOnce(k int, err error) { f.fail(k, k, err) }

func (f *CrashFS) fail(first, last int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failAt, f.failErr = f.ops+first, err
	f.failTo = last
	if last == first {
		f.failTo = f.failAt
	}
}

// Reads is the number of reading operations so far (open, read, stat, list), failed ones included.
func (f *CrashFS) Reads() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reads
}

// FailReadsAt makes the k-th reading operation from now (1 is the next one) and all after it fail with err,
// until Heal. What changes the disk still works.
func (f *CrashFS) FailReadsAt(k int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readFailAt, f.readErr = f.reads+k, err
}

// Heal ends FailAt, FailOnce and FailReadsAt: the disk works, or has space, again.
func (f *CrashFS) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failAt, f.readFailAt = 0, 0
}

// CrashAt cuts the power at the k-th changing operation from now (1 is the next one): that operation is
// lost or, if it is a write, perhaps done in part, and everything after it fails with ErrCrashed.
func (f *CrashFS) CrashAt(k int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashAt = f.ops + k
}

// Crashed reports whether the power was cut.
func (f *CrashFS) Crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.image != nil
}

// Crash returns the disk as the next start of the machine finds it: what was synced, and a part of the
// rest. The power is cut now unless CrashAt did it before; the old file system is of no use afterwards.
func (f *CrashFS) Crash() *CrashFS {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.image == nil {
		f.crash()
	}
	next := newCrashFS(f.image, f.rng.Uint64())
	return next
}

// Clone returns a copy of the present content, all of it counted as synced: what a killed process, or one
// that ended well, leaves behind. The original goes on.
func (f *CrashFS) Clone(seed uint64) *CrashFS {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: f.rng}
	return newCrashFS(f.mem.CrashClone(all), seed)
}

// crash takes the image. The caller holds mu.
func (f *CrashFS) crash() {
	// Both extremes are real and each hides bugs that the other shows.
	percent := [...]int{0, 0, 30, 70, 100}[f.rng.IntN(5)]
	f.image = f.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: f.rng})
}

// need says what an operation takes from the disk.
type need bool

const (
	noSpace   need = false
	someSpace need = true
)

// change counts one changing operation and runs it unless a fault is due. torn, if not nil, does a part
// of the operation before the power goes.
func (f *CrashFS) change(n need, torn func(*rand.Rand), op func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.image != nil {
		return ErrCrashed
	}
	f.ops++
	if f.crashAt > 0 && f.ops >= f.crashAt {
		if torn != nil {
			torn(f.rng)
		}
		f.crash()
		return ErrCrashed
	}
	if f.failAt > 0 && f.ops >= f.failAt && f.ops <= f.failTo && (n == someSpace || !errors.Is(f.failErr, ErrNoSpace)) {
		return f.failErr
	}
	return op()
}

// read runs an operation that changes nothing.
func (f *CrashFS) read(op func() error) error {
	if err := f.countRead(); err != nil {
		return err
	}
	return op()
}

// countRead counts one reading operation and returns the fault that is due.
func (f *CrashFS) countRead() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.image != nil {
		return ErrCrashed
	}
	f.reads++
	if f.readFailAt > 0 && f.reads >= f.readFailAt {
		return f.readErr
	}
	return nil
}

func (f *CrashFS) open(op func() (vfs.File, error)) (vfs.File, error) {
	file, err := op()
	if err != nil {
		return nil, err
	}
	return &crashFile{File: file, fs: f}, nil
}

// Create implements vfs.FS.
func (f *CrashFS) Create(name string, c vfs.DiskWriteCategory) (file vfs.File, err error) {
	err = f.change(someSpace, nil, func() error {
		file, err = f.open(func() (vfs.File, error) { return f.mem.Create(name, c) })
		return err
	})
	return file, err
}

// Link implements vfs.FS.
func (f *CrashFS) Link(oldname, newname string) error {
	return f.change(someSpace, nil, func() error { return f.mem.Link(oldname, newname) })
}

// Open implements vfs.FS.
func (f *CrashFS) Open(name string, opts ...vfs.OpenOption) (file vfs.File, err error) {
	err = f.read(func() error {
		file, err = f.open(func() (vfs.File, error) { return f.mem.Open(name, opts...) })
		return err
	})
	return file, err
}

// OpenReadWrite implements vfs.FS.
func (f *CrashFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (file vfs.File, err error) {
	err = f.change(someSpace, nil, func() error {
		file, err = f.open(func() (vfs.File, error) { return f.mem.OpenReadWrite(name, c, opts...) })
		return err
	})
	return file, err
}

// OpenDir implements vfs.FS.
func (f *CrashFS) OpenDir(name string) (file vfs.File, err error) {
	err = f.read(func() error {
		file, err = f.open(func() (vfs.File, error) { return f.mem.OpenDir(name) })
		return err
	})
	return file, err
}

// Remove implements vfs.FS.
func (f *CrashFS) Remove(name string) error {
	return f.change(noSpace, nil, func() error { return f.mem.Remove(name) })
}

// RemoveAll implements vfs.FS.
func (f *CrashFS) RemoveAll(name string) error {
	return f.change(noSpace, nil, func() error { return f.mem.RemoveAll(name) })
}

// Rename implements vfs.FS.
func (f *CrashFS) Rename(oldname, newname string) error {
	return f.change(someSpace, nil, func() error { return f.mem.Rename(oldname, newname) })
}

// ReuseForWrite implements vfs.FS.
func (f *CrashFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (file vfs.File, err error) {
	err = f.change(someSpace, nil, func() error {
		file, err = f.open(func() (vfs.File, error) { return f.mem.ReuseForWrite(oldname, newname, c) })
		return err
	})
	return file, err
}

// MkdirAll implements vfs.FS.
func (f *CrashFS) MkdirAll(dir string, perm os.FileMode) error {
	return f.change(someSpace, nil, func() error { return f.mem.MkdirAll(dir, perm) })
}

// Lock implements vfs.FS.
func (f *CrashFS) Lock(name string) (c io.Closer, err error) {
	err = f.change(someSpace, nil, func() error {
		c, err = f.mem.Lock(name)
		return err
	})
	return c, err
}

// List implements vfs.FS.
func (f *CrashFS) List(dir string) (names []string, err error) {
	err = f.read(func() error {
		names, err = f.mem.List(dir)
		return err
	})
	return names, err
}

// Stat implements vfs.FS.
func (f *CrashFS) Stat(name string) (info vfs.FileInfo, err error) {
	err = f.read(func() error {
		info, err = f.mem.Stat(name)
		return err
	})
	return info, err
}

// PathBase implements vfs.FS.
func (f *CrashFS) PathBase(path string) string { return f.mem.PathBase(path) }

// PathJoin implements vfs.FS.
func (f *CrashFS) PathJoin(elem ...string) string { return f.mem.PathJoin(elem...) }

// PathDir implements vfs.FS.
func (f *CrashFS) PathDir(path string) string { return f.mem.PathDir(path) }

// GetDiskUsage implements vfs.FS.
func (f *CrashFS) GetDiskUsage(path string) (vfs.DiskUsage, error) { return f.mem.GetDiskUsage(path) }

// Unwrap implements vfs.FS.
func (f *CrashFS) Unwrap() vfs.FS { return f.mem }
