package wal_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/internal/invariants"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/wal"
)

// script is a deterministic list of commits over few keys, so that every commit changes what others wrote;
// state(n) is what a store must hold after its first n commits.
type script struct{ seed uint64 }

const scriptKeys = 24

func scriptKey(i int) []byte { return fmt.Appendf(nil, "u/%02d", i) }

// stage stages commit n (from 1). Sizes vary from a few bytes to more than a memtable of the loops.
func (s script) stage(n int, set func(k, v []byte) error, del func(k []byte) error, delRange func(lo, hi []byte) error) error {
	r := rand.New(rand.NewPCG(s.seed, uint64(n)))
	if n%7 == 0 {
		i := r.IntN(scriptKeys)
		if err := delRange(scriptKey(i), scriptKey(i+3)); err != nil {
			return err
		}
	}
	for range 1 + r.IntN(4) {
		k := scriptKey(r.IntN(scriptKeys))
		if r.IntN(4) == 0 {
			if err := del(k); err != nil {
				return err
			}
			continue
		}
		v := make([]byte, []int{3, 300, 4_000, 14_000}[r.IntN(4)])
		for i := 0; i+8 <= len(v); i += 8 {
			binary.LittleEndian.PutUint64(v[i:], r.Uint64()) // incompressible, so that memtables fill up
		}
		if err := set(k, v); err != nil {
			return err
		}
	}
	return nil
}

func (s script) commit(ctx context.Context, l *wal.Log, n int) (kv.LSN, error) {
	return l.Update(ctx, "test", []string{fmt.Sprint(n)}, func(b *kv.Batch) error {
		return s.stage(n, b.Set, b.Delete, b.DeleteRange)
	})
}

func (s script) state(n int) map[string]string {
	m := make(map[string]string)
	for i := 1; i <= n; i++ {
		_ = s.stage(i, func(k, v []byte) error { m[string(k)] = string(v); return nil },
			func(k []byte) error { delete(m, string(k)); return nil },
			func(lo, hi []byte) error {
				for k := range m {
					if k >= string(lo) && k < string(hi) {
						delete(m, k)
					}
				}
				return nil
			})
	}
	return m
}

// smallOptions make flushes, compactions and log changes happen within a few commits.
func smallOptions(fs vfs.FS) kv.Options {
	return kv.Options{FS: fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20}
}

func openLog(fs vfs.FS) (*kv.Store, *wal.Log, error) {
	s, err := kv.Open("store", smallOptions(fs))
	if err != nil {
		return nil, nil, err
	}
	l, err := wal.Open(s, nil)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, l, nil
}

// runScript commits 1..n and stops at the first error. acked is the last acknowledged commit.
func runScript(fs vfs.FS, sc script, n int, acked *kv.LSN) (err error) {
	s, l, err := openLog(fs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close(), s.Close()) }()
	for i := int(l.LSN()) + 1; i <= n; i++ {
		lsn, err := sc.commit(context.Background(), l, i)
		if err != nil {
			return errors.Join(err, afterFailure(sc, s, l, err))
		}
		*acked = lsn
	}
	return nil
}

// afterFailure checks that a store whose commit failed still reads, and refuses writes at once.
func afterFailure(sc script, s *kv.Store, l *wal.Log, cause error) error {
	if errors.Is(cause, testkit.ErrCrashed) {
		return nil // even reading is over
	}
	if !errors.Is(cause, kv.ErrReadOnly) {
		return fmt.Errorf("failed commit is not ErrReadOnly: %w", cause)
	}
	if errors.Is(cause, testkit.ErrNoSpace) && !errors.Is(cause, kv.ErrDiskFull) {
		return fmt.Errorf("failed commit is not ErrDiskFull: %w", cause)
	}
	if _, err := sc.commit(context.Background(), l, 999); !errors.Is(err, kv.ErrReadOnly) {
		return fmt.Errorf("later commit: %w", err)
	}
	v, err := l.View()
	if err != nil {
		return fmt.Errorf("view after failure: %w", err)
	}
	defer v.Close()
	if err := sameState(v, sc.state(int(v.LSN()))); err != nil && !errors.Is(err, errUnreadable) {
		return fmt.Errorf("reading after failure: %w", err)
	}
	return nil
}

// sameState compares the u/ keys of r with want, by cursor and by Get.
func sameState(r kv.Reader, want map[string]string) error {
	c, err := r.Cursor([]byte("u/"), []byte("u0"))
	if err != nil {
		return err
	}
	defer c.Close()
	n := 0
	for c.Next() {
		n++
		if w, ok := want[string(c.Key())]; !ok || w != string(c.Value()) {
			return fmt.Errorf("key %q: present %v, value of %d bytes, want %d", c.Key(), ok, len(c.Value()), len(w))
		}
		if v, err := r.Get(c.Key()); err != nil || !bytes.Equal(v, c.Value()) {
			return fmt.Errorf("get %q: %d bytes, %w", c.Key(), len(v), err)
		}
	}
	if err := c.Err(); err != nil {
		return err
	}
	if n != len(want) {
		return fmt.Errorf("%d keys, want %d", n, len(want))
	}
	return nil
}

