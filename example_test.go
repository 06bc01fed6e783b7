package db_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/graph/analytics"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
	"gonum.org/v1/gonum/graph/network"
)

// Open a database, insert a document, ask a question. No model is configured, so everything works
// offline: rules find entities and relations, and the result is the context a model would get.
func Example() {
	dir, err := os.MkdirTemp("", "glim")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	d, err := db.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()

	_, err = d.Insert(ctx, index.Document{
		ID:   "mill",
		Path: "mill.txt",
		Text: "Ines Calder runs the tide mill. The tide mill belongs to the Harbour Council.",
	})
	if err != nil {
		log.Fatal(err)
	}
	res, err := d.Query(ctx, "Who runs the mill?", query.Options{Mode: query.Mix})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Data.Chunks[0].Content)
	fmt.Println("source:", res.Data.References[0].Path)

	if _, err := d.Delete(ctx, "mill"); err != nil {
		log.Fatal(err)
	}
	res, err = d.Query(ctx, "Who runs the mill?", query.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("after delete:", res.Outcome)
	// Output:
	// Ines Calder runs the tide mill. The tide mill belongs to the Harbour Council.
	// source: mill.txt
	// after delete: no_result
}

// One transaction over key-value records, vectors and a graph: all of it or none.
func ExampleDB_Update() {
	dir, err := os.MkdirTemp("", "glim")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	d, err := db.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()

	err = d.Update(ctx, func(tx *db.Tx) error {
		places, err := tx.CreateVectors("places", vector.Config{Metric: vector.L2, Dim: 2})
		if err != nil {
			return err
		}
		roads, err := tx.CreateGraph("roads", graph.Config{})
		if err != nil {
			return err
		}
		return errors.Join(
			tx.KV("names").Put([]byte("h"), []byte("Harbour")),
			places.Put("h", []float32{0, 0}),
			places.Put("m", []float32{3, 4}),
			roads.PutNode(graph.Node{Name: "h"}),
			roads.PutNode(graph.Node{Name: "m"}),
			roads.PutEdge(graph.Edge{Src: "h", Dst: "m", Weight: 5}),
		)
	})
	if err != nil {
		log.Fatal(err)
	}
	err = d.View(ctx, func(tx *db.Tx) error {
		places, err := tx.Vectors("places")
		if err != nil {
			return err
		}
		hits, err := places.Search([]float32{3, 3}, vector.SearchOptions{K: 1})
		if err != nil {
			return err
		}
		roads, err := tx.Graph("roads")
		if err != nil {
			return err
		}
		for n, err := range roads.Neighbors(hits[0].ID) {
			if err != nil {
				return err
			}
			name, err := tx.KV("names").Get([]byte(n.Name))
			if err != nil {
				return err
			}
			fmt.Printf("nearest is %s, a road of %g leads to the %s\n", hits[0].ID, n.Weight, name)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: nearest is m, a road of 5 leads to the Harbour
}

// Vectors of your own, without documents: put them under your ids, find the nearest, all within a distance, and
// the nearest among some that were prepared as a set.
func ExampleVectors() {
	dir, err := os.MkdirTemp("", "glim")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	d, err := db.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()

	err = d.Update(ctx, func(tx *db.Tx) error {
		boats, err := tx.CreateVectors("boats", vector.Config{Metric: vector.L2, Dim: 2})
		if err != nil {
			return err
		}
		return errors.Join(
			boats.Put("ferry", []float32{0, 1}),
			boats.Put("pilot", []float32{0, 2}),
			boats.Put("tug", []float32{6, 8}),
		)
	})
	if err != nil {
		log.Fatal(err)
	}
	err = d.View(ctx, func(tx *db.Tx) error {
		boats, err := tx.Vectors("boats")
		if err != nil {
			return err
		}
		nearest, err := boats.Search([]float32{0, 0}, vector.SearchOptions{K: 1})
		if err != nil {
			return err
		}
		within, err := boats.Range([]float32{0, 0}, vector.RangeOptions{MinScore: -5}) // a score is a distance negated
		if err != nil {
			return err
		}
		afloat := boats.IDSet([]string{"tug", "pilot"})
		among, err := boats.Search([]float32{0, 0}, vector.SearchOptions{K: 1, Set: afloat})
		if err != nil {
			return err
		}
		fmt.Println("nearest:", nearest[0].ID, -nearest[0].Score)
		fmt.Println("within 5:", len(within.Hits))
		fmt.Println("nearest afloat:", among[0].ID, -among[0].Score)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// nearest: ferry 1
	// within 5: 2
	// nearest afloat: pilot 2
}

// letters is an embedder of our own: it counts letters. Its ID is stored with the vectors; reopening
// with another one is refused.
type letters struct{}

func (letters) Dim() int   { return 26 }
func (letters) ID() string { return "letters/1" }

func (letters) Embed(_ context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, 26)
		out[i][0] = 0.01 // never zero
		for _, r := range strings.ToLower(text) {
			if r >= 'a' && r <= 'z' {
				out[i][r-'a']++
			}
		}
	}
	return out, nil
}

// Passages are found by the vectors of an embedder of our own.
func ExampleWithEmbedder() {
	dir, err := os.MkdirTemp("", "glim")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	d, err := db.Open(dir, db.WithEmbedder(letters{}))
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	fmt.Println(d.Models().Embedder, d.Models().Dim)

	_, err = d.Insert(ctx,
		index.Document{ID: "zoo", Text: "Zebras graze. Zebras doze."},
		index.Document{ID: "mill", Text: "The miller mills meal."},
	)
	if err != nil {
		log.Fatal(err)
	}
	// Only the letters are alike; no word of the question is in a document.
	res, err := d.Query(ctx, "Small emblem, simmer!", query.Options{Mode: query.Naive})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range res.Data.Chunks {
		fmt.Println(c.Document+":", c.Content)
	}
	// Output:
	// letters/1 26
	// mill: The miller mills meal.
	// zoo: Zebras graze. Zebras doze.
}

// marked is an extractor of our own: names stand between asterisks, and names of one line belong together.
type marked struct{}

func (marked) ID() string { return "marked/1" }

func (marked) Extract(_ context.Context, in index.ExtractInput) (index.Extraction, error) {
	var x index.Extraction
	for line := range strings.Lines(in.Text) {
		parts := strings.Split(line, "*")
		var names []string
		for i := 1; i < len(parts); i += 2 {
			names = append(names, parts[i])
			x.Entities = append(x.Entities, index.EntityRecord{Name: parts[i], Type: "thing", Description: strings.TrimSpace(line)})
		}
		for i := 1; i < len(names); i++ {
			x.Relations = append(x.Relations, index.RelationRecord{Src: names[0], Dst: names[i], Description: strings.TrimSpace(line), Weight: 1})
		}
	}
	return x, nil
}

func ExampleWithExtractor() {
	dir, err := os.MkdirTemp("", "glim")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	d, err := db.Open(dir, db.WithExtractor(marked{}))
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Insert(ctx, index.Document{ID: "lamp", Text: "*Mira Voss* repairs the *Lantern Bridge*."}); err != nil {
		log.Fatal(err)
	}
	err = d.View(ctx, func(tx *db.Tx) error {
		g, err := tx.Graph(db.KnowledgeGraph)
		if err != nil {
			return err
		}
		for e, err := range g.Edges() {
			if err != nil {
				return err
			}
			fmt.Printf("%s - %s: %s\n", e.Src, e.Dst, e.Props["description"])
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: Lantern Bridge - Mira Voss: *Mira Voss* repairs the *Lantern Bridge*.
}

// Two workspaces of one directory: the same ids in both, and neither knows of the other.
func ExampleDB_Workspace() {
	ctx := context.Background()
	d, err := db.Open("glim.db", db.WithFS(vfs.NewMem()))
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Insert(ctx, index.Document{ID: "minutes", Text: "Ines Calder runs the tide mill."}); err != nil {
		log.Fatal(err)
	}

	council, err := d.Workspace("council") // a *db.DB: everything above works in it
	if err != nil {
		log.Fatal(err)
	}
	_, err = council.Insert(ctx, index.Document{ID: "minutes", Text: "The council meets on Mondays."})
	if err != nil {
		log.Fatal(err)
	}
	for name, err := range d.Workspaces(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		w, err := d.Workspace(name)
		if err != nil {
			log.Fatal(err)
		}
		text, err := w.Text(ctx, "minutes")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q: %s\n", name, text)
	}
	fmt.Println(d.DropWorkspace(ctx, "council"))
	_, err = council.Text(ctx, "minutes")
	fmt.Println(errors.Is(err, db.ErrNotFound))
	// Output:
	// "": Ines Calder runs the tide mill.
	// "council": The council meets on Mondays.
	// <nil>
	// true
}

// A streamed answer. The chat model here is scripted; openai.NewChat gives a real one.
func ExampleDB_Query_stream() {
	dir, err := os.MkdirTemp("", "glim")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	chat := llmtest.NewChat(llmtest.Rule{Purpose: llm.PurposeAnswer, Text: "Ines Calder runs it [1]."})
	d, err := db.Open(dir, db.WithOptions(db.Options{Models: llm.Models{Answer: chat}}))
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Insert(ctx, index.Document{ID: "mill", Path: "mill.txt", Text: "Ines Calder runs the tide mill."}); err != nil {
		log.Fatal(err)
	}
	res, err := d.Query(ctx, "Who runs the mill?", query.Options{Stream: true})
	if err != nil {
		log.Fatal(err)
	}
	for piece, err := range res.Stream {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(piece)
	}
	fmt.Println()
	fmt.Println("[1]", res.Data.References[0].Path)
	// Output:
	// Ines Calder runs it [1].
	// [1] mill.txt
}

// Graph analytics on one consistent snapshot, with gonum.
func ExampleGraph_Snapshot() {
	dir, err := os.MkdirTemp("", "glim")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	d, err := db.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	err = d.Update(ctx, func(tx *db.Tx) error {
		g, err := tx.CreateGraph("web", graph.Config{Directed: true})
		if err != nil {
			return err
		}
		for _, n := range []string{"hub", "a", "b", "c"} {
			if err := g.PutNode(graph.Node{Name: n}); err != nil {
				return err
			}
		}
		for _, n := range []string{"a", "b", "c"} {
			if err := g.PutEdge(graph.Edge{Src: n, Dst: "hub", Weight: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	var csr *graph.CSR
	err = d.View(ctx, func(tx *db.Tx) error {
		g, err := tx.Graph("web")
		if err == nil {
			csr, err = g.Snapshot(graph.Limits{})
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	ranks := network.PageRank(csr.AsDirected(), 0.85, 1e-9)
	best := 0
	for i := range csr.Len() {
		if ranks[int64(i)] > ranks[int64(best)] {
			best = i
		}
	}
	fmt.Println(csr.Name(best))
	// Output: hub
}

// Communities of the graph that documents make, stored beside it.
func ExampleDB_Analyze() {
	ctx := context.Background()
	d, err := db.Open("glim.db", db.WithFS(vfs.NewMem()))
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	_, err = d.InsertGraph(ctx, index.CustomGraph{
		ID:     "ferries",
		Chunks: []index.CustomChunk{{Source: "log", Content: "Ferries of two bays."}},
		Relations: []index.CustomRelation{
			{Src: "Alm", Dst: "Birk", Description: "ferry", Source: "log"},
			{Src: "Birk", Dst: "Curl", Description: "ferry", Source: "log"},
			{Src: "Curl", Dst: "Alm", Description: "ferry", Source: "log"},
			{Src: "Curl", Dst: "Dorn", Description: "mail boat", Source: "log"},
			{Src: "Dorn", Dst: "Esk", Description: "ferry", Source: "log"},
			{Src: "Esk", Dst: "Fern", Description: "ferry", Source: "log"},
			{Src: "Fern", Dst: "Dorn", Description: "ferry", Source: "log"},
		},
	}, index.CustomOptions{})
	if err != nil {
		log.Fatal(err)
	}
	a, err := d.Analyze(ctx, db.AnalysisOptions{Options: analytics.Options{Algorithm: analytics.Leiden, Seed: 42}})
	if err != nil {
		log.Fatal(err)
	}
	for entity, community := range a.Groups.All() {
		fmt.Println(entity, community)
	}
	saved, err := d.SaveAnalysis(ctx, a, "bay")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(saved.Property, saved.Saved)
	// Output:
	// Alm 0
	// Birk 0
	// Curl 0
	// Dorn 1
	// Esk 1
	// Fern 1
	// bay 6
}

// What a model got wrong is put right by hand, and stays right when documents change.
func ExampleDB_RenameEntity() {
	ctx := context.Background()
	d, err := db.Open("glim.db", db.WithFS(vfs.NewMem()))
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	_, err = d.Insert(ctx, index.Document{ID: "mill", Text: "Ines Calder runs the Tide Mill."})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = d.RenameEntity(ctx, "Ines Calder", "Inés Calder"); err != nil {
		log.Fatal(err)
	}
	text := "The miller."
	if _, err = d.EditEntity(ctx, "Inés Calder", index.EntityFields{Description: &text}); err != nil {
		log.Fatal(err)
	}
	_, err = d.Insert(ctx, index.Document{ID: "more", Text: "Ines Calder mends the Old Sluice."})
	if err != nil {
		log.Fatal(err)
	}
	e, err := d.Entity(ctx, "Ines Calder", index.InfoOptions{}) // by its former name
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Name, e.Aliases, e.Set, e.Description, len(e.Sources))
	// Output: Inés Calder [Ines Calder] [description] The miller. 2
}

// A graph from elsewhere is one document: stored in one commit, deleted by its id.
func ExampleDB_InsertGraph() {
	ctx := context.Background()
	d, err := db.Open("glim.db", db.WithFS(vfs.NewMem()))
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	r, err := d.InsertGraph(ctx, index.CustomGraph{
		ID:        "harbour",
		Chunks:    []index.CustomChunk{{Source: "log", Content: "The Gannet lies at Oakhall."}},
		Entities:  []index.CustomEntity{{Name: "Gannet", Type: "ship", Description: "A two-master.", Source: "log"}},
		Relations: []index.CustomRelation{{Src: "Gannet", Dst: "Oakhall", Description: "lies at", Source: "log"}},
	}, index.CustomOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Result, r.Chunks, r.Entities, r.Relations)
	gone, err := d.Delete(ctx, "harbour")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(gone.Entities, gone.Relations)
	// Output:
	// stored 1 2 1
	// 2 1
}
