package wal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/wal"
)

func TestMain(m *testing.M) { testkit.VerifyNoLeaks(m) }

// newLog opens a log over an in-memory store; both are closed at the end of the test.
func newLog(t testing.TB) (*kv.Store, *wal.Log) {
	t.Helper()
	s, l, err := openLog(testkit.MemFS())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), s.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s, l
}

func set(k, v string) func(*kv.Batch) error {
	return func(b *kv.Batch) error { return b.Set([]byte(k), []byte(v)) }
}

func mustUpdate(t testing.TB, l *wal.Log, k, v string) kv.LSN {
	t.Helper()
	lsn, err := l.Update(context.Background(), "set", []string{k}, set(k, v))
	if err != nil {
		t.Fatal(err)
	}
	return lsn
}

func viewGet(t testing.TB, l *wal.Log, k string) (string, kv.LSN) {
	t.Helper()
	v, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	b, err := v.Get([]byte(k))
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		t.Fatal(err)
	}
	return string(b), v.LSN()
}

// TestUpdateNumbersCommits: LSNs count up, and a commit without changes takes none (W1).
func TestUpdateNumbersCommits(t *testing.T) {
	_, l := newLog(t)
	for i := kv.LSN(1); i <= 5; i++ {
		if lsn := mustUpdate(t, l, "k", fmt.Sprint(i)); lsn != i {
			t.Errorf("LSN %d, want %d", lsn, i)
		}
		if v, lsn := viewGet(t, l, "k"); v != fmt.Sprint(i) || lsn != i {
			t.Errorf("view shows %q at %d", v, lsn)
		}
	}
	lsn, err := l.Update(context.Background(), "none", nil, func(*kv.Batch) error { return nil })
	if lsn != 5 || err != nil {
		t.Errorf("empty commit: %d, %v", lsn, err)
	}
	if l.LSN() != 5 || l.Durable() != 5 {
		t.Errorf("LSN %d, durable %d", l.LSN(), l.Durable())
	}
}

