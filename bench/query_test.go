package bench

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/llm/token"
	"github.com/glimdb/db/query"
)

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

// keep saves the making of the store when queries are measured again and again.
var keep = flag.String("store", "", "directory that keeps the store of BenchmarkRetrieval for the next run; default: none is kept")

// BenchmarkRetrieval measures context-only queries, keywords given, embedding by look-up, on 20,000
// entities, 60,000 relations and 5,000 chunks (a tenth with -short), warm, after a reopen.
func BenchmarkRetrieval(b *testing.B) {
	c := newCorpus(20_000, 60_000, 5_000, 5_000, 384)
	if testing.Short() {
		c = newCorpus(2_000, 6_000, 500, 500, 64)
	}
	dir := *keep
	if dir == "" {
		dir = b.TempDir()
	}
	o := c.store(b, filepath.Join(dir, c.name()))
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
