package index_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/wal"
)

// The texts of these tests say themselves what is extracted from them: one statement a line,
//
//	E name | type | description
//	R a - b | keywords | description
//
// and one line is one chunk. Lines of another form are text without records.

// lineChunker makes a chunk of each line.
type lineChunker struct{}

func (lineChunker) ID() string { return "lines" }

// scripted is the extractor of these tests. It counts its calls and can be made to fail.
type scripted struct {
	mu     sync.Mutex
	asked  []string // texts, in order of the calls
	before func(ctx context.Context, text string) error
	cut    map[string]bool // texts whose reply is cut off: no records
	memo   map[string]bool // the reply cache: texts that were answered
}

func (*scripted) ID() string { return "scripted" }

func (s *scripted) Extract(ctx context.Context, in index.ExtractInput) (index.Extraction, error) {
	s.mu.Lock()
	cached := s.memo[in.Text]
	if !cached {
		s.asked = append(s.asked, in.Text)
	}
	before, cut := s.before, s.cut[in.Text]
	s.mu.Unlock()
	var x index.Extraction
	if cached {
		x = parse(in.Text)
		x.Report.CachedCalls = 1
		return x, nil
	}
	if before != nil {
		if err := before(ctx, in.Text); err != nil {
			return index.Extraction{}, err
		}
	}
	if cut {
		x.Report.Truncated = true
	} else {
		x = parse(in.Text)
		s.mu.Lock()
		s.memo[in.Text] = true
		s.mu.Unlock()
	}
	x.Report.Calls = 1
	return x, nil
}

func (s *scripted) calls() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.asked) }

func parse(text string) (x index.Extraction) {
	kind, rest, _ := strings.Cut(text, " ")
	f := strings.Split(rest, "|")
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	switch {
	case kind == "E" && len(f) == 3:
		x.Entities = append(x.Entities, index.EntityRecord{Name: f[0], Type: f[1], Description: f[2]})
	case kind == "R" && len(f) == 3:
		a, b, _ := strings.Cut(f[0], " - ")
		x.Relations = append(x.Relations, index.RelationRecord{Src: a, Dst: b, Keywords: strings.Split(f[1], ","), Description: f[2], Weight: 1})
	}
	return x
}

// embedder is seeded by the text: same text, same vector. It has a cache, as the real one.
type embedder struct {
	dim    int
	mu     sync.Mutex
	sent   []string
	memo   map[string]bool
	answer func(texts []string, v [][]float32) [][]float32
	before func(texts []string) // called without the lock
}

func (e *embedder) ID() string { return fmt.Sprintf("seeded-%d", e.dim) }
func (e *embedder) Dim() int   { return e.dim }

func (e *embedder) Embed(ctx context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	if e.before != nil {
		e.before(texts)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if !e.memo[t] {
			e.sent = append(e.sent, t)
		}
		h := fnv.New64a()
		h.Write([]byte(t))
		rng := rand.New(rand.NewPCG(h.Sum64(), 1))
		out[i] = make([]float32, e.dim)
		for j := range out[i] {
			out[i][j] = float32(rng.NormFloat64())
		}
	}
	if e.answer != nil {
		out = e.answer(texts, out)
	}
	for _, t := range texts {
		e.memo[t] = true
	}
	return out, ctx.Err()
}

func (e *embedder) calls() int { e.mu.Lock(); defer e.mu.Unlock(); return len(e.sent) }

// summarizer names how many fragments it was given.
type summarizer struct {
	mu    sync.Mutex
	asked []string // names
	err   error
}

func (*summarizer) ID() string { return "count" }

func (s *summarizer) Summarize(_ context.Context, kind, name string, fragments []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, name)
	h := fnv.New32a()
	h.Write([]byte(strings.Join(fragments, "\x00")))
	return fmt.Sprintf("%s %s in %d fragments, %x", kind, name, len(fragments), h.Sum32()), s.err
}

// runes counts characters.
type runes struct{}

func (runes) ID() string         { return "runes" }
func (runes) Count(s string) int { return utf8.RuneCountInString(s) }
func (runes) Encode(dst []int, s string) []int {
	for _, r := range s {
		dst = append(dst, int(r))
	}
	return dst
}
func (runes) Decode(tokens []int) []byte {
	var b []byte
	for _, t := range tokens {
		b = utf8.AppendRune(b, rune(t))
	}
	return b
}

// store is a pipeline over a real engine in memory.
type store struct {
	*index.Pipeline
	t       testing.TB
	fs      vfs.FS
	kv      *kv.Store
	log     *wal.Log
	vectors *vector.Set
	extract *scripted
	real    index.Extractor // used instead of extract, when set
	embed   *embedder
	summary *summarizer
	now     time.Time
	opts    index.Options
	hook    func(kind string) // called before each commit of the pipeline
}

