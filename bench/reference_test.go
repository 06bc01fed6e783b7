package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/hashed"
	"github.com/glimdb/db/query"
)

// entityWords has the workloads stored with postings of entities.
var entityWords = flag.Bool("entitywords", false, "store workloads with Index.EntityWords on")

// workloads is where the documents and questions are that LightRAG itself was measured with.
var workloads = flag.String("workloads", "", "directory with workload_S.jsonl, q_S.jsonl and so on for M and L; default: golden-lightrag of GLIM_DATA, which has S")

// reference is what LightRAG 1.5.7 took on such a workload, its model without latency and embedding taken off, in seconds
// of a processor.
type reference struct {
	entities, relations int
	average, last       float64 // a document, and the last tenth of them
	query               map[query.Mode]float64
	open                float64
	resident            uint64
}

var references = map[string]reference{
	"S": {1_024, 1_963, .61, .84, map[query.Mode]float64{query.Mix: .112, query.Hybrid: .102, query.Local: .066, query.Global: .054, query.Naive: .0064}, .26, 105e6},
	"M": {9_554, 19_834, 4.12, 7.3, map[query.Mode]float64{query.Mix: .235, query.Hybrid: .237, query.Local: .131, query.Global: .139, query.Naive: .0108}, 3.7, 437e6},
	"L": {96_064, 0, 76, 76, map[query.Mode]float64{query.Mix: .512, query.Hybrid: .616, query.Local: .249, query.Global: .439, query.Naive: .0147}, 43, 3.7e9},
}

// recorded is a document of a workload, cut already, with what a model finds in each chunk.
type recorded struct {
	ID     string `json:"doc_id"`
	Path   string `json:"file_path"`
	Chunks []struct {
		Text  string `json:"text"`
		Reply string `json:"reply"`
	} `json:"chunks"`
}

// document is what a caller hands in.
func (r *recorded) document() index.Document {
	d := index.Document{ID: r.ID, Path: r.Path}
	var text strings.Builder
	for _, c := range r.Chunks {
		start := text.Len()
		text.WriteString(c.Text)
		d.Chunks = append(d.Chunks, chunk.Span{Start: start, End: text.Len()})
		text.WriteString("\n\n")
	}
	d.Text = text.String()
	return d
}

// asked is a question with its keywords.
type asked struct {
	Question string   `json:"query"`
	Low      []string `json:"ll_keywords"`
	High     []string `json:"hl_keywords"`
}

// replies is a chat model that knows what to say of each chunk.
type replies map[string]string

var marker = regexp.MustCompile(`\[\[c:[^\]]*\]\]`)

func (replies) ID() string { return "recorded" }

func (r replies) Generate(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		text := "What is known of it, in short."
		if req.Purpose == llm.PurposeExtract {
			found := marker.FindAllString(req.Messages[len(req.Messages)-1].Content, -1)
			if len(found) != 1 {
				yield(llm.Delta{}, fmt.Errorf("%d chunks in a request", len(found)))
				return
			}
			text = r[found[0]]
		}
		if yield(llm.Delta{Text: text}, nil) {
			yield(llm.Delta{Finish: llm.FinishStop}, nil)
		}
	}
}

// countedEmbedder sums what embedding takes of the processor.
type countedEmbedder struct {
	*hashed.Embedder
	spent *atomic.Int64
}

func (e countedEmbedder) Embed(ctx context.Context, texts []string, kind llm.Kind) ([][]float32, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := cpuTime()
	defer func() { e.spent.Add(int64(cpuTime() - began)) }()
	return e.Embedder.Embed(ctx, texts, kind)
}

// referenceStore is a database for a workload.
type referenceStore struct {
	*db.DB
	spent atomic.Int64 // processor time of embedding, in nanoseconds
}

func workloadFile(b *testing.B, name string) string {
	b.Helper()
	dir := *workloads
	if dir == "" {
		dir = testkit.Data(b, "golden-lightrag")
	}
	return filepath.Join(dir, name)
}

// eachLine reads a file of JSON lines; it skips the benchmark where there is none.
func eachLine[T any](b *testing.B, path string) (out []T) {
	b.Helper()
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		b.Skipf("%s is not there: see the flag -workloads", filepath.Base(path))
	}
	must(b, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var v T
		must(b, json.Unmarshal(lines.Bytes(), &v))
		out = append(out, v)
	}
	must(b, lines.Err())
	return out
}

