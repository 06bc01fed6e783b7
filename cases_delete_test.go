package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// onlyWith is the logical dump of a database that never saw anything but these documents.
func onlyWith(t *testing.T, o db.Options, docs ...index.Document) string {
	t.Helper()
	d := openTest(t, o)
	if len(docs) > 0 {
		insert(t, d, docs...)
	}
	return logical(t, d)
}

func stubbed() db.Options { return modelled(extracting(), llmtest.NewEmbedder(8)) }

// Deleting a document leaves what the others say, and nothing of what it said: in the graph, in vectors, in
// any mode of a query.
func TestHC01_DeleteOne(t *testing.T) {
	a := doc("A", "E Mira Voss (repairs the bridge)\nE Lantern Bridge (spans the gorge)\nR Mira Voss - Lantern Bridge (she climbs it)")
	b := doc("B", "E Mira Voss (teaches)\nE Oakhall (a school)\nR Mira Voss - Oakhall (she works there)")
	for name, docs := range map[string][]index.Document{"A first": {a, b}, "B first": {b, a}} {
		t.Run(name, func(t *testing.T) {
			d := openTest(t, stubbed())
			insert(t, d, docs...)
			r, err := d.Delete(ctx, "A")
			if err != nil || r.Documents != 1 || r.Entities != 1 || r.Relations != 1 || r.Rederived != 1 {
				t.Errorf("delete: %+v, %v", r, err)
			}
			e := entity(t, d, "Mira Voss")
			if e == nil || e.Description != "teaches" || !slices.Equal(e.Sources, []string{"B-chunk-000"}) || e.SourceCount != 1 {
				t.Errorf("Mira Voss is %+v", e)
			}
			if entity(t, d, "Lantern Bridge") != nil || relation(t, d, "Mira Voss", "Lantern Bridge") != nil {
				t.Error("the bridge or its edge is still there")
			}
			for _, word := range []string{"repairs", "Lantern", "gorge", "climbs", "A.txt"} {
				if found := contexts(t, d, "Mira Voss repairs the Lantern Bridge"); strings.Contains(found, word) {
					t.Errorf("%q can still be retrieved", word)
				}
			}
			equalDumps(t, logical(t, d), onlyWith(t, stubbed(), b)) // the vector of the new text, too
		})
	}
}

// Variants of the kind: an entity that one document defines and another only names as an end; a relation
// that both state; the same record twice in one document; an entity in every chunk.
func TestHC01_DeleteVariants(t *testing.T) {
	docs := []index.Document{
		doc("defines", "E Pier (a pier)\nE Gull (a bird)\nR Pier - Gull (sits)"),
		doc("names", "R Pier - Harbour (belongs to)\nR Gull - Pier (nests)"),
		doc("twice", "E Pier (a pier)\nE Pier (a pier)\n\nE Pier (a pier)\nR Gull - Pier (sits)\n\nR Pier - Gull (sits)"),
		doc("self", "R Pier - Pier (alone)\nE Harbour (safe)"),
		doc("nothing", "No record at all."),
	}
	for _, gone := range docs {
		var rest []index.Document
		for _, x := range docs {
			if x.ID != gone.ID {
				rest = append(rest, x)
			}
		}
		t.Run(gone.ID, func(t *testing.T) {
			d := openTest(t, stubbed())
			insert(t, d, docs...)
			if _, err := d.Delete(ctx, gone.ID); err != nil {
				t.Fatal(err)
			}
			checkDB(t, d)
			equalDumps(t, logical(t, d), onlyWith(t, stubbed(), rest...))
			for _, x := range rest {
				if _, err := d.Delete(ctx, x.ID); err != nil {
					t.Fatal(err)
				}
				checkDB(t, d)
			}
			equalDumps(t, logical(t, d), onlyWith(t, stubbed()))
		})
	}
}

