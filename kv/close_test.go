package kv_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
)

// TestUseAfterClose: Close names what was left open, and is idempotent (K4); afterwards every call on every
// handle fails with ErrClosed (K5).
func TestUseAfterClose(t *testing.T) {
	s, err := kv.Open("s", kv.Options{FS: testkit.MemFS()})
	if err != nil {
		t.Fatal(err)
	}
	if err := put(s, "k", "v"); err != nil {
		t.Fatal(err)
	}
	sn, err := s.Snapshot(1)
	if err != nil {
		t.Fatal(err)
	}
	cur, err := sn.Cursor(nil, nil)
	if err != nil || !cur.Next() {
		t.Fatal(err)
	}
	b, err := s.NewBatch(1)
	if err != nil {
		t.Fatal(err)
	}
	bcur, err := b.Cursor(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Set([]byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "1 snapshots (at LSN 1) and 2 cursors") {
		t.Errorf("close with open handles: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	key := []byte("k")
	calls := map[string]func() error{
		"Snapshot":        func() error { _, err := s.Snapshot(0); return err },
		"NewBatch":        func() error { _, err := s.NewBatch(0); return err },
		"Ready":           func() error { return s.Ready(t.Context()) },
		"Apply":           func() error { return s.Apply(b) },
		"Metrics":         func() error { _, err := s.Metrics(); return err },
		"Snapshot.Get":    func() error { _, err := sn.Get(key); return err },
		"Snapshot.Cursor": func() error { _, err := sn.Cursor(nil, nil); return err },
		"Snapshot.Share":  func() error { _, err := sn.Share(); return err },
		"Batch.Get":       func() error { _, err := b.Get(key); return err },
		"Batch.Cursor":    func() error { _, err := b.Cursor(nil, nil); return err },
		"Batch.Durable":   b.Durable,
	}
	for name, c := range map[string]kv.Cursor{"cursor": cur, "batch cursor": bcur} {
		for move, f := range map[string]func() bool{"Next": c.Next, "Prev": c.Prev, "First": c.First, "Last": c.Last,
			"SeekGE": func() bool { return c.SeekGE(key) }, "SeekLT": func() bool { return c.SeekLT(key) }} {
			calls[name+"."+move] = func() error {
				if f() || c.Key() != nil || c.Value() != nil {
					return errors.New("moved")
				}
				return c.Err()
			}
		}
	}
	for name, f := range calls {
		if err := f(); !errors.Is(err, kv.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]func() error{"cursor": cur.Close, "batch cursor": bcur.Close, "snapshot": sn.Close, "batch": b.Close, "store": s.Close} {
		for range 2 {
			if err := f(); err != nil {
				t.Errorf("close %s: %v", name, err)
			}
		}
	}
	if s.OldestLSN() != 1<<64-1 {
		t.Errorf("oldest LSN %d", s.OldestLSN())
	}
}

// TestUseAfterHandleClose: a handle that was closed on its own answers like one of a closed store (K5).
func TestUseAfterHandleClose(t *testing.T) {
	s := open(t, "s", kv.Options{})
	sn := snapshot(t, s)
	second, err := sn.Share()
	if err != nil {
		t.Fatal(err)
	}
	sn.Close()
	if _, err := sn.Get([]byte("k")); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("closed snapshot: %v", err)
	}
	if _, err := second.Get([]byte("k")); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("shared view: %v", err)
	}
	second.Close()

	b, err := s.NewBatch(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Set([]byte("k"), []byte("v")); err != nil {
		t.Fatal(err)
	}
	if err := b.Durable(); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("durable before apply: %v", err)
	}
	size := b.Len()
	if err := s.Apply(b); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for name, err := range map[string]error{
			"set": b.Set(nil, nil), "text": b.SetText(nil, nil), "delete": b.Delete(nil), "range": b.DeleteRange(nil, []byte("a")), "apply": s.Apply(b),
		} {
			if !errors.Is(err, kv.ErrClosed) {
				t.Errorf("%s of an applied batch: %v", name, err)
			}
		}
		if b.Len() != size {
			t.Errorf("size %d, was %d", b.Len(), size)
		}
		b.Close()
	}
}

// TestCloseDuringReads closes a store under running readers: none may panic, read garbage, or see another
// error than ErrClosed (K5).
func TestCloseDuringReads(t *testing.T) {
	for range 10 {
		s, err := kv.Open("s", kv.Options{FS: testkit.MemFS()})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if err := put(s, fmt.Sprintf("k%02d", i), fmt.Sprint("v", i)); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		var started sync.WaitGroup
		var reads atomic.Int64
		for range 4 {
			started.Add(1)
			wg.Go(func() {
				first := sync.OnceFunc(started.Done)
				for {
					n, err := scan(s)
					reads.Add(int64(n))
					first()
					if errors.Is(err, kv.ErrClosed) {
						return
					}
					if err != nil {
						t.Errorf("read: %v", err)
						return
					}
				}
			})
		}
		wg.Go(func() {
			for i := 0; ; i++ {
				if err := put(s, "w", fmt.Sprint(i)); err != nil {
					if !errors.Is(err, kv.ErrClosed) {
						t.Errorf("write: %v", err)
					}
					return
				}
			}
		})
		started.Wait()
		var closers sync.WaitGroup
		for range 2 {
			closers.Go(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
		}
		closers.Wait()
		wg.Wait()
	}
}

// scan reads everything through one snapshot.
func scan(s *kv.Store) (int, error) {
	sn, err := s.Snapshot(0)
	if err != nil {
		return 0, err
	}
	defer sn.Close()
	c, err := sn.Cursor([]byte("k"), []byte("l"))
	if err != nil {
		return 0, err
	}
	defer c.Close()
	n := 0
	for ; c.Next(); n++ {
		if string(c.Key()) != fmt.Sprintf("k%02d", n) || string(c.Value()) != fmt.Sprint("v", n) {
			return n, fmt.Errorf("%d: %q %q", n, c.Key(), c.Value())
		}
		if _, err := sn.Get(c.Key()); err != nil {
			return n, err
		}
	}
	return n, c.Err()
}
