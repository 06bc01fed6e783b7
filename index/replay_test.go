package index_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/internal/testkit/replay"
)

// TestReplayedStores sends the recorded documents of real runs through the whole pipeline, with the
// recorded replies, and must end with the graph that LightRAG built: names, weights, keywords, sources.
// Then every document is deleted, and nothing may be left.
//
// Where ours differs from a run on purpose, the case says so, and it must really differ there:
//
//   - ownSources: the chunk of a relation was no source of its ends. It is by today's rule, so the sources of
//     entities are compared by their own records.
//   - lightEdges: a model that gave strength 0 made edges lighter than their number of chunks, which ours
//     never are.
//   - selfLoops: the number of edges from a node to itself, which ours has none of.
func TestReplayedStores(t *testing.T) {
	for _, tc := range []struct {
		name         string
		format       index.ReplyFormat
		rule         index.GleanRule
		nodes, edges int
		differs      differences
		lists        bool // it has the objects of each document and the chunks of each object, too
	}{
		{"lightrag-carol", index.FormatTuples, index.GleanNew, 322, 359, differences{ownSources: true}, false},
		{"lightrag-ollama-zh", index.FormatTuples, index.GleanNew, 469, 470, differences{ownSources: true}, false},
		{"lightrag-wiki24", index.FormatTuples, index.GleanNew, 135, 100, differences{ownSources: true}, false},
		{"lightrag-covid", index.FormatLines2025, index.GleanLonger, 710, 603, differences{}, true},
		{"lightrag-xiaomi-zh", index.FormatLines2025, index.GleanLonger, 64, 44, differences{}, true},
		{"lightrag-tiki-vi", index.FormatTuplesUpper, index.GleanAppend, 980, 630, differences{ownSources: true, lightEdges: true, selfLoops: 1}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := testkit.Data(t, tc.name)
			folder, err := replay.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			want, err := replay.LoadGraph(dir)
			if err != nil {
				t.Fatal(err)
			}
			chunkID := make(map[string]string) // ours to theirs
			for _, c := range folder.Chunks {
				chunkID[record.ChunkID(c.Doc, c.Order)] = c.ID
			}
			s, docs := openReplayed(t, folder, index.Options{MaxSources: 10_000}, index.ModelOptions{Format: tc.format, Rule: tc.rule})
			if sum := s.put(docs...); sum.Failed > 0 {
				t.Fatalf("%+v", sum)
			}
			s.check()
			s.compare(want, chunkID, tc.nodes, tc.edges, tc.differs)
			if tc.lists {
				s.compareLists(dir, chunkID)
			}
			for _, d := range docs {
				s.delete(d.ID)
				s.check()
			}
			if d := s.dump(); len(d) > 0 {
				t.Errorf("%d entries are left, the first is %s", len(d), d[0])
			}
		})
	}
}

// openReplayed opens a store whose extractor has the recorded replies, and returns the recorded documents.
func openReplayed(t *testing.T, folder *replay.Folder, o index.Options, m index.ModelOptions) (*store, []index.Document) {
	t.Helper()
	m.MaxInputTokens = -1
	x, err := index.NewModelExtractor(folder.Chat(), runes{}, m)
	if err != nil {
		t.Fatal(err)
	}
	o.Chunker = recordedChunks(folder)
	s := newStore(t, o)
	s.real = x
	s.reopen()
	var docs []index.Document
	for _, d := range folder.Docs {
		docs = append(docs, index.Document{ID: d.ID, Text: d.Text, Path: d.ID})
	}
	return s, docs
}

// compareLists holds the objects of each document, and the chunks of each object, against the recorded lists.
func (s *store) compareLists(dir string, chunkID map[string]string) {
	s.t.Helper()
	var (
		entities map[string]struct {
			Names []string `json:"entity_names"`
		}
		relations map[string]struct {
			Pairs [][2]string `json:"relation_pairs"`
		}
		chunks = make(map[string]struct {
			IDs []string `json:"chunk_ids"`
		})
	)
	readGolden(s.t, filepath.Join(dir, "kv_store_full_entities.json"), &entities)
	readGolden(s.t, filepath.Join(dir, "kv_store_full_relations.json"), &relations)
	readGolden(s.t, filepath.Join(dir, "kv_store_entity_chunks.json"), &chunks) // keys of the two cannot be alike
	readGolden(s.t, filepath.Join(dir, "kv_store_relation_chunks.json"), &chunks)
	ofDoc, ofObject := make(map[string][]string), make(map[string][]string)
	v := s.view()
	defer v.Close()
	for e, err := range index.Export(v, "") {
		if err != nil {
			s.t.Fatal(err)
		}
		if x, ok := e.Value.(*index.ExportedSource); ok {
			key := strings.Join(x.Object, index.Separator)
			ofDoc[x.Doc] = append(ofDoc[x.Doc], key)
			ofObject[key] = append(ofObject[key], chunkID[record.ChunkID(x.Doc, x.Order)])
		}
	}
	set := func(list []string) []string { return slices.Compact(sorted(list)) }
	want := make(map[string][]string)
	for doc, list := range entities {
		want[doc] = slices.Clone(list.Names)
	}
	for doc, list := range relations {
		for _, pair := range list.Pairs {
			want[doc] = append(want[doc], strings.Join(pair[:], index.Separator))
		}
	}
	if len(want) == 0 || len(want) != len(ofDoc) {
		s.t.Errorf("objects of %d documents, want %d", len(ofDoc), len(want))
	}
	for doc, list := range want {
		if got := set(ofDoc[doc]); !slices.Equal(got, set(list)) {
			s.t.Errorf("%s has %d objects, want %d", doc, len(got), len(list))
		}
	}
	if len(ofObject) != len(chunks) {
		s.t.Errorf("chunks of %d objects, want %d", len(ofObject), len(chunks))
	}
	for key, list := range chunks {
		if got := set(ofObject[key]); !slices.Equal(got, set(list.IDs)) {
			s.t.Errorf("%q has the chunks %q, want %q", key, got, list.IDs)
		}
	}
}

