package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// Closing a handle ends that handle, and memory lets go of the workspace when no call runs in it; whoever uses it
// through another handle finds everything again.
func TestCloseOfAWorkspaceHandle(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.Vectors.ExactBytes = -1
	d := openTest(t, o)
	one, other := workspace(t, d, "w"), workspace(t, d, "w")
	fill(t, one, "one", 1)
	want := logical(t, other)
	for round := range 3 {
		w := workspace(t, d, "w")
		view(t, w, func(tx *db.Tx) {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			wantAll(t, tx, 1) // the running call goes on
			if n := db.LoadedWorkspaces(d); n != 2 {
				t.Errorf("%d workspaces in memory while a call runs", n)
			}
		})
		if n := db.LoadedWorkspaces(d); n != 1 {
			t.Errorf("%d workspaces in memory after the last call", n)
		}
		if _, err := w.Stats(ctx); !errors.Is(err, db.ErrClosed) {
			t.Errorf("a call through the closed handle: %v", err)
		}
		if _, err := w.Workspace("w"); !errors.Is(err, db.ErrClosed) {
			t.Errorf("a handle of the closed handle: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
		equalDumps(t, logical(t, other), want)
		insert(t, other, doc("new", fmt.Sprintf("E New %d (comes)", round)))
		if _, err := one.Delete(ctx, "new"); err != nil {
			t.Fatal(err)
		}
		equalDumps(t, logical(t, other), want)
		checkDB(t, one)
	}
	// An idle workspace goes at once; so does that of the database's own handle.
	for _, name := range []string{"w", ""} {
		before := db.LoadedWorkspaces(d)
		if err := errors.Join(workspace(t, d, name).Close()); err != nil || db.LoadedWorkspaces(d) != before-1 {
			t.Errorf("%q: %v, %d in memory, were %d", name, err, db.LoadedWorkspaces(d), before)
		}
	}
	wantFilled(t, one, "one", 1, []string{"one"})
	fill(t, d, "root", 2)
}

// Readers, writers and closings of one workspace at the same time: what is let go of comes back whole.
func TestClosingWhileOthersWork(t *testing.T) {
	o := testOptions(nil)
	o.Vectors.ExactBytes = -1
	d := openTest(t, o)
	w := workspace(t, d, "w")
	fill(t, w, "one", 1)
	want := logical(t, w)
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			for range rounds {
				h, err := d.Workspace("w")
				if err != nil {
					t.Error(err)
					return
				}
				if err := h.View(ctx, func(tx *db.Tx) error { wantAll(t, tx, 1); return nil }); err != nil {
					t.Error(err)
				}
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	calls.Go(func() {
		for i := range rounds / 3 {
			id := fmt.Sprint("new", i)
			if _, err := w.Insert(ctx, doc(id, "E New (comes)")); err != nil {
				t.Error(err)
			}
			if _, err := w.Delete(ctx, id); err != nil {
				t.Error(err)
			}
		}
	})
	calls.Wait()
	equalDumps(t, logical(t, w), want)
}

// Close of the database ends the calls of every workspace, and no handle outlives it.
func TestCloseEndsEveryWorkspace(t *testing.T) {
	entered := make(chan struct{})
	chat := extracting(llmtest.Rule{Purpose: llm.PurposeExtract, Contains: "held", Entered: entered, Gate: make(chan struct{})})
	d, err := db.Open("glim.db", db.WithOptions(modelled(chat, llmtest.NewEmbedder(8))))
	if err != nil {
		t.Fatal(err)
	}
	a, b := workspace(t, d, "a"), workspace(t, d, "b")
	ended := make(chan error, 2)
	go func() { _, err := a.Insert(ctx, doc("x", "E Ann (held)")); ended <- err }()
	go func() { _, err := b.Process(ctx, index.ProcessOptions{Follow: true}); ended <- err }()
	<-entered
	closeChecked(t, d)
	for range 2 {
		if err := <-ended; !errors.Is(err, db.ErrClosed) {
			t.Errorf("a running call ended with %v", err)
		}
	}
	if _, err := a.Document(ctx, "x"); !errors.Is(err, db.ErrClosed) {
		t.Errorf("a later call: %v", err)
	}
	if _, err := d.Workspace("c"); !errors.Is(err, db.ErrClosed) {
		t.Errorf("a handle of a closed database: %v", err)
	}
	if err := errors.Join(a.Close(), b.Close(), d.Close()); err != nil {
		t.Errorf("handles closed after the database: %v", err)
	}
}

// Options.Workspace is the workspace that Open reads, and the only one.
func TestOpenInAWorkspace(t *testing.T) {
	o := testOptions(vfs.NewMem())
	d := openTest(t, o)
	fill(t, d, "default", 1)
	fill(t, workspace(t, d, "w"), "named", 2)
	closeChecked(t, d)
	o.Workspace = "w"
	d = openTest(t, o)
	wantFilled(t, d, "named", 2, []string{"default", "named"})
	if n := db.LoadedWorkspaces(d); n != 1 || d.WorkspaceName() != "w" {
		t.Errorf("%d workspaces in memory, the handle is on %q", n, d.WorkspaceName())
	}
	wantFilled(t, workspace(t, d, ""), "default", 1, []string{"default", "named"})
}

// Documents that wait go on in their own workspace, also after a reopening, and by no other's calls.
func TestWaitingDocumentsOfAWorkspace(t *testing.T) {
	o := testOptions(vfs.NewMem())
	d := openTest(t, o)
	w := workspace(t, d, "w")
	if _, err := w.Enqueue(ctx, index.Insert, doc("a", "E Mira (mends)"), doc("b", "E Tom (paints)")); err != nil {
		t.Fatal(err)
	}
	closeChecked(t, d)
	d = openTest(t, o)
	w = workspace(t, d, "w")
	if s, err := d.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 0 {
		t.Errorf("the default workspace processed %+v, %v", s, err)
	}
	if s, err := w.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 2 {
		t.Errorf("its own processed %+v, %v", s, err)
	}
	if e := entity(t, w, "Mira"); e == nil {
		t.Error("no entity of what waited")
	}
}

// Loads and writes exclude each other in one workspace, and in no other.
func TestLoadsOfDifferentWorkspaces(t *testing.T) {
	d := openTest(t, testOptions(nil))
	fill(t, d, "ported", 1)
	dump := logical(t, d)
	a, b := workspace(t, d, "a"), workspace(t, d, "b")
	read := readerFunc(func(p []byte) (int, error) {
		if _, err := a.Enqueue(ctx, index.Insert, doc("x", "E Ann (waits)")); !errors.Is(err, db.ErrBusy) {
			t.Errorf("a write beside the load: %v", err)
		}
		fill(t, b, "beside", 2)
		if err := d.DropWorkspace(ctx, "b"); err != nil {
			t.Error(err)
		}
		if _, err := b.Load(ctx, strings.NewReader(dump)); err != nil {
			t.Errorf("a load of another workspace: %v", err)
		}
		return 0, errors.New("enough")
	})
	if _, err := a.Load(ctx, read); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("load: %v", err)
	}
	if got := workspaces(t, d); !slices.Equal(got, []string{"", "b"}) {
		t.Errorf("workspaces %q", got)
	}
	equalDumps(t, logical(t, b), dump)
	if _, err := a.Load(ctx, strings.NewReader(dump)); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, a), dump)
}

