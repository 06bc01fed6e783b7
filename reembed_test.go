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
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

func newEmbedder(id string, dim int) *llmtest.Embedder {
	e := llmtest.NewEmbedder(dim)
	e.SetID(id)
	return e
}

// townDocuments share a hub; their vectors are some thirty.
func townDocuments() (docs []index.Document) {
	for i := range 6 {
		docs = append(docs, doc(fmt.Sprint("town-", i), fmt.Sprintf("E Harbor (seen from %d)\nE Street %d (leads down)\n\nR Harbor - Street %d (at the end)", i, i, i)))
	}
	return docs
}

// withEmbedder are options of a store that asks e and caches nothing: what is not asked twice was stored.
func withEmbedder(fs vfs.FS, chat *llmtest.Chat, e *llmtest.Embedder) db.Options {
	o := modelled(chat, e)
	o.FS, o.DisableReplyCache, o.EmbedBatch, o.ModelConcurrency, o.ModelRetries = fs, true, 2, 2, -1
	return o
}

// freshDump is the dump of a store of these documents that never knew another embedder than e.
func freshDump(t *testing.T, e *llmtest.Embedder, docs ...index.Document) string {
	t.Helper()
	return onlyWith(t, withEmbedder(nil, extracting(), e), docs...)
}

// answers are what every mode finds, by one view.
func answers(t *testing.T, d *db.DB) string {
	t.Helper()
	return contexts(t, d, "Street 3 leads down")
}

// Another embedding model is refused with both names and what to do, and nothing is written; what is stored can be
// read. Re-embedding, killed half-way, goes on where it was, asks no chat model, and leaves what a store of the new
// model would hold.
func TestHC15_Reembed(t *testing.T) {
	for name, next := range map[string]*llmtest.Embedder{"another dimension": newEmbedder("m2", 6), "the same dimension": newEmbedder("m3", 4), "the same name": newEmbedder("m1", 6)} {
		t.Run(name, func(t *testing.T) {
			old, fs := newEmbedder("m1", 4), vfs.NewMem()
			chat := extracting()
			d := openTest(t, withEmbedder(fs, chat, old))
			insert(t, d, townDocuments()...)
			before, said := logical(t, d), answers(t, d)
			closeChecked(t, d)

			chat.Reset()
			d = openTest(t, withEmbedder(fs, chat, next))
			lsn := d.LSN()
			for what, call := range map[string]func() error{
				"insert":  func() error { _, err := d.Insert(ctx, doc("more", "E More (one)")); return err },
				"delete":  func() error { _, err := d.Delete(ctx, "town-1"); return err },
				"process": func() error { _, err := d.Process(ctx, index.ProcessOptions{}); return err },
				"edit":    func() error { _, err := d.RenameEntity(ctx, "Harbor", "Port"); return err },
				"query":   func() error { _, err := d.Query(ctx, "where", query.Options{}); return err },
			} {
				err := call()
				var both *db.MismatchError
				if !errors.As(err, &both) || !errors.Is(err, db.ErrMismatch) {
					t.Errorf("%s: %v", what, err)
					continue
				}
				for _, part := range []string{"m1", "4", next.ID(), fmt.Sprint(next.Dim()), "Reembed"} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%s: %q does not name %s", what, err, part)
					}
				}
			}
			if d.LSN() != lsn || next.Texts() != 0 || len(chat.Calls()) != 0 {
				t.Errorf("%d commits, %d texts, %d calls of refused work", d.LSN()-lsn, next.Texts(), len(chat.Calls()))
			}
			if e := entity(t, d, "Harbor"); e == nil || e.SourceCount != 12 {
				t.Errorf("the graph cannot be read: %+v", e)
			}
			if text, err := d.Text(ctx, "town-2"); err != nil || !strings.Contains(text, "Street 2") {
				t.Errorf("text %q, %v", text, err)
			}
			equalDumps(t, logical(t, d), before)

			broken := errors.New("broken")
			next.Break(0, llmtest.After(5, llmtest.Fail(broken)))
			if _, err := d.Reembed(ctx, db.ReembedOptions{}); !errors.Is(err, broken) {
				t.Fatalf("with a model that fails: %v", err)
			}
			kept := stats(t, d).Next
			if kept == nil || kept.Done == 0 || kept.Done >= kept.Total || kept.Embedder != next.ID() || kept.Dim != next.Dim() {
				t.Fatalf("half-way: %+v", kept)
			}
			equalDumps(t, logical(t, d), before)
			closeChecked(t, d)

			// Meanwhile it is a database of the old model.
			d = openTest(t, withEmbedder(fs, chat, old))
			if got := answers(t, d); got != said {
				t.Errorf("half-way it finds\n%s\nand found\n%s", got, said)
			}
			if got := stats(t, d); got.Next == nil || got.Next.Done != kept.Done || len(got.Collections) != 3 {
				t.Errorf("half-way: %+v", got)
			}
			closeChecked(t, d)

			next.Heal()
			next.Reset()
			chat.Reset()
			d = openTest(t, withEmbedder(fs, chat, next))
			var told []index.ReembedProgress
			res, err := d.Reembed(ctx, db.ReembedOptions{Progress: func(p index.ReembedProgress) { told = append(told, p) }})
			if err != nil {
				t.Fatal(err)
			}
			if res.Kept != kept.Done || res.Embedded != kept.Total-kept.Done || res.LSN != d.LSN() || res.Chunks+res.Entities+res.Relations != kept.Total {
				t.Errorf("%+v after %+v", res, kept)
			}
			if n := len(told); n == 0 || told[n-1] != (index.ReembedProgress{Done: kept.Total, Total: kept.Total}) {
				t.Errorf("progress %v", told)
			}
			seen := make(map[string]bool)
			for _, c := range next.Calls() {
				for _, text := range c.Texts {
					if seen[text] {
						t.Errorf("embedded twice: %q", text)
					}
					seen[text] = true
				}
			}
			if next.Texts() > res.Embedded || len(chat.Calls()) != 0 {
				t.Errorf("%d texts for %d vectors, %d chat calls", next.Texts(), res.Embedded, len(chat.Calls()))
			}
			checkDB(t, d)
			want := freshDump(t, next, townDocuments()...)
			equalDumps(t, logical(t, d), want)
			if got := answers(t, d); got == "" || stats(t, d).Next != nil {
				t.Errorf("afterwards: %q, %+v", got, stats(t, d).Next)
			}
			insert(t, d, doc("more", "E Harbor (grows)"))
			if _, err := d.Delete(ctx, "more"); err != nil {
				t.Fatal(err)
			}
			equalDumps(t, logical(t, d), want)

			// Again there is nothing to do.
			next.Reset()
			if res, err := d.Reembed(ctx, db.ReembedOptions{}); err != nil || res.LSN != 0 || next.Texts() != 0 {
				t.Errorf("again: %+v, %v, %d texts", res, err, next.Texts())
			}
			closeChecked(t, d)
			d = openTest(t, withEmbedder(fs, chat, old))
			if _, err := d.Query(ctx, "where", query.Options{}); !errors.Is(err, db.ErrMismatch) {
				t.Errorf("with the model of before: %v", err)
			}
			closeChecked(t, d)
			if left := stored(t, fs, space.Reembed); len(left) != 0 {
				t.Errorf("%d keys are left", len(left))
			}
		})
	}
}

