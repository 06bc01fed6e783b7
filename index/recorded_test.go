package index_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/testkit/replay"
	"github.com/glimdb/db/llm"
)

var updateRecorded = flag.Bool("update-recorded", false, "rewrite the expected graph of testdata/recorded")

// recordedDir holds our own small run: for documents of the corpus the reply to the extraction and to the
// first gleaning, and the graph that they make. It needs no data beyond the repository.
const recordedDir = "../testdata/recorded"

// TestRecordedRun proves the model path on every machine: prompts, replies in the engine's format, gleaning,
// merging over two documents, and deletion of both down to nothing, in either order.
func TestRecordedRun(t *testing.T) {
	ids := []string{"lantern-bakery.md", "tide-mill.md"}
	folder := &replay.Folder{}
	var docs []index.Document
	for _, id := range ids {
		text := strings.TrimSpace(readText(t, filepath.Join("../testdata/corpus", id)))
		docs = append(docs, index.Document{ID: id, Path: id, Text: text})
		folder.Docs = append(folder.Docs, replay.Doc{ID: id, Text: text})
		folder.Chunks = append(folder.Chunks, replay.Chunk{ID: id, Doc: id, Text: text,
			Extract: readText(t, filepath.Join(recordedDir, id+".extract")), Glean: readText(t, filepath.Join(recordedDir, id+".glean"))})
	}
	golden := filepath.Join(recordedDir, "graph.golden")
	for _, first := range []int{0, 1} {
		chat := folder.Chat()
		x, err := index.NewModelExtractor(chat, runes{}, index.ModelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := newStore(t, index.Options{Chunker: wholeText})
		s.real = x
		s.reopen()
		if sum := s.put(docs...); sum.Failed > 0 {
			t.Fatalf("%+v", sum)
		}
		if e, g := chat.Calls(llm.PurposeExtract), chat.Calls(llm.PurposeGlean); e != 2 || g != 2 {
			t.Errorf("%d extractions and %d gleanings, want one of each a document", e, g)
		}
		s.check()
		got := s.graphLines()
		if *updateRecorded {
			if err := os.WriteFile(golden, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want := strings.Split(strings.TrimSpace(readText(t, golden)), "\n")
		if d := diff(got, want); d != "" {
			t.Errorf("another graph than recorded:\n%s", d)
		}
		s.delete(ids[first])
		s.check()
		if n := len(s.graphLines()); n == 0 || n >= len(want) {
			t.Errorf("%d of %d nodes and edges are left without %s", n, len(want), ids[first])
		}
		s.delete(ids[1-first])
		if d := s.dump(); len(d) > 0 {
			t.Errorf("%d entries are left, the first is %s", len(d), d[0])
		}
	}
}

// wholeText makes one chunk of a document.
var wholeText = chunk.Func("whole", func(_ context.Context, text string) ([]chunk.Span, error) {
	return []chunk.Span{{End: len(text), Tokens: runes{}.Count(text)}}, nil
})

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// graphLines has a line for each node and edge, sorted.
func (s *store) graphLines() []string {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	g, err := graph.Open(v, "", record.GraphName)
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for n, err := range g.AllNodes(v) {
		if err != nil {
			s.t.Fatal(err)
		}
		e, err := record.EntityOf(n.Name, n.Type, n.Props)
		if err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("node %q %s degree %d sources %q: %s", e.Name, e.Type, n.Degree, e.Sources, e.Description))
	}
	for x, err := range g.AllEdges(v) {
		if err != nil {
			s.t.Fatal(err)
		}
		r, err := record.RelationOf(x.Src, x.Dst, x.Weight, x.Props)
		if err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("edge %q - %q weight %g keywords %q sources %q: %s", r.Src, r.Dst, r.Weight, r.Keywords, r.Sources, r.Description))
	}
	slices.Sort(lines)
	return lines
}