// Deleting many documents in one call derives what they share once, and ends as one by one.
func TestHC01_DeleteMany(t *testing.T) {
	const docs = 20
	fill := func(t *testing.T) (*db.DB, *llmtest.Chat, []string) {
		chat := extracting()
		d := openTest(t, modelled(chat, llmtest.NewEmbedder(8)))
		var ids []string
		for i := range docs {
			id := fmt.Sprintf("d%02d", i)
			insert(t, d, doc(id, fmt.Sprintf("E Grid Office (fact %d)\nE Clerk %d (works)\nR Grid Office - Clerk %d (employs)", i, i, i)))
			ids = append(ids, id)
		}
		if e := entity(t, d, "Grid Office"); e == nil || e.SourceCount != docs {
			t.Fatalf("Grid Office is %+v", e)
		}
		chat.Reset()
		return d, chat, ids
	}
	for _, n := range []int{5, docs - 1, docs} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			d, chat, ids := fill(t)
			r, err := d.Delete(ctx, ids[:n]...)
			if err != nil || r.Documents != n || r.Rederived > 1 {
				t.Errorf("delete: %+v, %v", r, err)
			}
			if calls := len(chat.Calls()); calls > 1 {
				t.Errorf("%d model calls for one shared entity", calls)
			}
			one, _, _ := fill(t)
			for _, id := range ids[:n] {
				if _, err := one.Delete(ctx, id); err != nil {
					t.Fatal(err)
				}
			}
			equalDumps(t, logical(t, d), logical(t, one))
		})
	}
	t.Run("unknown id", func(t *testing.T) {
		d, _, ids := fill(t)
		before := logical(t, d)
		if _, err := d.Delete(ctx, ids[0], "nobody", ids[1]); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
		equalDumps(t, logical(t, d), before)
		if _, err := d.Delete(ctx, ids[0], ids[0]); err != nil {
			t.Errorf("an id given twice: %v", err)
		}
	})
}