// rowsInMemory bounds the float32 rows: S and M are below it, of L those of the chunks stay, and searches for entities and
// relations read the rows of their candidates.
const rowsInMemory = 128 << 20

// openReference opens a database whose model knows docs.
func openReference(b *testing.B, dir string, docs []recorded) *referenceStore {
	b.Helper()
	s := &referenceStore{}
	known := replies{}
	for _, d := range docs {
		for _, c := range d.Chunks {
			known[marker.FindString(c.Text)] = c.Reply
		}
	}
	e, err := hashed.New(hashed.Options{Dim: 384})
	must(b, err)
	o := db.Options{Vectors: db.VectorOptions{MemoryBytes: rowsInMemory}, Models: llm.Models{Chat: known, Embedder: countedEmbedder{e, &s.spent}, Tokenizer: bytesTokenizer{}}}
	if *entityWords {
		o.Index.EntityWords = index.EntityWordsOn
	}
	s.DB, err = db.Open(dir, db.WithOptions(o))
	must(b, err)
	return s
}

// took runs f and returns the processor time of all threads without that of embedding.
func (s *referenceStore) took(f func()) time.Duration {
	began, spent := processTime(), s.spent.Load()
	f()
	return processTime() - began - time.Duration(s.spent.Load()-spent)
}

func (s *referenceStore) insert(b *testing.B, docs []recorded) {
	b.Helper()
	list := make([]index.Document, len(docs))
	for i := range docs {
		list[i] = docs[i].document()
	}
	_, err := s.Enqueue(b.Context(), index.Insert, list...)
	must(b, err)
	sum, err := s.Process(b.Context(), index.ProcessOptions{})
	if must(b, err); sum.Processed != len(docs) {
		b.Fatalf("%+v of %d documents", sum, len(docs))
	}
	must(b, s.Settle(b.Context()))
}

// verify fails the benchmark when the database is not sound or not whole.
func (s *referenceStore) verify(b *testing.B, want reference) {
	b.Helper()
	for p, err := range s.Check(b.Context()) {
		must(b, err)
		b.Fatal(p)
	}
	st, err := s.Stats(b.Context())
	must(b, err)
	if st.Entities != want.entities || want.relations > 0 && st.Relations != want.relations {
		b.Fatalf("%d entities and %d relations, want %d and %d", st.Entities, st.Relations, want.entities, want.relations)
	}
}

// fill stores docs and reports the processor time of a document, everything included but models and embedding, against
// LightRAG's.
func (s *referenceStore) fill(b *testing.B, docs []recorded, want reference) {
	b.Helper()
	const parts = 10
	var cost []time.Duration
	for part := range parts {
		docs := docs[part*len(docs)/parts : (part+1)*len(docs)/parts]
		cost = append(cost, s.took(func() { s.insert(b, docs) })/time.Duration(len(docs)))
	}
	s.verify(b, want)
	average, last := sum(cost)/parts, cost[parts-1]
	b.Logf("processor time of a document, by tenths: %v; LightRAG's is %.1f times that on the average, %.1f times at the end",
		cost, want.average/average.Seconds(), want.last/last.Seconds())
	b.ReportMetric(float64(average.Microseconds())/1e3, "ms/doc")
	b.ReportMetric(want.average/average.Seconds(), "x-reference")
	b.ReportMetric(want.last/last.Seconds(), "x-reference-last")
	b.ReportMetric(float64(last)/float64(cost[0]), "last/first-tenth")
}

// BenchmarkReferenceIndex stores the workloads.
func BenchmarkReferenceIndex(b *testing.B) {
	for _, size := range []string{"S", "M", "L"} {
		b.Run(size, func(b *testing.B) {
			for b.Loop() {
				docs := eachLine[recorded](b, workloadFile(b, "workload_"+size+".jsonl"))
				s := openReference(b, b.TempDir(), docs)
				s.fill(b, docs, references[size])
				must(b, s.Close())
			}
		})
	}
}