// A drop in the middle of a load leaves nothing of what was loaded, and the load says why it ended.
func TestDropEndsALoad(t *testing.T) {
	d := openTest(t, testOptions(nil))
	fill(t, d, "ported", 1)
	dump := strings.NewReader(logical(t, d))
	w := workspace(t, d, "w")
	read := 0
	_, err := w.Load(ctx, readerFunc(func(p []byte) (int, error) {
		if read++; read == 2 {
			if err := d.DropWorkspace(ctx, "w"); err != nil {
				t.Error(err)
			}
		}
		return dump.Read(p[:min(len(p), 512)])
	}))
	if !errors.Is(err, db.ErrDropped) {
		t.Errorf("load: %v", err)
	}
	if got := workspaces(t, d); !slices.Equal(got, []string{""}) {
		t.Errorf("workspaces %q", got)
	}
	fill(t, w, "fresh", 2)
	wantFilled(t, w, "fresh", 2, []string{"ported", "fresh"})
}

// A power loss at every operation of a load into a workspace: it holds all or nothing, once it is used.
func TestCrashInLoadOfAWorkspace(t *testing.T) {
	base := testkit.NewCrashFS(1)
	d, err := db.Open("glim.db", db.WithOptions(crashOptions(base)))
	if err != nil {
		t.Fatal(err)
	}
	fill(t, d, "ported", 1)
	dump := logical(t, d)
	closeChecked(t, d)
	run := func(fs *testkit.CrashFS) error {
		o := crashOptions(fs)
		o.Workspace = "w"
		d, err := db.Open("glim.db", db.WithOptions(o))
		if err != nil {
			return err
		}
		_, err = d.Load(ctx, strings.NewReader(dump))
		return errors.Join(err, d.Close())
	}
	empty := logical(t, openTest(t, testOptions(nil)))
	testkit.EveryCrashPoint(t, testkit.Loop{Seed: 5, Base: base}, run, func(fs *testkit.CrashFS, survived bool) {
		d, err := db.Open("glim.db", db.WithOptions(crashOptions(fs)))
		if err != nil {
			t.Fatal(err)
		}
		defer closeChecked(t, d)
		w, err := d.Workspace("w")
		if err != nil {
			t.Fatal(err)
		}
		equalDumps(t, logical(t, d), dump)
		if got := logical(t, w); survived || got != empty {
			equalDumps(t, got, dump)
		} else if got := workspaces(t, d); len(got) != 1 {
			t.Errorf("an interrupted load left the workspaces %q", got)
		}
		checkDB(t, w)
	})
}

// What Reembed changed the model to is known to the running process alone: memory keeps such a workspace.
func TestEmbeddedAnewAndClosed(t *testing.T) {
	d := openTest(t, modelled(extracting(), llmtest.NewEmbedder(8)))
	w := workspace(t, d, "w")
	insert(t, w, doc("a", "E Mira (mends)"))
	if _, err := w.Reembed(ctx, db.ReembedOptions{Embedder: llmtest.NewEmbedder(4)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	insert(t, workspace(t, d, "w"), doc("b", "E Tom (paints)"))
	if err := d.DropWorkspace(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	if got := workspace(t, d, "w").Models().Dim; got != 8 {
		t.Errorf("a fresh workspace has a model of %d dimensions, want the configured one", got)
	}
}
