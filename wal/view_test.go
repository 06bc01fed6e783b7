package wal_test

import (
	"testing"

	"github.com/glimdb/db/kv"
)

// Views of one commit are closed each on its own, outlive the next commit, hold up what only they show, and none is left
// behind by the log, whose views after Close belong to their callers as well.
func TestViewsAreClosedEachOnItsOwn(t *testing.T) {
	s, l := newLog(t)
	first := mustUpdate(t, l, "k", "1")
	view := func() *kv.Snapshot {
		v, err := l.View()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	a, b := view(), view()
	a.Close()
	second := mustUpdate(t, l, "k", "2")
	if v, err := b.Get([]byte("k")); err != nil || string(v) != "1" || b.LSN() != first {
		t.Errorf("the view of %d shows %q, %v", b.LSN(), v, err)
	}
	if v, lsn := viewGet(t, l, "k"); v != "2" || lsn != second {
		t.Errorf("a view after the commit is of %d and shows %q", lsn, v)
	}
	if got := s.OldestLSN(); got != first {
		t.Errorf("the oldest view is of %d, want %d", got, first)
	}
	b.Close()
	if got := s.OldestLSN(); got < second {
		t.Errorf("the oldest view is of %d, want %d at least", got, second)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if v, lsn := viewGet(t, l, "k"); v != "2" || lsn != second {
		t.Errorf("a view of the closed log is of %d and shows %q", lsn, v)
	}
}