// hooked is the commit path with a hook before it.
type hooked struct {
	*wal.Log
	s *store
}

func (h hooked) Update(ctx context.Context, kind string, ids []string, fn func(b *kv.Batch) error) (kv.LSN, error) {
	if h.s.hook != nil {
		h.s.hook(kind)
	}
	return h.Log.Update(ctx, kind, ids, fn)
}

func newStore(t testing.TB, o index.Options) *store {
	s := &store{t: t, fs: vfs.NewMem(), opts: o, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		extract: &scripted{memo: map[string]bool{}, cut: map[string]bool{}}, embed: &embedder{dim: 8, memo: map[string]bool{}},
		summary: &summarizer{}}
	if s.opts.ChunkTokens == 0 {
		s.opts.ChunkTokens = 1 << 20 // what the chunker cuts stays whole
		if s.opts.Chunker == nil {
			s.opts.Chunker = lineChunker{}
		}
	}
	if s.opts.EntityWords == index.EntityWordsKeep {
		s.opts.EntityWords = index.EntityWordsOn // so that every check compares them, too
	}
	s.open()
	t.Cleanup(func() {
		s.check()
		s.close()
	})
	return s
}

func (s *store) open() {
	s.t.Helper()
	var err error
	must := func() {
		if err != nil {
			s.t.Helper()
			s.t.Fatal(err)
		}
	}
	s.kv, err = kv.Open("db", kv.Options{FS: s.fs})
	must()
	s.log, err = wal.Open(s.kv, nil)
	must()
	view, err := s.log.View()
	must()
	s.vectors, err = vector.OpenSet(view, vector.SetOptions{Update: s.log.Update, Oldest: s.kv.OldestLSN}, "")
	must()
	err = view.Close()
	must()
	s.Pipeline = s.pipeline(hooked{s.log, s})
}

// pipeline makes one more pipeline over the same store; it knows nothing of the claims of others.
func (s *store) pipeline(u index.Updater) *index.Pipeline {
	s.t.Helper()
	var x index.Extractor = s.extract
	if s.real != nil {
		x = s.real
	}
	p, err := index.New(index.Config{Updater: u, Vectors: s.vectors, Extractor: x, Summarizer: s.summary,
		Embedder: s.embed, Tokenizer: runes{}, Options: s.opts, Now: func() time.Time { return s.now }, Random: func() uint32 { return 0xabcd }})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *store) close() {
	if err := errors.Join(s.vectors.Close(), s.log.Close(), s.kv.Close()); err != nil {
		s.t.Error(err)
	}
}

func (s *store) reopen() { s.t.Helper(); s.close(); s.open() }

