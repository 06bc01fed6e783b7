package db_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
)

func entityWordOptions() db.Options {
	return db.Options{FS: vfs.NewMem(), Extractor: scripted{}, LexicalDim: 64, Now: clock, Index: index.Options{EntityWords: index.EntityWordsOn}}
}

// entitiesFound searches and returns the names, in order.
func entitiesFound(t testing.TB, d *db.DB, text string, o query.TextOptions) string {
	t.Helper()
	r, err := d.SearchEntities(ctx, text, o)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if !r.Complete || r.LSN != d.LSN() {
		t.Errorf("%q: %+v", text, r)
	}
	names := []string{}
	for _, e := range r.Entities {
		names = append(names, e.Name)
	}
	return strings.Join(names, "|")
}

// wordGraph is a graph whose names and descriptions are what search by words must bear.
func wordGraph() index.CustomGraph {
	long := strings.TrimSpace(strings.Repeat("verylong ", 25))
	g := index.CustomGraph{Path: "graph.json"}
	for name, description := range map[string]string{
		"Tide Mill": "A mill whose wheels turn with the tide.", "Skarn Light": "A lighthouse on a reef; its lamp turns.", "东京塔": "很高的塔",
		"Ёлка": "дерево", "!?": "...", "Ilse Brandt": "She runs the tide mill.", "Cafe\u0301": "drinks", long: "…", "👩‍🚀 Nova": "an astronaut",
	} {
		g.Entities = append(g.Entities, index.CustomEntity{Name: name, Type: "thing", Description: description, Source: "s"})
	}
	g.Chunks = []index.CustomChunk{{Source: "s", Content: "all of it"}}
	return g
}

func TestSearchEntities(t *testing.T) {
	d := openTest(t, entityWordOptions())
	if _, err := d.InsertGraph(ctx, wordGraph(), index.CustomOptions{Lenient: true}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"tide", "Tide Mill|Ilse Brandt"},
		{`"tide mill" lamp`, "Tide Mill|Ilse Brandt"},
		{"+turn lamp", "Skarn Light|Tide Mill"},
		{"+turn +reef", "Skarn Light"},
		{"light*", "Skarn Light"},
		{"东京", "东京塔"},
		{"ёлки", "Ёлка"},
		{"café", "Café"},
		{"astronauts", "👩‍🚀 Nova"},
		{"zeugma", ""},
	} {
		if got := entitiesFound(t, d, c.text, query.TextOptions{}); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	if got := entitiesFound(t, d, "verylong", query.TextOptions{}); strings.Count(got, "verylong") != 25 {
		t.Errorf("a long name: %q", got)
	}
	if _, err := d.SearchEntities(ctx, "the", query.TextOptions{}); !errors.Is(err, query.ErrNoWords) {
		t.Error(err)
	}
	// Changes by hand.
	if _, err := d.RenameEntity(ctx, "Tide Mill", "Old Works"); err != nil {
		t.Fatal(err)
	}
	if got := entitiesFound(t, d, "works", query.TextOptions{}); got != "Old Works" {
		t.Errorf("renamed: %q", got)
	}
	if _, err := d.DeleteEntity(ctx, "Skarn Light"); err != nil {
		t.Fatal(err)
	}
	if got := entitiesFound(t, d, "reef", query.TextOptions{}); got != "" {
		t.Errorf("deleted: %q", got)
	}
}

