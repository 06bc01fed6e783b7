package db_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit"
)

// The store of HC-03: five documents share six entities; the sixth brings twelve entities and fifteen
// relations in three chunks.
func sharedDocuments() []index.Document {
	var docs []index.Document
	for i := range 5 {
		var b strings.Builder
		for j := range 6 {
			fmt.Fprintf(&b, "E Shared %d (said by document %d)\n", j, i)
		}
		fmt.Fprintf(&b, "R Shared 0 - Shared %d (together in %d)\n", 1+i%5, i)
		docs = append(docs, doc(fmt.Sprintf("base-%d", i), b.String()))
	}
	return docs
}

// bigDocument has three chunks of four entities and five relations each; the first two speak with another word in
// each version.
func bigDocument(id, word string) index.Document {
	var parts []string
	for c := range 3 {
		var b strings.Builder
		said := word
		if c == 2 {
			said = "always"
		}
		for i := 4 * c; i < 4*c+4; i++ {
			name := fmt.Sprint("Own ", i)
			if i < 6 {
				name = fmt.Sprint("Shared ", i)
			}
			fmt.Fprintf(&b, "E %s (%s by the big document, in its own words number %d)\n", name, said, i)
		}
		for i := 5 * c; i < 5*c+5; i++ {
			fmt.Fprintf(&b, "R Shared %d - Own %d (%s link %d)\n", i%6, 6+(i+i/6)%6, said, i)
		}
		parts = append(parts, b.String())
	}
	return doc(id, strings.Join(parts, "\n"))
}

// crashOptions make a chunk of each part of the big document, and files small, so that few operations hold many kinds.
func crashOptions(fs *testkit.CrashFS) db.Options {
	o := testOptions(fs)
	o.Index.Chunker, o.Index.EntityWords = paragraphs(), index.EntityWordsOn
	return o
}

// step is one change of a crash run and the state it leads to.
type step struct {
	name string
	do   func(d *db.DB) error
}

func crashSteps() []step {
	return []step{
		{"insert", func(d *db.DB) error { _, err := d.Insert(ctx, bigDocument("big", "found")); return err }},
		{"transaction", func(d *db.DB) error {
			return d.Update(ctx, func(tx *db.Tx) error { return writeAll(tx, 1) })
		}},
		{"put", func(d *db.DB) error { _, err := d.Put(ctx, bigDocument("big", "changed")); return err }},
		{"delete", func(d *db.DB) error { _, err := d.Delete(ctx, "base-1", "base-3"); return err }},
		{"delete big", func(d *db.DB) error { _, err := d.Delete(ctx, "big"); return err }},
	}
}

// states returns the logical dump after each step of an undisturbed run, the first one before any. An
// enqueued document that is not processed yet is a state of its own, which processing leads out of.
func states(t *testing.T, base *testkit.CrashFS, steps []step) []string {
	d, err := db.Open("glim.db", db.WithOptions(crashOptions(base.Clone(1))))
	if err != nil {
		t.Fatal(err)
	}
	out := []string{logical(t, d)}
	for _, s := range steps {
		if err := s.do(d); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		out = append(out, logical(t, d))
	}
	closeChecked(t, d)
	return out
}

func crashBase(t *testing.T) *testkit.CrashFS {
	fs := testkit.NewCrashFS(1)
	d, err := db.Open("glim.db", db.WithOptions(crashOptions(fs)))
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, sharedDocuments()...)
	closeChecked(t, d)
	return fs
}

// crashRun makes the steps one after the other and counts the acknowledged ones.
func crashRun(t *testing.T, steps []step, acked *int) func(fs *testkit.CrashFS) error {
	return func(fs *testkit.CrashFS) error {
		*acked = 0
		d, err := db.Open("glim.db", db.WithOptions(crashOptions(fs)))
		if err != nil {
			return err
		}
		for _, s := range steps {
			if err = s.do(d); err != nil {
				break
			}
			*acked++
		}
		// A database whose disk has failed says so, refuses what is written later, still reads, and closes.
		if err != nil && !fs.Crashed() {
			if errors.Is(err, testkit.ErrNoSpace) && !errors.Is(err, db.ErrDiskFull) {
				t.Errorf("a full disk is not named: %v", err)
			}
			later := d.Update(ctx, func(tx *db.Tx) error { return tx.KV("later").Put([]byte("k"), []byte("v")) })
			if !errors.Is(later, db.ErrReadOnly) {
				t.Errorf("after %v a write ends with %v", err, later)
			}
			if rerr := d.Dump(ctx, io.Discard, db.DumpOptions{}); rerr != nil {
				t.Errorf("reading after a failed write: %v", rerr)
			}
		}
		return errors.Join(err, d.Close())
	}
}

