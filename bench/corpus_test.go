package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
	"github.com/glimdb/db/wal"
)

// corpus is a synthetic store of the shape real ones have: long-tailed degrees, a few sources an object,
// and one hub. Stored token counts are a quarter of the bytes, which is what real text comes to. It is a
// function of its sizes, so that a store that was kept can be asked again without being made again.
type corpus struct {
	entities, relations, chunks, hub, dim int

	rng     *rand.Rand
	vectors map[string][]float32 // what the embedder returns
	degree  map[string]int
	ids     []string // of chunks
	words   []string
	topics  [][]float32
	joined  map[[2]int]bool
}

func newCorpus(entities, relations, chunks, hub, dim int) *corpus {
	c := &corpus{entities: entities, relations: relations, chunks: chunks, hub: hub, dim: dim,
		rng: rand.New(rand.NewPCG(7, 11)), vectors: map[string][]float32{}, degree: map[string]int{}, joined: map[[2]int]bool{}}
	for i := range 4000 {
		c.words = append(c.words, fmt.Sprintf("w%s%d", string(rune('a'+i%26)), i))
	}
	for range topics {
		t := make([]float32, dim)
		for i := range t {
			t[i] = float32(c.rng.NormFloat64() + 0.7)
		}
		c.topics = append(c.topics, t)
	}
	return c
}

// name tells corpora apart.
func (c *corpus) name() string {
	return fmt.Sprintf("%d-%d-%d-%d-%d", c.entities, c.relations, c.chunks, c.hub, c.dim)
}

// aimEvery is the share of relations that questions aim at.
const aimEvery = 997

// topics is the number of directions around which vectors lie.
const topics = 300

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