func TestHC02_Replace(t *testing.T) {
	first := doc("handbook", "E Lamp (has modes)\nLamp modes: red, blue, green.\n\nR Lamp - Red (a mode)\nR Lamp - Blue (a mode)\n\nR Lamp - Green (a mode)\nE Green (soothes)")
	second := doc("handbook", "E Lamp (has modes)\nLamp modes: red, blue, green.\n\nR Lamp - Red (a mode)\nR Lamp - Blue (a mode)\n\nE Blue (calms)")
	// The first chunk keeps its text so that it costs nothing; what must vanish is the fact of the third.
	first.Text = strings.Replace(first.Text, ", green", "", 1)
	second.Text = strings.Replace(second.Text, ", green", "", 1)

	chat, emb := extracting(), llmtest.NewEmbedder(8)
	d := openTest(t, modelled(chat, emb))
	insert(t, d, first, doc("other", "E Lamp (hangs)"))
	chat.Reset()
	emb.Reset()

	// The replacement is held at its one model call until every mode has been asked, and readers go on until it is done.
	entered, gate := make(chan struct{}), make(chan struct{})
	chat.First(llmtest.Rule{Purpose: llm.PurposeExtract, Contains: "calms", Times: 1, Entered: entered, Gate: gate, Text: reply("E Blue (calms)")})
	replaced := make(chan error, 1)
	go func() { _, err := d.Put(ctx, second); replaced <- err }()
	<-entered
	var held, readers sync.WaitGroup
	stop := make(chan struct{})
	for _, mode := range retrieving {
		held.Add(1)
		readers.Go(func() {
			seen := false // the second version
			for n := 0; ; n++ {
				res, err := d.Query(ctx, "lamp modes", query.Options{Mode: mode, Want: query.WantContext, LowKeywords: []string{"Lamp"}, HighKeywords: []string{"mode"}})
				if err != nil {
					t.Errorf("%s: %v", mode, err)
				} else if old, now := strings.Contains(res.Context, "Green"), strings.Contains(res.Context, "calms"); old == now || now && n == 0 || seen && old {
					t.Errorf("%s: neither version whole, or not in order (first %v, second %v):\n%s", mode, old, now, res.Context)
				} else {
					seen = now
				}
				if n == 0 {
					held.Done()
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	held.Wait()
	close(gate)
	if err := <-replaced; err != nil {
		t.Fatal(err)
	}
	close(stop)
	readers.Wait()
	if got := asked(chat); !slices.Equal(got, []string{"E Blue (calms)"}) {
		t.Errorf("asked to extract %q", got)
	}
	var embedded []string
	for _, call := range emb.Calls() {
		if call.Kind == llm.ForDocument {
			embedded = append(embedded, call.Texts...)
		}
	}
	if slices.Sort(embedded); !slices.Equal(embedded, []string{"Blue\ncalms", "E Blue (calms)"}) {
		t.Errorf("embedded %q, want what changed", embedded)
	}
	if found := contexts(t, d, "green lamp"); strings.Contains(found, "Green") || !strings.Contains(found, "calms") {
		t.Error("the withdrawn fact can be retrieved, or the new one cannot")
	}
	if entity(t, d, "Green") != nil || relation(t, d, "Lamp", "Green") != nil {
		t.Error("Green is still in the graph")
	}
	equalDumps(t, logical(t, d), onlyWith(t, stubbed(), second, doc("other", "E Lamp (hangs)")))

	// Back again: everything was paid for.
	chat.Reset()
	emb.Reset()
	if _, err := d.Put(ctx, first); err != nil {
		t.Fatal(err)
	}
	if len(chat.Calls())+emb.Texts() != 0 {
		t.Errorf("%d model calls and %d texts embedded on going back", len(chat.Calls()), emb.Texts())
	}
	equalDumps(t, logical(t, d), onlyWith(t, stubbed(), first, doc("other", "E Lamp (hangs)")))
	// A replacement that fails leaves the first version, whole.
	before := logical(t, d)
	chat.First(llmtest.Rule{Purpose: llm.PurposeExtract, Contains: "broken", Err: errors.New("the model is gone")})
	if _, err := d.Put(ctx, doc("handbook", "E Lamp (is broken)")); err == nil {
		t.Error("no error of a failed replacement")
	}
	if found := contexts(t, d, "lamp"); !strings.Contains(found, "Green") || strings.Contains(found, "broken") {
		t.Error("a failed replacement shows")
	}
	if _, err := d.Put(ctx, first); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, d), before)
}

func TestHC12_Identity(t *testing.T) {
	chat, emb := extracting(), llmtest.NewEmbedder(8)
	d := openTest(t, modelled(chat, emb))
	north := index.Document{ID: "north/readme", Path: "north/readme", Text: "alpha note\nE Alpha (noted)"}
	south := index.Document{ID: "south/readme", Path: "south/readme", Text: "beta note\nE Beta (noted)"}
	insert(t, d, north, south)
	res, err := d.Query(ctx, "note", query.Options{Mode: query.Naive, Want: query.WantData})
	if err != nil {
		t.Fatal(err)
	}
	var cited []string
	for _, r := range res.Data.References {
		cited = append(cited, r.Path)
	}
	if slices.Sort(cited); !slices.Equal(cited, []string{"north/readme", "south/readme"}) {
		t.Errorf("cited as %q", cited)
	}

	chat.Reset()
	emb.Reset()
	before := logical(t, d)
	for name, f := range map[string]func() (index.Receipt, error){
		"insert": func() (index.Receipt, error) { return d.Insert(ctx, north) },
		"put":    func() (index.Receipt, error) { return d.Put(ctx, north) },
	} {
		if r, err := f(); err != nil || len(r.Documents) != 1 || r.Documents[0].Result != index.Unchanged {
			t.Errorf("%s of the same again: %+v, %v", name, r, err)
		}
	}
	if _, err := d.Insert(ctx, index.Document{ID: "north/readme", Text: "another text"}); !errors.Is(err, db.ErrDuplicate) {
		t.Errorf("insert of another text under a known id: %v, want ErrDuplicate", err)
	}
	if _, err := d.Insert(ctx, doc("twice", "one"), doc("twice", "two")); !errors.Is(err, db.ErrDuplicate) {
		t.Errorf("an id twice in one call: %v, want ErrDuplicate", err)
	}
	equalDumps(t, logical(t, d), before)
	copied := north
	copied.ID, copied.Path = "copy", "copy"
	insert(t, d, copied)
	if len(chat.Calls())+emb.Texts() != 0 {
		t.Errorf("equal text cost %d model calls and %d embedded texts", len(chat.Calls()), emb.Texts())
	}
	if _, err := d.Delete(ctx, "north/readme"); err != nil {
		t.Fatal(err)
	}
	if text, err := d.Text(ctx, "copy"); err != nil || text != north.Text || entity(t, d, "Alpha") == nil {
		t.Errorf("after the first one's delete the copy is %q, %v", text, err)
	}
	equalDumps(t, logical(t, d), onlyWith(t, stubbed(), south, copied))
	if _, err := d.Delete(ctx, "copy"); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, d), onlyWith(t, stubbed(), south))
	// Without an id the text is the identity: giving it again is no second document.
	insert(t, d, index.Document{Text: "gamma note"})
	if r, err := d.Insert(ctx, index.Document{Text: "gamma note"}, index.Document{Text: "gamma note"}); err != nil ||
		r.Documents[0].Result != index.Unchanged || r.Documents[1].Result != index.Repeated {
		t.Errorf("the same text without an id: %+v, %v", r, err)
	}
}