// crashVerify opens what is left, checks it, and finds out which state it is in: everything acknowledged
// must be there, the step that was under way wholly there or wholly absent. A document that was enqueued
// and not processed is finished first: it must lead to the state of its step. With finish, the steps that
// are left are made as well, and must lead where the undisturbed run ended.
func crashVerify(t *testing.T, steps []step, want []string, acked *int, finish bool) func(fs *testkit.CrashFS, survived bool) {
	return func(fs *testkit.CrashFS, survived bool) {
		t.Helper()
		d, err := db.Open("glim.db", db.WithOptions(crashOptions(fs)))
		if err != nil {
			t.Fatalf("reopen: %v", err)
		}
		defer func() {
			if err := d.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		checkDB(t, d)
		got := logical(t, d)
		reached := *acked
		for i := range 2 {
			if n := *acked + i; n < len(want) && got == want[n] {
				if survived && n != len(want)-1 {
					t.Errorf("the run got through but left state %d", n)
				}
				if finish {
					finishSteps(t, d, steps[n:], want[len(want)-1])
				}
				return
			}
		}
		if survived {
			equalDumps(t, got, want[len(want)-1])
		}
		// The step under way enqueued its document, and the rest is as before it.
		info, err := d.Document(ctx, "big")
		if err != nil {
			t.Fatalf("after %d acknowledged steps the state is none of the known ones, and nothing waits: %v", reached, err)
		}
		if info.Status != "pending" && info.Status != "processing" {
			t.Fatalf("after %d acknowledged steps: document is %s and the state is unknown", reached, info.Status)
		}
		if s, err := d.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 1 || s.Failed != 0 {
			t.Fatalf("resume: %+v, %v", s, err)
		}
		checkDB(t, d)
		equalDumps(t, logical(t, d), want[reached+1])
		if finish {
			finishSteps(t, d, steps[reached+1:], want[len(want)-1])
		}
	}
}

// finishSteps makes the steps that are left, on a recovered database.
func finishSteps(t *testing.T, d *db.DB, left []step, want string) {
	t.Helper()
	for _, s := range left {
		if err := s.do(d); err != nil {
			t.Fatalf("%s after the recovery: %v", s.name, err)
		}
	}
	checkDB(t, d)
	equalDumps(t, logical(t, d), want)
}

// The documents of HC-03 are what the case says.
func TestHC03_Documents(t *testing.T) {
	d := openTest(t, crashOptions(crashBase(t)))
	for i := range 6 {
		if e := entity(t, d, fmt.Sprint("Shared ", i)); e == nil || e.SourceCount != 5 {
			t.Errorf("Shared %d is %+v, want one of five documents", i, e)
		}
	}
	for _, word := range []string{"found", "changed"} {
		if _, err := d.Put(ctx, bigDocument("big", word)); err != nil {
			t.Fatal(err)
		}
		if i := get(t, d, "big"); i.Chunks != 3 || i.Entities != 12 || i.Relations != 15 {
			t.Errorf("%d chunks, %d entities, %d relations, want 3, 12 and 15", i.Chunks, i.Entities, i.Relations)
		}
		if e := entity(t, d, "Shared 5"); e.SourceCount < 6 {
			t.Errorf("the big document does not share: %+v", e)
		}
	}
}

// Insert, replace and delete, with a power loss at every operation of the file system. Each seed keeps
// another part of the unsynced data.
func TestHC03_PowerLossAtEveryOperation(t *testing.T) {
	base := crashBase(t)
	want := states(t, base, crashSteps())
	var points atomic.Int64
	seeds, least := uint64(20), int64(1000)
	if testing.Short() {
		seeds, least = 1, 40
	}
	t.Run("seeds", func(t *testing.T) {
		for seed := range seeds {
			t.Run(fmt.Sprint(seed+1), func(t *testing.T) {
				t.Parallel()
				acked := 0
				n := testkit.EveryCrashPoint(t, testkit.Loop{Seed: seed + 1, Base: base}, crashRun(t, crashSteps(), &acked),
					crashVerify(t, crashSteps(), want, &acked, seed == 0))
				points.Add(int64(n))
			})
		}
	})
	if n := points.Load(); n < least && !t.Failed() {
		t.Errorf("%d crash points, want at least %d", n, least)
	}
}

// faultStep is the distance between two operations that fail: each one, but in short runs, whose checked builds
// take ten times as long.
func faultStep() int {
	if testing.Short() {
		return 5
	}
	return 1
}

// The same with a disk that is full, or broken, from the k-th operation on: the failed call says so, later
// ones are refused, reads work, and after reopening exactly the acknowledged changes are there.
func TestHC19_DiskFullAtEveryOperation(t *testing.T) {
	base := crashBase(t)
	want := states(t, base, crashSteps())
	acked := 0
	n := testkit.EveryFault(t, testkit.Loop{Seed: 3, Base: base, Step: faultStep()}, testkit.ErrNoSpace, crashRun(t, crashSteps(), &acked), crashVerify(t, crashSteps(), want, &acked, false))
	t.Logf("%d fault points, each verified twice", n)
}

func TestHC19_BrokenDiskAtEveryOperation(t *testing.T) {
	base := crashBase(t)
	want := states(t, base, crashSteps())
	acked := 0
	n := testkit.EveryFault(t, testkit.Loop{Seed: 4, Base: base, Step: faultStep()}, testkit.ErrIO, crashRun(t, crashSteps(), &acked), crashVerify(t, crashSteps(), want, &acked, false))
	t.Logf("%d fault points, each verified twice", n)
}
