package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
)

// dropped ends the call of f, which waits for a model, by dropping its workspace.
func dropped(t *testing.T, purpose llm.Purpose, f func(d *db.DB) error) error {
	t.Helper()
	entered := make(chan struct{})
	chat := extracting(llmtest.Rule{Purpose: purpose, Contains: "held", Times: 1, Entered: entered, Gate: make(chan struct{})})
	d := openTest(t, modelled(chat, llmtest.NewEmbedder(8)))
	w := workspace(t, d, "w")
	insert(t, w, doc("a", "E Mira (mends)"))
	ended := make(chan error, 1)
	go func() { ended <- f(w) }()
	<-entered
	if err := d.DropWorkspace(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	err := <-ended
	if got := workspaces(t, d); len(got) != 0 {
		t.Errorf("after the drop there are %q", got)
	}
	equalDumps(t, logical(t, w), logical(t, d))
	insert(t, w, doc("a", "E Tom (paints)"))
	return err
}

// Calls that wait for a model when their workspace is dropped end, and write nothing into the one that comes after.
func TestDropEndsRunningCalls(t *testing.T) {
	for name, c := range map[string]struct {
		purpose llm.Purpose
		do      func(d *db.DB) error
	}{
		"insert": {llm.PurposeExtract, func(d *db.DB) error { _, err := d.Insert(ctx, doc("b", "E Ann (held)")); return err }},
		"put":    {llm.PurposeExtract, func(d *db.DB) error { _, err := d.Put(ctx, doc("a", "E Ann (held)")); return err }},
		"follow": {llm.PurposeExtract, func(d *db.DB) error {
			if _, err := d.Enqueue(ctx, index.Insert, doc("b", "E Ann (held)")); err != nil {
				return err
			}
			_, err := d.Process(ctx, index.ProcessOptions{Follow: true})
			return err
		}},
		"question": {llm.PurposeAnswer, func(d *db.DB) error {
			_, err := d.Query(ctx, "Who is held?", query.Options{Want: query.WantAnswer})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := dropped(t, c.purpose, c.do); !errors.Is(err, db.ErrDropped) || errors.Is(err, db.ErrClosed) {
				t.Errorf("got %v, want ErrDropped", err)
			}
		})
	}
}

// P3: what was opened before a drop goes on seeing what there was, also when the workspace is filled anew meanwhile.
func TestViewsOutliveADrop(t *testing.T) {
	d := openTest(t, testOptions(nil))
	w := workspace(t, d, "w")
	fill(t, w, "before", 1)
	fill(t, d, "elsewhere", 3)
	want := logical(t, w)
	var dump bytes.Buffer
	seen := 0
	view(t, w, func(tx *db.Tx) {
		for _, err := range w.Documents(ctx, index.Filter{}) {
			if err != nil {
				t.Error(err)
			}
			if seen++; seen > 1 {
				continue
			}
			if err := w.Dump(ctx, writerFunc(func(p []byte) (int, error) {
				if dump.Len() == 0 { // the first bytes are out: the view is taken
					if err := d.DropWorkspace(ctx, "w"); err != nil {
						t.Error(err)
					}
					fill(t, w, "after", 2)
				}
				return dump.Write(p)
			}), db.DumpOptions{Logical: true}); err != nil {
				t.Error(err)
			}
		}
		wantAll(t, tx, 1)
		if e, err := tx.Entity("Mira", index.InfoOptions{}); err != nil || e.Description != "before" {
			t.Errorf("Mira is %+v, %v", e, err)
		}
	})
	if seen != 3 {
		t.Errorf("the loop saw %d documents, want 3", seen)
	}
	equalDumps(t, dump.String(), want)
	wantFilled(t, w, "after", 2, []string{"before", "after", "elsewhere"})
	wantFilled(t, d, "elsewhere", 3, []string{"before", "after", "elsewhere"})
}

// A workspace that nobody has read into memory is dropped without being read, and its vectors with it.
func TestDropOfWhatIsNotInMemory(t *testing.T) {
	o := testOptions(nil)
	o.FS = vfs.NewMem()
	o.Vectors.ExactBytes = -1
	d := openTest(t, o)
	fill(t, d, "default", 1)
	fill(t, workspace(t, d, "w"), "dropped", 2)
	if err := d.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	want := logical(t, d)
	closeChecked(t, d)
	d = openTest(t, o)
	if err := d.DropWorkspace(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	if n := db.LoadedWorkspaces(d); n != 1 {
		t.Errorf("%d workspaces are in memory", n)
	}
	if err := d.DropWorkspace(ctx, "w"); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("dropped twice: %v", err)
	}
	w := workspace(t, d, "w")
	fill(t, w, "fresh", 3)
	closeChecked(t, d)
	d = openTest(t, o)
	equalDumps(t, logical(t, d), want)
	wantFilled(t, workspace(t, d, "w"), "fresh", 3, []string{"default", "dropped", "fresh"})
}

// Writers, readers and questions while their workspace is dropped again and again: each call succeeds or says that the
// workspace was dropped, nothing of a dropped one is left in the next, and the neighbour notices nothing.
func TestDropUnderLoad(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	o := testOptions(nil)
	o.Vectors.ExactBytes = -1
	d := openTest(t, o)
	w, next := workspace(t, d, "w"), workspace(t, d, "w2")
	fill(t, next, "neighbour", 1)
	want := logical(t, next)
	stop, cancel := context.WithCancel(ctx)
	var calls sync.WaitGroup
	try := func(what string, f func(i int) error) {
		calls.Go(func() {
			for i := 0; stop.Err() == nil; i++ {
				if err := f(i); err != nil && !errors.Is(err, db.ErrDropped) {
					t.Errorf("%s: %v", what, err)
					return
				}
			}
		})
	}
	try("insert", func(i int) error {
		_, err := w.Insert(ctx, doc(fmt.Sprint("i", i), fmt.Sprintf("E Mira (says %d)\nE Own %d (new)\nR Mira - Own %d (knows)", i, i, i)))
		return err
	})
	try("put", func(i int) error { _, err := w.Put(ctx, doc("p", fmt.Sprintf("E Tom (says %d)", i))); return err })
	try("transaction", func(i int) error { return w.Update(ctx, func(tx *db.Tx) error { return writeAll(tx, byte(i)) }) })
	try("question", func(int) error {
		_, err := w.Query(ctx, "Who is Mira?", query.Options{Want: query.WantContext})
		return err
	})
	try("view", func(int) error {
		return w.View(ctx, func(tx *db.Tx) error {
			v, err := tx.Vectors("points")
			if errors.Is(err, db.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			hits, err := v.Search([]float32{1, 1}, vector.SearchOptions{K: 3})
			if err == nil && len(hits) != 1 {
				err = fmt.Errorf("%d vectors", len(hits))
			}
			return err
		})
	})
	try("neighbour", func(int) error { return next.Dump(ctx, &bytes.Buffer{}, db.DumpOptions{}) })
	for range rounds {
		for started := d.LSN(); d.LSN() < started+20; { // let some commits happen
			if _, err := w.Stats(ctx); err != nil {
				t.Error(err)
			}
		}
		if err := d.DropWorkspace(ctx, "w"); err != nil {
			t.Error(err)
		}
	}
	cancel()
	calls.Wait()
	checkDB(t, w)
	if err := ignored(d.DropWorkspace(ctx, "w"), db.ErrNotFound); err != nil {
		t.Fatal(err)
	}
	if got := workspaces(t, d); strings.Join(got, ",") != "w2" {
		t.Errorf("workspaces %q, want w2 alone", got)
	}
	equalDumps(t, logical(t, next), want)
	fresh := openTest(t, testOptions(nil))
	fill(t, fresh, "fresh", 4)
	fill(t, w, "fresh", 4)
	equalDumps(t, logical(t, w), logical(t, fresh))
}

func ignored(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

// A power loss at every operation of a drop: the workspace is wholly there or wholly gone, gone when the drop was
// acknowledged, and its neighbours are what they were. In odd seeds it is in memory when it is dropped.
func TestCrashInDrop(t *testing.T) {
	base := testkit.NewCrashFS(1)
	d, err := db.Open("glim.db", db.WithOptions(crashOptions(base)))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"", "w", "w2"}
	want := make(map[string]string)
	for i, name := range names {
		w := workspace(t, d, name)
		fill(t, w, "word"+name, byte(i))
		want[name] = logical(t, w)
	}
	closeChecked(t, d)
	points := 0
	for seed := uint64(1); seed <= 4; seed++ {
		acked := 0
		run := func(fs *testkit.CrashFS) error {
			acked = 0
			o := crashOptions(fs)
			if seed%2 == 1 {
				o.Workspace = "w"
			}
			d, err := db.Open("glim.db", db.WithOptions(o))
			if err != nil {
				return err
			}
			for _, name := range []string{"w", ""} {
				if err = d.DropWorkspace(ctx, name); err != nil {
					break
				}
				acked++
			}
			return errors.Join(err, d.Close())
		}
		points += testkit.EveryCrashPoint(t, testkit.Loop{Seed: seed, Base: base}, run, func(fs *testkit.CrashFS, survived bool) {
			d, err := db.Open("glim.db", db.WithOptions(crashOptions(fs)))
			if err != nil {
				t.Fatal(err)
			}
			defer closeChecked(t, d)
			got := strings.Join(workspaces(t, d), ",")
			states := []string{",w,w2", ",w2", "w2"} // after none, one and two drops
			if survived && acked != 2 || got != states[acked] && (survived || got != states[min(acked+1, 2)]) {
				t.Fatalf("workspaces %q after %d acknowledged drops", got, acked)
			}
			for _, name := range names {
				w, err := d.Workspace(name)
				if err != nil {
					t.Fatal(err)
				}
				left := want[name]
				if name != "w2" && (name == "w" || got == "w2") && !strings.Contains(got, ",w,") {
					left = logical(t, openTest(t, crashOptions(testkit.NewCrashFS(1))))
				}
				checkDB(t, w)
				equalDumps(t, logical(t, w), left)
			}
		})
	}
	if points < 40 {
		t.Errorf("%d crash points, want more", points)
	}
}
