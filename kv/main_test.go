package kv_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// childEnv makes the test binary a second process: it opens the store named in it, says so, and holds it
// until its input ends.
const childEnv = "GLIM_KV_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		hold(dir)
		return
	}
	if os.Getenv(lateEnv) != "" {
		if err := failLate(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("alive")
		return
	}
	testkit.VerifyNoLeaks(m)
}

func hold(dir string) {
	s, err := kv.Open(dir, kv.Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if err := put(s, "child", "alive"); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// open opens a store that is closed at the end of the test; on an in-memory file system unless o names one.
func open(t testing.TB, dir string, o kv.Options) *kv.Store {
	t.Helper()
	if o.FS == nil {
		o.FS = testkit.MemFS()
	}
	s, err := kv.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// put commits one key.
func put(s *kv.Store, key, value string) error {
	return update(s, func(b *kv.Batch) error { return b.Set([]byte(key), []byte(value)) })
}

// update commits what fn stages, durably.
func update(s *kv.Store, fn func(b *kv.Batch) error) error {
	b, err := s.NewBatch(0)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := fn(b); err != nil {
		return err
	}
	if err := s.Apply(b); err != nil {
		return err
	}
	return b.Durable()
}

func snapshot(t testing.TB, s *kv.Store) *kv.Snapshot {
	t.Helper()
	sn, err := s.Snapshot(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sn.Close() })
	return sn
}
