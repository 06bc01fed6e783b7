package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// history replaces long values at random and knows what each key holds.
type history struct {
	r     *rand.Rand
	value map[string][]byte
}

func newHistory(seed uint64) *history {
	return &history{rand.New(rand.NewPCG(seed, 3)), make(map[string][]byte)}
}

// step commits a few values, one of them short, and a removal; what failed is not expected afterwards, nor excluded.
func (h *history) step(s *kv.Store, keys int) error {
	next := make(map[string][]byte)
	err := update(s, func(b *kv.Batch) error {
		var errs []error
		for i := range 6 {
			key := fmt.Sprintf("k%04d", h.r.IntN(keys))
			switch i {
			case 0:
				next[key] = nil
				errs = append(errs, b.Delete([]byte(key)))
				continue
			case 1:
				next[key] = fmt.Append(nil, "short", h.r.Uint64())
			default:
				v := make([]byte, 1000+h.r.IntN(4000)) // around the length from which values are kept apart
				for j := range v {
					v[j] = byte(h.r.Uint32())
				}
				next[key] = v
			}
			errs = append(errs, b.Set([]byte(key), next[key]))
		}
		return errors.Join(errs...)
	})
	for key, v := range next {
		if err != nil {
			delete(h.value, key) // unknown
		} else {
			h.value[key] = v
		}
	}
	return err
}

func (h *history) check(s *kv.Store) error {
	sn, err := s.Snapshot(0)
	if err != nil {
		return err
	}
	defer sn.Close()
	for key, want := range h.value {
		got, err := sn.Get([]byte(key))
		if errors.Is(err, kv.ErrNotFound) && want == nil {
			continue
		}
		if err != nil || !bytes.Equal(got, want) {
			return fmt.Errorf("%s: %d bytes, %w; want %d", key, len(got), err, len(want))
		}
	}
	return nil
}

// Long values are written once, not with every compaction; those that were replaced go of themselves, down to a share,
// and all of them by Compact. The store leaves no goroutine behind.
func TestLongValuesAreKeptApart(t *testing.T) {
	fs := testkit.MemFS()
	o := kv.Options{FS: fs, MemTableBytes: 256 << 10}
	s, err := kv.Open("s", o)
	if err != nil {
		t.Fatal(err)
	}
	h := newHistory(1)
	for range 2000 {
		if err := h.step(s, 500); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.check(s); err != nil {
		t.Error(err)
	}
	m, err := s.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	if m.ValueFiles == 0 || m.ValueBytes == 0 || m.ValueBytesWritten < m.LogBytesIn/2 || m.WriteAmplification() > 3.5 {
		t.Errorf("%d files of %d bytes, %d written for %d; %.2f bytes for each", m.ValueFiles, m.ValueBytes, m.ValueBytesWritten, m.LogBytesIn, m.WriteAmplification())
	}
	if m.ValueBytesDead > m.ValueBytes*2/3 {
		t.Errorf("%d of %d bytes are referred to by none", m.ValueBytesDead, m.ValueBytes)
	}
	if err := s.Compact(t.Context(), []byte("k"), []byte("l")); err != nil {
		t.Fatal(err)
	}
	if m, err = s.Metrics(); err != nil || m.ValueBytesDead > m.ValueBytes/50 {
		t.Errorf("%d of %d bytes are referred to by none after Compact, %v", m.ValueBytesDead, m.ValueBytes, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t)
	if err := h.check(open(t, "s", o)); err != nil {
		t.Errorf("reopened: %v", err)
	}
}

// badValuesFS fails the n-th change of a file of values, and all later ones unless once is set.
type badValuesFS struct {
	vfs.FS
	n    int64
	once bool
	seen atomic.Int64
}

func (f *badValuesFS) fault() error {
	if n := f.seen.Add(1); n == f.n || n > f.n && !f.once {
		return syscall.ENOSPC
	}
	return nil
}

func (f *badValuesFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if !strings.HasSuffix(name, ".blob") {
		return f.FS.Create(name, c)
	}
	if err := f.fault(); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name, c)
	return &badValuesFile{file, f}, err
}

type badValuesFile struct {
	vfs.File
	fs *badValuesFS
}

func (f *badValuesFile) Write(p []byte) (int, error) {
	if err := f.fs.fault(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *badValuesFile) Sync() error     { return errors.Join(f.fs.fault(), f.File.Sync()) }
func (f *badValuesFile) SyncData() error { return errors.Join(f.fs.fault(), f.File.SyncData()) }
func (f *badValuesFile) Close() error    { return errors.Join(f.fs.fault(), f.File.Close()) }

// TestFailedValueFile: any change of a file of values fails, once or from then on, in a flush, a compaction or when
// values are written anew. The process lives, the store says what happened and still reads all that was acknowledged,
// and so does the next opening (K2, HC-19).
func TestFailedValueFile(t *testing.T) {
	for _, once := range []bool{false, true} {
		for n := int64(1); ; n += 1 + n/8 {
			fs := &badValuesFS{FS: testkit.MemFS(), n: n, once: once}
			o := kv.Options{FS: fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20}
			s, err := kv.Open("s", o)
			if err != nil {
				t.Fatal(err)
			}
			h := newHistory(uint64(n))
			for i := 0; err == nil && i < 300; i++ {
				err = h.step(s, 60)
			}
			if err == nil {
				err = s.Compact(t.Context(), []byte("k"), []byte("l"))
			}
			failed := fs.seen.Load() >= n
			if err != nil && (!failed || !errors.Is(err, kv.ErrReadOnly) || !errors.Is(err, kv.ErrDiskFull)) {
				t.Errorf("change %d: %v", n, err)
			}
			if err := h.check(s); err != nil {
				t.Errorf("change %d: after the failure: %v", n, err)
			}
			if err := s.Close(); err != nil && !errors.Is(err, kv.ErrDiskFull) {
				t.Errorf("change %d: close: %v", n, err)
			}
			o.FS = fs.FS
			if s, err = kv.Open("s", o); err != nil {
				t.Fatalf("change %d: reopen: %v", n, err)
			}
			if err := errors.Join(h.check(s), s.Close()); err != nil {
				t.Errorf("change %d: reopened: %v", n, err)
			}
			if !failed || t.Failed() {
				if n < 100 {
					t.Errorf("only %d changes of files of values", fs.seen.Load())
				}
				break
			}
		}
	}
}
