package kv_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// stuckFS keeps the engine from creating tables until release is closed; then they fail with err, or work.
type stuckFS struct {
	vfs.FS
	release chan struct{}
	reached chan struct{}
	once    sync.Once
	err     error
}

func newStuckFS() *stuckFS {
	return &stuckFS{FS: testkit.MemFS(), release: make(chan struct{}), reached: make(chan struct{})}
}

func (f *stuckFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".sst") {
		f.once.Do(func() { close(f.reached) })
		<-f.release
		if f.err != nil {
			return nil, f.err
		}
	}
	return f.FS.Create(name, c)
}

// fill writes until the store asks for a pause, and waits in Ready. It returns Ready's error.
func fill(ctx context.Context, s *kv.Store, writes int) error {
	value := strings.Repeat("0123456789", 1000)
	for range writes {
		if err := s.Ready(ctx); err != nil {
			return err
		}
		if err := put(s, "k", value); err != nil {
			return err
		}
	}
	return nil
}

const manyWrites = 200 // 2 MB, 30 memtables

// eachEnd makes a call that waits for a flush which is stuck, and ends the wait in every way there is. then looks
// at the store before it is closed; want is what the call had to end with.
func eachEnd(t *testing.T, o kv.Options, call func(ctx context.Context, s *kv.Store) error, then func(t *testing.T, s *kv.Store, want error)) {
	for name, c := range map[string]struct {
		act  func(fs *stuckFS, s *kv.Store, cancel func())
		want error
	}{
		"flush goes on":   {func(fs *stuckFS, _ *kv.Store, _ func()) { close(fs.release) }, nil},
		"disk fails":      {func(fs *stuckFS, _ *kv.Store, _ func()) { fs.err = syscall.ENOSPC; close(fs.release) }, kv.ErrDiskFull},
		"caller gives up": {func(_ *stuckFS, _ *kv.Store, cancel func()) { cancel() }, context.Canceled},
		"store closes":    {func(_ *stuckFS, s *kv.Store, _ func()) { go func() { _ = s.Close() }() }, kv.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			fs := newStuckFS()
			o := o
			o.FS = fs
			s, err := kv.Open("s", o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			go func() { done <- call(ctx, s) }()
			<-fs.reached
			c.act(fs, s, cancel)
			if err := <-done; !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if errors.Is(c.want, context.Canceled) || errors.Is(c.want, kv.ErrClosed) {
				close(fs.release) // the call gave up before the flush could go on
			}
			then(t, s, c.want)
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

func TestThrottle(t *testing.T) {
	write := func(ctx context.Context, s *kv.Store) error { return fill(ctx, s, manyWrites) }
	eachEnd(t, kv.Options{MemTableBytes: 64 << 10, MemTables: 2}, write, func(t *testing.T, s *kv.Store, want error) {
		m, err := s.Metrics()
		if want == nil && (err != nil || m.Throttled == 0 || m.ThrottledTime <= 0) {
			t.Errorf("throttled %d times, %v, %v", m.Throttled, m.ThrottledTime, err)
		}
	})
}
