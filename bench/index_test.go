package bench

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/wal"
)

// indexChunks is how far BenchmarkIndexGrowth goes; the full run is 50,000.
var indexChunks = flag.Int("index.chunks", 4_000, "chunks that BenchmarkIndexGrowth stores beyond the first 1,000")

const (
	firstDocuments    = 100 // stored before anything is measured
	chunksPerDocument = 10
	recordsPerChunk   = 10 // entities, and as many relations
)

// workload is documents, and the models that know them, without latency: a line is a chunk, whose records follow from
// its number by a seeded generator. Entity names are drawn by Zipf's law, so that few are hubs and most are rare.
type workload struct {
	names uint64
	table [][]float32 // vectors, drawn once; those of texts lie around them
}

func newWorkload(names uint64, dim int) *workload {
	w := &workload{names: names}
	rng := rand.New(rand.NewPCG(3, 5))
	for range 1 << 12 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		w.table = append(w.table, v)
	}
	return w
}

func (*workload) ID() string { return "workload" }

// document is the n-th document.
func (w *workload) document(n int) index.Document {
	var text strings.Builder
	for i := range chunksPerDocument {
		fmt.Fprintf(&text, "chunk %d\n", n*chunksPerDocument+i)
	}
	return index.Document{ID: documentID(n), Text: text.String()}
}

func documentID(n int) string { return fmt.Sprintf("d%06d", n) }

// Extract implements index.Extractor.
func (w *workload) Extract(_ context.Context, in index.ExtractInput) (x index.Extraction, err error) {
	var n uint64
	if _, err := fmt.Sscanf(in.Text, "chunk %d", &n); err != nil {
		return x, err
	}
	rng := rand.New(rand.NewPCG(n, 9))
	zipf := rand.NewZipf(rng, 1.1, 8, w.names-1)
	name := func() string { return fmt.Sprintf("Entity %d", zipf.Uint64()) }
	for i := range recordsPerChunk {
		x.Entities = append(x.Entities, index.EntityRecord{Name: name(), Type: "thing", Description: fmt.Sprintf("Fact %d of chunk %d, as it is told there.", i, n)})
		x.Relations = append(x.Relations, index.RelationRecord{Src: name(), Dst: name(), Keywords: []string{"link"},
			Description: fmt.Sprintf("Link %d of chunk %d, as it is told there.", i, n), Weight: 1})
	}
	return x, nil
}

// Split implements chunk.Chunker: a line is a chunk.
func (*workload) Split(_ context.Context, text string) (spans []chunk.Span, _ error) {
	at := 0
	for line := range strings.Lines(text) {
		spans = append(spans, chunk.Span{Start: at, End: at + len(strings.TrimSuffix(line, "\n"))})
		at += len(line)
	}
	return spans, nil
}

// Summarize implements index.Summarizer.
func (*workload) Summarize(_ context.Context, _, name string, fragments []string) (string, error) {
	return fmt.Sprintf("%s: %s, and more.", name, fragments[0]), nil
}

// embedder is the workload as an llm.Embedder.
type embedder struct{ *workload }

func (e embedder) Dim() int { return len(e.table[0]) }

func (e embedder) Embed(_ context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		h := fnv.New64a()
		h.Write([]byte(text))
		n, size := h.Sum64(), uint64(len(e.table))
		near, by := e.table[n%size], e.table[n/size%size]
		out[i] = make([]float32, len(near))
		for j := range near {
			out[i][j] = near[j] + by[j]/2
		}
	}
	return out, nil
}

// bytesTokenizer counts a token for every four bytes.
type bytesTokenizer struct{}

func (bytesTokenizer) ID() string         { return "bytes" }
func (bytesTokenizer) Count(s string) int { return len(s)/4 + 1 }
func (bytesTokenizer) Decode(t []int) []byte {
	b := make([]byte, len(t))
	for i := range t {
		b[i] = byte(t[i])
	}
	return b
}
func (bytesTokenizer) Encode(dst []int, s string) []int {
	for i := range len(s) {
		dst = append(dst, int(s[i]))
	}
	return dst
}

// timedLog is a commit path that sums the time of commits without that of what is staged in them.
type timedLog struct {
	*wal.Log
	mu             sync.Mutex
	commit, staged time.Duration
}