// verifyPrefix opens what is left and checks that it holds exactly the first LSN commits, at least those
// that were acknowledged and at most one more, and goes on committing and survives another opening.
func verifyPrefix(t *testing.T, fs vfs.FS, sc script, acked kv.LSN, atMost kv.LSN) {
	t.Helper()
	for round := range 2 {
		s, l, err := openLog(fs)
		if err != nil {
			t.Fatalf("reopen %d: %v", round, err)
		}
		lsn := l.LSN()
		if lsn < acked || lsn > atMost {
			t.Errorf("reopen %d: LSN %d, acknowledged %d, attempted %d", round, lsn, acked, atMost)
		}
		v, err := l.View()
		if err != nil {
			t.Fatal(err)
		}
		if err := sameState(v, sc.state(int(lsn))); err != nil {
			t.Errorf("reopen %d at LSN %d: %v", round, lsn, err)
		}
		v.Close()
		next := kv.LSN(1)
		for c, err := range l.Changes(context.Background(), 0) {
			if err != nil || c.LSN != next || c.IDs[0] != fmt.Sprint(next) {
				t.Fatalf("reopen %d: change %+v, %v", round, c, err)
			}
			next++
		}
		if next != lsn+1 {
			t.Errorf("reopen %d: feed ends at %d, LSN %d", round, next-1, lsn)
		}
		if acked, err = sc.commit(context.Background(), l, int(lsn)+1); err != nil {
			t.Fatalf("reopen %d: commit: %v", round, err)
		}
		atMost = acked
		if err := errors.Join(l.Close(), s.Close()); err != nil {
			t.Fatalf("reopen %d: close: %v", round, err)
		}
	}
}

// The loops start from what a process left that was killed after baseCommits, so that opening, with logs to
// replay and flush, is among the operations that fail, and go on to scriptCommits.
const baseCommits, scriptCommits = 9, 28

