package index_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
)

// novels is a recorded run over 20 novels of which only the lists are known: the chunks of each document, and the
// chunks of each entity and relation.
type novels struct {
	docs      map[string][]string // chunk ids in order
	entities  map[string][]string // chunk ids
	relations map[[2]string][]string
}

func loadNovels(t *testing.T) *novels {
	dir := testkit.Data(t, "lightrag-novel-kv")
	type ids struct {
		Chunks []string `json:"chunk_ids"`
	}
	var (
		docs map[string]struct {
			Chunks []string `json:"chunks_list"`
		}
		entities, relations map[string]ids
	)
	readGolden(t, filepath.Join(dir, "kv_store_doc_status.json"), &docs)
	readGolden(t, filepath.Join(dir, "kv_store_entity_chunks.json"), &entities)
	readGolden(t, filepath.Join(dir, "kv_store_relation_chunks.json"), &relations)
	n := &novels{docs: make(map[string][]string), entities: make(map[string][]string), relations: make(map[[2]string][]string)}
	for id, d := range docs {
		n.docs[id] = d.Chunks
	}
	for name, e := range entities {
		n.entities[name] = e.Chunks
	}
	for pair, r := range relations {
		a, b, _ := strings.Cut(pair, index.Separator)
		n.relations[[2]string{a, b}] = r.Chunks
	}
	return n
}

// replies are what a model must have said of each chunk.
func (n *novels) replies() map[string]string {
	lines := make(map[string][]string)
	say := func(chunks []string, fields ...string) {
		for _, c := range chunks {
			lines[c] = append(lines[c], strings.Join(append(slices.Clone(fields), "Said in "+c+"."), "<|#|>"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.entities)) {
		say(n.entities[name], "entity", name, "concept")
	}
	for pair, chunks := range n.relations {
		say(chunks, "relation", pair[0], pair[1], "link")
	}
	out := make(map[string]string)
	for c, list := range lines {
		slices.Sort(list)
		out[c] = strings.Join(append(list, "<|COMPLETE|>"), "\n")
	}
	return out
}

// TestReplayedNovels builds the graph of 8,757 entities and 7,392 relations from its records, and deletes novels: each
// time exactly the entities and relations are left that the records give to the others, with their chunks. Short runs
// take five novels of the twenty.
func TestReplayedNovels(t *testing.T) {
	n := loadNovels(t)
	replies := n.replies()
	chat := llmtest.NewChat(llmtest.Rule{Purpose: llm.PurposeExtract, Func: func(r llm.Request) (string, error) {
		text := r.Messages[len(r.Messages)-1].Content
		at := strings.LastIndex(text, "chunk-")
		return replies[text[at:at+len("chunk-")+32]], nil
	}})
	x, err := index.NewModelExtractor(chat, runes{}, index.ModelOptions{Format: index.FormatLines2025, Gleaning: -1})
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t, index.Options{})
	s.real = x
	s.reopen()
	ids := slices.Sorted(maps.Keys(n.docs))
	if len(ids) != 20 {
		t.Fatalf("%d novels, want 20", len(ids))
	}
	steps := []int{1, 2, 3, 10, 19} // how many are gone: one by one, then many in one call
	if testing.Short() {
		ids, steps = ids[:5], []int{1, 2, 4}
	}
	all := len(ids)
	for _, id := range ids {
		s.enqueue(index.Insert, doc(id, n.docs[id]...)) // a chunk is its id, on a line
	}
	if sum := s.process(); sum.Processed != all {
		t.Fatalf("%+v", sum)
	}
	entities, relations := n.compare(s, ids)
	if all == 20 && (entities != 8757 || relations != 7392) || entities == 0 || relations == 0 {
		t.Errorf("%d entities and %d relations, want 8,757 and 7,392", entities, relations)
	}
	rng := rand.New(rand.NewPCG(20, 1))
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for _, at := range steps {
		next := at - (all - len(ids))
		s.delete(ids[:next]...)
		ids = ids[next:]
		n.compare(s, ids)
	}
}

// compare holds the graph against the records of the documents that are left, and counts what they have.
func (n *novels) compare(s *store, ids []string) (entities, relations int) {
	s.t.Helper()
	ours := make(map[string]string) // recorded chunk id to ours
	for _, id := range ids {
		for i, c := range n.docs[id] {
			ours[c] = record.ChunkID(id, i)
		}
	}
	left := func(chunks []string) (out []string) {
		for _, c := range chunks {
			if id, ok := ours[c]; ok {
				out = append(out, id)
			}
		}
		return sorted(out)
	}
	v := s.view()
	defer v.Close()
	g, err := graph.Open(v, "", record.GraphName)
	if err != nil {
		s.t.Fatal(err)
	}
	wrong := func(format string, args ...any) {
		s.t.Helper()
		s.t.Fatalf("with %d novels left: %s", len(ids), fmt.Sprintf(format, args...))
	}
	for node, err := range g.AllNodes(v) {
		if err != nil {
			s.t.Fatal(err)
		}
		e, err := record.EntityOf(node.Name, node.Type, node.Props)
		if err != nil {
			s.t.Fatal(err)
		}
		if want := left(n.entities[e.Name]); len(want) == 0 || !slices.Equal(sorted(e.Sources), want) {
			wrong("entity %q has the chunks %q, want %q", e.Name, e.Sources, want)
		}
		entities++
	}
	for edge, err := range g.AllEdges(v) {
		if err != nil {
			s.t.Fatal(err)
		}
		r, err := record.RelationOf(edge.Src, edge.Dst, edge.Weight, edge.Props)
		if err != nil {
			s.t.Fatal(err)
		}
		want := left(n.relations[[2]string{r.Src, r.Dst}])
		if len(want) == 0 || !slices.Equal(sorted(r.Sources), want) || r.Weight != float64(len(want)) {
			wrong("relation %q - %q has weight %g and the chunks %q, want %q", r.Src, r.Dst, r.Weight, r.Sources, want)
		}
		relations++
	}
	there := 0
	for _, chunks := range n.entities {
		if len(left(chunks)) > 0 {
			there++
		}
	}
	linked := 0
	for _, chunks := range n.relations {
		if len(left(chunks)) > 0 {
			linked++
		}
	}
	if entities != there || relations != linked {
		wrong("%d entities and %d relations, want %d and %d", entities, relations, there, linked)
	}
	return entities, relations
}
