package bench

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glimdb/db/query"
)

// manyReaders is how many goroutines ask at the same time, window how long they do before one asks alone again.
const (
	manyReaders = 16
	window      = 2 * time.Second
)

// BenchmarkReaders asks the questions of workload S in mix mode from one goroutine and from sixteen, in turns, without and
// with a writer that inserts documents all the time. Turns are short and alternate, so that what else the machine does
// meets both alike; the ratio is that of the sums. One turn of each is an iteration.
func BenchmarkReaders(b *testing.B) {
	docs := eachLine[recorded](b, workloadFile(b, "workload_S.jsonl"))
	questions := eachLine[asked](b, workloadFile(b, "q_S.jsonl"))
	s := openReference(b, b.TempDir(), docs)
	s.insert(b, docs)
	s.verify(b, references["S"])
	for _, c := range []struct {
		name   string
		writer bool
	}{{"alone", false}, {"beside-a-writer", true}} {
		b.Run(c.name, func(b *testing.B) {
			stop := func() int { return 0 }
			if c.writer {
				stop = s.write(b, docs)
			}
			var one, many asking
			s.read(b, 1, questions) // warm
			for b.Loop() {
				one.add(s.read(b, 1, questions))
				many.add(s.read(b, manyReaders, questions))
			}
			written := stop()
			b.Logf("%d processors, %d documents written: one reader %s; %d readers %s", runtime.GOMAXPROCS(0), written, &one, manyReaders, &many)
			b.ReportMetric(many.rate()/one.rate(), "x-one-reader")
			b.ReportMetric(one.rate(), "one-queries/s")
			b.ReportMetric(many.rate(), "many-queries/s")
			b.ReportMetric(float64(percentile(many.took, .99).Microseconds())/1e3, "many-p99-ms")
			if c.writer && written == 0 {
				b.Fatal("nothing was written meanwhile")
			}
		})
	}
	for p, err := range s.Check(b.Context()) {
		must(b, err)
		b.Fatal(p)
	}
	must(b, s.Close())
}

// asking is what readers got done.
type asking struct {
	took []time.Duration // a query each, sorted
	wall time.Duration
	cpu  time.Duration // of the process
}

func (a *asking) add(o asking) {
	a.took = append(a.took, o.took...)
	slices.Sort(a.took)
	a.wall += o.wall
	a.cpu += o.cpu
}

func (a *asking) rate() float64 { return float64(len(a.took)) / a.wall.Seconds() }

func (a *asking) String() string {
	r := func(p float64) time.Duration { return percentile(a.took, p).Round(10 * time.Microsecond) }
	return fmt.Sprintf("%d queries, p50 %v p95 %v p99 %v, %v of a processor each, %.2f processors busy", len(a.took), r(.5), r(.95), r(.99),
		(a.cpu / time.Duration(len(a.took))).Round(10*time.Microsecond), a.cpu.Seconds()/a.wall.Seconds())
}

// read asks from n goroutines for the time of a window. Each sees one commit after the other, never an older one.
func (s *referenceStore) read(b *testing.B, n int, questions []asked) asking {
	b.Helper()
	took := make([][]time.Duration, n)
	failed := make([]error, n)
	began, cpu := time.Now(), processTime()
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() {
			var last uint64
			for i := r * len(questions) / n; time.Since(began) < window && failed[r] == nil; i++ {
				q := questions[i%len(questions)]
				start := time.Now()
				res, err := s.Query(b.Context(), q.Question, query.Options{Mode: query.Mix, Want: query.WantContext, NoRerank: true, LowKeywords: q.Low, HighKeywords: q.High})
				took[r] = append(took[r], time.Since(start))
				switch {
				case err != nil:
					failed[r] = err
				case res.Outcome != query.OutcomeOK || len(res.Data.Chunks) == 0 || uint64(res.LSN) < last ||
					!slices.ContainsFunc(res.Data.Entities, func(e query.Entity) bool { return e.Name == q.Low[0] }):
					failed[r] = fmt.Errorf("%q at LSN %d after %d: outcome %q, %d chunks, %d entities", q.Question, res.LSN, last, res.Outcome, len(res.Data.Chunks), len(res.Data.Entities))
				default:
					last = uint64(res.LSN)
				}
			}
		})
	}
	wg.Wait()
	a := asking{took: slices.Concat(took...), wall: time.Since(began), cpu: processTime() - cpu}
	must(b, errors.Join(failed...))
	slices.Sort(a.took)
	return a
}

// write inserts docs under ever new ids, one a call, until stop is called, which tells how many were.
func (s *referenceStore) write(b *testing.B, docs []recorded) (stop func() int) {
	var end atomic.Bool
	var failed error
	var wg sync.WaitGroup
	n := 0
	wg.Go(func() {
		for ; !end.Load() && failed == nil; n++ {
			d := docs[n%len(docs)].document()
			d.ID = fmt.Sprintf("%s written again %d", d.ID, writes.Add(1))
			if _, failed = s.Insert(b.Context(), d); failed != nil {
				failed = fmt.Errorf("write %q: %w", d.ID, failed)
			}
		}
	})
	return func() int {
		end.Store(true)
		wg.Wait()
		must(b, failed)
		return n
	}
}

// writes counts the documents of all writers, whose ids differ.
var writes atomic.Int64
