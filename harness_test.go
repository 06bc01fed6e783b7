package db_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/prompt"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

var ctx = context.Background()

func TestMain(m *testing.M) {
	if mode := os.Getenv(childEnv); mode != "" {
		if err := child(mode, os.Getenv(childDirEnv)); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testkit.VerifyNoLeaks(m)
}

// The texts of these tests say themselves what is extracted from them, one record a line:
//
//	E Mira Voss (repairs the bridge)
//	R Mira Voss - Lantern Bridge (works on)
//
// Lines of another form are text without records. What stands in brackets may be absent.
func records(text string) (x index.Extraction) {
	for line := range strings.Lines(text) {
		kind, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		name, desc, _ := strings.Cut(rest, " (")
		desc = strings.TrimSuffix(desc, ")")
		switch {
		case !ok:
		case kind == "E":
			x.Entities = append(x.Entities, index.EntityRecord{Name: name, Type: "thing", Description: desc})
		case kind == "R":
			a, b, _ := strings.Cut(name, " - ")
			x.Relations = append(x.Relations, index.RelationRecord{Src: a, Dst: b, Description: desc, Keywords: []string{"with"}, Weight: 1})
		}
	}
	return x
}

// scripted is the extractor of tests that ask no model.
type scripted struct{}

func (scripted) ID() string { return "scripted/1" }

func (scripted) Extract(_ context.Context, in index.ExtractInput) (index.Extraction, error) {
	return records(in.Text), nil
}

// extracting is a chat model that answers by rules, and where none fits: extraction calls with the records
// of the passage, in the reply format, summaries with the descriptions given, keyword calls with no keyword.
func extracting(rules ...llmtest.Rule) *llmtest.Chat {
	return llmtest.NewChat(append(rules,
		llmtest.Rule{Purpose: llm.PurposeExtract, Func: func(r llm.Request) (string, error) { return reply(passage(r)), nil }},
		llmtest.Rule{Purpose: llm.PurposeGlean, Text: prompt.EndMarker},
		llmtest.Rule{Purpose: llm.PurposeSummary, Func: func(r llm.Request) (string, error) { return "Summary of " + fenced(r), nil }},
		llmtest.Rule{Purpose: llm.PurposeKeywords, Text: `{"high_level_keywords":[],"low_level_keywords":[]}`},
		llmtest.Rule{Purpose: llm.PurposeAnswer, Text: "An answer."})...)
}

// reply encodes the records of a text as a model would.
func reply(text string) string {
	var b strings.Builder
	line := func(fields ...string) { b.WriteString(strings.Join(fields, prompt.FieldDelimiter) + "\n") }
	x := records(text)
	for _, e := range x.Entities {
		line("entity", e.Name, e.Type, cmp.Or(e.Description, "about "+e.Name))
	}
	for _, r := range x.Relations {
		line("relation", r.Src, r.Dst, strings.Join(r.Keywords, ","), cmp.Or(r.Description, r.Src+" and "+r.Dst))
	}
	return b.String() + prompt.EndMarker
}

// passage is the text that an extraction call is about.
func passage(r llm.Request) string { return fenced(r) }

// fenced is what stands between the code fences of the last message.
func fenced(r llm.Request) string {
	_, rest, _ := strings.Cut(r.Messages[len(r.Messages)-1].Content, "\n```\n")
	text, _, _ := strings.Cut(rest, "\n```\n")
	return text
}

// paragraphs is a chunker: what a blank line ends is a chunk.
func paragraphs() chunk.Chunker {
	return chunk.Func("paragraphs", func(_ context.Context, text string) (spans []chunk.Span, _ error) {
		for at := 0; at < len(text); {
			end := len(text)
			if i := strings.Index(text[at:], "\n\n"); i >= 0 {
				end = at + i
			}
			if strings.TrimSpace(text[at:end]) != "" {
				spans = append(spans, chunk.Span{Start: at, End: end})
			}
			at = end + 2
		}
		return spans, nil
	})
}

// modelled are the options of tests that ask a model: each paragraph is a chunk, and everything is counted.
func modelled(chat *llmtest.Chat, emb *llmtest.Embedder) db.Options {
	return db.Options{FS: vfs.NewMem(), Models: llm.Models{Chat: chat, Embedder: emb}, Now: clock, MemTableBytes: 256 << 10,
		Index: index.Options{Chunker: paragraphs()}, Query: query.Options{CosineThreshold: query.Some(-1.0)}}
}

// clock is fixed: what a test stores does not depend on when it runs.
func clock() time.Time { return time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC) }