// unit is a vector near one of the topics, and like all others to some degree, as embeddings are: cosines
// are about 0.8 within a topic, 0.3 across.
func (c *corpus) unit() []float32 {
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

// chunk, entity and relation make the i-th record with its vector; they must be called for 0, 1, 2, ..., and
// chunks before entities before relations.
func (c *corpus) chunk(i int) (record.Chunk, []float32) {
	const perDocument = 10
	doc, text := fmt.Sprintf("doc%04d", i/perDocument), c.text(150)
	k := record.Chunk{Doc: doc, Order: i % perDocument, End: len(text), Path: doc + ".txt", Content: text, Tokens: len(text) / 4, LineTokens: len(text)/4 + 10}
	c.ids = append(c.ids, k.ID())
	return k, c.unit()
}

func (c *corpus) entity(i int) (record.Entity, []float32) {
	text := c.text(25)
	e := record.Entity{Name: entityName(i), Type: "concept", Description: text, Sources: c.sources(), SourceCount: 4, Tokens: len(text)/4 + 15}
	v := c.unit()
	c.vectors["entity:"+e.Name] = v
	return e, v
}

func (c *corpus) relation(i int) (record.Relation, []float32) {
	x, y := 0, 0
	for x == y || c.joined[[2]int{x, y}] {
		x, y = int(float64(c.entities)*c.rng.Float64()*c.rng.Float64()), c.rng.IntN(c.entities)
		if i < c.hub {
			x = c.entities - 1
		}
		if x > y {
			x, y = y, x
		}
	}
	c.joined[[2]int{x, y}] = true
	text := c.text(15)
	r := record.Relation{Src: entityName(x), Dst: entityName(y), Keywords: []string{"k"}, Description: text, Weight: float64(1 + c.rng.IntN(4)),
		Sources: c.sources(), SourceCount: 4, Tokens: len(text)/4 + 20}
	c.degree[r.Src]++
	c.degree[r.Dst]++
	v := c.unit()
	if i%aimEvery == 0 {
		c.vectors["relation:"+record.PairID(r.Src, r.Dst)] = v
	}
	return r, v
}

// opened is a store on disk with everything a query needs.
type opened struct {
	kv  *kv.Store
	log *wal.Log
	set *vector.Set
}

func openStore(b *testing.B, dir string) *opened {
	b.Helper()
	return openStoreExact(b, dir, 0)
}

// openStoreExact opens a store whose collections are scanned up to a size, see vector.SetOptions.
func openStoreExact(b *testing.B, dir string, exactBytes int64) *opened {
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
	o.set, err = vector.OpenSet(snap, vector.SetOptions{NewIndex: hnsw.Factory, Update: o.log.Update, Oldest: o.kv.OldestLSN, ExactBytes: exactBytes}, "")
	must(b, err)
	must(b, snap.Close())
	return &o
}

func (o *opened) close(b *testing.B) {
	b.Helper()
	must(b, o.set.Close())
	must(b, o.log.Close())
	must(b, o.kv.Close())
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// store opens a store in dir that holds the corpus; one that is there already is used as it is.
func (c *corpus) store(b *testing.B, dir string) *opened {
	b.Helper()
	_, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		began := time.Now()
		unfinished := dir + ".unfinished" // renamed when complete: an interrupted run leaves no store that looks whole
		must(b, os.RemoveAll(unfinished))
		o := openStore(b, unfinished)
		c.make(b, func(n, batch int, put func(s stage, i int) error) { o.fill(b, c, n, batch, put) })
		must(b, o.set.Settle(context.Background()))
		o.close(b)
		must(b, os.Rename(unfinished, dir))
		b.Logf("made the store in %v", time.Since(began).Round(time.Millisecond))
	case err == nil:
		c.make(b, func(n, _ int, put func(s stage, i int) error) {
			for i := range n {
				must(b, put(stage{}, i))
			}
		})
	default:
		b.Fatal(err)
	}
	began := time.Now()
	o := openStore(b, dir)
	b.Logf("opened it in %v", time.Since(began).Round(time.Millisecond))
	return o
}

// stage is where records are put; its zero value takes none.
type stage struct {
	b                           *kv.Batch
	g                           *graph.Graph
	entities, relations, chunks *vector.Collection
}

// fill commits n records, batch of them at a time.
func (o *opened) fill(b *testing.B, c *corpus, n, batch int, put func(s stage, i int) error) {
	b.Helper()
	for at := 0; at < n; at += batch {
		_, err := o.log.Update(context.Background(), "fill", nil, func(kb *kv.Batch) (err error) {
			s := stage{b: kb}
			if s.g, err = graph.Create(kb, "", record.GraphName, graph.Config{}); err != nil {
				return err
			}
			for name, to := range map[string]**vector.Collection{record.EntityCollection: &s.entities,
				record.RelationCollection: &s.relations, record.ChunkCollection: &s.chunks} {
				if *to, err = o.set.Create(kb, "", name, vector.Config{Dim: c.dim, Model: c.ID()}); err != nil {
					return err
				}
			}
			for i := at; i < min(at+batch, n); i++ {
				if err := put(s, i); err != nil {
					return err
				}
			}
			return nil
		})
		must(b, err)
	}
}

// make makes all records, each kind through fill.
func (c *corpus) make(b *testing.B, fill func(n, batch int, put func(s stage, i int) error)) {
	b.Helper()
	fill(c.chunks, 5_000, func(s stage, i int) error {
		k, v := c.chunk(i)
		if s.b == nil {
			return nil
		}
		return errors.Join(s.b.SetText(record.ChunkKey("", k.Doc, k.Order), k.Encode()), s.chunks.Put(s.b, k.ID(), v))
	})
	fill(c.entities, 10_000, func(s stage, i int) error {
		e, v := c.entity(i)
		if s.b == nil {
			return nil
		}
		return errors.Join(s.g.PutNode(s.b, graph.Node{Name: e.Name, Type: e.Type, Props: e.Props()}), s.entities.Put(s.b, e.Name, v))
	})
	fill(c.relations, 20_000, func(s stage, i int) error {
		r, v := c.relation(i)
		if s.b == nil {
			return nil
		}
		return errors.Join(s.g.PutEdge(s.b, graph.Edge{Src: r.Src, Dst: r.Dst, Weight: r.Weight, Props: r.Props()}),
			s.relations.Put(s.b, record.PairID(r.Src, r.Dst), v))
	})
}
