package index_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/glimdb/db/index"
)

// zipfExtractor finds 10 entities and 10 relations in every chunk, names drawn by Zipf's law, so that a
// few hubs occur nearly everywhere. It depends on the text alone.
type zipfExtractor struct{ names uint64 }

func (zipfExtractor) ID() string { return "zipf" }

func (z zipfExtractor) Extract(_ context.Context, in index.ExtractInput) (x index.Extraction, err error) {
	var seed uint64
	if _, err := fmt.Sscanf(in.Text, "chunk %d", &seed); err != nil {
		return x, err
	}
	rng := rand.New(rand.NewPCG(seed, 9))
	zipf := rand.NewZipf(rng, 1.2, 4, z.names)
	name := func() string { return fmt.Sprintf("Entity %d", zipf.Uint64()) }
	for i := range 10 {
		x.Entities = append(x.Entities, index.EntityRecord{Name: name(), Type: "thing", Description: fmt.Sprintf("Fact %d of chunk %d.", i, seed)})
		x.Relations = append(x.Relations, index.RelationRecord{Src: name(), Dst: name(), Keywords: []string{"link"},
			Description: fmt.Sprintf("Link %d of chunk %d.", i, seed), Weight: 1})
	}
	return x, nil
}

// BenchmarkProcess processes documents of one chunk of 10 entities and 10 relations with models that take
// no time, and reports the time of the last tenth of the documents relative to that of the second tenth
// (P8; the first one meets a store without hubs).
func BenchmarkProcess(b *testing.B) {
	const documents = 2_000
	for b.Loop() {
		s := newStore(b, index.Options{})
		s.real = zipfExtractor{names: 20_000}
		s.reopen()
		var took [10]time.Duration
		for part := range took {
			var docs []index.Document
			for i := range documents / len(took) {
				n := part*documents/len(took) + i
				docs = append(docs, doc(fmt.Sprintf("d%06d", n), fmt.Sprintf("chunk %d", n)))
			}
			start := time.Now()
			s.put(docs...)
			took[part] = time.Since(start)
		}
		var all time.Duration
		for _, d := range took {
			all += d
		}
		hub := s.entity("Entity 0")
		if hub == nil || hub.SourceCount < documents/2 || len(hub.Sources) != 200 {
			b.Fatalf("the hub is %+v", hub)
		}
		b.ReportMetric(documents/all.Seconds(), "docs/s")
		b.ReportMetric(float64(took[9])/float64(took[1]), "last/second-tenth")
		start := time.Now()
		for n := range 100 {
			s.delete(fmt.Sprintf("d%06d", n*17))
		}
		b.ReportMetric(float64(time.Since(start).Milliseconds())/100, "ms/delete")
	}
}
