package kv_test

import (
	"bufio"
	"errors"
	iofs "io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

func TestOpenRejectsOptions(t *testing.T) {
	for name, o := range map[string]kv.Options{
		"CacheBytes":    {CacheBytes: 1},
		"MemTableBytes": {MemTableBytes: 1},
		"MemTables":     {MemTables: 1},
		"L0Tables":      {L0Tables: -1},
		"BloomBits":     {BloomBits: 33},
		"MaxOpenFiles":  {MaxOpenFiles: 1},
		"Compression":   {Compression: 99},
	} {
		o.FS = testkit.MemFS()
		if _, err := kv.Open("s", o); !errors.Is(err, kv.ErrOptions) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenVariants(t *testing.T) {
	for name, o := range map[string]kv.Options{
		"default": {}, "balanced": {Compression: kv.CompressionBalanced}, "none": {Compression: kv.CompressionNone},
		"no filters": {BloomBits: -1},
	} {
		s := open(t, "s", o)
		if err := put(s, "k", "v"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if v, err := snapshot(t, s).Get([]byte("k")); err != nil || string(v) != "v" {
			t.Errorf("%s: %q, %v", name, v, err)
		}
	}
}

// files returns the content of all files below dir, the lock's aside.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := make(map[string]string)
	err := filepath.WalkDir(dir, func(p string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "LOCK" {
			return err
		}
		b, err := os.ReadFile(p)
		m[p] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestReadOnlyChangesNothing compares the files before and after (K6).
func TestReadOnlyChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := put(s, "k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	ro, err := kv.Open(dir, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	sn, err := ro.Snapshot(0)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := sn.Get([]byte("k")); err != nil || string(v) != "v" {
		t.Errorf("%q, %v", v, err)
	}
	if _, err := ro.NewBatch(0); !errors.Is(err, kv.ErrReadOnly) {
		t.Errorf("new batch: %v", err)
	}
	if err := ro.Ready(t.Context()); !errors.Is(err, kv.ErrReadOnly) {
		t.Errorf("ready: %v", err)
	}
	sn.Close()
	if err := ro.Close(); err != nil {
		t.Error(err)
	}
	if after := files(t, dir); !maps.Equal(before, after) {
		t.Errorf("files changed: %d before, %d after", len(before), len(after))
	}
}

func mustRemove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefusesWhatIsNotAStore(t *testing.T) {
	write := func(names ...string) func(string) {
		return func(dir string) {
			for _, n := range names {
				if err := os.WriteFile(filepath.Join(dir, n), []byte("x"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		fill     func(dir string)
		readOnly bool
		want     error
	}{
		"foreign file":             {write("notes.txt"), false, kv.ErrFormat},
		"foreign log":              {write("app.log"), false, kv.ErrFormat},
		"old format":               {write("CURRENT", "MANIFEST-000001"), false, kv.ErrFormat},
		"future format":            {write("marker.manifest.000001.MANIFEST-000001", "marker.format-version.000001.999"), false, kv.ErrFormat},
		"odd marker":               {write("marker.format-version.000001.x"), false, kv.ErrFormat},
		"tables without manifest":  {write("000005.sst"), false, kv.ErrCorrupt},
		"empty, read-only":         {write(), true, iofs.ErrNotExist},
		"missing, read-only":       {func(dir string) { mustRemove(t, dir) }, true, iofs.ErrNotExist},
		"manifest of another kind": {write("marker.manifest.000001.MANIFEST-000001", "MANIFEST-000001"), false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.fill(dir)
			var before map[string]string
			if name != "missing, read-only" {
				before = files(t, dir)
			}
			s, err := kv.Open(dir, kv.Options{ReadOnly: c.readOnly})
			if err == nil {
				t.Fatalf("opened; close: %v", s.Close())
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if before != nil && !maps.Equal(before, files(t, dir)) {
				t.Error("a refused open changed the directory")
			}
			if _, err := os.Stat(filepath.Join(dir, "LOCK")); err == nil && c.want != nil && len(before) > 0 && before[filepath.Join(dir, "notes.txt")] != "" {
				t.Error("a lock file was left in a foreign directory")
			}
		})
	}
}

func TestOpenNamesCorruption(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := kv.Open(dir, kv.Options{MemTableBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 { // several memtables: tables on disk
		if err := put(s, string(rune('a'+i)), strings.Repeat("0123456789", 2000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables: %v, %v", tables, err)
	}
	for _, name := range tables {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range min(len(b)/2, 2000) {
			b[i] ^= 0x55
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err = kv.Open(dir, kv.Options{})
	if err != nil {
		if !errors.Is(err, kv.ErrCorrupt) {
			t.Fatal(err)
		}
		return
	}
	defer s.Close()
	sn, err := s.Snapshot(0)
	if err != nil {
		t.Fatal(err)
	}
	defer sn.Close()
	if _, err := sn.Get([]byte("a")); !errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("get: %v", err)
	}
	c, err := sn.Cursor(nil, nil)
	if err == nil {
		defer c.Close()
		for c.Next() {
		}
		err = c.Err()
	}
	if !errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("cursor: %v", err)
	}
	if err := put(s, "k", "v"); !errors.Is(err, kv.ErrReadOnly) || !errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("write to a damaged store: %v", err)
	}
}

// TestHC18_SecondOpenOfOneProcess: whatever name the directory is opened by (K3).
func TestHC18_SecondOpenOfOneProcess(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "s")
	s, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("no symbolic links here")
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(wd, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, link, relative, dir + "/.", filepath.Join(link, "..", "s")} {
		for _, ro := range []bool{false, true} {
			if _, err := kv.Open(name, kv.Options{ReadOnly: ro}); !errors.Is(err, kv.ErrLocked) {
				t.Errorf("%s, read-only %v: %v", name, ro, err)
			}
		}
	}
	if err := put(s, "k", "v"); err != nil {
		t.Errorf("the owner was disturbed: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = kv.Open(link, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestHC18_SecondProcess: refused while the owner lives, free once it was killed (K3).
func TestHC18_SecondProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+dir)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "open\n" {
		t.Fatalf("child says %q, %v", line, err)
	}
	for _, ro := range []bool{false, true} {
		start := time.Now()
		_, err := kv.Open(dir, kv.Options{ReadOnly: ro})
		if !errors.Is(err, kv.ErrLocked) {
			t.Errorf("read-only %v: %v", ro, err)
		}
		t.Logf("read-only %v: refused after %v", ro, time.Since(start))
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	s, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatalf("after the kill: %v", err)
	}
	defer s.Close()
	if v, err := snapshot(t, s).Get([]byte("child")); err != nil || string(v) != "alive" {
		t.Errorf("%q, %v", v, err)
	}
}