// TestEntityWordsAreOfTheStateAlone: after documents came, changed and went, every search finds what it finds in a database
// into which those that are left were put at once, scores included, and in one that was loaded from a dump.
func TestEntityWordsAreOfTheStateAlone(t *testing.T) {
	d := openTest(t, entityWordOptions())
	docs := sharedDocuments()
	insert(t, d, docs...)
	insert(t, d, doc("extra", "Alice repairs the lamp. Bob keeps Alice company."))
	if _, err := d.Delete(ctx, docs[0].ID, "extra"); err != nil {
		t.Fatal(err)
	}
	fresh := openTest(t, entityWordOptions())
	insert(t, fresh, docs[1:]...)
	var dump bytes.Buffer
	if err := d.Dump(ctx, &dump, db.DumpOptions{}); err != nil {
		t.Fatal(err)
	}
	loaded := openTest(t, entityWordOptions())
	if _, err := loaded.Load(ctx, &dump); err != nil {
		t.Fatal(err)
	}
	var words []string
	err := d.View(ctx, func(tx *db.Tx) error {
		g, err := tx.Graph(db.KnowledgeGraph)
		if err == nil {
			words, err = g.Labels()
		}
		return err
	})
	if err != nil || len(words) < 3 {
		t.Fatal(words, err)
	}
	found := 0
	for _, w := range words {
		get := func(d *db.DB) []query.TextEntity {
			r, err := d.SearchEntities(ctx, w, query.TextOptions{K: 100})
			if errors.Is(err, query.ErrNoWords) {
				return nil
			}
			if err != nil || !r.Complete {
				t.Fatal(w, r, err)
			}
			return r.Entities
		}
		want := get(fresh)
		found += len(want)
		if got := get(d); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, in a fresh database %+v", w, got, want)
		}
		if got := get(loaded); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v once loaded, in a fresh database %+v", w, got, want)
		}
	}
	if found < len(words)/2 {
		t.Errorf("%d found for %d names", found, len(words))
	}
}

// TestEntityWordsLife: a database without postings of entities says so; on makes them, nothing keeps them up, off drops them;
// a workspace has its own.
func TestEntityWordsLife(t *testing.T) {
	o := entityWordOptions()
	open := func(choice index.EntityWords) *db.DB {
		t.Helper()
		o.Index.EntityWords = choice
		d, err := db.Open("d", db.WithOptions(o))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	add := func(d *db.DB, name, description string) {
		t.Helper()
		if _, err := d.CreateEntity(ctx, index.NewEntity{Name: name, Description: description}); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(d *db.DB, search query.Search) *query.Result {
		t.Helper()
		r, err := d.Query(ctx, "q", query.Options{Mode: query.Local, Search: search, LowKeywords: []string{"harbour crane"}, NoNames: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	d := open(index.EntityWordsKeep)
	for i := range 40 {
		add(d, fmt.Sprintf("Thing %d", i), "stands in the harbour "+strings.Repeat("with some more words ", 600))
	}
	if _, err := d.SearchEntities(ctx, "harbour", query.TextOptions{}); !errors.Is(err, query.ErrNoEntityWords) {
		t.Errorf("without postings: %v", err)
	}
	r := ask(d, query.SearchHybrid)
	if len(r.Fallbacks) != 1 || r.Fallbacks[0].Step != query.StepEntities || r.Fallbacks[0].To != string(query.SearchVector) {
		t.Errorf("%+v", r.Fallbacks)
	}
	byVector := ask(d, query.SearchVector)
	closeChecked(t, d)

	d = open(index.EntityWordsOn)
	if err := d.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if again := ask(d, query.SearchVector); !reflect.DeepEqual(again.Data, byVector.Data) {
		t.Error("a search by vector sees postings")
	}
	closeChecked(t, d)

	d = open(index.EntityWordsKeep)
	add(d, "Crane", "lifts what comes by sea")
	if got := entitiesFound(t, d, "crane", query.TextOptions{}); got != "Crane" {
		t.Errorf("kept up: %q", got)
	}
	for _, search := range []query.Search{query.SearchText, query.SearchHybrid} {
		r := ask(d, search)
		at := slices.IndexFunc(r.Data.Entities, func(e query.Entity) bool { return e.Name == "Crane" })
		if len(r.Fallbacks) > 0 || at < 0 || !slices.ContainsFunc(r.Data.Entities[at].Found, func(f query.Found) bool { return f.Via == query.ViaText && f.Rank > 0 }) {
			t.Errorf("%s: %+v %+v", search, r.Fallbacks, r.Data.Entities)
		}
	}
	w, err := d.Workspace("other")
	if err != nil {
		t.Fatal(err)
	}
	if got := entitiesFound(t, w, "crane", query.TextOptions{}); got != "" {
		t.Errorf("another workspace finds %q", got)
	}
	closeChecked(t, d)

	d = open(index.EntityWordsOff)
	if err := d.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SearchEntities(ctx, "crane", query.TextOptions{}); !errors.Is(err, query.ErrNoEntityWords) {
		t.Errorf("dropped: %v", err)
	}
	closeChecked(t, d)
}
