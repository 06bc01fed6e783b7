package db_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// hubDocument says enough about one entity for its description to be summarised.
func hubDocument(id string) index.Document {
	var b strings.Builder
	for i := range 4 {
		fmt.Fprintf(&b, "E Harbor Office (%s says %d)\nE %s Own %d (alone)\nR Harbor Office - %s Own %d (%s pair %d)\n\n", id, i, id, i, id, i, id, i)
	}
	return doc(id, b.String())
}

func cached(t testing.TB, d *db.DB) map[db.CacheKind]db.CacheStats {
	t.Helper()
	s, err := d.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s.Caches
}

// The caches are no part of what is stored: clearing any of them between two changes changes the cost of the second,
// never its result.
func TestClearCacheChangesNoResult(t *testing.T) {
	steps := []struct {
		name string
		do   func(d *db.DB) error
		hits []db.CacheKind // that the step would have found
	}{
		{"insert again", func(d *db.DB) error { _, err := d.Insert(ctx, hubDocument("two")); return err }, nil},
		{"delete", func(d *db.DB) error { _, err := d.Delete(ctx, "two"); return err }, []db.CacheKind{db.CacheSummary, db.CacheEmbed}},
		{"put", func(d *db.DB) error { _, err := d.Put(ctx, hubDocument("two")); return err }, []db.CacheKind{db.CacheExtract, db.CacheSummary, db.CacheEmbed}},
		{"replace", func(d *db.DB) error {
			changed := hubDocument("one")
			changed.Text = strings.Replace(changed.Text, "says 3", "says something else", 1)
			_, err := d.Put(ctx, changed)
			return err
		}, nil},
		{"replace back", func(d *db.DB) error { _, err := d.Put(ctx, hubDocument("one")); return err }, []db.CacheKind{db.CacheExtract, db.CacheSummary, db.CacheEmbed}},
		{"delete two", func(d *db.DB) error { _, err := d.Delete(ctx, "one", "three"); return err }, nil},
	}
	run := func(t *testing.T, clear []db.CacheKind) (dumps []string) {
		chat, emb := extracting(), llmtest.NewEmbedder(8)
		o := modelled(chat, emb)
		o.Index.SummaryFragments = 3
		d := openTest(t, o)
		for _, id := range []string{"one", "three", "two"} {
			insert(t, d, hubDocument(id))
		}
		dumps = append(dumps, logical(t, d))
		for _, s := range steps {
			if clear != nil {
				if _, err := d.ClearCache(ctx, clear...); err != nil {
					t.Fatal(err)
				}
			}
			chat.Reset()
			emb.Reset()
			if err := s.do(d); err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			dumps = append(dumps, logical(t, d))
			calls := map[db.CacheKind]int{db.CacheExtract: chat.Count(llm.PurposeExtract), db.CacheSummary: chat.Count(llm.PurposeSummary), db.CacheEmbed: emb.Texts()}
			for _, kind := range s.hits {
				cleared := false
				for _, c := range clear {
					cleared = cleared || c == kind
				}
				if (calls[kind] > 0) != cleared {
					t.Errorf("%s with %v cleared: %d calls of %s", s.name, clear, calls[kind], kind)
				}
			}
		}
		return dumps
	}
	want := run(t, nil)
	equalDumps(t, want[3], want[1]) // deleted and put again
	equalDumps(t, want[5], want[1])
	for _, clear := range [][]db.CacheKind{{db.CacheExtract}, {db.CacheSummary}, {db.CacheEmbed}, {db.CacheKeywords, db.CacheAnswer}, db.CacheKinds()} {
		t.Run(fmt.Sprint(clear), func(t *testing.T) {
			for i, got := range run(t, clear) {
				equalDumps(t, got, want[i])
			}
		})
	}
}