// killedBase returns that disk.
func killedBase(t *testing.T, sc script) *testkit.CrashFS {
	t.Helper()
	fs := testkit.NewCrashFS(sc.seed)
	s, l, err := openLog(fs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range baseCommits {
		if _, err := sc.commit(context.Background(), l, i+1); err != nil {
			t.Fatal(err)
		}
	}
	killed := fs.Clone(sc.seed)
	if err := errors.Join(l.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return killed
}

// runScriptLoop runs the script under one of the loops of testkit. extra is the number of commits that may be
// found beside the acknowledged ones.
func runScriptLoop(t *testing.T, sc script, l testkit.Loop, extra kv.LSN,
	loop func(testkit.Loop, func(*testkit.CrashFS) error, func(*testkit.CrashFS, bool)) int) {
	t.Helper()
	if invariants.Enabled { // the engine checks itself, too, which takes ten times as long: every fifth point
		l.From, l.Step = 1+int(sc.seed)%5, 5
	}
	least := kv.LSN(0)
	if l.Base != nil {
		least = baseCommits
	}
	var acked kv.LSN
	n := loop(l, func(fs *testkit.CrashFS) error {
		acked = least
		return runScript(fs, sc, scriptCommits, &acked)
	}, func(fs *testkit.CrashFS, survived bool) {
		if survived && acked != scriptCommits {
			t.Fatalf("survived with %d commits", acked)
		}
		verifyPrefix(t, fs, sc, acked, acked+extra)
	})
	t.Logf("%d points", n)
}

// TestHC03_PowerLossAtEveryOperation: acknowledged commits are there, others whole or absent, and LSNs and
// feed agree with them (W1, W3, W5).
func TestHC03_PowerLossAtEveryOperation(t *testing.T) {
	t.Parallel()
	sc := script{seed: 1}
	for _, base := range []*testkit.CrashFS{nil, killedBase(t, sc)} {
		runScriptLoop(t, sc, testkit.Loop{Seed: 1, Base: base}, 1,
			func(l testkit.Loop, run func(*testkit.CrashFS) error, verify func(*testkit.CrashFS, bool)) int {
				return testkit.EveryCrashPoint(t, l, run, verify)
			})
	}
}

// TestHC19_DiskFullAtEveryOperation: on a full disk the failed log is cut back, so that exactly the
// acknowledged commits are there.
func TestHC19_DiskFullAtEveryOperation(t *testing.T) {
	t.Parallel()
	faultLoop(t, testkit.EveryFault, testkit.ErrNoSpace, 0)
}

func TestHC19_BrokenDiskAtEveryOperation(t *testing.T) {
	t.Parallel()
	faultLoop(t, testkit.EveryFault, testkit.ErrIO, 1)
}

func TestHC19_TransientFailureAtEveryOperation(t *testing.T) {
	t.Parallel()
	faultLoop(t, testkit.EveryTransientFault, testkit.ErrIO, 1)
}

// errUnreadable is what a disk answers that can be written but not read.
var errUnreadable = fmt.Errorf("unreadable: %w", testkit.ErrIO)

// TestHC19_UnreadableDiskAtEveryOperation: flushes and compactions that cannot read make the store read-only; a
// commit, which reads nothing, is durable whatever they do.
func TestHC19_UnreadableDiskAtEveryOperation(t *testing.T) {
	t.Parallel()
	faultLoop(t, testkit.EveryReadFault, errUnreadable, 0)
}

type loopFunc func(testing.TB, testkit.Loop, error, func(*testkit.CrashFS) error, func(*testkit.CrashFS, bool)) int

func faultLoop(t *testing.T, loop loopFunc, fault error, extra kv.LSN) {
	t.Helper()
	sc := script{seed: 2}
	runScriptLoop(t, sc, testkit.Loop{Seed: 2, Base: killedBase(t, sc)}, extra,
		func(l testkit.Loop, run func(*testkit.CrashFS) error, verify func(*testkit.CrashFS, bool)) int {
			return loop(t, l, fault, func(fs *testkit.CrashFS) error {
				err := run(fs)
				if err != nil && !errors.Is(err, fault) {
					t.Errorf("error does not carry its cause: %v", err)
				}
				return err
			}, verify)
		})
}

// TestHC19_ConcurrentWriters fails or cuts the disk under many writers: nobody hangs, every acknowledged
// commit is there, every other one is whole or absent, and what is there is a prefix of the commits.
func TestHC19_ConcurrentWriters(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 12
	for _, mode := range []string{"power loss", "disk full", "broken", "once"} {
		t.Run(mode, func(t *testing.T) {
			step := 9
			if invariants.Enabled {
				step *= 5
			}
			for k := 12; k < 200; k += step {
				fs := testkit.NewCrashFS(uint64(k))
				s, l, err := openLog(fs)
				if err != nil {
					t.Fatal(err)
				}
				switch mode {
				case "power loss":
					fs.CrashAt(k)
				case "disk full":
					fs.FailAt(k, testkit.ErrNoSpace)
				case "broken":
					fs.FailAt(k, testkit.ErrIO)
				case "once":
					fs.FailOnce(k, testkit.ErrIO)
				}
				var acked sync.Map
				var wg sync.WaitGroup
				for w := range writers {
					wg.Go(func() {
						for i := range each {
							v := bytes.Repeat([]byte{byte(w), byte(i), byte(w * i)}, 1500)
							lsn, err := l.Update(context.Background(), "x", nil, func(b *kv.Batch) error {
								return errors.Join(b.Set(fmt.Appendf(nil, "a/%d/%d", w, i), v), b.Set(fmt.Appendf(nil, "b/%d/%d", w, i), v))
							})
							if err != nil {
								if !errors.Is(err, kv.ErrReadOnly) && !errors.Is(err, testkit.ErrCrashed) {
									t.Errorf("update: %v", err)
								}
								return
							}
							acked.Store([2]int{w, i}, lsn)
						}
					})
				}
				wg.Wait()
				if err := errors.Join(l.Close(), s.Close()); err != nil && !errors.Is(err, kv.ErrReadOnly) {
					t.Errorf("close: %v", err)
				}
				fs.Heal()
				verifyWriters(t, fs.Crash(), &acked, writers, each)
			}
		})
	}
}

func verifyWriters(t *testing.T, fs vfs.FS, acked *sync.Map, writers, each int) {
	t.Helper()
	s, l, err := openLog(fs)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(l.Close(), s.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	commits := kv.LSN(0)
	for w := range writers {
		for i := range each {
			want := bytes.Repeat([]byte{byte(w), byte(i), byte(w * i)}, 1500)
			a, _ := viewGet(t, l, fmt.Sprintf("a/%d/%d", w, i))
			b, _ := viewGet(t, l, fmt.Sprintf("b/%d/%d", w, i))
			if a != b || a != "" && a != string(want) {
				t.Errorf("commit %d/%d is not whole", w, i)
			}
			if a != "" {
				commits++
			}
			if lsn, ok := acked.Load([2]int{w, i}); ok && (a == "" || lsn.(kv.LSN) > l.LSN()) {
				t.Errorf("acknowledged commit %d/%d at %d is missing, LSN %d", w, i, lsn, l.LSN())
			}
		}
	}
	if commits != l.LSN() {
		t.Errorf("%d commits at LSN %d", commits, l.LSN())
	}
}
