package db_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/query"
)

// diskSteps are ten inserts and two deletes.
func diskSteps() (steps []step) {
	for i := 1; i <= 10; i++ {
		document := tailDocument(i)
		steps = append(steps, step{document.ID, func(d *db.DB) error { _, err := d.Insert(ctx, document); return err }})
		if i%4 == 0 {
			gone := tailDocument(i / 2)
			steps = append(steps, step{"delete " + gone.ID, func(d *db.DB) error { _, err := d.Delete(ctx, gone.ID); return err }})
		}
	}
	return steps
}

// No space from the k-th write on, for every k: the call that meets it says so, what is written later is refused with the
// same words, everything acknowledged is read and found, and once there is space and the database is opened again,
// exactly that is there.
func TestHC19_DiskFull(t *testing.T) {
	steps := diskSteps()
	open := func(fs *testkit.CrashFS) *db.DB {
		d, err := db.Open("glim.db", db.WithOptions(testOptions(fs)))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := open(testkit.NewCrashFS(1))
	want := []string{logical(t, d)}
	for _, s := range steps {
		if err := s.do(d); err != nil {
			t.Fatal(err)
		}
		want = append(want, logical(t, d))
	}
	closeChecked(t, d)

	for k := 1; ; k += faultStep() {
		fs := testkit.NewCrashFS(uint64(k))
		d := open(fs)
		fs.FailAt(k, testkit.ErrNoSpace)
		acked, err := 0, error(nil)
		for acked < len(steps) {
			if err = steps[acked].do(d); err != nil {
				break
			}
			acked++
		}
		if err == nil {
			if k <= 40 {
				t.Errorf("with %d writes all steps are made: too few to fill a disk in", k)
			}
			fs.Heal()
			closeChecked(t, d)
			return
		}
		if !errors.Is(err, db.ErrDiskFull) {
			t.Errorf("write %d fails, and %s with %v", k, steps[acked].name, err)
		}
		fullDiskRefuses(t, d)
		readAcknowledged(t, d, steps[:acked], steps[acked].name)
		fs.Heal()
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}

		d = open(fs)
		readAcknowledged(t, d, steps[:acked], "")
		// What a failed insert wrote before it failed waits, and is nothing that can be found; without it the state is known.
		if info, err := d.Document(ctx, steps[acked].name); err == nil {
			if info.Visible {
				t.Errorf("write %d fails, and %s is %+v", k, steps[acked].name, info)
			}
			if _, err := d.Delete(ctx, info.ID); err != nil {
				t.Fatal(err)
			}
		}
		equalDumps(t, logical(t, d), want[acked])
		for _, s := range steps[acked:] {
			if err := s.do(d); err != nil {
				t.Fatalf("%s with space again: %v", s.name, err)
			}
		}
		equalDumps(t, logical(t, d), want[len(steps)])
		closeChecked(t, d)
		if t.Failed() {
			t.Fatalf("at write %d", k)
		}
	}
}

// fullDiskRefuses makes changes of every kind.
func fullDiskRefuses(t *testing.T, d *db.DB) {
	t.Helper()
	for name, err := range map[string]error{
		"insert":      second(d.Insert(ctx, tailDocument(90))),
		"put":         second(d.Put(ctx, tailDocument(1))),
		"enqueue":     second(d.Enqueue(ctx, index.Insert, tailDocument(91))),
		"delete":      second(d.Delete(ctx, tailDocument(1).ID)),
		"transaction": d.Update(ctx, func(tx *db.Tx) error { return tx.KV("later").Put([]byte("k"), []byte("v")) }),
	} {
		if !errors.Is(err, db.ErrReadOnly) || !errors.Is(err, db.ErrDiskFull) {
			t.Errorf("%s after the disk was full: %v", name, err)
		}
	}
}

// readAcknowledged reads and asks for every document that steps leave, and for those they delete. A failed step may show
// until the database is opened again: its document is not looked at.
func readAcknowledged(t *testing.T, d *db.DB, steps []step, failed string) {
	t.Helper()
	stored := make(map[string]bool)
	for _, s := range steps {
		name, gone := strings.CutPrefix(s.name, "delete ")
		stored[name] = !gone
	}
	failed = strings.TrimPrefix(failed, "delete ")
	for i := 1; i <= 10; i++ {
		document := tailDocument(i)
		if document.ID == failed {
			continue
		}
		if text, err := d.Text(ctx, document.ID); stored[document.ID] && (err != nil || text != strings.TrimSpace(document.Text)) {
			t.Errorf("%s: %q, %v", document.ID, text, err)
		}
		if got := entity(t, d, fmt.Sprint("Wheel ", i)) != nil; got != stored[document.ID] {
			t.Errorf("%s is in the graph: %v", document.ID, got)
		}
	}
	for _, mode := range retrieving {
		res, err := d.Query(ctx, "What does the Tide Mill drive?", query.Options{Mode: mode, CosineThreshold: query.Some(-1.0), Want: query.WantData})
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		found := make(map[string]bool)
		for _, c := range res.Data.Chunks {
			found[c.Document] = true
		}
		for i := 1; i <= 10; i++ {
			id := tailDocument(i).ID
			if id == failed {
				continue
			}
			if found[id] && !stored[id] || !found[id] && stored[id] && mode == query.Naive {
				t.Errorf("%s: %s is stored: %v, found: %v", mode, id, stored[id], found[id])
			}
		}
	}
}
