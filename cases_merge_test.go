package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm/llmtest"
)

// mergedOptions embed one text a call, and cache nothing, so that a merge makes several calls.
func mergedOptions(emb *llmtest.Embedder) db.Options {
	o := modelled(extracting(), emb)
	o.EmbedBatch, o.ModelRetries, o.DisableReplyCache = 1, -1, true
	return o
}

func nileDocuments() []index.Document {
	return []index.Document{
		doc("tables", "E Nile Data (stores tables)\nR Nile Data - Tern Lab (supplies the lab)"),
		doc("archive", "E Nile Data Ltd (keeps the archive)\nR Tern Lab - Nile Data Ltd (audits the firm)"),
		doc("both", "R Nile Data - Nile Data Ltd (are one firm)"),
	}
}

// whole wants as many vectors as there are nodes and edges.
func whole(t *testing.T, d *db.DB, nodes, edges int) {
	t.Helper()
	view(t, d, func(tx *db.Tx) {
		g, err := tx.Graph(db.KnowledgeGraph)
		if err != nil {
			t.Fatal(err)
		}
		s, err := g.Stats()
		if err != nil || s.Nodes != nodes || s.Edges != edges {
			t.Errorf("%+v, %v; want %d nodes and %d edges", s, err, nodes, edges)
		}
		for name, want := range map[string]int{"entities": nodes, "relations": edges} {
			v, err := tx.Vectors(name)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := v.Len(); err != nil || n != want {
				t.Errorf("%d vectors of %s, %v, want %d", n, name, err, want)
			}
		}
	})
}

// A merge whose embedding call fails, whichever it is, changes nothing; made again it is whole.
func TestHC11_MergeEntities(t *testing.T) {
	emb := llmtest.NewEmbedder(8)
	merge := index.Merge{Into: "Nile Data", From: []string{"Nile Data Ltd"}}
	d := openTest(t, mergedOptions(emb))
	insert(t, d, nileDocuments()...)
	whole(t, d, 3, 3)
	before := logical(t, d)

	down := errors.New("the embedder is gone")
	calls := 0
	for ; ; calls++ {
		emb.Reset()
		emb.Break(0, llmtest.After(calls, llmtest.Fail(down)))
		_, err := d.MergeEntities(ctx, merge)
		emb.Heal()
		if err == nil {
			break // it needs no further call
		}
		if !errors.Is(err, down) {
			t.Errorf("call %d fails: %v", calls+1, err)
		}
		checkDB(t, d)
		equalDumps(t, logical(t, d), before)
		whole(t, d, 3, 3)
	}
	if calls < 2 {
		t.Fatalf("the merge makes %d embedding calls, the case wants the second to fail", calls)
	}

	r := relation(t, d, "Tern Lab", "Nile Data")
	if r == nil || r.Weight != 2 || !slices.Equal(r.Sources, []string{"tables-chunk-000", "archive-chunk-000"}) ||
		!strings.Contains(r.Description, "supplies the lab") || !strings.Contains(r.Description, "audits the firm") {
		t.Errorf("the relation to Tern Lab is %+v", r)
	}
	e := entity(t, d, "Nile Data")
	if e == nil || e.SourceCount != 3 || !strings.Contains(e.Description, "stores tables") || !strings.Contains(e.Description, "keeps the archive") {
		t.Errorf("Nile Data is %+v", e)
	}
	if entity(t, d, "Nile Data Ltd") != nil || relation(t, d, "Nile Data", "Nile Data") != nil {
		t.Error("the old node is still there, or a self-loop")
	}
	whole(t, d, 2, 1)
	for _, name := range []string{"Nile Data Ltd", "“Nile  Data Ltd”"} { // the old name is an alias
		if i, err := d.Entity(ctx, name, index.InfoOptions{}); err != nil || i.Name != "Nile Data" || !slices.Equal(i.Aliases, []string{"Nile Data Ltd"}) {
			t.Errorf("%s finds %+v, %v", name, i, err)
		}
	}
	// Parted again it is as before.
	if _, err := d.RemoveAlias(ctx, "Nile Data Ltd"); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, d), before)
}

// The same of many entities into one that is new.
func TestHC11_MergeManyIntoANewName(t *testing.T) {
	d := openTest(t, mergedOptions(llmtest.NewEmbedder(8)))
	var from []string
	for i := range 5 {
		name := fmt.Sprint("Branch ", i)
		from = append(from, name)
		insert(t, d, doc(fmt.Sprint("d", i), fmt.Sprintf("E %s (office %d)\nR %s - Tern Lab (link %d)\nR Branch 0 - %s (sister %d)", name, i, name, i, name, i)))
	}
	if _, err := d.MergeEntities(ctx, index.Merge{Into: "Nile Data", From: from}); err != nil {
		t.Fatal(err)
	}
	whole(t, d, 2, 1)
	if r := relation(t, d, "Nile Data", "Tern Lab"); r == nil || r.Weight != 5 || r.SourceCount != 5 {
		t.Errorf("the relation is %+v", r)
	}
	for i := range 5 { // documents delete what is theirs, under whatever name
		if _, err := d.Delete(ctx, fmt.Sprint("d", i)); err != nil {
			t.Fatal(err)
		}
		checkDB(t, d)
	}
	equalDumps(t, logical(t, d), onlyWith(t, mergedOptions(llmtest.NewEmbedder(8))))
}