func (l *timedLog) Update(ctx context.Context, kind string, ids []string, fn func(b *kv.Batch) error) (kv.LSN, error) {
	start, staged := time.Now(), time.Duration(0)
	lsn, err := l.Log.Update(ctx, kind, ids, func(b *kv.Batch) error {
		began := time.Now()
		defer func() { staged += time.Since(began) }()
		return fn(b)
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.commit += time.Since(start) - staged
	l.staged += staged
	return lsn, err
}

// indexed is a store with a pipeline.
type indexed struct {
	*opened
	b    *testing.B
	work *workload
	log  *timedLog
	pipe *index.Pipeline
}

func newIndexed(b *testing.B, w *workload, o index.Options, exactBytes int64) *indexed {
	b.Helper()
	s := &indexed{opened: openStoreExact(b, b.TempDir(), exactBytes), b: b, work: w}
	s.log = &timedLog{Log: s.opened.log}
	s.pipe = s.pipeline(w, o)
	return s
}

// pipeline is another pipeline over the store.
func (s *indexed) pipeline(x index.Extractor, o index.Options) *index.Pipeline {
	s.b.Helper()
	o.Chunker = s.work
	p, err := index.New(index.Config{Updater: s.log, Vectors: s.set, Extractor: x, Summarizer: s.work, Embedder: embedder{s.work}, Tokenizer: bytesTokenizer{}, Options: o})
	must(s.b, err)
	return p
}

// insert stores documents and waits until their vectors are in their indexes, so that background work counts for those
// who cause it.
func (s *indexed) insert(docs ...index.Document) {
	s.b.Helper()
	for part := range slices.Chunk(docs, 500) {
		_, err := s.pipe.Enqueue(context.Background(), part, index.Insert)
		must(s.b, err)
	}
	sum, err := s.pipe.Process(context.Background(), index.ProcessOptions{})
	if must(s.b, err); sum.Processed != len(docs) {
		s.b.Fatalf("%+v of %d documents", sum, len(docs))
	}
	must(s.b, s.set.Settle(context.Background()))
}

func (s *indexed) delete(ids ...string) {
	s.b.Helper()
	_, err := s.pipe.Delete(context.Background(), ids...)
	must(s.b, err)
	must(s.b, s.set.Settle(context.Background()))
}

// check fails the benchmark when the store is not sound, or holds another number of documents.
func (s *indexed) check(documents int) {
	s.b.Helper()
	view, err := s.log.View()
	must(s.b, err)
	n := 0
	for i, err := range index.Documents(view, "", index.Filter{}) {
		if must(s.b, err); i.Status != "processed" || i.Chunks == 0 {
			s.b.Fatalf("%+v", i)
		}
		n++
	}
	if n != documents {
		s.b.Fatalf("%d documents, want %d", n, documents)
	}
	for p, err := range s.pipe.Check(context.Background(), view) {
		must(s.b, err)
		s.b.Fatal(p)
	}
	must(s.b, view.Close())
}

// entity returns an entity, nil when there is none.
func (s *indexed) entity(name string) *record.Entity {
	s.b.Helper()
	view, err := s.log.View()
	must(s.b, err)
	defer view.Close()
	g, err := graph.Open(view, "", record.GraphName)
	must(s.b, err)
	nodes, err := g.Nodes(view, []string{name})
	must(s.b, err)
	if nodes[0] == nil {
		return nil
	}
	e, err := record.EntityOf(name, nodes[0].Type, nodes[0].Props)
	must(s.b, err)
	return &e
}

// BenchmarkIndexGrowth stores documents with models that take no time, and reports the processor time of a document in
// the last tenth relative to the first, the share of commits in the elapsed time (of all workers together, with what they
// wait for their turn and the disk), and what deleting a document takes relative to having stored it, among few documents and among all. Without vector indexes it is the cost of the write
// side; with them it contains theirs, which begins where a collection is too large to be scanned.
func BenchmarkIndexGrowth(b *testing.B) {
	for name, exactBytes := range map[string]int64{"without-vector-index": 1 << 40, "with-vector-index": 0} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				growth(b, *indexChunks, exactBytes)
			}
		})
	}
}

func growth(b *testing.B, chunks int, exactBytes int64) {
	documents := chunks / chunksPerDocument
	s := newIndexed(b, newWorkload(uint64(10*chunks), 64), index.Options{}, exactBytes)
	put := func(from, to int) {
		var docs []index.Document
		for n := from; n < to; n++ {
			docs = append(docs, s.work.document(n))
		}
		s.insert(docs...)
	}
	put(0, firstDocuments)
	var cpu [10]time.Duration
	var deletes [2]float64
	start := time.Now()
	for part := range cpu {
		from, to := part*documents/len(cpu), (part+1)*documents/len(cpu)
		began := processTime()
		put(firstDocuments+from, firstDocuments+to)
		cpu[part] = (processTime() - began) / time.Duration(to-from)
		if part == 0 {
			deletes[0] = s.deleteRatio(0)
		}
	}
	took := time.Since(start)
	b.Logf("processor time of a document, by tenths of %d chunks: %v", chunks, cpu)
	deletes[1] = s.deleteRatio(tries)
	hub := s.entity("Entity 0")
	if hub == nil || hub.SourceCount < chunks/10 || len(hub.Sources) != 200 {
		b.Fatalf("the hub is %+v", hub)
	}
	s.check(firstDocuments + documents)
	b.ReportMetric(float64(documents)/took.Seconds(), "docs/s")
	b.ReportMetric(float64(time.Second)/float64(cpu[9]), "docs/cpu-s-last-tenth")
	b.ReportMetric(float64(cpu[9])/float64(cpu[0]), "last/first-tenth")
	b.ReportMetric(float64(s.log.commit)/float64(took), "commit-share")
	b.ReportMetric(deletes[0], "delete/insert-first-tenth")
	b.ReportMetric(deletes[1], "delete/insert-all")
	s.close(b)
}

