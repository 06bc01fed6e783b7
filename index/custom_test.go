package index_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit"
)

func fleet() index.CustomGraph {
	return index.CustomGraph{ID: "fleet",
		Chunks: []index.CustomChunk{{Content: "The Gannet sails for Oakhall.", Source: "c2", Order: 2}, {Content: "Mira mends the Gannet.", Source: "c1", Order: 1}},
		Entities: []index.CustomEntity{{Name: " “Mira” ", Type: "person", Description: "A mender.", Source: "c1"},
			{Name: "Gannet", Type: "ship", Description: "A ship.", Source: "c2"}, {Name: "Fleet"}, {Name: "Lost", Source: "nowhere"}},
		Relations: []index.CustomRelation{{Src: "Mira", Dst: "Gannet", Description: "mends", Keywords: index.Keywords{"work", "ship"}, Source: "c1"},
			{Src: "Gannet", Dst: "Oakhall", Description: "sails for", Weight: 2.5, Source: "c2"}, {Src: "Fleet", Dst: "Gannet", Description: "has"}}}
}

// A custom graph is a document: it shares entities with others, is replaced and deleted like them, in one commit.
func TestInsertGraph(t *testing.T) {
	s := bridge(t)
	before := s.dump()
	commits := 0
	s.hook = func(string) { commits++ }
	res, err := s.InsertGraph(ctx, fleet(), index.CustomOptions{})
	s.hook = nil
	if err != nil || commits != 1 || res.Result != index.Stored || res.LSN == 0 || res.Chunks != 2 || res.Entities != 5 || res.Relations != 3 || len(res.Warnings) != 1 {
		t.Errorf("%d commits, %+v, %v", commits, res, err)
	}
	s.check()
	i := s.info("fleet")
	if i.Status != "processed" || i.Path != index.DefaultGraphPath || i.Chunks != 2 || i.Entities != 5 || !slices.Equal(i.Warnings, res.Warnings) {
		t.Errorf("info %+v", i)
	}
	mira, gannet, oak, fl := s.entity("Mira"), s.entity("Gannet"), s.entity("Oakhall"), s.entity("Fleet")
	if mira.Description != "Mends bridges.<SEP>Teaches.<SEP>A mender." || mira.SourceCount != 5 || !slices.Contains(mira.Sources, "fleet-chunk-000") {
		t.Errorf("Mira is %+v", mira)
	}
	if gannet.Type != "ship" || gannet.SourceCount != 2 || oak.Type != index.UnknownType || oak.Description != "sails for" {
		t.Errorf("Gannet is %+v, Oakhall %+v", gannet, oak)
	}
	if fl.Description != "Entity Fleet" || fl.SourceCount != 0 || len(fl.Sources) != 0 || !slices.Equal(fl.Paths, []string{index.DefaultGraphPath}) {
		t.Errorf("Fleet is %+v", fl)
	}
	if r := s.relation("Gannet", "Oakhall"); r.Weight != 2.5 || !slices.Equal(r.Sources, []string{"fleet-chunk-001"}) {
		t.Errorf("relation %+v", r)
	}
	if r := s.relation("Fleet", "Gannet"); r.Weight != 1 || len(r.Sources) != 0 {
		t.Errorf("relation without a source %+v", r)
	}
	stored := s.dump()
	if res, err = s.InsertGraph(ctx, fleet(), index.CustomOptions{}); err != nil || res.Result != index.Unchanged || res.LSN != 0 {
		t.Errorf("again: %+v, %v", res, err)
	}
	changed := fleet()
	changed.Entities[1].Description = "A lost ship."
	var dup *index.DuplicateError
	if _, err = s.InsertGraph(ctx, changed, index.CustomOptions{}); !errors.As(err, &dup) || !errors.Is(err, index.ErrDuplicate) {
		t.Errorf("known id: %v", err)
	}
	sent := s.embed.calls()
	if res, err = s.InsertGraph(ctx, changed, index.CustomOptions{Policy: index.Put}); err != nil || !res.Replaces {
		t.Errorf("replace: %+v, %v", res, err)
	}
	if n := s.embed.calls() - sent; n != 1 || s.entity("Gannet").Description != "A lost ship." {
		t.Errorf("%d texts embedded for one new description, Gannet is %+v", n, s.entity("Gannet"))
	}
	s.check()
	if _, err = s.InsertGraph(ctx, fleet(), index.CustomOptions{Policy: index.Put}); err != nil {
		t.Fatal(err)
	}
	s.same("replaced and back", stored)
	c := newStore(t, index.Options{})
	s.copyTo(c)
	c.same("loaded", stored)
	s.put(doc("fleet", "E Mira|person|Sings.")) // a text in its place
	if s.entity("Gannet") != nil || s.entity("Mira").SourceCount != 5 {
		t.Error("the graph did not make place")
	}
	if _, err = s.InsertGraph(ctx, fleet(), index.CustomOptions{Policy: index.Put}); err != nil {
		t.Fatal(err)
	}
	s.same("replaced by a text and back", stored)
	s.delete("fleet")
	s.same("deleted", before)

	s.edited(s.RenameEntity(ctx, "Mira", "Mira Voss"))
	g := fleet()
	g.ID = ""
	if res, err = s.InsertGraph(ctx, g, index.CustomOptions{}); err != nil || !strings.HasPrefix(res.ID, "graph-") || s.relation("Mira Voss", "Gannet") == nil || s.entity("Mira") != nil {
		t.Errorf("after a rename: %+v, %v", res, err)
	}
	if again, err := s.InsertGraph(ctx, g, index.CustomOptions{}); err != nil || again.ID != res.ID || again.Result != index.Unchanged {
		t.Errorf("the same without an id: %+v, %v", again, err)
	}
	s.delete(res.ID)
	s.edited(s.RemoveAlias(ctx, "Mira"))
	s.same("deleted again", before)
}

