package db_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

func pointer[T any](v T) *T { return &v }

// edited fails the test when an edit failed.
func edited(t testing.TB, r index.EditResult, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func customGraph(text string) index.CustomGraph {
	return index.CustomGraph{ID: "graph", Chunks: []index.CustomChunk{{Content: "Shared 0 is " + text + ".", Source: "c"}},
		Relations: []index.CustomRelation{{Src: "Shared 0", Dst: "Own", Description: text, Source: "c"}}}
}

// handmade makes every kind of edit on the documents of crashBase.
func handmade() []step {
	edit := func(name string, do func(d *db.DB) (index.EditResult, error)) step {
		return step{name, func(d *db.DB) error { _, err := do(d); return err }}
	}
	return []step{
		{"custom graph", func(d *db.DB) error {
			_, err := d.InsertGraph(ctx, customGraph("in a custom graph"), index.CustomOptions{})
			return err
		}},
		{"custom graph replaced", func(d *db.DB) error {
			_, err := d.InsertGraph(ctx, customGraph("in another one"), index.CustomOptions{Policy: index.Put})
			return err
		}},
		{"custom graph deleted", func(d *db.DB) error { _, err := d.Delete(ctx, "graph"); return err }},
		edit("create entity", func(d *db.DB) (index.EditResult, error) {
			return d.CreateEntity(ctx, index.NewEntity{Name: "By Hand", Type: "made", Description: "Made by hand."})
		}),
		edit("create relation", func(d *db.DB) (index.EditResult, error) {
			return d.CreateRelation(ctx, index.NewRelation{Src: "By Hand", Dst: "Shared 0", Description: "stands at"})
		}),
		edit("edit entity", func(d *db.DB) (index.EditResult, error) {
			return d.EditEntity(ctx, "Shared 0", index.EntityFields{Description: pointer("Set by hand.")})
		}),
		edit("rename", func(d *db.DB) (index.EditResult, error) { return d.RenameEntity(ctx, "Shared 0", "The First") }),
		edit("edit relation", func(d *db.DB) (index.EditResult, error) {
			return d.EditRelation(ctx, "Shared 0", "By Hand", index.RelationFields{Weight: pointer(7.0)})
		}),
		edit("merge", func(d *db.DB) (index.EditResult, error) {
			return d.MergeEntities(ctx, index.Merge{Into: "By Hand", From: []string{"The First"}})
		}),
		edit("delete entity", func(d *db.DB) (index.EditResult, error) { return d.DeleteEntity(ctx, "By Hand") }),
		edit("reset entity", func(d *db.DB) (index.EditResult, error) { return d.ResetEntity(ctx, "The First") }),
		edit("part", func(d *db.DB) (index.EditResult, error) { return d.RemoveAlias(ctx, "Shared 0") }),
	}
}

// Every kind of edit with a power loss at each operation of the file system: it is wholly there or wholly absent.
func TestHC03_PowerLossWithinEdits(t *testing.T) {
	base := crashBase(t)
	want := states(t, base, handmade())
	for i, w := range want[1:] {
		if w == want[i] {
			t.Fatalf("%s changed nothing", handmade()[i].name)
		}
	}
	equalDumps(t, want[len(want)-1], want[0]) // all of it was taken back
	acked, step := 0, 1
	if testing.Short() {
		step = 5
	}
	n := testkit.EveryCrashPoint(t, testkit.Loop{Seed: 9, Base: base, Step: step}, crashRun(t, handmade(), &acked),
		crashVerify(t, handmade(), want, &acked, true))
	t.Logf("%d crash points", n)
}

// Edits survive what happens to databases: documents that come and go, dump and load, reopening, another cache.
func TestEditsSurvive(t *testing.T) {
	chat := extracting()
	o := modelled(chat, llmtest.NewEmbedder(8))
	d := openTest(t, o)
	insert(t, d, doc("a", "E Mira (mends)\nR Mira - Bridge (works on)"), doc("b", "E Mira (teaches)\nR Mira - School (works at)\nE Noise (junk)"))
	r, err := d.RenameEntity(ctx, "Mira", "Mira Voss")
	edited(t, r, err)
	r, err = d.EditEntity(ctx, "Mira Voss", index.EntityFields{Description: pointer("An engineer.")})
	edited(t, r, err)
	r, err = d.DeleteEntity(ctx, "Noise")
	edited(t, r, err)
	want := logical(t, d)

	insert(t, d, doc("c", "E Mira (sings)\nE Noise (again)\nR Noise - Bridge (on)"))
	i, err := d.Entity(ctx, "Mira", index.InfoOptions{Statements: -1})
	if err != nil || i.Name != "Mira Voss" || i.Description != "An engineer." || !slices.Equal(i.Set, []string{"description"}) || i.SourceCount != 3 ||
		len(i.Statements) != 5 || i.Statements[0].Names[0] != "Mira" {
		t.Errorf("entity %+v, %v", i, err)
	}
	var none *index.NoObjectError
	if _, err := d.Entity(ctx, "Noise", index.InfoOptions{}); !errors.As(err, &none) || !none.Deleted || !errors.Is(err, db.ErrNotFound) {
		t.Errorf("deleted entity: %v", err)
	}
	rel, err := d.Relation(ctx, "School", "Mira", index.InfoOptions{Vector: true})
	if err != nil || rel.Src != "Mira Voss" || rel.Dst != "School" || len(rel.Vector) != 8 {
		t.Errorf("relation %+v, %v", rel, err)
	}
	if _, err := d.Put(ctx, doc("b", "E Mira (teaches much)\nR Mira - School (works at)\nE Noise (junk)")); err != nil {
		t.Fatal(err)
	}
	if e := entity(t, d, "Mira Voss"); e == nil || e.Description != "An engineer." || entity(t, d, "Noise") != nil {
		t.Errorf("after a replacement: %+v", e)
	}
	if _, err := d.Put(ctx, doc("b", "E Mira (teaches)\nR Mira - School (works at)\nE Noise (junk)")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Delete(ctx, "c"); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, d), want)

	var full bytes.Buffer
	if err := d.Dump(ctx, &full, db.DumpOptions{}); err != nil {
		t.Fatal(err)
	}
	loaded := openTest(t, modelled(chat, llmtest.NewEmbedder(8)))
	if _, err := loaded.Load(ctx, &full); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, loaded), want)
	for _, d := range []*db.DB{d, loaded} {
		res, err := d.Query(ctx, "what does mira do?", query.Options{Mode: query.Local, Want: query.WantContext, LowKeywords: []string{"x"}, HighKeywords: []string{"y"}})
		if err != nil || len(res.Data.Entities) == 0 || res.Data.Entities[0].Name != "Mira Voss" || !strings.EqualFold(res.Data.Entities[0].Named, "mira") {
			t.Errorf("by the alias: %+v, %v", res.Data.Entities, err)
		}
		r, err = d.ResetEntity(ctx, "Noise")
		edited(t, r, err)
		r, err = d.ResetEntity(ctx, "Mira")
		edited(t, r, err)
		r, err = d.RemoveAlias(ctx, "Mira")
		edited(t, r, err)
	}
	undone := onlyWith(t, modelled(chat, llmtest.NewEmbedder(8)), doc("a", "E Mira (mends)\nR Mira - Bridge (works on)"), doc("b", "E Mira (teaches)\nR Mira - School (works at)\nE Noise (junk)"))
	equalDumps(t, logical(t, d), undone)
	equalDumps(t, logical(t, loaded), undone)
}
