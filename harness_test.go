package db_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"go.uber.org/goleak"
)

var ctx = context.Background()

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted is an extractor whose records stand in the text itself, one a line:
//
//	E Mira Voss (repairs the bridge)
//	R Mira Voss - Lantern Bridge (works on)
type scripted struct{}

func (scripted) ID() string { return "scripted/1" }

func (scripted) Extract(_ context.Context, in index.ExtractInput) (index.Extraction, error) {
	var x index.Extraction
	for line := range strings.Lines(in.Text) {
		kind, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
		name, desc, _ := strings.Cut(rest, " (")
		desc = strings.TrimSuffix(desc, ")")
		switch {
		case !ok:
		case kind == "E":
			x.Entities = append(x.Entities, index.EntityRecord{Name: name, Type: "thing", Description: desc})
		case kind == "R":
			a, b, _ := strings.Cut(name, " - ")
			x.Relations = append(x.Relations, index.RelationRecord{Src: a, Dst: b, Description: desc, Keywords: []string{"with"}, Weight: 1})
		}
	}
	return x, nil
}

// clock is fixed: what a test stores does not depend on when it runs.
func clock() time.Time { return time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC) }

func testOptions(fs vfs.FS) db.Options {
	return db.Options{FS: fs, Extractor: scripted{}, LexicalDim: 64, Now: clock, MemTableBytes: 256 << 10}
}

// openTest opens a database that is checked and closed when the test ends.
func openTest(t testing.TB, o db.Options) *db.DB {
	t.Helper()
	if o.FS == nil {
		o.FS = vfs.NewMem()
	}
	d, err := db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeChecked(t, d) })
	return d
}

func closeChecked(t testing.TB, d *db.DB) {
	t.Helper()
	checkDB(t, d)
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func checkDB(t testing.TB, d *db.DB) {
	t.Helper()
	for p, err := range d.Check(ctx) {
		if errors.Is(err, db.ErrClosed) {
			return
		}
		t.Errorf("check: %v %v", p, err)
	}
}

// logical is the logical dump.
func logical(t testing.TB, d *db.DB) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Dump(ctx, &b, db.DumpOptions{Logical: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func equalDumps(t testing.TB, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Fatalf("dumps differ at line %d of %d and %d:\n got %.400s\nwant %.400s", i+1, len(g), len(w), a, b)
		}
	}
}

func doc(id, text string) index.Document {
	return index.Document{ID: id, Path: id + ".txt", Text: text}
}

func insert(t testing.TB, d *db.DB, docs ...index.Document) {
	t.Helper()
	if _, err := d.Insert(ctx, docs...); err != nil {
		t.Fatal(err)
	}
}