func TestInsertGraphRefusals(t *testing.T) {
	s := newStore(t, index.Options{})
	bad := index.CustomGraph{ID: "bad", Path: "p",
		Chunks:   []index.CustomChunk{{Content: "one", Source: "x"}, {Content: " ", Source: "y"}, {Content: "three", Source: "x"}},
		Entities: []index.CustomEntity{{Name: "7"}, {Name: "Good One", Description: "d"}, {Name: "Long Type", Type: strings.Repeat("t", 200)}},
		Relations: []index.CustomRelation{{Src: "Same", Dst: "“Same”", Description: "d"}, {Src: "Aa", Dst: "", Description: "d"}, {Src: "Aa", Dst: "Bb"},
			{Src: "Aa", Dst: "Bb", Description: "d", Weight: math.NaN()}, {Src: "Aa", Dst: "Bb", Description: "d", Weight: -1}}}
	_, err := s.InsertGraph(ctx, bad, index.CustomOptions{})
	for _, want := range []string{"chunk 1: content", "chunk 2: source_id", "entity 0: entity_name", "entity 2: entity_type", "relationship 0:", "relationship 1: tgt_id",
		"relationship 2: description", "relationship 3: weight", "relationship 4: weight"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nnames no %q", err, want)
		}
	}
	for _, reason := range []error{index.ErrDocument, index.ErrName, index.ErrSelfRelation, index.ErrField, index.ErrEmptyDocument} {
		if !errors.Is(err, reason) {
			t.Errorf("no %v", reason)
		}
	}
	for name, g := range map[string]index.CustomGraph{"nothing": {}, "id": {ID: " x", Entities: bad.Entities[1:2]},
		"metadata": {Metadata: map[string]any{"k": struct{}{}}, Entities: bad.Entities[1:2]}} {
		if _, err := s.InsertGraph(ctx, g, index.CustomOptions{}); !errors.Is(err, index.ErrDocument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.InsertGraph(ctx, fleet(), index.CustomOptions{Policy: 9}); !errors.Is(err, index.ErrConfig) {
		t.Errorf("policy: %v", err)
	}
	if d := s.dump(); len(d) > 0 {
		t.Errorf("refused, but stored:\n%s", strings.Join(d, "\n"))
	}
	bad.Chunks, bad.Entities[2].Type, bad.Relations = bad.Chunks[:1], "t", bad.Relations[:3]
	res, err := s.InsertGraph(ctx, bad, index.CustomOptions{Lenient: true})
	if err != nil || res.Dropped["empty_name"] != 2 || res.Dropped["self_loop"] != 1 || res.Dropped["empty_description"] != 1 || res.Entities != 2 {
		t.Errorf("lenient: %+v, %v", res, err)
	}
	if i := s.info("bad"); i.Dropped["empty_name"] != 2 {
		t.Errorf("info %+v", i)
	}
	s.embed.answer = func([]string, [][]float32) [][]float32 { return nil }
	before := s.dump()
	if _, err := s.InsertGraph(ctx, fleet(), index.CustomOptions{}); !errors.Is(err, index.ErrEmbedding) {
		t.Errorf("no vectors: %v", err)
	}
	s.embed.answer = nil
	s.same("after a failed call", before)
}

// A new graph takes its place in the order of documents when it is committed.
func TestInsertGraphMeetsDocuments(t *testing.T) {
	s, met := bridge(t), 0
	s.embed.before = func([]string) {
		if met++; met == 1 {
			s.put(doc("three", "E Mira|person|Sings.", "E Gannet|bird|Flies."))
		}
	}
	if _, err := s.InsertGraph(ctx, fleet(), index.CustomOptions{}); err != nil {
		t.Fatal(err)
	}
	s.embed.before = nil
	s.check()
	want := bridge(t)
	want.put(doc("three", "E Mira|person|Sings.", "E Gannet|bird|Flies."))
	if _, err := want.InsertGraph(ctx, fleet(), index.CustomOptions{}); err != nil {
		t.Fatal(err)
	}
	s.same("one after the other", want.dump())
}

func TestCustomGraphJSON(t *testing.T) {
	var g index.CustomGraph
	text := `{"chunks":[{"content":"c","source_id":"s","chunk_order_index":3}],"entities":[{"entity_name":"A","entity_type":"t","description":"d","source_id":"s"}],
	"relationships":[{"src_id":"A","tgt_id":"B","description":"d","keywords":"k1, k2","weight":2,"source_id":"s"},{"src_id":"A","tgt_id":"C","description":"d","keywords":["x"]}]}`
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Chunks) != 1 || g.Chunks[0].Order != 3 || g.Entities[0].Type != "t" || !slices.Equal(g.Relations[0].Keywords, index.Keywords{"k1", "k2"}) ||
		g.Relations[0].Weight != 2 || !slices.Equal(g.Relations[1].Keywords, index.Keywords{"x"}) {
		t.Errorf("%+v", g)
	}
}