func testOptions(fs vfs.FS) db.Options {
	return db.Options{FS: fs, Extractor: scripted{}, LexicalDim: 64, Now: clock, MemTableBytes: 256 << 10}
}

// openTest opens a database that is checked and closed when the test ends.
func openTest(t testing.TB, o db.Options) *db.DB {
	t.Helper()
	if o.FS == nil {
		o.FS = vfs.NewMem()
	}
	d, err := db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeChecked(t, d) })
	return d
}

func closeChecked(t testing.TB, d *db.DB) {
	t.Helper()
	checkDB(t, d)
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func checkDB(t testing.TB, d *db.DB) {
	t.Helper()
	for p, err := range d.Check(ctx) {
		if errors.Is(err, db.ErrClosed) {
			return
		}
		t.Errorf("check: %v %v", p, err)
	}
}

// logical is the logical dump.
func logical(t testing.TB, d *db.DB) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Dump(ctx, &b, db.DumpOptions{Logical: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func equalDumps(t testing.TB, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Fatalf("dumps differ at line %d of %d and %d:\n got %.400s\nwant %.400s", i+1, len(g), len(w), a, b)
		}
	}
}

func doc(id, text string) index.Document {
	return index.Document{ID: id, Path: id + ".txt", Text: text}
}

func insert(t testing.TB, d *db.DB, docs ...index.Document) {
	t.Helper()
	if _, err := d.Insert(ctx, docs...); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, d *db.DB, id string) index.Info {
	t.Helper()
	info, err := d.Document(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// entity returns the node of a name, with its properties; nil when there is none.
func entity(t testing.TB, d *db.DB, name string) (node *record.Entity) {
	t.Helper()
	view(t, d, func(tx *db.Tx) {
		g, err := tx.Graph(db.KnowledgeGraph)
		if errors.Is(err, db.ErrNotFound) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		n, err := g.Node(name)
		if errors.Is(err, db.ErrNotFound) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		e, err := record.EntityOf(name, n.Type, n.Props)
		if err != nil {
			t.Fatal(err)
		}
		node = &e
	})
	return node
}

// relation returns the edge of a pair; nil when there is none.
func relation(t testing.TB, d *db.DB, a, b string) (edge *record.Relation) {
	t.Helper()
	view(t, d, func(tx *db.Tx) {
		g, err := tx.Graph(db.KnowledgeGraph)
		if err != nil {
			t.Fatal(err)
		}
		e, err := g.Edge(a, b, "")
		if errors.Is(err, db.ErrNotFound) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := record.RelationOf(e.Src, e.Dst, e.Weight, e.Props)
		if err != nil {
			t.Fatal(err)
		}
		edge = &r
	})
	return edge
}

// contexts asks a question in every mode that retrieves and joins what is found.
func contexts(t testing.TB, d *db.DB, question string) string {
	t.Helper()
	var b strings.Builder
	for _, mode := range retrieving {
		res, err := d.Query(ctx, question, query.Options{Mode: mode, Want: query.WantContext})
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		b.WriteString(res.Context + "\n")
	}
	return b.String()
}

var retrieving = []query.Mode{query.Naive, query.Local, query.Global, query.Hybrid, query.Mix}

// asked lists the passages that the model was asked to extract.
func asked(chat *llmtest.Chat) (passages []string) {
	for _, r := range chat.Calls() {
		if r.Purpose == llm.PurposeExtract {
			passages = append(passages, passage(r))
		}
	}
	return passages
}
