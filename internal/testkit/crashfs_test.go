package testkit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/internal/testkit"
)

func write(fs vfs.FS, name string, synced, unsynced []byte) error {
	f, err := fs.Create(name, "test")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(synced); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	_, err = f.Write(unsynced)
	return err
}

func syncDir(fs vfs.FS, name string) error {
	d, err := fs.OpenDir(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func read(fs vfs.FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// TestCrashKeepsWhatWasSynced (T1), loses at times what was not, and leaves no third thing.
func TestCrashKeepsWhatWasSynced(t *testing.T) {
	synced, unsynced := bytes.Repeat([]byte("s"), 100), bytes.Repeat([]byte("u"), 10_000)
	kept, lost := 0, 0
	for seed := range uint64(50) {
		fs := testkit.NewCrashFS(seed)
		if err := errors.Join(write(fs, "a", synced, unsynced), syncDir(fs, ""), write(fs, "nameless", synced, nil)); err != nil {
			t.Fatal(err)
		}
		next := fs.Crash()
		got, err := read(next, "a")
		if err != nil || !bytes.HasPrefix(got, synced) {
			t.Fatalf("seed %d: %d bytes, %v", seed, len(got), err)
		}
		if len(got) == len(synced)+len(unsynced) {
			kept++
		} else {
			lost++
		}
		if err := write(fs, "b", nil, nil); !errors.Is(err, testkit.ErrCrashed) {
			t.Errorf("write after the crash: %v", err)
		}
		if _, err := read(fs, "a"); !errors.Is(err, testkit.ErrCrashed) {
			t.Errorf("read after the crash: %v", err)
		}
		if err := write(next, "b", synced, nil); err != nil {
			t.Errorf("the next start cannot write: %v", err)
		}
	}
	if kept == 0 || lost == 0 {
		t.Errorf("unsynced data was kept %d times, lost %d times", kept, lost)
	}
}

// TestSeedsCrashDifferently: the loops see more than one outcome of a crash.
func TestSeedsCrashDifferently(t *testing.T) {
	image := func(seed uint64) string {
		fs := testkit.NewCrashFS(seed)
		fs.CrashAt(7)
		for i := range 5 {
			_ = write(fs, fmt.Sprint(i), []byte("s"), bytes.Repeat([]byte("u"), 20_000))
		}
		next := fs.Crash()
		names, err := next.List("")
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		var out []byte
		for _, n := range names {
			b, err := read(next, n)
			if err != nil {
				t.Fatal(err)
			}
			out = fmt.Appendf(out, "%s %q\n", n, b)
		}
		return string(out)
	}
	distinct := make(map[string]bool)
	for seed := range uint64(20) {
		distinct[image(seed)] = true
	}
	if len(distinct) < 3 {
		t.Errorf("%d distinct images of 20 seeds", len(distinct))
	}
}

func TestFaults(t *testing.T) {
	fs := testkit.NewCrashFS(1)
	if err := write(fs, "a", []byte("x"), []byte("y")); err != nil { // create, write, sync, write
		t.Fatal(err)
	}
	if fs.Ops() != 4 {
		t.Fatalf("%d operations", fs.Ops())
	}
	fs.FailAt(2, testkit.ErrIO)
	if err := write(fs, "b", []byte("x"), nil); !errors.Is(err, testkit.ErrIO) {
		t.Errorf("broken disk: %v", err)
	}
	if err := fs.Remove("a"); !errors.Is(err, testkit.ErrIO) {
		t.Errorf("broken disk removes: %v", err)
	}
	if b, err := read(fs, "a"); string(b) != "xy" || err != nil {
		t.Errorf("broken disk reads %q, %v", b, err)
	}
	fs.Heal()
	fs.FailAt(1, testkit.ErrNoSpace)
	if err := write(fs, "c", nil, nil); !errors.Is(err, testkit.ErrNoSpace) {
		t.Errorf("full disk: %v", err)
	}
	f, err := fs.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close(), fs.Remove("a")); err != nil {
		t.Errorf("full disk syncs and removes: %v", err)
	}
	fs.Heal()
	fs.FailOnce(2, testkit.ErrIO)
	if err := write(fs, "d", []byte("x"), nil); !errors.Is(err, testkit.ErrIO) {
		t.Errorf("transient: %v", err)
	}
	if err := write(fs, "d", []byte("x"), nil); err != nil {
		t.Errorf("after the transient failure: %v", err)
	}
}

// TestLoops checks the loops on a program that is right, and that they notice one which is wrong.
func TestLoops(t *testing.T) {
	var acked int
	right := func(fs *testkit.CrashFS) error {
		acked = 0
		for i := range 5 {
			if err := write(fs, fmt.Sprint(i), []byte("s"), nil); err != nil {
				return err
			}
			if err := syncDir(fs, ""); err != nil {
				return err
			}
			acked++
		}
		return nil
	}
	missing := 0
	verify := func(fs *testkit.CrashFS, survived bool) {
		if survived && acked != 5 {
			t.Errorf("survived with %d", acked)
		}
		for i := range acked {
			if b, err := read(fs, fmt.Sprint(i)); err != nil || string(b) != "s" {
				missing++
			}
		}
	}
	const ops = 5 * 5 // create, write, sync, write, directory
	if n := testkit.EveryCrashPoint(t, testkit.Loop{Seed: 3}, right, verify); n != ops+1 || missing != 0 {
		t.Errorf("%d points, %d missing", n, missing)
	}
	for _, fault := range []error{testkit.ErrIO, testkit.ErrNoSpace} {
		if n := testkit.EveryFault(t, testkit.Loop{}, fault, right, verify); n < ops-5 || missing != 0 {
			t.Errorf("%v: %d points, %d missing", fault, n, missing)
		}
	}
	if n := testkit.EveryTransientFault(t, testkit.Loop{}, testkit.ErrIO, right, verify); n != ops+1 || missing != 0 {
		t.Errorf("%d points, %d missing", n, missing)
	}
	if n := testkit.EveryCrashPoint(t, testkit.Loop{Step: 5, Points: 3}, right, verify); n != 3 {
		t.Errorf("%d points of 3", n)
	}
	forgetful := func(fs *testkit.CrashFS) error { // syncs no directory
		acked = 0
		for i := range 5 {
			if err := write(fs, fmt.Sprint(i), []byte("s"), nil); err != nil {
				return err
			}
			acked++
		}
		return nil
	}
	if testkit.EveryCrashPoint(t, testkit.Loop{Seed: 3}, forgetful, verify); missing == 0 {
		t.Error("a program that syncs no directory passed")
	}
}

func TestLoopStartsFromBase(t *testing.T) {
	base := testkit.NewCrashFS(1)
	if err := write(base, "base", []byte("b"), []byte("c")); err != nil {
		t.Fatal(err)
	}
	testkit.EveryCrashPoint(t, testkit.Loop{Base: base}, func(fs *testkit.CrashFS) error {
		return write(fs, "new", []byte("n"), nil)
	}, func(fs *testkit.CrashFS, _ bool) {
		if b, err := read(fs, "base"); string(b) != "bc" || err != nil {
			t.Errorf("base: %q, %v", b, err)
		}
	})
}
