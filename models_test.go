package db_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
)

// TestRefusedDocumentsBindNoModel: the models are bound by the commit that stores the first documents, and by
// no other: what was refused leaves the database open to every embedder and every dump.
func TestRefusedDocumentsBindNoModel(t *testing.T) {
	o := testOptions(vfs.NewMem())
	d, err := db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	fresh := d.LSN()
	for name, docs := range map[string][]index.Document{
		"empty text": {doc("a", " \n")},
		"one of two": {doc("a", "one"), doc("b", strings.Repeat("\xff\xfe", 100))},
		"twice":      {doc("a", "one"), doc("a", "two")},
	} {
		if _, err := d.Insert(ctx, docs...); !errors.Is(err, db.ErrDocument) {
			t.Errorf("%s: %v, want ErrDocument", name, err)
		}
	}
	if d.LSN() != fresh {
		t.Errorf("refused documents committed something: LSN %d, was %d", d.LSN(), fresh)
	}
	closeChecked(t, d)

	o.LexicalDim = 128
	d, err = db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Enqueue(ctx, index.Insert, doc("a", "E Ada (counts)")); err != nil {
		t.Fatalf("with another embedder than that of the refused documents: %v", err)
	}
	if d.LSN() != fresh+1 {
		t.Errorf("the first document took %d commits, want 1 for it and its models", d.LSN()-fresh)
	}
	closeChecked(t, d)

	o.LexicalDim = 64
	d = openTest(t, o)
	if _, err := d.Insert(ctx, doc("b", "two")); !errors.Is(err, db.ErrMismatch) {
		t.Errorf("another embedder than the first document's: %v, want ErrMismatch", err)
	}
}