func stats(t testing.TB, d *db.DB) db.Stats {
	t.Helper()
	s, err := d.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What changes while a re-embedding is interrupted, or is under way, is embedded again, alone; a document whose
// vectors were made with the old model when the model changed gets those of the new one, without another extraction.
// Queries meanwhile are of the old model.
func TestReembedBesideChanges(t *testing.T) {
	old, next, chat := newEmbedder("m1", 4), newEmbedder("m2", 4), extracting()
	d := openTest(t, withEmbedder(nil, chat, old))
	docs := townDocuments()
	insert(t, d, docs...)
	broken := errors.New("broken")
	next.Break(0, llmtest.After(8, llmtest.Fail(broken)))
	if _, err := d.Reembed(ctx, db.ReembedOptions{Embedder: next}); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	next.Heal()
	changed := doc("town-0", "E Harbor (empty)\nE Street 0 (leads down)\n\nR Harbor - Street 0 (at the end)")
	if _, err := d.Put(ctx, changed); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Delete(ctx, "town-1"); err != nil {
		t.Fatal(err)
	}
	docs[0] = changed
	docs = append(docs[:1:1], docs[2:]...)
	said := answers(t, d)

	// A document that has its vectors of the old model, and waits with them.
	held, entered := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	t.Cleanup(release)
	var once sync.Once
	late := doc("late", "E Lighthouse (stands late)\nR Lighthouse - Harbor (above)")
	old.Break(0, func(call llmtest.EmbedCall, vecs [][]float32) ([][]float32, error) {
		for _, text := range call.Texts {
			if strings.Contains(text, "stands late") {
				once.Do(func() { close(entered) })
				<-held
			}
		}
		return vecs, nil
	})
	inserted := make(chan error)
	go func() { _, err := d.Insert(ctx, late); inserted <- err }()
	<-entered

	queried := 0
	res, err := d.Reembed(ctx, db.ReembedOptions{Embedder: next, Progress: func(p index.ReembedProgress) {
		if queried++; queried == 1 { // half-way
			if got := answers(t, d); got != said {
				t.Errorf("meanwhile it finds\n%s\nand found\n%s", got, said)
			}
			insert(t, d, doc("quick", "E Harbor (crowded)"))
			if _, err := d.Reembed(ctx, db.ReembedOptions{}); !errors.Is(err, db.ErrBusy) {
				t.Errorf("a second one beside it: %v", err)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Kept == 0 || d.Models().Embedder != "m2" || stats(t, d).Stored.Embedder != "m2" {
		t.Errorf("%+v, models %+v", res, d.Models())
	}
	checkDB(t, d)
	chat.Reset()
	release()
	if err := <-inserted; err != nil {
		t.Fatal(err)
	}
	if n := len(asked(chat)); n != 0 {
		t.Errorf("%d extraction calls for a document that had its replies", n)
	}
	answers(t, d)
	docs = append(docs, late, doc("quick", "E Harbor (crowded)"))
	equalDumps(t, logical(t, d), freshDump(t, newEmbedder("m2", 4), docs...))
}

// A question that was embedded with the old model, and is looked up after the change, is embedded again.
func TestQueryAcrossReembed(t *testing.T) {
	old, next := newEmbedder("m1", 4), newEmbedder("m2", 4)
	d := openTest(t, withEmbedder(nil, extracting(), old))
	insert(t, d, townDocuments()...)
	entered, held := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	t.Cleanup(release)
	old.Break(1, func(_ llmtest.EmbedCall, vecs [][]float32) ([][]float32, error) {
		close(entered)
		<-held
		return vecs, nil
	})
	o := query.Options{Mode: query.Naive, Want: query.WantContext}
	var got *query.Result
	done := make(chan error)
	go func() {
		var err error
		got, err = d.Query(ctx, "Street 3 leads down", o)
		done <- err
	}()
	<-entered
	if _, err := d.Reembed(ctx, db.ReembedOptions{Embedder: next}); err != nil {
		t.Fatal(err)
	}
	release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want, err := d.Query(ctx, "Street 3 leads down", o)
	if err != nil || got.Context != want.Context || got.LSN != d.LSN() {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got.Context, want.Context)
	}
}

// A call that is cancelled changes nothing that is seen; one with another model begins again, and one with the
// stored model drops what was begun.
func TestReembedGivenUp(t *testing.T) {
	fs := vfs.NewMem()
	old, chat := newEmbedder("m1", 4), extracting()
	d := openTest(t, withEmbedder(fs, chat, old))
	insert(t, d, townDocuments()...)
	before := logical(t, d)
	giveUp := func(e *llmtest.Embedder) {
		t.Helper()
		short, cancel := context.WithCancel(ctx)
		_, err := d.Reembed(short, db.ReembedOptions{Embedder: e, Progress: func(index.ReembedProgress) { cancel() }})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled: %v", err)
		}
		if s := stats(t, d); s.Next == nil || s.Next.Embedder != e.ID() || s.Next.Done == 0 || s.Models.Embedder != "m1" {
			t.Errorf("after %s: %+v", e.ID(), s.Next)
		}
		equalDumps(t, logical(t, d), before)
		checkDB(t, d)
	}
	giveUp(newEmbedder("m2", 6))
	giveUp(newEmbedder("m3", 8))
	view(t, d, func(tx *db.Tx) {
		if names, err := tx.VectorNames(); err != nil || len(names) != 3 {
			t.Errorf("collections %q, %v", names, err)
		}
	})
	err := d.Update(ctx, func(tx *db.Tx) error { return tx.DropVectors("next/chunks") })
	if !errors.Is(err, db.ErrReserved) {
		t.Errorf("the next vectors can be dropped: %v", err)
	}
	if res, err := d.Reembed(ctx, db.ReembedOptions{}); err != nil || res.LSN != 0 {
		t.Errorf("with the stored model: %+v, %v", res, err)
	}
	if s := stats(t, d); s.Next != nil {
		t.Errorf("after giving up: %+v", s.Next)
	}
	equalDumps(t, logical(t, d), before)
	for field, e := range map[string]llm.Embedder{"Embedder": newEmbedder("huge", 1<<20)} {
		var bad *db.OptionError
		if _, err := d.Reembed(ctx, db.ReembedOptions{Embedder: e}); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	closeChecked(t, d)
	if left := stored(t, fs, space.Reembed); len(left) != 0 {
		t.Errorf("%d keys are left", len(left))
	}

	// Without documents, and with documents that only wait, the model is another one at once.
	d = openTest(t, withEmbedder(nil, chat, old))
	if res, err := d.Reembed(ctx, db.ReembedOptions{Embedder: newEmbedder("m2", 6)}); err != nil || res.Embedded != 0 || d.Models().Embedder != "m2" {
		t.Errorf("an empty database: %+v, %v", res, err)
	}
	if _, err := d.Enqueue(ctx, index.Insert, doc("waits", "E Harbor (waits)")); err != nil {
		t.Fatal(err)
	}
	if res, err := d.Reembed(ctx, db.ReembedOptions{Embedder: newEmbedder("m3", 5)}); err != nil || res.Embedded != 0 || stats(t, d).Stored.Embedder != "m3" {
		t.Errorf("documents that wait: %+v, %v", res, err)
	}
	if _, err := d.Process(ctx, index.ProcessOptions{}); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, d), freshDump(t, newEmbedder("m3", 5), doc("waits", "E Harbor (waits)")))
}

// A power loss at any operation of a re-embedding leaves a database of the one model or of the other, whole, which
// goes on.
func TestReembedPowerLossAtEveryOperation(t *testing.T) {
	base := testkit.NewCrashFS(1)
	old := func() *llmtest.Embedder { return newEmbedder("m1", 4) }
	next := func() *llmtest.Embedder { return newEmbedder("m2", 5) }
	docs := townDocuments()[:3]
	opened := func(fs vfs.FS, e *llmtest.Embedder) (*db.DB, error) {
		return db.Open("glim.db", db.WithOptions(withEmbedder(fs, extracting(), e)))
	}
	d, err := opened(base, old())
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, docs...)
	before := logical(t, d)
	closeChecked(t, d)
	after := freshDump(t, next(), docs...)
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		acked := false
		n := testkit.EveryCrashPoint(t, testkit.Loop{Seed: seed + 1, Base: base}, func(fs *testkit.CrashFS) error {
			acked = false
			d, err := opened(fs, next())
			if err != nil {
				return err
			}
			_, err = d.Reembed(ctx, db.ReembedOptions{})
			acked = err == nil
			return errors.Join(err, d.Close())
		}, func(fs *testkit.CrashFS, _ bool) {
			d, err := opened(fs, old())
			if err != nil {
				t.Fatalf("reopen: %v", err)
			}
			s := stats(t, d)
			switch got := logical(t, d); {
			case s.Stored.Embedder == "m1" && !acked:
				equalDumps(t, got, before)
				answers(t, d)
			case s.Stored.Embedder == "m2":
				equalDumps(t, got, after)
			default:
				t.Fatalf("acknowledged %t, and the store is of %+v", acked, s.Stored)
			}
			closeChecked(t, d)
			if d, err = opened(fs, next()); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Reembed(ctx, db.ReembedOptions{}); err != nil {
				t.Fatalf("it does not go on: %v", err)
			}
			equalDumps(t, logical(t, d), after)
			answers(t, d)
			closeChecked(t, d)
		})
		if n < 10 {
			t.Errorf("%d crash points", n)
		}
	}
}

// Check sees a next vector without its digest, and a digest without its vector.
func TestCheckSeesNextVectors(t *testing.T) {
	base := testkit.NewCrashFS(1)
	d, err := db.Open("glim.db", db.WithOptions(withEmbedder(base, extracting(), newEmbedder("m1", 4))))
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, townDocuments()[:1]...)
	next := newEmbedder("m2", 4)
	next.Break(0, llmtest.After(2, llmtest.Fail(errors.New("broken"))))
	if _, err := d.Reembed(ctx, db.ReembedOptions{Embedder: next}); err == nil {
		t.Fatal("it did not fail")
	}
	closeChecked(t, d)
	entries := stored(t, base.Clone(1), space.Reembed)
	if len(entries) == 0 {
		t.Fatal("nothing is stored")
	}
	for name, damage := range map[string]func(b *kv.Batch) error{
		"taken away": func(b *kv.Batch) error { return b.Delete(entries[0].key) },
		"too many":   func(b *kv.Batch) error { return b.Set(append(entries[0].key, 'x'), entries[0].value) },
	} {
		fs := base.Clone(2)
		raw(t, fs, func(s *kv.Store) {
			b, err := s.NewBatch(0)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(damage(b), s.Apply(b), b.Durable(), b.Close()); err != nil {
				t.Fatal(err)
			}
		})
		if parts := found(t, fs); parts["index"] == "" {
			t.Errorf("%s: found %v", name, parts)
		}
	}
}
