package wal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/wal"
)

func TestHooksRunInOrderOfRegistration(t *testing.T) {
	_, l := newLog(t)
	var ran []string
	lsn, err := l.Update(context.Background(), "x", nil, func(b *kv.Batch) error {
		for _, name := range []string{"first", "second", "third"} {
			b.OnCommit(func(lsn kv.LSN) { ran = append(ran, fmt.Sprint(name, lsn)) })
		}
		return set("k", "v")(b)
	})
	if err != nil || !slices.Equal(ran, []string{"first1", "second1", "third1"}) {
		t.Errorf("commit %d ran %v, %v", lsn, ran, err)
	}
}

// TestUpdateInsideUpdate: the inner one waits for a turn that it cannot get, as documented, and ends with its
// context; the outer one is not disturbed.
func TestUpdateInsideUpdate(t *testing.T) {
	_, l := newLog(t)
	_, err := l.Update(context.Background(), "outer", nil, func(b *kv.Batch) error {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			_, err := l.Update(ctx, "inner", nil, func(*kv.Batch) error { t.Error("the inner one ran"); return nil })
			done <- err
		}()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("inner: %v", err)
		}
		return set("k", "outer")(b)
	})
	if err != nil {
		t.Errorf("outer: %v", err)
	}
	if v, lsn := viewGet(t, l, "k"); v != "outer" || lsn != 1 {
		t.Errorf("view shows %q at %d", v, lsn)
	}
}

// TestTooLargeBatches: each limit is refused with a typed error by the entry that crosses it, which stages
// nothing; what was staged before it can be committed.
func TestTooLargeBatches(t *testing.T) {
	_, l := newLog(t)
	big := make([]byte, kv.MaxBatchBytes)
	lsn, err := l.Update(context.Background(), "x", nil, func(b *kv.Batch) error {
		if err := b.Set([]byte("kept"), []byte("v")); err != nil {
			return err
		}
		size := b.Len()
		for name, err := range map[string]error{
			"value":       b.Set([]byte("k"), big),
			"key":         b.Set(make([]byte, kv.MaxKeyBytes+1), nil),
			"text key":    b.SetText(make([]byte, kv.MaxKeyBytes+1), nil),
			"delete":      b.Delete(make([]byte, kv.MaxKeyBytes+1)),
			"range":       b.DeleteRange([]byte("a"), make([]byte, kv.MaxKeyBytes+1)),
			"range lower": b.DeleteRange(make([]byte, kv.MaxKeyBytes+1), []byte("a")),
		} {
			if !errors.Is(err, kv.ErrTooLarge) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if b.Len() != size {
			t.Errorf("refused entries were staged: %d bytes, were %d", b.Len(), size)
		}
		return b.Set(make([]byte, kv.MaxKeyBytes), []byte("largest key"))
	})
	if err != nil || lsn != 1 {
		t.Errorf("commit %d, %v", lsn, err)
	}
	if v, _ := viewGet(t, l, "kept"); v != "v" {
		t.Errorf("staged before the refusals: %q", v)
	}
}

// TestSlowReaderOfTheFeed stops in the middle while commits go on and the feed is cut below it: it sees the
// commits that were durable when it began, without gaps, and its next look tells that it was cut off.
func TestSlowReaderOfTheFeed(t *testing.T) {
	_, l := newLog(t)
	for i := range 10 {
		mustUpdate(t, l, fmt.Sprint("k", i), "v")
	}
	var seen []kv.LSN
	for c, err := range l.Changes(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, c.LSN)
		if c.LSN == 3 {
			for range 10 {
				mustUpdate(t, l, "later", "v")
			}
			if err := l.Truncate(context.Background(), 15); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := []kv.LSN{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(seen, want) {
		t.Errorf("seen %v, want %v", seen, want)
	}
	for _, err := range l.Changes(context.Background(), seen[len(seen)-1]) {
		if !errors.Is(err, wal.ErrTruncated) {
			t.Errorf("next look: %v", err)
		}
	}
	first := kv.LSN(0)
	for c, err := range l.Changes(context.Background(), 15) {
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			first = c.LSN
		}
	}
	if first != 16 {
		t.Errorf("what is left begins at %d", first)
	}
}

// TestAfterClose: every call on a closed log of a closed store answers with kv.ErrClosed, and none commits.
func TestAfterClose(t *testing.T) {
	fs := testkit.MemFS()
	s, l, err := openLog(fs)
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, l, "k", "v")
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if v, lsn := viewGet(t, l, "k"); v != "v" || lsn != 1 { // the store is still open
		t.Errorf("view shows %q at %d", v, lsn)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	calls := map[string]func() error{
		"Update":   func() error { _, err := l.Update(context.Background(), "x", nil, set("k", "w")); return err },
		"Truncate": func() error { return l.Truncate(context.Background(), 1) },
		"View":     func() error { _, err := l.View(); return err },
		"Wait":     func() error { _, err := l.Wait(context.Background(), 1); return err },
		"Open":     func() error { _, err := wal.Open(s, nil); return err },
		"Changes": func() error {
			for _, err := range l.Changes(context.Background(), 0) {
				return err
			}
			return nil
		},
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, kv.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, l, err = openLog(fs); err != nil {
		t.Fatal(err)
	}
	if v, lsn := viewGet(t, l, "k"); v != "v" || lsn != 1 {
		t.Errorf("reopened: %q at %d", v, lsn)
	}
	if err := errors.Join(l.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}
