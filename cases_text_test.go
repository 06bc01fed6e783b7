package db_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/llm/token"
	"github.com/glimdb/db/query"
)

// Spellings of a name that differ in quotes and white space are one entity, with the sources of all, found
// and shown by one name; letter case makes two.
func TestHC10_Names(t *testing.T) {
	d := openTest(t, stubbed())
	spellings := []string{`"Orbit Desk"`, "Orbit  Desk", "Orbit Desk ", "“Orbit Desk”", "'Orbit Desk'", "Orbit\tDesk", "Orbit\u00a0Desk", "「Orbit Desk」"}
	var parts []string
	for i, name := range spellings {
		parts = append(parts, fmt.Sprintf("E %s (fact %d)", name, i))
	}
	insert(t, d, doc("desk", strings.Join(parts, "\n\n")))
	if info := get(t, d, "desk"); info.Entities != 1 || info.Chunks != len(spellings) {
		t.Errorf("status %+v", info)
	}
	for _, name := range spellings {
		if e := entity(t, d, index.NormalizeName(name)); e == nil || e.Name != "Orbit Desk" || e.SourceCount != len(spellings) {
			t.Errorf("%q is %+v", name, e)
		}
	}
	// What spells the name otherwise reaches the same node from a relation's end, too.
	insert(t, d, doc("end", "R “Orbit  Desk” - Ada Pell (staffed by)"))
	if r := relation(t, d, "Orbit Desk", "Ada Pell"); r == nil {
		t.Error("the relation reaches another node")
	}
	if _, err := d.Delete(ctx, "end"); err != nil {
		t.Fatal(err)
	}
	insert(t, d, doc("case", "E ORBIT DESK (shouted)"))
	if a, b := entity(t, d, "Orbit Desk"), entity(t, d, "ORBIT DESK"); a == nil || b == nil || b.SourceCount != 1 {
		t.Errorf("letter case: %+v and %+v", a, b)
	}
	view(t, d, func(tx *db.Tx) {
		g, err := tx.Graph(db.KnowledgeGraph)
		if err != nil {
			t.Fatal(err)
		}
		alike, err := g.NamesAlike("orbit  desk", "Ｏｒｂｉｔ Ｄｅｓｋ", "Orbit")
		both := []string{"ORBIT DESK", "Orbit Desk"}
		if err != nil || !slices.Equal(alike[0], both) || !slices.Equal(alike[1], both) || len(alike[2]) != 0 {
			t.Errorf("alike: %q, %v", alike, err)
		}
	})
}

// The four spellings of the case, one a chunk, are one node with four sources. Every call that takes a name takes each
// of them: look-ups, questions, and what creates, renames, edits and deletes by hand.
func TestHC10_EverySpelling(t *testing.T) {
	spellings := []string{`"Orbit Desk"`, "Orbit  Desk", "Orbit Desk ", "“Orbit Desk”"}
	var parts []string
	for i, name := range spellings {
		parts = append(parts, fmt.Sprintf("E %s (fact %d)", name, i))
	}
	desk := doc("desk", strings.Join(parts, "\n\n"))
	for i, name := range spellings {
		d := openTest(t, stubbed())
		insert(t, d, desk, doc("pell", "E Ada Pell (a person)"))
		e, err := d.Entity(ctx, name, index.InfoOptions{})
		if err != nil || e.Name != "Orbit Desk" || e.SourceCount != 4 || len(e.Sources) != 4 {
			t.Errorf("%q: found %+v, %v", name, e, err)
		}
		for fact := range spellings {
			if !strings.Contains(e.Description, fmt.Sprint("fact ", fact)) {
				t.Errorf("%q: %q lacks fact %d", name, e.Description, fact)
			}
		}
		res, err := d.Query(ctx, "what does "+name+" do", query.Options{Mode: query.Local, Want: query.WantData, LowKeywords: []string{name}, TopK: 1})
		if err != nil || len(res.Data.Entities) == 0 || res.Data.Entities[0].Name != "Orbit Desk" {
			t.Errorf("%q: a question finds %+v, %v", name, res.Data.Entities, err)
		}
		if _, err := d.CreateEntity(ctx, index.NewEntity{Name: name, Type: "place", Description: "once more"}); !errors.Is(err, db.ErrNameTaken) {
			t.Errorf("%q: created beside the other: %v", name, err)
		}
		if _, err := d.CreateRelation(ctx, index.NewRelation{Src: "Ada Pell", Dst: name, Description: "sits there"}); err != nil {
			t.Errorf("%q: no end of a relation: %v", name, err)
		}
		if _, err := d.RenameEntity(ctx, name, "Front Desk"); err != nil {
			t.Errorf("%q: not renamed: %v", name, err)
		}
		if e := entity(t, d, "Front Desk"); e == nil || e.SourceCount != 4 || entity(t, d, "Orbit Desk") != nil {
			t.Errorf("%q: renamed to %+v", name, e)
		}
		other := spellings[(i+1)%len(spellings)] // an alias is found by each spelling as well
		if e, err := d.Entity(ctx, other, index.InfoOptions{}); err != nil || e.Name != "Front Desk" {
			t.Errorf("%q: the old name finds %+v, %v", other, e, err)
		}
		if r, err := d.Relation(ctx, other, "Ada Pell", index.InfoOptions{}); err != nil || r.Description != "sits there" {
			t.Errorf("%q: the relation is %+v, %v", other, r, err)
		}
		if _, err := d.DeleteEntity(ctx, other); err != nil {
			t.Errorf("%q: not deleted: %v", other, err)
		}
		if _, err := d.Entity(ctx, name, index.InfoOptions{}); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("%q: after the delete: %v", name, err)
		}
		if n, err := d.Stats(ctx); err != nil || n.Entities != 1 || n.Relations != 0 {
			t.Errorf("%q: %d entities and %d relations are left, %v", name, n.Entities, n.Relations, err)
		}
	}
}