// tries is the number of documents of deleteRatio.
const tries = 21

// deleteRatio inserts documents from the n-th on one by one and deletes them, and returns the median of the ratios of
// processor time.
func (s *indexed) deleteRatio(n int) float64 {
	s.b.Helper()
	var ratios []float64
	for i := range tries {
		doc := s.work.document(1_000_000 + n + i)
		began := processTime()
		s.insert(doc)
		stored := processTime()
		s.delete(doc.ID)
		ratios = append(ratios, float64(processTime()-stored)/float64(stored-began))
	}
	slices.Sort(ratios)
	return ratios[tries/2]
}

// BenchmarkIndexHub makes one entity the subject of 100,000 records and reports what a document that speaks of it takes,
// relative to one that speaks of an entity of as many records as its view may show, and to one of its own.
func BenchmarkIndexHub(b *testing.B) {
	const records, sources, tries = 100_000, 200, 41
	for b.Loop() {
		w := newWorkload(1, 64)
		s := newIndexed(b, w, index.Options{}, 0)
		s.pipe = s.pipeline(hubExtractor{}, index.Options{})
		fill := func(name string, n int) {
			var docs []index.Document
			for i := 0; i < n; i += 1000 {
				docs = append(docs, index.Document{ID: fmt.Sprint(name, i), Text: strings.Repeat(name+"\n", min(1000, n-i))})
			}
			s.insert(docs...)
		}
		fill("Hub", records)
		fill("Capped", sources)
		cost := func(name string) time.Duration {
			var all []time.Duration
			for i := range tries {
				doc := index.Document{ID: fmt.Sprint(name, " again ", i), Text: strings.ReplaceAll(name, "#", fmt.Sprint(i))}
				began := processTime()
				s.insert(doc)
				all = append(all, processTime()-began)
			}
			slices.Sort(all)
			return all[tries/2]
		}
		hub, capped, own := cost("Hub"), cost("Capped"), cost("Own #")
		if e := s.entity("Hub"); e.SourceCount != records+tries || len(e.Sources) != sources {
			b.Fatalf("the hub has %d sources, %d of them shown", e.SourceCount, len(e.Sources))
		}
		b.ReportMetric(float64(hub)/float64(capped), "hub/capped")
		b.ReportMetric(float64(hub)/float64(own), "hub/own")
		s.close(b)
	}
}

// hubExtractor finds the entity that the text names.
type hubExtractor struct{}

func (hubExtractor) ID() string { return "hub" }

func (hubExtractor) Extract(_ context.Context, in index.ExtractInput) (index.Extraction, error) {
	return index.Extraction{Entities: []index.EntityRecord{{Name: in.Text, Type: "thing", Description: "What is told of " + in.Text + "."}}}, nil
}

// BenchmarkIndexLargeText stores texts below and above what Options.CommitBytes lets through, and reports the greatest
// heap above what was in use, without the text itself, relative to that option, collected after every tenth of growth.
func BenchmarkIndexLargeText(b *testing.B) {
	const commitBytes = 64 << 20
	for _, megabytes := range []int{8, 100} {
		b.Run(fmt.Sprintf("%dMB", megabytes), func(b *testing.B) {
			for b.Loop() {
				s := newIndexed(b, newWorkload(1<<20, 64), index.Options{ChunkTokens: 1 << 20, CommitBytes: commitBytes}, 0)
				var text strings.Builder
				for n := 0; text.Len() < megabytes<<20; n++ {
					fmt.Fprintf(&text, "chunk %d%s\n", n, strings.Repeat(" word", 960))
				}
				doc := index.Document{ID: "large", Text: text.String()}
				peak := watchHeap()
				_, err := s.pipe.Enqueue(context.Background(), []index.Document{doc}, index.Insert)
				must(b, err)
				sum, err := s.pipe.Process(context.Background(), index.ProcessOptions{})
				most := peak()
				must(b, err)
				if fits := megabytes < 10; sum.Processed == 1 != fits || sum.Failed == 1 == fits || !fits && !strings.Contains(sum.Errors["large"], "than one commit holds") {
					b.Fatalf("%+v", sum)
				}
				b.ReportMetric(float64(most)/commitBytes, "heap/commit-bytes")
				b.ReportMetric(float64(most)/float64(len(doc.Text)), "heap/text")
				s.close(b)
			}
		})
	}
}

// watchHeap samples the heap in use, after a collection when it grew by a tenth; the function it returns stops that and
// tells how much it grew at most.
func watchHeap() func() uint64 {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before := heap()
	most := before
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if heap() > most+most/10 {
				runtime.GC()
				most = max(most, heap())
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-done
		return most - before
	}
}