// differences are what a recorded run did otherwise.
type differences struct {
	ownSources, lightEdges bool
	selfLoops              int
}

// recordedChunks cuts a document where the recorded run did.
func recordedChunks(f *replay.Folder) chunk.Chunker {
	return chunk.Func("recorded", func(_ context.Context, text string) ([]chunk.Span, error) {
		var spans []chunk.Span
		for _, d := range f.Docs {
			if text != strings.TrimSpace(d.Text) {
				continue
			}
			from := 0
			for _, c := range f.Chunks {
				if c.Doc != d.ID {
					continue
				}
				at := strings.Index(text[from:], c.Text)
				if at < 0 {
					return nil, fmt.Errorf("chunk %s is not in its document", c.ID)
				}
				from += at
				spans = append(spans, chunk.Span{Start: from, End: from + len(c.Text), Tokens: c.Tokens})
			}
			return spans, nil
		}
		return nil, fmt.Errorf("not a recorded document")
	})
}

// compare holds the graph against a recorded one.
func (s *store) compare(want *replay.Graph, chunkID map[string]string, nodes, edges int, differs differences) {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	var met differences
	own := make(map[string][]string) // sources of entities by their own records
	for e, err := range index.Export(v, "") {
		if err != nil {
			s.t.Fatal(err)
		}
		if x, ok := e.Value.(*index.ExportedSource); ok && x.Kind == "entity" {
			own[x.Object[0]] = append(own[x.Object[0]], record.ChunkID(x.Doc, x.Order))
		}
	}
	theirs := func(ids []string) []string {
		out := make([]string, len(ids))
		for i, id := range ids {
			out[i] = chunkID[id]
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	g, err := graph.Open(v, "", record.GraphName)
	if err != nil {
		s.t.Fatal(err)
	}
	n := 0
	for node, err := range g.AllNodes(v) {
		if err != nil {
			s.t.Fatal(err)
		}
		n++
		w, ok := want.Nodes[node.Name]
		if !ok {
			s.t.Errorf("node %q is not in the recorded graph", node.Name)
			continue
		}
		e, err := record.EntityOf(node.Name, node.Type, node.Props)
		if err != nil {
			s.t.Fatal(err)
		}
		got := theirs(e.Sources)
		if differs.ownSources && !slices.Equal(got, w.Sources) {
			// An end without a record of its own was made by one relation, which gave it its chunk.
			met.ownSources = true
			if got = theirs(own[e.Name]); len(got) == 0 && len(w.Sources) == 1 && slices.Contains(theirs(e.Sources), w.Sources[0]) {
				got = w.Sources
			}
		}
		if !slices.Equal(got, w.Sources) {
			s.t.Errorf("node %q: sources %q, want %q", e.Name, got, w.Sources)
		}
	}
	m := 0
	missing := maps.Clone(want.Edges)
	for edge, err := range g.AllEdges(v) {
		if err != nil {
			s.t.Fatal(err)
		}
		m++
		delete(missing, replay.Pair(edge.Src, edge.Dst))
		w, ok := want.Edges[replay.Pair(edge.Src, edge.Dst)]
		if !ok {
			s.t.Errorf("edge %q - %q is not in the recorded graph", edge.Src, edge.Dst)
			continue
		}
		r, err := record.RelationOf(edge.Src, edge.Dst, edge.Weight, edge.Props)
		if err != nil {
			s.t.Fatal(err)
		}
		weight := w.Weight
		if least := float64(len(w.Sources)); differs.lightEdges && weight < least {
			met.lightEdges, weight = true, least
		}
		if got := theirs(r.Sources); r.Weight != weight || !slices.Equal(r.Keywords, w.Keywords) || !slices.Equal(got, w.Sources) {
			s.t.Errorf("edge %q - %q: %g %q %q, want %+v", r.Src, r.Dst, r.Weight, r.Keywords, got, w)
		}
	}
	for pair := range missing {
		if pair[0] == pair[1] {
			met.selfLoops++
			continue
		}
		s.t.Errorf("edge %q is missing", pair)
	}
	if met != differs {
		s.t.Errorf("the run differs by %+v, want %+v", met, differs)
	}
	if n != nodes || m != edges {
		s.t.Errorf("%d nodes and %d edges, want %d and %d", n, m, nodes, edges)
	}
}
