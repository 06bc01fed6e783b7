package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
)

// passagesOf asks and returns the ids of the passages shown.
func passagesOf(t testing.TB, d *db.DB, question string, o query.Options) (ids []string) {
	t.Helper()
	o.Want = query.WantData
	r, err := d.Query(ctx, question, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Fallbacks) > 0 {
		t.Errorf("%q: %v", question, r.Fallbacks)
	}
	for _, c := range r.Data.Chunks {
		ids = append(ids, c.ID)
	}
	return ids
}

// A search by words follows what is inserted, replaced and deleted, keeps to filters and views, and is there again after
// a reopening, a dump and a load.
func TestSearchByWords(t *testing.T) {
	fs := vfs.NewMem()
	o := db.Options{FS: fs, Extractor: scripted{}, LexicalDim: 64, Now: clock}
	d, err := db.Open("d", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	words := query.Options{Mode: query.Naive, Search: query.SearchText, NoRerank: true}
	want := func(d *db.DB, question, ids string, o query.Options) {
		t.Helper()
		if got := strings.Join(passagesOf(t, d, question, o), " "); got != ids {
			t.Errorf("%q: %q, want %q", question, got, ids)
		}
	}
	insert(t, d, doc("a", "The lighthouse on the reef"), doc("b", "Two lighthouses, a lighthouse keeper, a lamp"), doc("c", "A reef"))
	want(d, "lighthouse", "a-chunk-000 b-chunk-000", words)
	want(d, "Reefs?", "c-chunk-000 a-chunk-000", words)
	only := words
	only.Filter = query.Filter{IDs: []string{"a"}}
	want(d, "lighthouse", "a-chunk-000", only)
	if _, err := d.Put(ctx, doc("b", "A lamp")); err != nil {
		t.Fatal(err)
	}
	want(d, "lighthouse", "a-chunk-000", words)
	if _, err := d.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	want(d, "lighthouse", "", words)
	want(d, "lamp reef", "b-chunk-000 c-chunk-000", words)
	if s, err := d.Stats(ctx); err != nil || !s.Postings.Whole || s.Postings.Items != 2 {
		t.Errorf("%+v, %v", s.Postings, err)
	}
	dump := logical(t, d)
	closeChecked(t, d)

	// Another language: postings are made anew in the background, Settle waits for them.
	o.Index.TextLanguage = "german"
	if d, err = db.Open("d", db.WithOptions(o)); err != nil {
		t.Fatal(err)
	}
	if err := d.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	want(d, "lamp", "b-chunk-000", words)
	equalDumps(t, logical(t, d), dump)
	closeChecked(t, d)

	o.FS, o.Index.TextLanguage = vfs.NewMem(), ""
	loaded, err := db.Open("d", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loaded.Load(ctx, strings.NewReader(string(dump))); err != nil {
		t.Fatal(err)
	}
	want(loaded, "lamp reef", "b-chunk-000 c-chunk-000", words)
	closeChecked(t, loaded)
}

// A hybrid search finds what either of its parts finds, and tells both places.
func TestHybridSearch(t *testing.T) {
	d := openTest(t, db.Options{Extractor: scripted{}, LexicalDim: 64})
	var docs []index.Document
	for i := range 40 {
		docs = append(docs, doc(fmt.Sprintf("d%02d", i), fmt.Sprintf("Passage %d about the harbour and its %d boats", i, i%7)))
	}
	docs = append(docs, doc("needle", "The zeugma of the harbour master"))
	insert(t, d, docs...)
	for _, mode := range []query.Mode{query.Naive, query.Mix} {
		r, err := d.Query(ctx, "What is a zeugma in the harbour?", query.Options{Mode: mode, Search: query.SearchHybrid, Want: query.WantData, NoRerank: true})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Data.Chunks, func(c query.Chunk) bool { return c.Document == "needle" })
		if i < 0 || i > 2 {
			t.Fatalf("%s: the passage with the rare word is at %d", mode, i)
		}
		if !slices.ContainsFunc(r.Data.Chunks[i].Found, func(f query.Found) bool { return f.Via == query.ViaText && f.Rank == 1 }) {
			t.Errorf("%s: %+v", mode, r.Data.Chunks[i].Found)
		}
	}
	// The offline embedder's vectors count less than words, unless somebody says otherwise.
	o := query.Options{Mode: query.Naive, Search: query.SearchHybrid, NoRerank: true}
	order := func(o query.Options) string {
		return strings.Join(passagesOf(t, d, "boats of passage 17 in the harbour", o), " ")
	}
	given, other := o, o
	given.VectorShare, given.Fusion, other.VectorShare = query.Some(0.35), query.FuseScores, query.Some(0.0)
	if got := order(o); got != order(given) || got == order(other) {
		t.Errorf("by default: %s", got)
	}
}

// The offline reranker weighs words by all passages of the view, not by those found alone: of two passages with a word of the
// question each, that with the word which is rare in the store comes first, and deletions are seen at once.
func TestRerankedByTheStore(t *testing.T) {
	d, err := db.Open("d", db.WithOptions(db.Options{FS: vfs.NewMem(), Extractor: scripted{}, LexicalDim: 64, Now: clock}))
	if err != nil {
		t.Fatal(err)
	}
	o := query.Options{Mode: query.Naive, Search: query.SearchText, Filter: query.Filter{IDs: []string{"a", "b"}}}
	insert(t, d, doc("a", "A lantern hung there"), doc("b", "A compass hung there"))
	for _, common := range []string{"lantern", "compass"} {
		for i := range 9 {
			insert(t, d, doc(fmt.Sprint(common, i), fmt.Sprintf("One %s, number %d", common, i)))
		}
		want := "b-chunk-000 a-chunk-000"
		if common == "compass" {
			want = "a-chunk-000 b-chunk-000"
		}
		if got := strings.Join(passagesOf(t, d, "lantern compass", o), " "); got != want {
			t.Errorf("%s is common: %q, want %q", common, got, want)
		}
		for i := range 9 {
			if _, err := d.Delete(ctx, fmt.Sprint(common, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	closeChecked(t, d)
}
