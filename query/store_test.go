package query

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/vector"
)

const testDim = 8

// testStore is a real engine in memory, filled through the encodings that the write side uses.
type testStore struct {
	t   testing.TB
	kv  *kv.Store
	set *vector.Set
	mu  sync.Mutex // guards lsn: a view and its LSN belong together
	lsn kv.LSN
	tok llm.Tokenizer
	emb *llmtest.Embedder
}

func newStore(t testing.TB, dim int) *testStore {
	t.Helper()
	s := &testStore{t: t, tok: wordTokenizer{}, emb: llmtest.NewEmbedder(dim)}
	var err error
	s.kv, err = kv.Open("query", kv.Options{FS: testkit.MemFS()})
	check(t, err)
	snap, err := s.kv.Snapshot(0)
	check(t, err)
	s.set, err = vector.OpenSet(snap, vector.SetOptions{}, "")
	check(t, err)
	check(t, snap.Close())
	t.Cleanup(func() {
		s.check()
		check(t, s.set.Close())
		check(t, s.kv.Close()) // fails when a snapshot was left open
	})
	return s
}

// check fails the test for every broken invariant of the graph and of the collections. What dangles between
// the two is index's to check, and there are tests here that make it.
func (s *testStore) check() {
	s.t.Helper()
	v, err := s.view()
	check(s.t, err)
	defer v.Close()
	g, err := graph.Open(v, "", record.GraphName)
	switch {
	case errors.Is(err, kv.ErrNotFound): // nothing was committed
	case err != nil:
		s.t.Errorf("check: %v", err)
	default:
		for p, err := range g.Check(v) {
			s.t.Errorf("check graph: %+v, %v", p, err)
		}
	}
	for p, err := range s.set.Check(context.Background(), v, "") {
		s.t.Errorf("check collections: %+v, %v", p, err)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *testStore) view() (*kv.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kv.Snapshot(s.lsn)
}

func graphNode(name, typ string) graph.Node { return graph.Node{Name: name, Type: typ} }

// writer stages records of one commit.
type writer struct {
	s                           *testStore
	b                           *kv.Batch
	g                           *graph.Graph
	entities, relations, chunks *vector.Collection
}

// commit makes the changes of fn visible.
func (s *testStore) commit(fn func(w *writer)) {
	s.t.Helper()
	b, err := s.kv.NewBatch(s.lsn)
	check(s.t, err)
	defer b.Close()
	w := &writer{s: s, b: b}
	w.g, err = graph.Create(b, "", record.GraphName, graph.Config{})
	check(s.t, err)
	for name, to := range map[string]**vector.Collection{record.EntityCollection: &w.entities,
		record.RelationCollection: &w.relations, record.ChunkCollection: &w.chunks} {
		*to, err = s.set.Create(b, "", name, vector.Config{Dim: s.emb.Dim(), Model: s.emb.ID()})
		check(s.t, err)
	}
	fn(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	check(s.t, s.kv.Apply(b))
	s.lsn++
	b.Committed(s.lsn)
}

func (w *writer) vector(text string, v []float32) []float32 {
	if v != nil {
		return v
	}
	out, err := w.s.emb.Embed(context.Background(), []string{text}, llm.ForDocument)
	check(w.s.t, err)
	return out[0]
}

// chunk stores a chunk; v nil means the embedding of its text.
func (w *writer) chunk(doc string, order int, path, text string, v []float32) string {
	w.s.t.Helper()
	c := record.Chunk{Doc: doc, Order: order, Start: 100 * order, End: 100*order + len(text), Path: path, Content: text,
		Tokens: w.s.tok.Count(text)}
	c.CountLine(w.s.tok.Count)
	return w.record(c, v)
}

// record stores a chunk as it is.
func (w *writer) record(c record.Chunk, v []float32) string {
	w.s.t.Helper()
	check(w.s.t, w.b.SetText(record.ChunkKey("", c.Doc, c.Order), c.Encode()))
	check(w.s.t, w.chunks.Put(w.b, c.ID(), w.vector(c.Content, v)))
	return c.ID()
}

// paths are those of the documents of sources, as the tests name them.
func paths(sources []string) (out []string) {
	for _, id := range sources {
		doc, _, _ := record.ParseChunkID(id)
		if p := doc + ".txt"; !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

func (w *writer) entity(name, typ, description string, v []float32, sources ...string) {
	w.s.t.Helper()
	e := record.Entity{Name: name, Type: typ, Description: description, Sources: sources, SourceCount: len(sources), Paths: paths(sources),
		Tokens: w.s.tok.Count(record.EntityLine(name, typ, description))}
	check(w.s.t, w.g.PutNode(w.b, graph.Node{Name: name, Type: typ, Props: e.Props()}))
	check(w.s.t, w.entities.Put(w.b, name, w.vector(name+"\n"+description, v)))
}

func (w *writer) relation(src, dst string, weight float64, description string, v []float32, sources ...string) {
	w.s.t.Helper()
	src, dst = record.SortPair(src, dst)
	r := record.Relation{Src: src, Dst: dst, Weight: weight, Description: description, Keywords: []string{"k"}, Sources: sources,
		SourceCount: len(sources), Paths: paths(sources), Tokens: w.s.tok.Count(record.RelationLine(src, dst, description))}
	check(w.s.t, w.g.PutEdge(w.b, graph.Edge{Src: src, Dst: dst, Weight: weight, Props: r.Props()}))
	check(w.s.t, w.relations.Put(w.b, record.PairID(src, dst), w.vector(src+dst+description, v)))
}

// engine returns an Engine on the store; edit may change its configuration.
func (s *testStore) engine(edit ...func(*Config)) *Engine {
	s.t.Helper()
	c := Config{View: s.view, Vectors: s.set, Embedder: s.emb, Tokenizer: s.tok}
	for _, f := range edit {
		f(&c)
	}
	e, err := New(c)
	check(s.t, err)
	return e
}

// ask queries and fails the test on error.
func ask(t testing.TB, e *Engine, question string, o Options) *Result {
	t.Helper()
	r, err := e.Query(context.Background(), question, o)
	check(t, err)
	return r
}

// at returns a unit vector whose cosine to axis is cos; the rest points along another axis.
func at(axis int, cos float64, other int) []float32 {
	v := make([]float32, testDim)
	v[axis] = float32(cos)
	v[other] += float32(math.Sqrt(1 - cos*cos))
	return v
}

func names(es []Entity) string {
	var s []string
	for _, e := range es {
		s = append(s, e.Name)
	}
	return strings.Join(s, " ")
}

func pairs(rs []Relation) string {
	var s []string
	for _, r := range rs {
		s = append(s, r.Src+"-"+r.Dst)
	}
	return strings.Join(s, " ")
}

func chunkIDs(cs []Chunk) string {
	var s []string
	for _, c := range cs {
		s = append(s, strings.TrimPrefix(c.ID, "d-chunk-"))
	}
	return strings.Join(s, " ")
}

func hasReason(r *Result, code ReasonCode) bool {
	return slices.ContainsFunc(r.Reasons, func(x Reason) bool { return x.Code == code })
}

func fellBack(r *Result, step Step, to string) bool {
	return slices.ContainsFunc(r.Fallbacks, func(f Fallback) bool { return f.Step == step && f.To == to })
}

// wordTokenizer counts words and single other characters: cheap, and easy to follow in a test.
type wordTokenizer struct{}

func (wordTokenizer) split(text string) (out []string) {
	start := -1
	for i, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			out = append(out, text[start:i])
			start = -1
		}
		out = append(out, string(r))
	}
	if start >= 0 {
		out = append(out, text[start:])
	}
	return out
}

func (w wordTokenizer) Count(text string) int { return len(w.split(text)) }

func (w wordTokenizer) Encode(dst []int, text string) []int {
	for _, s := range w.split(text) {
		h := fnv.New32a()
		fmt.Fprint(h, s)
		dst = append(dst, int(h.Sum32()))
	}
	return dst
}

func (wordTokenizer) Decode([]int) []byte { return nil }

func (wordTokenizer) ID() string { return "words" }

// memCache is a byte store in memory.
type memCache struct {
	m    map[string][]byte
	fail error
}

func (c *memCache) Get(_ context.Context, key string) ([]byte, bool, error) {
	v, ok := c.m[key]
	return v, ok, c.fail
}

func (c *memCache) Put(_ context.Context, key string, v []byte) error {
	if c.m == nil {
		c.m = make(map[string][]byte)
	}
	c.m[key] = v
	return c.fail
}

// inContext counts the chunks in the context, which must be the first ones.
func inContext(r *Result) (n int) {
	for i, c := range r.Data.Chunks {
		if c.InContext && n == i {
			n++
		} else if c.InContext {
			return -1
		}
	}
	return n
}