// Reversed pairs are one edge, seen from both ends, with all that was said; a self-loop is dropped and
// counted.
func TestHC10_Edges(t *testing.T) {
	d := openTest(t, stubbed())
	insert(t, d, doc("pairs", "R Ada Pell - Brin Low (they met)\n\nR Brin Low - Ada Pell (they wrote)\nR \"Brin  Low\" - “Ada Pell” (they sang)\nR Ada Pell - Ada Pell (alone)"))
	for _, pair := range [][2]string{{"Ada Pell", "Brin Low"}, {"Brin Low", "Ada Pell"}} {
		r := relation(t, d, pair[0], pair[1])
		if r == nil || r.Weight != 3 {
			t.Fatalf("%v: %+v", pair, r)
		}
		for _, said := range []string{"they met", "they wrote", "they sang"} {
			if !strings.Contains(r.Description, said) {
				t.Errorf("%v: %q lacks %q", pair, r.Description, said)
			}
		}
	}
	info := get(t, d, "pairs")
	if info.Relations != 1 || info.Entities != 2 || info.Dropped[index.DropSelfLoop] != 1 {
		t.Errorf("status %+v", info)
	}
	if relation(t, d, "Ada Pell", "Ada Pell") != nil {
		t.Error("the self-loop is stored")
	}
	view(t, d, func(tx *db.Tx) {
		g, err := tx.Graph(db.KnowledgeGraph)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := g.Stats(); err != nil || s.Edges != 1 || s.Nodes != 2 {
			t.Errorf("%+v, %v", s, err)
		}
		v, err := tx.Vectors("relations")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := v.Len(); err != nil || n != 1 {
			t.Errorf("%d relation vectors, %v", n, err)
		}
	})
}

// A chunk size that the overlap reaches is refused when it is configured, before the directory is touched.
func TestHC13_Overlap(t *testing.T) {
	for _, o := range []index.Options{{ChunkTokens: 50, ChunkOverlap: 50}, {ChunkTokens: 50, ChunkOverlap: 60}, {ChunkTokens: -1}, {ChunkTokens: 1, ChunkOverlap: 1}, {ChunkOverlap: 5000}} {
		fs := vfs.NewMem()
		_, err := db.Open("glim.db", db.WithOptions(db.Options{FS: fs, Index: o}))
		var bad *db.OptionError
		if !errors.Is(err, db.ErrOption) || !errors.As(err, &bad) || !strings.HasPrefix(bad.Field, "Index.Chunk") || !errors.Is(err, chunk.ErrConfig) {
			t.Errorf("%d with overlap %d: %v", o.ChunkTokens, o.ChunkOverlap, err)
		}
		if names, err := fs.List(""); err != nil || len(names) != 0 {
			t.Errorf("a refused opening left %q, %v", names, err)
		}
	}
	o := testOptions(nil)
	o.Index.ChunkTokens, o.Index.ChunkOverlap = 50, 49
	d := openTest(t, o)
	insert(t, d, doc("words", strings.Repeat("word ", 500)))
	checkSpans(t, d, "words", 50)
}

