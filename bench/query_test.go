package bench

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/token"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/wal"
)

// corpus is a synthetic store of the shape real ones have: long-tailed degrees, a few sources an object,
// and one hub. Stored token counts are a quarter of the bytes, which is what real text comes to.
type corpus struct {
	entities, relations, chunks, hub, dim int

	rng     *rand.Rand
	vectors map[string][]float32 // what the embedder returns
	degree  map[string]int
	ids     []string // of chunks
	words   []string
	topics  [][]float32
}

func newCorpus(entities, relations, chunks, hub, dim int) *corpus {
	c := &corpus{entities: entities, relations: relations, chunks: chunks, hub: hub, dim: dim,
		rng: rand.New(rand.NewPCG(7, 11)), vectors: map[string][]float32{}, degree: map[string]int{}}
	for i := range 4000 {
		c.words = append(c.words, fmt.Sprintf("w%s%d", string(rune('a'+i%26)), i))
	}
	return c
}

// aimEvery is the share of relations that questions aim at.
const aimEvery = 997

func entityName(i int) string { return fmt.Sprintf("Entity %05d", i) }

// hubName is the entity with the most relations.
func (c *corpus) hubName() string { return entityName(c.entities - 1) }

func (c *corpus) text(words int) string {
	var sb strings.Builder
	for range words {
		sb.WriteString(c.words[c.rng.IntN(len(c.words))])
		sb.WriteByte(' ')
	}
	return sb.String()
}

// topics is the number of directions around which vectors lie.
const topics = 300

// unit is a vector near one of the topics, and like all others to some degree, as embeddings are: cosines
// are about 0.8 within a topic, 0.3 across.
func (c *corpus) unit() []float32 {
	for len(c.topics) < topics {
		t := make([]float32, c.dim)
		for i := range t {
			t[i] = float32(c.rng.NormFloat64() + 0.7)
		}
		c.topics = append(c.topics, t)
	}
	v := slices.Clone(c.topics[c.rng.IntN(topics)])
	for i := range v {
		v[i] += float32(0.6 * c.rng.NormFloat64())
	}
	return v
}

func (c *corpus) sources() (out []string) {
	for range 1 + c.rng.IntN(4) {
		out = append(out, c.ids[c.rng.IntN(len(c.ids))])
	}
	return out
}

// Embed implements llm.Embedder by look-up: the measured time holds no model.
func (c *corpus) Embed(_ context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v, ok := c.vectors[text]
		if !ok {
			return nil, fmt.Errorf("no vector was planned for %q", text)
		}
		out[i] = v
	}
	return out, nil
}
func (c *corpus) Dim() int   { return c.dim }
func (c *corpus) ID() string { return "bench" }

// opened is a store on disk with everything a query needs.
type opened struct {
	kv  *kv.Store
	log *wal.Log
	set *vector.Set
}

func openStore(b *testing.B, dir string) *opened {
	b.Helper()
	var (
		o   opened
		err error
	)
	o.kv, err = kv.Open(dir, kv.Options{})
	must(b, err)
	o.log, err = wal.Open(o.kv, nil)
	must(b, err)
	snap, err := o.log.View()
	must(b, err)
	o.set, err = vector.OpenSet(snap, vector.SetOptions{NewIndex: hnsw.Factory, Update: o.log.Update, Oldest: o.kv.OldestLSN})
	must(b, err)
	must(b, snap.Close())
	return &o
}

