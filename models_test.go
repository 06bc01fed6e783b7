package db_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
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

// TestQueryEndsWithItsContext: a reply that is to be stored waits for the writer turn as long as somebody waits for
// the reply, and not for ever (HC-05): whoever has the turn may be the one who asked.
func TestQueryEndsWithItsContext(t *testing.T) {
	o := testOptions(nil)
	o.Models.Chat = extracting(llmtest.Rule{Purpose: llm.PurposeKeywords, Text: `{"high_level_keywords":[],"low_level_keywords":["mill"]}`})
	d := openTest(t, o)
	insert(t, d, doc("mill", "E Ines Calder (runs the mill)"))
	update(t, d, func(*db.Tx) error {
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		if _, err := d.Query(short, "who runs the mill", query.Options{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a query inside Update: %v, want the end of its context", err)
		}
		return nil
	})
	if res, err := d.Query(ctx, "who runs the mill", query.Options{}); err != nil || res.Answer == "" {
		t.Errorf("afterwards: %+v, %v", res, err)
	}
}

// TestPaidReplyOutlivesItsCall: a call that is cancelled while its reply arrives keeps the reply (P6).
func TestPaidReplyOutlivesItsCall(t *testing.T) {
	emb := llmtest.NewEmbedder(8)
	giveUp := func() {}
	o := testOptions(nil)
	o.Models.Embedder = embedderFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
		defer giveUp()
		return emb.Embed(ctx, texts, llm.ForDocument)
	})
	d := openTest(t, o)
	cancelled, cancel := context.WithCancel(ctx)
	defer cancel()
	giveUp = cancel
	if _, err := d.Insert(cancelled, doc("a", "one")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled insert: %v", err)
	}
	giveUp = func() {}
	paid := emb.Texts()
	if paid == 0 {
		t.Fatal("cancelled before the model was asked")
	}
	if s, err := d.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 1 {
		t.Errorf("going on: %+v, %v", s, err)
	}
	if n := emb.Texts(); n != paid {
		t.Errorf("%d texts were paid again", n-paid)
	}
}

// TestOneCommitForOneReply: the embeddings of one call of the model are one commit.
func TestOneCommitForOneReply(t *testing.T) {
	emb := llmtest.NewEmbedder(8)
	o := testOptions(nil)
	o.Models.Embedder, o.Index.Chunker = emb, paragraphs()
	d := openTest(t, o)
	insert(t, d, doc("a", "one\n\ntwo\n\nthree\n\nfour\n\nE Ada (counts)\n\nE Bea (sums)\n\nR Ada - Bea (know each other)"))
	commits := 0
	for c, err := range d.Changes(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind == "cache" {
			commits++
		}
	}
	if calls := len(emb.Calls()); commits != calls || emb.Texts() <= calls {
		t.Errorf("%d commits for %d calls with %d texts", commits, calls, emb.Texts())
	}
}