// Windows never cut a character, cover the whole text, and keep their size by the tokenizer's count.
func TestHC13_Characters(t *testing.T) {
	line := "潮が満ちる港で家族が待つ👨‍👩‍👧‍👦。"
	for name, text := range map[string]string{
		"japanese and families": strings.Repeat(line, 400),
		"combining marks":       strings.Repeat("e\u0301\u0302\u0303\u0304 ", 400),
		"one long word":         strings.Repeat("x", 5000),
		"flags":                 strings.Repeat("🇯🇵🇫🇷", 300),
		"rare planes":           strings.Repeat("𠜎𠜱𓀀", 200),
		"lines":                 strings.Repeat("\n", 300) + "end",
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(nil)
			o.Index.ChunkTokens, o.Index.ChunkOverlap = 32, 8
			d := openTest(t, o)
			insert(t, d, doc("odd", text))
			checkSpans(t, d, "odd", 32)
		})
	}
}

// checkSpans holds the stored chunks of a document against its text.
func checkSpans(t *testing.T, d *db.DB, id string, size int) {
	t.Helper()
	text, err := d.Text(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	tok, end := token.Default(), 0
	chunks := chunksOf(t, d, id)
	if len(chunks) == 0 {
		t.Fatal("no chunks")
	}
	for _, c := range chunks {
		switch n := tok.Count(c.Content); {
		case !utf8.ValidString(c.Content) || strings.ContainsRune(c.Content, utf8.RuneError):
			t.Fatalf("chunk %d is damaged: %q", c.Order, c.Content)
		case n > size || n != c.Tokens:
			t.Fatalf("chunk %d has %d tokens, stored as %d, at most %d", c.Order, n, c.Tokens, size)
		case c.Content != text[c.Start:c.End]:
			t.Fatalf("chunk %d is not its span", c.Order)
		case strings.TrimSpace(text[min(end, c.Start):c.Start]) != "":
			t.Fatalf("text before chunk %d is in no chunk: %q", c.Order, text[end:c.Start])
		}
		end = c.End
	}
	if strings.TrimSpace(text[end:]) != "" {
		t.Errorf("text after the last chunk: %q", text[end:])
	}
}

// chunksOf reads the chunks of a document from the dump.
func chunksOf(t *testing.T, d *db.DB, id string) (chunks []record.Chunk) {
	t.Helper()
	for line := range strings.Lines(logical(t, d)) {
		var rec struct {
			Kind  string       `json:"kind"`
			Value record.Chunk `json:"value"`
		}
		if !strings.Contains(line, `"kind":"chunk"`) {
			continue
		}
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		if rec.Value.Doc == id {
			chunks = append(chunks, rec.Value)
		}
	}
	return chunks
}

// Chunks that the caller cuts are held to the embedding model's limit, and bad ones refused, before any
// model is asked.
func TestHC13_ChunksOfTheCaller(t *testing.T) {
	const limit = 20
	text := strings.Repeat("short words here. ", 30)
	chat, emb := extracting(), llmtest.NewEmbedder(8)
	o := modelled(chat, emb)
	o.Index.Chunker = chunk.Func("whole", func(_ context.Context, text string) ([]chunk.Span, error) {
		return []chunk.Span{{Start: 0, End: len(text)}}, nil
	})
	o.Index.EmbedTokens = limit
	d := openTest(t, o)
	insert(t, d, doc("long", text))
	checkSpans(t, d, "long", limit)
	tok := token.Default()
	for _, call := range emb.Calls() {
		for _, s := range call.Texts {
			if n := tok.Count(s); n > limit {
				t.Errorf("embedded a text of %d tokens", n)
			}
		}
	}
	for name, spans := range map[string][]chunk.Span{
		"beyond the end": {{Start: 0, End: 1 << 20}}, "backwards": {{Start: 5, End: 2}}, "negative": {{Start: -1, End: 2}}, "inside a character": {{Start: 0, End: 1}},
	} {
		chat, emb := extracting(), llmtest.NewEmbedder(8)
		o := modelled(chat, emb)
		o.Index.Chunker = chunk.Func("bad", func(context.Context, string) ([]chunk.Span, error) { return spans, nil })
		d := openTest(t, o)
		_, err := d.Insert(ctx, doc("bad", "港の灯台"))
		if !errors.Is(err, chunk.ErrSpan) || len(chat.Calls())+emb.Texts() != 0 {
			t.Errorf("%s: %v, %d calls", name, err, len(chat.Calls())+emb.Texts())
		}
	}
}

// A text with some control characters and bad bytes is stored without them, and says so; one that is no text is
// refused by a typed error that names the document, the field and the reason; nobody else notices.
func TestHC14_OddText(t *testing.T) {
	d := openTest(t, stubbed())
	clean := doc("clean", "E Clean (is clean)")
	insert(t, d, clean)
	before := logical(t, d)

	const path = "a\tb\x01.txt" // a path finds a file, so it stays as it is
	r, err := d.Insert(ctx, index.Document{ID: "1", Path: path, Text: "Pump\x00 A\x01 \xff\xfe end"})
	const removed = 4 // NUL, 0x01, 0xFF, 0xFE
	if err != nil || len(r.Documents) != 1 || r.Documents[0].Removed != removed {
		t.Errorf("receipt %+v, %v", r, err)
	}
	info := get(t, d, "1")
	text, err := d.Text(ctx, "1")
	if err != nil || text != "Pump A  end" || info.Status != "processed" || info.Removed != removed || info.Bytes != len(text) || info.Path != path ||
		!slices.Contains(info.Warnings, "4 control characters or invalid bytes removed from the text") {
		t.Errorf("stored %q, %v; path %q; status %+v", text, err, info.Path, info)
	}
	if chunks := chunksOf(t, d, "1"); len(chunks) != 1 || chunks[0].Content != text {
		t.Errorf("chunks %+v", chunks)
	}
	if _, err := d.Delete(ctx, "1"); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, d), before)

	const notUTF8 = "\xff\xfe\xfd\xfc\xfb\xfa"
	for name, c := range map[string]struct {
		id, text, field string
		is              error
	}{
		"bytes":              {"bad", notUTF8, "text", db.ErrText},
		"UTF-16":             {"bad", "\xff\xfeP\x00u\x00m\x00p\x00", "text", db.ErrText},
		"control characters": {"bad", "\x00\x01\x02", "text", db.ErrText},
		"spaces":             {"bad", " \t\r\n", "text", db.ErrEmptyDocument},
		"byte-order mark":    {"bad", "\ufeff", "text", db.ErrEmptyDocument},
		"odd id":             {"odd\x00id\xc3", "x", "id", db.ErrDocument},
	} {
		_, err := d.Insert(ctx, doc("fine", "E Fine (is not stored either)"), index.Document{ID: c.id, Text: c.text})
		var refused *index.DocumentError
		if !errors.Is(err, db.ErrDocument) || !errors.Is(err, c.is) || !errors.As(err, &refused) || refused.Index != 1 || refused.ID != c.id || refused.Field != c.field {
			t.Errorf("%s: %v, want field %s of document 1 refused as %v", name, err, c.field, c.is)
		}
	}
	equalDumps(t, logical(t, d), before)
}