func (o *opened) close(b *testing.B) {
	must(b, o.set.Close())
	must(b, o.log.Close())
	must(b, o.kv.Close())
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

type stage struct {
	b                           *kv.Batch
	g                           *graph.Graph
	entities, relations, chunks *vector.Collection
}

// fill stores the corpus, many records a commit.
func (c *corpus) fill(b *testing.B, o *opened) {
	stages := func(n, each int, put func(s stage, i int) error) {
		for at := 0; at < n; at += each {
			_, err := o.log.Update(context.Background(), "fill", nil, func(batch *kv.Batch) (err error) {
				s := stage{b: batch}
				if s.g, err = graph.Create(batch, "", record.GraphName, graph.Config{}); err != nil {
					return err
				}
				for name, to := range map[string]**vector.Collection{record.EntityCollection: &s.entities,
					record.RelationCollection: &s.relations, record.ChunkCollection: &s.chunks} {
					if *to, err = o.set.Create(batch, "", name, vector.Config{Dim: c.dim, Model: c.ID()}); err != nil {
						return err
					}
				}
				for i := at; i < min(at+each, n); i++ {
					if err := put(s, i); err != nil {
						return err
					}
				}
				return nil
			})
			must(b, err)
		}
	}
	const perDocument = 10
	stages(c.chunks, 500, func(s stage, i int) error {
		doc, text := fmt.Sprintf("doc%04d", i/perDocument), c.text(150)
		k := record.Chunk{Doc: doc, Order: i % perDocument, End: len(text), Path: doc + ".txt", Content: text, Tokens: len(text) / 4, LineTokens: len(text)/4 + 10}
		c.ids = append(c.ids, k.ID())
		if err := s.b.SetText(record.ChunkKey("", k.Doc, k.Order), k.Encode()); err != nil {
			return err
		}
		return s.chunks.Put(s.b, k.ID(), c.unit())
	})
	stages(c.entities, 1000, func(s stage, i int) error {
		text := c.text(25)
		e := record.Entity{Name: entityName(i), Type: "concept", Description: text, Sources: c.sources(), SourceCount: 4, Tokens: len(text)/4 + 15}
		if err := s.g.PutNode(s.b, graph.Node{Name: e.Name, Type: e.Type, Props: e.Props()}); err != nil {
			return err
		}
		v := c.unit()
		c.vectors["entity:"+e.Name] = v
		return s.entities.Put(s.b, e.Name, v)
	})
	seen := map[[2]int]bool{}
	stages(c.relations, 2000, func(s stage, i int) error {
		x, y := 0, 0
		for x == y || seen[[2]int{x, y}] {
			x, y = int(float64(c.entities)*c.rng.Float64()*c.rng.Float64()), c.rng.IntN(c.entities)
			if i < c.hub {
				x = c.entities - 1
			}
			if x > y {
				x, y = y, x
			}
		}
		seen[[2]int{x, y}] = true
		text := c.text(15)
		r := record.Relation{Src: entityName(x), Dst: entityName(y), Keywords: []string{"k"}, Description: text, Weight: float64(1 + c.rng.IntN(4)),
			Sources: c.sources(), SourceCount: 4, Tokens: len(text)/4 + 20}
		c.degree[r.Src]++
		c.degree[r.Dst]++
		if err := s.g.PutEdge(s.b, graph.Edge{Src: r.Src, Dst: r.Dst, Weight: r.Weight, Props: r.Props()}); err != nil {
			return err
		}
		v := c.unit()
		if i%aimEvery == 0 {
			c.vectors["relation:"+record.PairID(r.Src, r.Dst)] = v
		}
		return s.relations.Put(s.b, record.PairID(r.Src, r.Dst), v)
	})
}

// percentile of sorted durations.
func percentile(sorted []time.Duration, p float64) time.Duration {
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

// steps collects durations by step.
type steps map[string][]time.Duration

func (s steps) add(prefix string, list []query.TraceStep) {
	for _, t := range list {
		s[prefix+string(t.Name)] = append(s[prefix+string(t.Name)], t.Duration)
		s.add(prefix+string(t.Name)+"/", t.Steps)
	}
}

// table shows p50 and p95, few steps a line: the testing package cuts logs of benchmarks after ten lines.
func (s steps) table() string {
	var sb strings.Builder
	for i, n := range slices.Sorted(maps.Keys(s)) {
		slices.Sort(s[n])
		if i%3 == 0 {
			sb.WriteByte('\n')
		}
		fmt.Fprintf(&sb, "%-18s %9v %9v   ", n, percentile(s[n], .5).Round(time.Microsecond), percentile(s[n], .95).Round(time.Microsecond))
	}
	return sb.String()
}

// BenchmarkRetrieval measures context-only queries, keywords given, embedding by look-up, on 20,000
// entities, 60,000 relations and 5,000 chunks (a tenth with -short), warm, after a reopen.
func BenchmarkRetrieval(b *testing.B) {
	c := newCorpus(20_000, 60_000, 5_000, 5_000, 384)
	if testing.Short() {
		c = newCorpus(2_000, 6_000, 500, 500, 64)
	}
	dir := filepath.Join(b.TempDir(), "glim")
	o := openStore(b, dir)
	began := time.Now()
	c.fill(b, o)
	must(b, o.set.Settle(context.Background()))
	b.Logf("filled in %v", time.Since(began).Round(time.Millisecond))
	o.close(b)
	began = time.Now()
	o = openStore(b, dir)
	b.Logf("opened in %v", time.Since(began).Round(time.Millisecond))
	defer o.close(b)
	e, err := query.New(query.Config{View: o.log.View, Vectors: o.set, Embedder: c, Tokenizer: token.Default()})
	must(b, err)

	// questions: each aims at one entity and one relation
	type aim struct{ entity, relation string }
	var aims []aim
	var relations []string
	for text := range c.vectors {
		if r, ok := strings.CutPrefix(text, "relation:"); ok {
			relations = append(relations, r)
		}
	}
	slices.Sort(relations)
	for i, r := range relations {
		aims = append(aims, aim{entityName(i * 37 % c.entities), r})
	}
	for i := range aims {
		c.vectors[fmt.Sprintf("what is asked in %d", i)] = c.unit()
	}
	ask := func(b *testing.B, i int, o query.Options) *query.Result {
		a := aims[i%len(aims)]
		o.Want = query.WantContext
		if o.LowKeywords == nil {
			o.LowKeywords = []string{"entity:" + a.entity}
		}
		o.HighKeywords = []string{"relation:" + a.relation}
		r, err := e.Query(context.Background(), fmt.Sprintf("what is asked in %d", i%len(aims)), o)
		must(b, err)
		return r
	}
	for _, mode := range []query.Mode{query.Naive, query.Local, query.Global, query.Hybrid, query.Mix} {
		b.Run(string(mode), func(b *testing.B) {
			found := 0 // warm, and right
			for i := range aims {
				if c.verify(b, ask(b, i, query.Options{Mode: mode}), mode, aims[i].entity, aims[i].relation) {
					found++
				}
			}
			share := float64(found) / float64(len(aims))
			if share < leastFound {
				b.Fatalf("%s: only %.3f of the questions find first what they aim at", mode, share)
			}
			b.ReportAllocs()
			s := steps{}
			for i := 0; b.Loop(); i++ {
				r := ask(b, i, query.Options{Mode: mode})
				s["total"] = append(s["total"], r.Trace.Total)
				s.add("", r.Trace.Steps)
			}
			b.Logf("%s: step, p50, p95%s", mode, s.table())
			b.ReportMetric(share, "found-first")
			b.ReportMetric(float64(percentile(s["total"], .5).Microseconds()), "p50-µs")
			b.ReportMetric(float64(percentile(s["total"], .95).Microseconds()), "p95-µs")
		})
	}
	b.Run("hub", func(b *testing.B) { c.hubAgainstMedian(b, ask) })
}

// leastFound is the share of questions whose aim, a stored vector, must come first: the indexes are
// approximate.
const leastFound = 0.95

// verify checks what must hold of every answer, and reports whether the aim came first.
func (c *corpus) verify(b *testing.B, r *query.Result, mode query.Mode, entity, relation string) bool {
	b.Helper()
	if r.Outcome != query.OutcomeOK || len(r.Data.Chunks) == 0 || r.Tokens.Total() > r.Tokens.Budget {
		b.Fatalf("%s: outcome %q, %d chunks, %d of %d tokens", mode, r.Outcome, len(r.Data.Chunks), r.Tokens.Total(), r.Tokens.Budget)
	}
	switch mode {
	case query.Naive:
		return true
	case query.Global:
		first := r.Data.Relations[0]
		return record.PairID(first.Src, first.Dst) == relation
	}
	last := math.MaxInt
	for _, x := range r.Data.Relations {
		if x.Via != query.ViaLow {
			continue
		}
		if want := c.degree[x.Src] + c.degree[x.Dst]; x.Rank != want || x.Rank > last {
			b.Fatalf("%s: relation %s - %s has rank %d, want %d and no more than %d", mode, x.Src, x.Dst, x.Rank, want, last)
		}
		last = x.Rank
	}
	return r.Data.Entities[0].Name == entity
}

// hubAgainstMedian compares local queries at the hub with those at entities of median degree, taken in turn.
func (c *corpus) hubAgainstMedian(b *testing.B, ask func(*testing.B, int, query.Options) *query.Result) {
	names := make([]string, c.entities)
	for i := range names {
		names[i] = entityName(i)
	}
	slices.SortFunc(names, func(x, y string) int { return c.degree[x] - c.degree[y] })
	middle := names[c.entities/2-50 : c.entities/2+50]
	for _, topK := range []int{40, 1} {
		var hub, median []time.Duration
		local := func(i int, name string) *query.Result {
			return ask(b, i, query.Options{Mode: query.Local, TopK: topK, LowKeywords: []string{"entity:" + name}})
		}
		if r := local(0, c.hubName()); r.Data.Entities[0].Name != c.hubName() || r.Data.Entities[0].Degree < c.hub || len(r.Data.Relations) == 0 {
			b.Fatalf("the hub was not found: %q with degree %d", r.Data.Entities[0].Name, r.Data.Entities[0].Degree)
		}
		b.ResetTimer()
		for i := range max(b.N, 60) {
			median = append(median, local(i, middle[i%len(middle)]).Trace.Total)
			hub = append(hub, local(i, c.hubName()).Trace.Total)
		}
		slices.Sort(hub)
		slices.Sort(median)
		b.Logf("top_k %d: hub of degree %d p50 %v p95 %v, median entity of degree %d p50 %v p95 %v", topK, c.degree[c.hubName()],
			percentile(hub, .5), percentile(hub, .95), c.degree[middle[50]], percentile(median, .5), percentile(median, .95))
		b.ReportMetric(float64(percentile(hub, .5))/float64(percentile(median, .5)), fmt.Sprintf("hub/median-top%d", topK))
	}
}