// Every kind of reply has a cache of its own, which is counted, survives a reopening, is cleared alone, and is refused
// by a name that is none.
func TestCacheKinds(t *testing.T) {
	chat := extracting(llmtest.Rule{Purpose: llm.PurposeKeywords, Text: `{"high_level_keywords":["mill"],"low_level_keywords":[]}`})
	o := modelled(chat, llmtest.NewEmbedder(8))
	o.Index.SummaryFragments, o.Extract.Gleaning = 2, 1
	d := openTest(t, o)
	insert(t, d, hubDocument("one"))
	ask := func(d *db.DB) {
		t.Helper()
		if res, err := d.Query(ctx, "who runs the mill", query.Options{}); err != nil || res.Answer == "" {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	ask(d)
	if err := d.Settle(ctx); err != nil { // what a question's models say is stored behind it
		t.Fatal(err)
	}
	before := cached(t, d)
	for kind, want := range map[db.CacheKind]int{db.CacheExtract: 8, db.CacheSummary: 1, db.CacheKeywords: 1, db.CacheAnswer: 1} { // four chunks, gleaned once
		if got := before[kind]; got.Entries != want || got.Bytes == 0 || got.Limit < db.MinCacheLimit {
			t.Errorf("%s: %+v, want %d entries", kind, got, want)
		}
	}
	if before[db.CacheEmbed].Entries == 0 || len(before) != len(db.CacheKinds()) {
		t.Errorf("caches %+v", before)
	}
	if _, err := d.ClearCache(ctx, db.CacheAnswer, "replies"); !errors.Is(err, db.ErrOption) {
		t.Errorf("an unknown kind: %v", err)
	}
	closeChecked(t, d)
	d = openTest(t, o)
	if got := cached(t, d); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("after reopening %v, want %v", got, before)
	}
	chat.Reset()
	ask(d)
	if n := len(chat.Calls()); n != 0 {
		t.Errorf("%d calls for a question asked before", n)
	}
	had, err := d.ClearCache(ctx, db.CacheAnswer, db.CacheAnswer)
	if err != nil || len(had) != 1 || had[db.CacheAnswer] != before[db.CacheAnswer] {
		t.Errorf("cleared %+v, %v", had, err)
	}
	left := cached(t, d)
	for kind, want := range before {
		if kind == db.CacheAnswer {
			want.Entries, want.Bytes = 0, 0
		}
		if left[kind] != want {
			t.Errorf("%s: %+v left, want %+v", kind, left[kind], want)
		}
	}
	ask(d)
	if a, k := chat.Count(llm.PurposeAnswer), chat.Count(llm.PurposeKeywords); a != 1 || k != 0 {
		t.Errorf("%d calls for the answer, %d for keywords", a, k)
	}
	if had, err = d.ClearCache(ctx); err != nil || len(had) != len(db.CacheKinds()) {
		t.Errorf("cleared %+v, %v", had, err)
	}
}

// A limit holds, for each cache by itself, and costs calls only; a negative one turns its cache off.
func TestCacheLimits(t *testing.T) {
	chat, emb := extracting(), llmtest.NewEmbedder(8)
	o := modelled(chat, emb)
	o.CacheLimits = db.CacheLimits{Extract: db.MinCacheLimit, Embed: -1}
	chat.First(llmtest.Rule{Purpose: llm.PurposeExtract, Func: func(r llm.Request) (string, error) {
		return reply(passage(r)) + strings.Repeat("\nnothing more", 20_000), nil // a quarter of the limit
	}})
	d := openTest(t, o)
	for i := range 8 {
		insert(t, d, doc(fmt.Sprint("d", i), fmt.Sprintf("E Ladder (leans %d)", i)))
		if got := cached(t, d)[db.CacheExtract]; got.Bytes > db.MinCacheLimit || got.Entries != min(i+1, 4) {
			t.Fatalf("after %d documents: %+v", i+1, got)
		}
	}
	all := cached(t, d)
	if got := all[db.CacheEmbed]; got != (db.CacheStats{}) {
		t.Errorf("a cache that is off: %+v", got)
	}
	chat.Reset()
	before := logical(t, d)
	if _, err := d.Delete(ctx, "d0", "d7"); err != nil {
		t.Fatal(err)
	}
	insert(t, d, doc("d7", "E Ladder (leans 7)"))
	if n := chat.Count(llm.PurposeExtract); n != 0 {
		t.Errorf("%d calls for the newest reply", n)
	}
	if _, err := d.Delete(ctx, "d7"); err != nil {
		t.Fatal(err)
	}
	insert(t, d, doc("d0", "E Ladder (leans 0)"), doc("d7", "E Ladder (leans 7)"))
	if n := chat.Count(llm.PurposeExtract); n != 1 {
		t.Errorf("%d calls for the oldest reply and the newest", n)
	}
	if entity(t, d, "Ladder") == nil || logical(t, d) == before {
		t.Error("the order of the documents did not change") // d0 is the last but one now
	}

	for field, limits := range map[string]db.CacheLimits{
		"CacheLimits.Extract": {Extract: 1}, "CacheLimits.Summary": {Summary: db.MinCacheLimit - 1},
		"CacheLimits.Keywords": {Keywords: 5}, "CacheLimits.Answer": {Answer: 5}, "CacheLimits.Embed": {Embed: 5},
	} {
		_, err := db.Open("glim.db", db.WithOptions(db.Options{FS: vfs.NewMem(), CacheLimits: limits}))
		var bad *db.OptionError
		if !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Check finds sums that are not those of the entries, and clearing mends them.
func TestCheckFindsDamagedCache(t *testing.T) {
	fs := vfs.NewMem()
	o := modelled(extracting(), llmtest.NewEmbedder(8))
	o.FS = fs
	d := openTest(t, o)
	insert(t, d, hubDocument("one"))
	closeChecked(t, d)
	raw(t, fs, func(s *kv.Store) {
		b, err := s.NewBatch(0)
		if err != nil {
			t.Fatal(err)
		}
		prefix := append(space.In("", space.VectorCache), 1)
		snap, err := s.Snapshot(0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := snap.Cursor(prefix, codec.PrefixEnd(prefix))
		if err != nil || !c.First() {
			t.Fatal("no entry", err)
		}
		if err := errors.Join(b.Delete(c.Key()), c.Close(), snap.Close(), s.Apply(b), b.Durable(), b.Close()); err != nil {
			t.Fatal(err)
		}
	})
	if parts := found(t, fs); parts["cache"] == "" {
		t.Errorf("found %v", parts)
	}
	d = openTest(t, o)
	if _, err := d.ClearCache(ctx, db.CacheEmbed); err != nil {
		t.Fatal(err)
	}
}
