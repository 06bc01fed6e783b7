package db_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// storedChunks lists the chunks of a document, by way of a dump.
func storedChunks(t testing.TB, d *db.DB, id string) (list []record.Chunk) {
	t.Helper()
	for line := range strings.Lines(logical(t, d)) {
		var l struct {
			Kind  string
			Value json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		var c record.Chunk
		if l.Kind == index.EntryChunk {
			if err := json.Unmarshal(l.Value, &c); err != nil {
				t.Fatal(err)
			}
			if c.Doc == id {
				list = append(list, c)
			}
		}
	}
	return list
}

func contents(list []record.Chunk) (texts []string) {
	for _, c := range list {
		texts = append(texts, c.Content)
	}
	return texts
}

const guide = "# Guide\n\nE Lamp (burns oil)\n\n## Care\n\nE Wick (is trimmed)\n\nE Glass (is wiped at noon)\n\n## Night\n\nE Keeper (climbs the stairs)\n"

// How a document is cut is what it was when it was enqueued, whatever the options are when it is processed: after a
// restart, and after a dump and a load.
func TestChunkingIsFixedAtEnqueue(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.Index.ChunkTokens, o.Index.ChunkOverlap = 12, -1
	d, err := db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	own := doc("own", guide)
	own.Chunking = &chunk.Spec{Method: chunk.Markdown, Size: 20}
	sep := doc("sep", guide)
	sep.Chunking = &chunk.Spec{Separator: "\n\n"}
	given := doc("given", guide)
	given.Chunks = []chunk.Span{{Start: 0, End: 30}, {Start: strings.Index(guide, "## Night"), End: len(guide), Context: "Guide"}}
	if _, err := d.Enqueue(ctx, index.Insert, doc("plain", guide), own, sep, given); err != nil {
		t.Fatal(err)
	}
	var dump bytes.Buffer
	if err := d.Dump(ctx, &dump, db.DumpOptions{}); err != nil {
		t.Fatal(err)
	}
	closeChecked(t, d)

	process := func(o db.Options, load bool) *db.DB {
		d := openTest(t, o)
		if load {
			if _, err := d.Load(ctx, bytes.NewReader(dump.Bytes())); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := d.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 4 {
			t.Fatalf("%+v, %v", s, err)
		}
		return d
	}
	later := testOptions(fs)
	later.Index.Chunking = chunk.Spec{Method: chunk.Recursive}
	reopened := process(later, false)
	loaded := process(db.Options{Extractor: scripted{}, LexicalDim: 64, Now: clock}, true)
	same := openTest(t, cutInto(12))
	if _, err := same.Insert(ctx, doc("plain", guide), own, sep, given); err != nil {
		t.Fatal(err)
	}
	equalDumps(t, logical(t, reopened), logical(t, same))
	equalDumps(t, logical(t, loaded), logical(t, same))

	for id, want := range map[string]int{"own": 3, "sep": 7, "given": 2} {
		if got := storedChunks(t, same, id); len(got) != want {
			t.Errorf("%s: %d chunks, want %d: %q", id, len(got), want, contents(got))
		}
	}
	for _, c := range storedChunks(t, same, "plain") {
		if c.Tokens > 12 {
			t.Errorf("a chunk of %d tokens", c.Tokens)
		}
	}
	if i := get(t, same, "own"); i.Chunking.Method != chunk.Markdown || i.Chunking.Size != 20 {
		t.Errorf("told as %+v", i.Chunking)
	}
	if got := storedChunks(t, same, "given"); got[1].Context != "Guide" || !strings.HasPrefix(got[1].Content, "## Night") {
		t.Errorf("given chunk: %+v", got[1])
	}
}

// cutInto are options of windows of so many tokens that do not overlap.
func cutInto(tokens int) db.Options {
	o := testOptions(vfs.NewMem())
	o.Index.ChunkTokens, o.Index.ChunkOverlap = tokens, -1
	return o
}

// A stored text is cut again when the caller asks for another way, and not because the defaults changed.
func TestChunkingOfStoredText(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	d, err := db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, doc("a", guide))
	closeChecked(t, d)
	o.Index.ChunkTokens = 10
	d = openTest(t, o)
	again := doc("a", guide)
	put := func(spec *chunk.Spec, want string, chunks int) {
		t.Helper()
		again.Chunking = spec
		r, err := d.Put(ctx, again)
		if err != nil || r.Documents[0].Result != want {
			t.Fatalf("%+v, %v; want %s", r, err, want)
		}
		if i := get(t, d, "a"); i.Chunks != chunks {
			t.Errorf("%d chunks, want %d", i.Chunks, chunks)
		}
	}
	put(nil, index.Unchanged, 1)
	put(&chunk.Spec{Method: chunk.Markdown, Size: 20}, index.Enqueued, 3)
	put(&chunk.Spec{Method: chunk.Markdown, Size: 20}, index.Unchanged, 3)
	put(nil, index.Unchanged, 3)
	again.Metadata = map[string]any{"year": 2026}
	put(nil, index.Enqueued, 3)
	again.Chunks = []chunk.Span{{Start: 0, End: 7}, {Start: 7, End: len(guide)}}
	put(&chunk.Spec{Size: 1000}, index.Enqueued, 2)
	again.Chunking, again.Chunks, again.Path = nil, nil, "elsewhere/a"
	if _, err := d.Enqueue(ctx, index.Put, again); err != nil { // and once more before it is processed
		t.Fatal(err)
	}
	again.Metadata = nil
	put(nil, index.Enqueued, 2)
	again.Text += "\n\nAnother text is cut as the options say now, which is ten tokens at a time."
	r, err := d.Put(ctx, again)
	if i := get(t, d, "a"); err != nil || r.Documents[0].Result != index.Enqueued || i.Chunking.Size != 10 || i.Chunks < 4 {
		t.Errorf("%+v, %v, cut by %v into %d", r, err, i.Chunking, i.Chunks)
	}
}

// Spans of the caller lie where they lay after the text was cleaned, or are refused before anything is stored.
func TestCallersSpans(t *testing.T) {
	d := openTest(t, cutInto(8))
	text := " \x01Fire &amp; oil.\n\nE Caf\u00e9 (sells\x02 bread)\n" + strings.Repeat("word ", 30)
	at := func(s string) int { return strings.Index(text, s) }
	spans := []chunk.Span{{Start: 0, End: at("E Caf")}, {Start: at("E Caf"), End: at("word")}, {Start: at("word"), End: len(text)}}
	x := doc("x", text)
	x.Chunks = spans
	insert(t, d, x)
	got := contents(storedChunks(t, d, "x"))
	if got[0] != "Fire & oil." || got[1] != "E Caf\u00e9 (sells bread)" || len(got) < 5 {
		t.Errorf("chunks %q", got)
	}
	for _, c := range storedChunks(t, d, "x") {
		if c.Tokens > 8 {
			t.Errorf("a chunk of %d tokens: %q", c.Tokens, c.Content)
		}
	}
	for name, bad := range map[string][]chunk.Span{
		"outside":       {{Start: 0, End: len(text) + 1}},
		"backwards":     {{Start: 5, End: 4}},
		"in an entity":  {{Start: 0, End: at("&amp;") + 2}},
		"in a letter":   {{Start: 0, End: at("\u00e9") + 1}},
		"nothing":       {{Start: 0, End: 1}},
		"out of order":  {spans[1], spans[0]},
		"no spans":      {},
		"given twice":   {spans[1], spans[1]},
		"context large": {{Start: spans[1].Start, End: spans[1].End, Context: strings.Repeat("x", chunk.MaxContext+1)}},
	} {
		y := doc("y", text)
		y.Chunks = bad
		_, err := d.Insert(ctx, y)
		if name == "no spans" {
			if err != nil || get(t, d, "y").Chunks != 0 {
				t.Errorf("no spans: %v", err)
			}
			if _, err := d.Delete(ctx, "y"); err != nil {
				t.Fatal(err)
			}
			continue
		}
		de, ok := errors.AsType[*index.DocumentError](err)
		if !ok || de.Field != "chunks" {
			t.Errorf("%s: %v", name, err)
		}
	}
	y := doc("y", text)
	y.Chunking = &chunk.Spec{Method: "sideways"}
	if _, err := d.Insert(ctx, y); !errors.Is(err, chunk.ErrConfig) {
		t.Errorf("unknown method: %v", err)
	}
}

// A document that waits for a chunker of the caller's is never cut by another one.
func TestMissingChunker(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.Index.Chunker = paragraphs()
	d, err := db.Open("glim.db", db.WithOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Enqueue(ctx, index.Insert, doc("a", guide)); err != nil {
		t.Fatal(err)
	}
	closeChecked(t, d)

	if d, err = db.Open("glim.db", db.WithOptions(testOptions(fs))); err != nil {
		t.Fatal(err)
	}
	var cause error
	note := func(p index.Progress) { cause = errors.Join(cause, p.Err) }
	if s, err := d.Process(ctx, index.ProcessOptions{Progress: note}); err != nil || s.Failed != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if ce, ok := errors.AsType[*index.ChunkerError](cause); !ok || ce.ID != "paragraphs" || ce.Given != "none" {
		t.Errorf("cause %v", cause)
	}
	closeChecked(t, d)

	d = openTest(t, o)
	if _, err := d.Retry(ctx); err != nil {
		t.Fatal(err)
	}
	if s, err := d.Process(ctx, index.ProcessOptions{}); err != nil || s.Processed != 1 || get(t, d, "a").Chunks != 7 {
		t.Errorf("%+v, %v, %d chunks", s, err, get(t, d, "a").Chunks)
	}
}

// What stands above a chunk reaches the model and the vector, and the stored chunk is the text alone. Chunks that a
// change of the text leaves as they are, context included, cost nothing.
func TestContextReachesModels(t *testing.T) {
	chat, emb := extracting(), llmtest.NewEmbedder(8)
	o := modelled(chat, emb)
	o.Index.Chunker = nil
	o.Index.Chunking = chunk.Spec{Method: chunk.Markdown, Size: 20}
	d := openTest(t, o)
	insert(t, d, doc("a", guide))
	want := "Guide\n\n## Night\n\nE Keeper (climbs the stairs)"
	if got := asked(chat); !slices.Contains(got, want) {
		t.Errorf("asked %q", got)
	}
	embedded := func() (texts []string) {
		for _, c := range emb.Calls() {
			texts = append(texts, c.Texts...)
		}
		return texts
	}
	if !slices.Contains(embedded(), want) {
		t.Errorf("embedded %q", embedded())
	}
	if list := storedChunks(t, d, "a"); list[2].Context != "Guide" || strings.HasPrefix(list[2].Content, "Guide") {
		t.Errorf("stored %+v", list[2])
	}
	calls := len(asked(chat))
	if _, err := d.Put(ctx, doc("a", strings.Replace(guide, "# Guide", "# Manual", 1))); err != nil {
		t.Fatal(err)
	}
	if n := len(asked(chat)) - calls; n != 3 {
		t.Errorf("%d chunks asked again after their heading changed, want all 3", n)
	}
	calls = len(asked(chat))
	if _, err := d.Put(ctx, doc("a", strings.Replace(guide, "# Guide", "# Manual", 1)+"\n## End\n\nE Dawn (ends the watch)\n")); err != nil {
		t.Fatal(err)
	}
	if n := len(asked(chat)) - calls; n > 2 {
		t.Errorf("%d chunks asked again for a section at the end", n)
	}
}

// The semantic method embeds with the database's model, under its limit.
func TestSemanticChunking(t *testing.T) {
	var longest int
	emb := &embedderOf{func(texts []string) [][]float32 {
		out := make([][]float32, len(texts))
		for i, text := range texts {
			longest = max(longest, len(text))
			out[i] = []float32{1 + float32(strings.Count(text, "bread")), 1 + 9*float32(strings.Count(text, "light"))}
		}
		return out
	}}
	o := testOptions(vfs.NewMem())
	o.Models.Embedder = emb
	o.Index.EmbedTokens = 16
	o.Index.Chunking = chunk.Spec{Method: chunk.Semantic, Amount: 60, Buffer: -1}
	d := openTest(t, o)
	insert(t, d, doc("a", "We bake bread. Good bread takes time. The light is old. A light needs oil."))
	got := contents(storedChunks(t, d, "a"))
	if want := []string{"We bake bread. Good bread takes time.", "The light is old. A light needs oil."}; !slices.Equal(got, want) {
		t.Errorf("chunks %q, want %q", got, want)
	}
	insert(t, d, doc("b", strings.Repeat("no end ", 400)))
	if longest > 16*8 {
		t.Errorf("a text of %d bytes was embedded", longest)
	}
}

type embedderOf struct {
	f func(texts []string) [][]float32
}

func (e *embedderOf) ID() string { return "topics" }
func (e *embedderOf) Dim() int   { return 2 }
func (e *embedderOf) Embed(_ context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	return e.f(texts), nil
}

// Chunks tells how a document was cut, from any place on, and of the visible version only.
func TestChunks(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.Index.Chunking = chunk.Spec{Method: chunk.Markdown, Size: 20}
	o.Index.Chunker = nil
	d := openTest(t, o)
	insert(t, d, doc("a", guide), doc("a2", "# Other\n\nE Oil (is dear)\n"))
	text, err := d.Text(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	list := func(id string, from int) (all []index.Chunk) {
		for c, err := range d.Chunks(ctx, id, from) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		return all
	}
	all, stored := list("a", 0), storedChunks(t, d, "a")
	if len(all) != 3 || len(stored) != 3 {
		t.Fatalf("%d chunks, %d stored", len(all), len(stored))
	}
	for i, c := range all {
		if c.ID != stored[i].ID() || c.Document != "a" || c.Order != i || c.Content != text[c.Start:c.End] || c.Content != stored[i].Content ||
			c.Context != stored[i].Context || c.Tokens != stored[i].Tokens || c.Tokens == 0 || c.Extractor == "" {
			t.Errorf("%+v, stored %+v", c, stored[i])
		}
	}
	if all[2].Context != "Guide" {
		t.Errorf("context %q", all[2].Context)
	}
	for from, want := range map[int]int{-1: 3, 1: 2, 2: 1, 3: 0, 1 << 40: 0} {
		if got := list("a", from); len(got) != want || !slices.Equal(got, all[3-want:]) {
			t.Errorf("from %d: %+v", from, got)
		}
	}
	if _, err := d.Enqueue(ctx, index.Put, doc("a", "E Fog (rolls in)"), doc("b", "E Ice (melts)")); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(list("a", 0), all) || len(list("b", 0)) != 0 {
		t.Error("chunks of a version that waits are listed")
	}
	if err := firstError(d.Chunks(ctx, "none", 0)); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("unknown document: %v", err)
	}
}