func (s *store) view() *kv.Snapshot {
	s.t.Helper()
	v, err := s.log.View()
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// check fails the test for every broken invariant of all three models.
func (s *store) check() {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	for p, err := range s.Check(context.Background(), v) {
		if err != nil {
			s.t.Error(err)
		} else {
			s.t.Error(p)
		}
	}
	g, err := graph.Open(v, "", record.GraphName)
	if errors.Is(err, kv.ErrNotFound) {
		return
	}
	if err != nil {
		s.t.Fatal(err)
	}
	for p, err := range g.Check(v) {
		s.t.Error(p, err)
	}
	for _, name := range []string{record.ChunkCollection, record.EntityCollection, record.RelationCollection} {
		c, err := s.vectors.Collection(v, "", name)
		if err != nil {
			s.t.Fatal(err)
		}
		for p, err := range c.Check(context.Background(), v) {
			s.t.Error(p, err)
		}
	}
}

func (s *store) enqueue(policy index.Policy, docs ...index.Document) index.Receipt {
	s.t.Helper()
	r, err := s.Enqueue(context.Background(), docs, policy)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *store) process() index.Summary {
	s.t.Helper()
	sum, err := s.Process(context.Background(), index.ProcessOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return sum
}

func (s *store) put(docs ...index.Document) index.Summary {
	s.t.Helper()
	s.enqueue(index.Put, docs...)
	return s.process()
}

func (s *store) delete(ids ...string) index.DeleteResult {
	s.t.Helper()
	r, err := s.Delete(context.Background(), ids...)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *store) info(id string) index.Info {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	i, err := index.GetInfo(v, "", id)
	if err != nil {
		s.t.Fatal(err)
	}
	return i
}

// dump is the logical state: what index exports, the graph, and the vectors.
func (s *store) dump() []string {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	var out []string
	line := func(kind string, x any) {
		b, err := json.Marshal(x)
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, kind+" "+string(b))
	}
	for e, err := range index.Export(v, "") {
		if err != nil {
			s.t.Fatal(err)
		}
		line(e.Kind, e.Logical())
	}
	g, err := graph.Open(v, "", record.GraphName)
	if errors.Is(err, kv.ErrNotFound) {
		return out
	}
	if err != nil {
		s.t.Fatal(err)
	}
	for n, err := range g.AllNodes(v) {
		if err != nil {
			s.t.Fatal(err)
		}
		delete(n.Props, "created_at")
		line("node", n)
	}
	for e, err := range g.AllEdges(v) {
		if err != nil {
			s.t.Fatal(err)
		}
		delete(e.Props, "created_at")
		line("edge", e)
	}
	for _, name := range []string{record.ChunkCollection, record.EntityCollection, record.RelationCollection} {
		c, err := s.vectors.Collection(v, "", name)
		if err != nil {
			s.t.Fatal(err)
		}
		for row, err := range c.All(v) {
			if err != nil {
				s.t.Fatal(err)
			}
			line(name, row)
		}
	}
	return out
}

// diff reports how two dumps differ, "" when they do not.
func diff(got, want []string) string {
	if slices.Equal(got, want) {
		return ""
	}
	var sb strings.Builder
	for _, l := range got {
		if !slices.Contains(want, l) {
			sb.WriteString("+ " + l + "\n")
		}
	}
	for _, l := range want {
		if !slices.Contains(got, l) {
			sb.WriteString("- " + l + "\n")
		}
	}
	if sb.Len() == 0 {
		return fmt.Sprintf("same lines in another order or number: %d and %d\n", len(got), len(want))
	}
	return sb.String()
}

func (s *store) entity(name string) *record.Entity {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	g, err := graph.Open(v, "", record.GraphName)
	if err != nil {
		s.t.Fatal(err)
	}
	nodes, err := g.Nodes(v, []string{name})
	if err != nil {
		s.t.Fatal(err)
	}
	if nodes[0] == nil {
		return nil
	}
	e, err := record.EntityOf(name, nodes[0].Type, nodes[0].Props)
	if err != nil {
		s.t.Fatal(err)
	}
	return &e
}

func (s *store) relation(a, b string) *record.Relation {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	g, err := graph.Open(v, "", record.GraphName)
	if err != nil {
		s.t.Fatal(err)
	}
	edges, err := g.Edges(v, [][2]string{{a, b}})
	if err != nil {
		s.t.Fatal(err)
	}
	if edges[0] == nil {
		return nil
	}
	r, err := record.RelationOf(edges[0].Src, edges[0].Dst, edges[0].Weight, edges[0].Props)
	if err != nil {
		s.t.Fatal(err)
	}
	return &r
}

func doc(id string, lines ...string) index.Document {
	return index.Document{ID: id, Path: id + ".txt", Text: strings.Join(lines, "\n")}
}

// Split implements chunk.Chunker.
func (lineChunker) Split(_ context.Context, text string) ([]chunk.Span, error) {
	var spans []chunk.Span
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text) - at
		}
		if line := strings.TrimSpace(text[at : at+end]); line != "" {
			start := at + strings.Index(text[at:at+end], line)
			spans = append(spans, chunk.Span{Start: start, End: start + len(line)})
		}
		at += end + 1
	}
	return spans, nil
}

// copyTo loads everything of s into c, an empty store.
func (s *store) copyTo(c *store) {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	must := func(err error) {
		if err != nil {
			s.t.Helper()
			s.t.Fatal(err)
		}
	}
	_, err := c.log.Update(context.Background(), "load", nil, func(b *kv.Batch) error {
		for e, err := range index.Export(v, "") {
			must(err)
			value, err := json.Marshal(e.Value)
			must(err)
			must(index.Import(b, "", e.Kind, value))
		}
		from, err := graph.Open(v, "", record.GraphName)
		must(err)
		to, err := graph.Create(b, "", record.GraphName, graph.Config{})
		must(err)
		for n, err := range from.AllNodes(v) {
			must(err)
			must(to.PutNode(b, *n))
		}
		for e, err := range from.AllEdges(v) {
			must(err)
			must(to.PutEdge(b, *e))
		}
		for _, name := range []string{record.ChunkCollection, record.EntityCollection, record.RelationCollection} {
			src, err := s.vectors.Collection(v, "", name)
			must(err)
			dst, err := c.vectors.Create(b, "", name, src.Config())
			must(err)
			for row, err := range src.All(v) {
				must(err)
				must(dst.Put(b, row.ID, row.Vector))
			}
		}
		return nil
	})
	must(err)
}

func (s *store) putEntity(b *kv.Batch, e *record.Entity) error {
	g, err := graph.Open(b, "", record.GraphName)
	if err != nil {
		return err
	}
	return g.PutNode(b, graph.Node{Name: e.Name, Type: e.Type, Props: e.Props()})
}
