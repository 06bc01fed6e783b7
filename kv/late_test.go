package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// lateEnv makes the test binary a process in which openings fail late.
const lateEnv = "GLIM_KV_TEST_LATE"

// lateFS panics at the engine's last step of opening: by then it has flushed what it replayed, and runs jobs.
type lateFS struct {
	vfs.FS
	armed atomic.Bool
}

func (f *lateFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".dbtmp") { // the options file, after which the directory is listed once more
		f.armed.Store(true)
	}
	return f.FS.Create(name, c)
}

func (f *lateFS) List(dir string) ([]string, error) {
	if f.armed.Load() {
		panic("late failure")
	}
	return f.FS.List(dir)
}

// failLate opens killed stores that cannot be opened, and says that it lives.
func failLate() error {
	o := kv.Options{MemTableBytes: 64 << 10, CacheBytes: 1 << 20}
	base := testkit.NewCrashFS(1)
	o.FS = base
	s, err := kv.Open("s", o)
	if err != nil {
		return err
	}
	for i := range 20 {
		err := update(s, func(b *kv.Batch) error { // with deletions, of which the engine collects statistics
			k := fmt.Append(nil, "k", i%7)
			return errors.Join(b.DeleteRange(k, append(k, 'x')), b.Set(k, bytes.Repeat([]byte("0123456789"), 1000)))
		})
		if err != nil {
			return err
		}
	}
	killed := base.Clone(1)
	if err := s.Close(); err != nil {
		return err
	}
	for i := range 40 {
		o.FS = &lateFS{FS: killed.Clone(uint64(i))}
		if s, err := kv.Open("s", o); err == nil {
			return errors.Join(errors.New("opened"), s.Close())
		} else if !strings.Contains(err.Error(), "storage engine panicked") {
			return err
		}
	}
	o.FS = killed
	if s, err = kv.Open("s", o); err != nil {
		return err
	}
	return s.Close()
}

// TestLateFailureOfOpening: when the engine's opening fails after it has begun jobs, these do not end the
// process. They are left behind, so that another process has to try.
func TestLateFailureOfOpening(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), lateEnv+"=1")
	out, err := child.CombinedOutput()
	if err != nil || string(out) != "alive\n" {
		t.Errorf("child: %v\n%s", err, out)
	}
}