// The recorded triples of 1,890 passages, as they are, load in one commit and go without a trace.
func TestRecordedTriples(t *testing.T) {
	dir := testkit.Data(t, "eval-musique-train")
	raw, err := os.ReadFile(filepath.Join(dir, "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Docs []struct {
			Passage string     `json:"passage"`
			Triples [][]string `json:"extracted_triples"`
		} `json:"docs"`
	}
	if err := json.Unmarshal(bytes.ReplaceAll(raw, []byte("NaN"), []byte("null")), &file); err != nil {
		t.Fatal(err)
	}
	g := index.CustomGraph{ID: "triples"}
	triples, whole := 0, 0
	part := testing.Short()
	if part {
		file.Docs = file.Docs[:200]
	}
	for i, d := range file.Docs {
		source := fmt.Sprint("p", i)
		g.Chunks = append(g.Chunks, index.CustomChunk{Content: d.Passage, Source: source})
		for _, tr := range d.Triples {
			triples++
			if len(tr) != 3 {
				continue
			}
			whole++
			g.Relations = append(g.Relations, index.CustomRelation{Src: tr[0], Description: tr[1], Dst: tr[2], Source: source})
		}
	}
	if !part && (triples != 17_419 || whole != 17_234) {
		t.Fatalf("%d triples, %d whole ones", triples, whole)
	}
	s := newStore(t, index.Options{})
	if _, err := s.InsertGraph(ctx, g, index.CustomOptions{}); !errors.Is(err, index.ErrName) || !errors.Is(err, index.ErrSelfRelation) {
		t.Errorf("noisy triples were taken: %.200v", err)
	}
	res, err := s.InsertGraph(ctx, g, index.CustomOptions{Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	dropped := 0
	for _, n := range res.Dropped {
		dropped += n
	}
	want := index.CustomResult{ID: "triples", Result: index.Stored, LSN: 1, Chunks: 1890, Entities: 16_301, Relations: 16_450}
	res.Dropped, res.Warnings = nil, nil
	if !part && (!reflect.DeepEqual(res, want) || dropped != 97) || dropped == 0 {
		t.Errorf("%+v, %d dropped", res, dropped)
	}
	s.check()
	s.delete("triples")
	if d := s.dump(); len(d) > 0 {
		t.Errorf("%d lines are left, the first is %.200s", len(d), d[0])
	}
}