// BenchmarkReferenceQuery asks the questions of the workloads for their context, warm, keywords given, after a reopen, and
// compares the processor time of the median question with LightRAG's. With -store the databases are kept.
func BenchmarkReferenceQuery(b *testing.B) {
	for _, size := range []string{"S", "M", "L"} {
		b.Run(size, func(b *testing.B) {
			want := references[size]
			questions := eachLine[asked](b, workloadFile(b, "q_"+size+".jsonl"))
			dir := *keep
			if dir == "" {
				dir = b.TempDir()
			}
			dir = filepath.Join(dir, "reference-"+size)
			if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
				docs := eachLine[recorded](b, workloadFile(b, "workload_"+size+".jsonl"))
				s := openReference(b, dir, docs)
				s.fill(b, docs, want)
				must(b, s.Close())
			}
			debug.FreeOSMemory()
			before := residentBytes()
			open := func() (*referenceStore, time.Duration) {
				began := time.Now()
				return openReference(b, dir, nil), time.Since(began)
			}
			s, opened := open()
			must(b, s.Close())
			runtime.GC() // of which the next opening takes its memory: to get it anew may take longer than the opening
			s, again := open()
			must(b, s.Settle(b.Context())) // rows are brought into memory behind the opening
			for mode, took := range want.query {
				b.Run(string(mode), func(b *testing.B) { s.ask(b, mode, questions, took) })
			}
			debug.FreeOSMemory()
			resident := residentBytes()
			fresh := touch(resident)
			b.Run("store", func(b *testing.B) {
				for b.Loop() { // nothing is left to measure
				}
				b.ReportMetric(float64(opened.Microseconds())/1e3, "open-ms")
				b.ReportMetric(float64(again.Microseconds())/1e3, "open-again-ms")
				b.ReportMetric(float64(resident)/1e6, "resident-MB")
				b.ReportMetric(float64(fresh.Microseconds())/1e3, "touch-ms")
				b.ReportMetric(want.open/opened.Seconds(), "x-reference-open")
				b.ReportMetric(float64(want.resident)/float64(resident), "x-reference-memory")
				b.Logf("%s: %d MB resident before the opening", size, before/1e6)
			})
			must(b, s.Close())
		})
	}
}

// touch returns how long it takes to write to each page of so much memory that the process did not have: no opening that
// leaves as much in memory can be faster. On a virtual machine that gets its memory page by page it is most of it.
func touch(bytes uint64) time.Duration {
	debug.FreeOSMemory()
	began := time.Now()
	fresh := make([]byte, bytes)
	for i := 0; i < len(fresh); i += os.Getpagesize() {
		fresh[i] = 1
	}
	runtime.KeepAlive(fresh)
	return time.Since(began)
}

// ask measures one mode.
func (s *referenceStore) ask(b *testing.B, mode query.Mode, questions []asked, reference float64) {
	one := func(q asked) *query.Result {
		r, err := s.Query(b.Context(), q.Question, query.Options{Mode: mode, Want: query.WantContext, NoRerank: true, LowKeywords: q.Low, HighKeywords: q.High})
		if must(b, err); r.Outcome != query.OutcomeOK || len(r.Data.Chunks) == 0 || r.Tokens.Total() > r.Tokens.Budget {
			b.Fatalf("%q: outcome %q, %d chunks, %d of %d tokens", q.Question, r.Outcome, len(r.Data.Chunks), r.Tokens.Total(), r.Tokens.Budget)
		}
		return r
	}
	for _, q := range questions { // warm, and right: what is asked about by its name is there
		r := one(q)
		if mode == query.Local || mode == query.Mix || mode == query.Hybrid {
			if !slices.ContainsFunc(r.Data.Entities, func(e query.Entity) bool { return e.Name == q.Low[0] }) {
				b.Fatalf("%s: %q is not among the entities of %q", mode, q.Low[0], q.Question)
			}
		}
	}
	b.ReportAllocs()
	var all []time.Duration
	steps := steps{}
	for i := 0; b.Loop(); i++ {
		var r *query.Result
		all = append(all, s.took(func() { r = one(questions[i%len(questions)]) }))
		steps.add("", r.Trace.Steps)
	}
	slices.Sort(all)
	p50, p95 := percentile(all, .5), percentile(all, .95)
	b.Logf("%s: step, p50, p95%s", mode, steps.table())
	b.ReportMetric(float64(p50.Microseconds()), "p50-cpu-µs")
	b.ReportMetric(float64(p95.Microseconds()), "p95-cpu-µs")
	b.ReportMetric(reference/p50.Seconds(), "x-reference")
}