// Names that look like keys, separators, or screens of text collide with nothing and can be dumped and
// deleted.
func TestHC14_OddNames(t *testing.T) {
	d := openTest(t, stubbed())
	empty := logical(t, d)
	odd := []string{
		"\x1b[31mRed\x1b[0m", "a\x00\x01b", "a\x00", "a", "b\xff\xfec", strings.Repeat("x", 70_000), strings.Repeat("港", 30_000), "a<SEP>b", "a<|#|>b", "E a", "..", "/", "\u202eevil\u202c",
		"<node id=\"1\">&amp;", "{\"base64\":\"eA==\"}", "base64:eA==", "chunk-000", "港", "e\u0301", "\u00e9",
	}
	var b strings.Builder
	for i, n := range odd {
		fmt.Fprintf(&b, "E %s (number %d)\nR %s - Anchor (ties %d)\n\n", n, i, n, i)
	}
	insert(t, d, doc("odd", b.String()), doc("clean", "E Clean (is clean)\nE Anchor (holds)"))
	if get(t, d, "odd").Status != "processed" || entity(t, d, "Clean") == nil || entity(t, d, "Red") == nil {
		t.Error("a name disturbs its neighbours")
	}
	for line := range strings.Lines(logical(t, d)) {
		if !json.Valid([]byte(line)) || !utf8.ValidString(line) {
			t.Errorf("the dump holds an invalid line: %.200q", line)
		}
	}
	var names []string
	view(t, d, func(tx *db.Tx) {
		g, err := tx.Graph(db.KnowledgeGraph)
		if err != nil {
			t.Fatal(err)
		}
		for n, err := range g.Nodes() {
			if err != nil {
				t.Fatal(err)
			}
			if !utf8.ValidString(n.Name) || strings.ContainsAny(n.Name, "\x00\x1b") || n.Name == "" {
				t.Errorf("stored name %q", n.Name)
			}
			names = append(names, n.Name)
		}
	})
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("names repeat, or are out of order")
	}
	for _, mode := range retrieving {
		if _, err := d.Query(ctx, "\x1b[31mRed\x00 "+strings.Repeat("港", 100), query.Options{Mode: mode, Want: query.WantContext}); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
	exportsAreValid(t, d, names)
	if _, err := d.Delete(ctx, "odd"); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, d), onlyWith(t, stubbed(), doc("clean", "E Clean (is clean)\nE Anchor (holds)")))
	if _, err := d.Delete(ctx, "clean"); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, d), empty)
}
