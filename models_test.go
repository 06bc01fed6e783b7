package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

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

// TestQueryInsideUpdate: a question asked by who has the writer turn does not wait for it (HC-05); what its models said is
// stored behind it, found until then, and paid for once.
func TestQueryInsideUpdate(t *testing.T) {
	o := testOptions(nil)
	chat := extracting(llmtest.Rule{Purpose: llm.PurposeKeywords, Text: `{"high_level_keywords":[],"low_level_keywords":["mill"]}`})
	emb := llmtest.NewEmbedder(8)
	o.Models.Chat, o.Models.Embedder, o.FS = chat, emb, vfs.NewMem()
	d := openTest(t, o)
	insert(t, d, doc("mill", "E Ines Calder (runs the mill)"))
	chat.Reset()
	ask := func() {
		t.Helper()
		if res, err := d.Query(ctx, "who runs the mill", query.Options{}); err != nil || res.Answer == "" {
			t.Errorf("%+v, %v", res, err)
		}
	}
	before := cached(t, d)
	var calls, texts int
	update(t, d, func(*db.Tx) error {
		ask()
		calls, texts = len(chat.Calls()), emb.Texts()
		ask()
		return nil
	})
	if err := d.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	after := cached(t, d)
	if after[db.CacheKeywords].Entries != 1 || after[db.CacheAnswer].Entries != 1 || after[db.CacheEmbed].Entries <= before[db.CacheEmbed].Entries {
		t.Errorf("stored %+v, before %+v", after, before)
	}
	closeChecked(t, d)
	d = openTest(t, o)
	ask()
	if len(chat.Calls()) != calls || emb.Texts() != texts {
		t.Errorf("%d calls and %d texts, %d and %d of them for the first question", len(chat.Calls()), emb.Texts(), calls, texts)
	}
}

// TestCloseStoresWhatQuestionsPaidFor: a database that is closed at once after a question has its replies.
func TestCloseStoresWhatQuestionsPaidFor(t *testing.T) {
	o := testOptions(nil)
	chat := extracting(llmtest.Rule{Purpose: llm.PurposeKeywords, Text: `{"high_level_keywords":[],"low_level_keywords":["mill"]}`})
	o.Models.Chat, o.FS = chat, vfs.NewMem()
	d := openTest(t, o)
	insert(t, d, doc("mill", "E Ines Calder (runs the mill)"))
	var asking sync.WaitGroup
	for i := range 20 {
		asking.Go(func() {
			if _, err := d.Query(ctx, fmt.Sprint("who runs mill ", i), query.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	closeChecked(t, d)
	d = openTest(t, o)
	if got := cached(t, d); got[db.CacheKeywords].Entries != 20 || got[db.CacheAnswer].Entries != 20 {
		t.Errorf("stored %+v", got)
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