// TestFailedUpdateLeavesNoTrace: nothing in the store, no hook, no LSN (W3).
func TestFailedUpdateLeavesNoTrace(t *testing.T) {
	_, l := newLog(t)
	mustUpdate(t, l, "k", "1")
	own := errors.New("own")
	hook := func(b *kv.Batch) { b.OnCommit(func(kv.LSN) { t.Error("hook of a failed commit") }) }
	cancelled, cancel := context.WithCancel(context.Background())
	for name, c := range map[string]struct {
		ctx  context.Context
		fn   func(*kv.Batch) error
		want error
	}{
		"error of fn":      {context.Background(), func(b *kv.Batch) error { hook(b); _ = set("k", "x")(b); return own }, own},
		"cancelled inside": {cancelled, func(b *kv.Batch) error { hook(b); cancel(); return set("k", "x")(b) }, context.Canceled},
		"too large": {context.Background(), func(b *kv.Batch) error {
			hook(b)
			return b.Set([]byte("k"), make([]byte, kv.MaxBatchBytes))
		}, kv.ErrTooLarge},
	} {
		if lsn, err := l.Update(c.ctx, "x", nil, c.fn); lsn != 0 || !errors.Is(err, c.want) {
			t.Errorf("%s: %d, %v", name, lsn, err)
		}
	}
	if _, err := l.Update(cancelled, "x", nil, func(*kv.Batch) error { t.Error("fn ran"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	func() {
		defer func() {
			if r := recover(); r != "boom" {
				t.Errorf("recovered %v", r)
			}
		}()
		_, _ = l.Update(context.Background(), "x", nil, func(b *kv.Batch) error { hook(b); _ = set("k", "x")(b); panic("boom") })
	}()
	if v, lsn := viewGet(t, l, "k"); v != "1" || lsn != 1 {
		t.Errorf("view shows %q at %d", v, lsn)
	}
	if lsn := mustUpdate(t, l, "k", "2"); lsn != 2 { // the turn was released each time
		t.Errorf("LSN %d", lsn)
	}
}

func TestUpdateWaitsForItsTurnOrTheContext(t *testing.T) {
	_, l := newLog(t)
	inside, leave := make(chan struct{}), make(chan struct{})
	first := make(chan error)
	go func() {
		_, err := l.Update(context.Background(), "x", nil, func(b *kv.Batch) error {
			close(inside)
			<-leave
			return set("k", "first")(b)
		})
		first <- err
	}()
	<-inside
	ctx, cancel := context.WithCancel(context.Background())
	second := make(chan error)
	go func() { _, err := l.Update(ctx, "x", nil, set("k", "second")); second <- err }()
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("waiting update: %v", err)
	}
	if v, lsn := viewGet(t, l, "k"); v != "" || lsn != 0 { // a view does not wait for the writer
		t.Errorf("view shows %q at %d", v, lsn)
	}
	close(leave)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// TestViewsAndHooks: hooks run in LSN order before any view of their commit, and a view taken while a
// commit is being published is of the commit before (W2, W4).
func TestViewsAndHooks(t *testing.T) {
	_, l := newLog(t)
	var published atomic.Uint64
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				v, lsn := viewGet(t, l, "k")
				if lsn > 0 && v != fmt.Sprint(lsn) {
					t.Errorf("view at %d shows %q", lsn, v)
				}
				if uint64(lsn) > published.Load() {
					t.Errorf("view at %d, published %d", lsn, published.Load())
				}
			}
		})
	}
	for i := range 300 {
		_, err := l.Update(context.Background(), "x", nil, func(b *kv.Batch) error {
			b.OnCommit(func(lsn kv.LSN) {
				if v, at := viewGet(t, l, "k"); at != lsn-1 || lsn > 1 && v != fmt.Sprint(lsn-1) {
					t.Errorf("view inside the hook of %d is at %d and shows %q", lsn, at, v)
				}
				if !published.CompareAndSwap(uint64(lsn-1), uint64(lsn)) {
					t.Errorf("hook of %d after %d", lsn, published.Load())
				}
			})
			return set("k", fmt.Sprint(i+1))(b)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

// TestConcurrentUpdates: the turn makes a read and write of many writers exact, and every commit has its own
// LSN (W1).
func TestConcurrentUpdates(t *testing.T) {
	_, l := newLog(t)
	const writers, each = 16, 40
	var wg sync.WaitGroup
	var mu sync.Mutex
	var lsns []kv.LSN
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				lsn, err := l.Update(context.Background(), "x", []string{fmt.Sprint(w)}, func(b *kv.Batch) error {
					v, err := b.Get([]byte("sum"))
					if err != nil && !errors.Is(err, kv.ErrNotFound) {
						return err
					}
					return b.Set([]byte("sum"), append(v, byte(i)))
				})
				if err != nil {
					t.Error(err)
				}
				if d := l.Durable(); d < lsn {
					t.Errorf("acknowledged %d, durable %d", lsn, d)
				}
				mu.Lock()
				lsns = append(lsns, lsn)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(lsns)
	for i, lsn := range lsns {
		if lsn != kv.LSN(i+1) {
			t.Fatalf("LSN %d at place %d", lsn, i+1)
		}
	}
	if v, lsn := viewGet(t, l, "sum"); len(v) != writers*each || lsn != writers*each {
		t.Errorf("%d updates of the sum, LSN %d", len(v), lsn)
	}
}

// TestChanges: every durable commit is in the feed, without gaps, from any LSN on (W5).
func TestChanges(t *testing.T) {
	fs := testkit.MemFS()
	s, err := kv.Open("store", smallOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_700_000_000, 123)
	l, err := wal.Open(s, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		mustUpdate(t, l, fmt.Sprint("k", i+1), "v")
	}
	collect := func(since kv.LSN) (lsns []kv.LSN, err error) {
		for c, err := range l.Changes(context.Background(), since) {
			if err != nil {
				return lsns, err
			}
			if c.Kind == "set" && (c.IDs[0] != fmt.Sprint("k", c.LSN) || !c.Time.Equal(at)) {
				t.Errorf("change %+v", c)
			}
			lsns = append(lsns, c.LSN)
		}
		return lsns, nil
	}
	for _, since := range []kv.LSN{0, 4, 9, 10} {
		lsns, err := collect(since)
		if err != nil || len(lsns) != int(10-since) || len(lsns) > 0 && lsns[0] != since+1 {
			t.Errorf("since %d: %v, %v", since, lsns, err)
		}
	}
	if _, err := collect(11); !errors.Is(err, wal.ErrAhead) {
		t.Errorf("ahead: %v", err)
	}
	for _, err := range l.Changes(context.Background(), 0) {
		if err != nil {
			t.Error(err)
		}
		break // releases the snapshot: Close would name it
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range l.Changes(cancelled, 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	if err := l.Truncate(context.Background(), 6); err != nil {
		t.Fatal(err)
	}
	for since, want := range map[kv.LSN]error{0: wal.ErrTruncated, 5: wal.ErrTruncated, 6: nil, 8: nil, 11: nil} {
		if _, err := collect(since); !errors.Is(err, want) {
			t.Errorf("truncated, since %d: %v", since, err)
		}
	}
	if err := l.Truncate(context.Background(), 1<<63); err != nil {
		t.Fatal(err)
	}
	if lsns, err := collect(11); err != nil || !slices.Equal(lsns, []kv.LSN{12}) {
		t.Errorf("all truncated: %v, %v", lsns, err)
	}
	if err := errors.Join(l.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	s, l, err = openLog(fs)
	if err != nil {
		t.Fatal(err)
	}
	if l.LSN() != 12 || l.Durable() != 12 {
		t.Errorf("reopened at %d, %d", l.LSN(), l.Durable())
	}
	if lsn := mustUpdate(t, l, "k", "v"); lsn != 13 {
		t.Errorf("LSN %d after reopening", lsn)
	}
	if err := errors.Join(l.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestWait(t *testing.T) {
	_, l := newLog(t)
	mustUpdate(t, l, "k", "1")
	if lsn, err := l.Wait(context.Background(), 0); lsn != 1 || err != nil {
		t.Errorf("%d, %v", lsn, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { _, err := l.Wait(ctx, 1); done <- err }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// A consumer that follows sees every commit once.
	got := make(chan kv.LSN)
	go func() {
		since := kv.LSN(0)
		for since < 50 {
			if _, err := l.Wait(context.Background(), since); err != nil {
				t.Error(err)
			}
			for c, err := range l.Changes(context.Background(), since) {
				if err != nil {
					t.Error(err)
				}
				since = c.LSN
				got <- c.LSN
			}
		}
		close(got)
	}()
	go func() {
		for range 49 {
			_, _ = l.Update(context.Background(), "x", nil, set("k", "v"))
		}
	}()
	next := kv.LSN(1)
	for lsn := range got {
		if lsn != next {
			t.Errorf("change %d, want %d", lsn, next)
		}
		next++
	}
	if next != 51 {
		t.Errorf("%d changes", next-1)
	}
	go func() { _, err := l.Wait(context.Background(), 50); done <- err }()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, kv.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestWaitEndsWhenTheDiskFails(t *testing.T) {
	fs := testkit.NewCrashFS(1)
	s, l, err := openLog(fs)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { _, err := l.Wait(context.Background(), 0); done <- err }()
	fs.FailAt(1, testkit.ErrNoSpace)
	if _, err := l.Update(context.Background(), "x", nil, set("k", "v")); !errors.Is(err, kv.ErrDiskFull) {
		t.Errorf("update: %v", err)
	}
	if err := <-done; !errors.Is(err, kv.ErrDiskFull) {
		t.Errorf("wait: %v", err)
	}
	if err := errors.Join(l.Close(), s.Close()); err != nil {
		t.Errorf("close: %v", err)
	}
}

// TestCloseTellsTheTruth closes log and store under running writers: what was acknowledged is there after
// reopening, what was refused is not.
func TestCloseTellsTheTruth(t *testing.T) {
	for range 5 {
		fs := testkit.MemFS()
		s, l, err := openLog(fs)
		if err != nil {
			t.Fatal(err)
		}
		var acked, refused sync.Map
		var wg, started sync.WaitGroup
		for w := range 8 {
			started.Add(1)
			wg.Go(func() {
				first := sync.OnceFunc(started.Done)
				for i := 0; ; i++ {
					k := fmt.Sprintf("%d/%d", w, i)
					_, err := l.Update(context.Background(), "x", nil, set(k, "v"))
					first()
					if err != nil {
						if !errors.Is(err, kv.ErrClosed) {
							t.Errorf("update: %v", err)
						}
						refused.Store(k, true)
						return
					}
					acked.Store(k, true)
				}
			})
		}
		started.Wait()
		if err := errors.Join(l.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		s, l, err = openLog(fs)
		if err != nil {
			t.Fatal(err)
		}
		acked.Range(func(k, _ any) bool {
			if v, _ := viewGet(t, l, k.(string)); v != "v" {
				t.Errorf("acknowledged %v is missing", k)
			}
			return true
		})
		refused.Range(func(k, _ any) bool {
			if v, _ := viewGet(t, l, k.(string)); v != "" {
				t.Errorf("refused %v is there", k)
			}
			return true
		})
		if err := errors.Join(l.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestHC04_TornLogTail cuts the newest log of a store that was killed.
func TestHC04_TornLogTail(t *testing.T) {
	for _, cut := range []int64{0, 1, 7, 64, 200} {
		t.Run(fmt.Sprint("cut ", cut), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			sizes := writeAndKill(t, dir, 50)
			newest := newestLog(t, dir)
			info, err := os.Stat(newest)
			if err != nil {
				t.Fatal(err)
			}
			// The log may be longer than what was written to it; the tail is the end of the writing.
			end := sizes[len(sizes)-1]
			if end > info.Size() {
				t.Fatalf("log of %d bytes, wrote %d", info.Size(), end)
			}
			if err := os.Truncate(newest, end-cut); err != nil {
				t.Fatal(err)
			}
			kept := 0
			for _, size := range sizes {
				if size <= end-cut {
					kept++
				}
			}
			if min := 50 - 1 - int(cut)/100; kept < min {
				t.Fatalf("cut %d bytes leaves %d commits whole, expected at least %d", cut, kept, min)
			}
			reopen := func(want kv.LSN) (*kv.Store, *wal.Log) {
				s, err := kv.Open(dir, kv.Options{})
				if err != nil {
					t.Fatal(err)
				}
				l, err := wal.Open(s, nil)
				if err != nil {
					t.Fatal(err)
				}
				if l.LSN() != want {
					t.Errorf("LSN %d, want %d", l.LSN(), want)
				}
				return s, l
			}
			s, l := reopen(kv.LSN(kept))
			for i := 1; i <= kept; i++ {
				if v, _ := viewGet(t, l, fmt.Sprint("k", i)); v != fmt.Sprint("v", i) {
					t.Errorf("commit %d: %q", i, v)
				}
			}
			for i := range 5 {
				mustUpdate(t, l, fmt.Sprint("later", i), "v")
			}
			killed := kill(t, dir)
			if err := errors.Join(l.Close(), s.Close()); err != nil {
				t.Fatal(err)
			}
			dir = killed
			s, l = reopen(kv.LSN(kept + 5))
			for i := range 5 {
				if v, _ := viewGet(t, l, fmt.Sprint("later", i)); v != "v" {
					t.Errorf("later commit %d is missing", i)
				}
			}
			if err := errors.Join(l.Close(), s.Close()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// writeAndKill leaves in dir what a process leaves that is killed after n commits. It returns the length of
// the log after each of them.
func writeAndKill(t *testing.T, dir string, n int) (sizes []int64) {
	t.Helper()
	live := filepath.Join(t.TempDir(), "live")
	counter := &countingFS{FS: osFS()}
	s, err := kv.Open(live, kv.Options{FS: counter})
	if err != nil {
		t.Fatal(err)
	}
	l, err := wal.Open(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		mustUpdate(t, l, fmt.Sprint("k", i+1), fmt.Sprint("v", i+1))
		sizes = append(sizes, counter.written.Load())
	}
	if err := os.CopyFS(dir, os.DirFS(live)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return sizes
}

// kill copies the directory of an open store: what a process leaves that is killed now.
func kill(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func newestLog(t *testing.T, dir string) string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("logs: %v, %v", logs, err)
	}
	return slices.Max(logs)
}
