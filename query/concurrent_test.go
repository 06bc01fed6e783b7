package query

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/glimdb/db/internal/record"
)

// TestConcurrentQueries: readers in every mode while a writer commits. Commit n adds chunk n, an entity, a
// relation to the hub and their vectors together, so a result that shows one without the others, or anything
// of a later commit than its LSN, mixes two states (P3).
func TestConcurrentQueries(t *testing.T) {
	const commits, readers = 60, 4
	s := newStore(t, testDim)
	for axis, text := range []string{"ll", "hl", question} {
		s.emb.Set(text, at(axis, 1, axisNone)...)
	}
	name := func(i int) string { return fmt.Sprintf("n%03d", i) }
	add := func(i int) {
		s.commit(func(w *writer) {
			id := w.chunk("d", i, "d.txt", "chunk "+strconv.Itoa(i), at(axisQuestion, .9, axisNone))
			w.entity(name(i), "t", "d", at(axisLow, .9, axisNone), id)
			if i > 0 {
				w.relation(name(0), name(i), 1, "r", at(axisHigh, .9, axisNone), id)
			}
		})
	}
	add(0)
	e := s.engine()
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for r := range readers {
		wg.Go(func() {
			for i := r; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				mode := []Mode{Local, Global, Hybrid, Mix, Naive}[i%5]
				o := Options{Mode: mode, LowKeywords: []string{"ll"}, HighKeywords: []string{"hl"}, TopK: 1000, ChunkTopK: 1000, Want: WantContext,
					Budget: Budget{Entities: 1e6, Relations: 1e6, Total: 1e6}, RelatedChunks: Some(1000)}
				res, err := e.Query(t.Context(), question, o)
				if err != nil {
					t.Error(err)
					return
				}
				n := int(res.LSN) // commit n made entities 0 to n-1
				d := res.Data
				if hasReason(res, ReasonDanglingEntities) || hasReason(res, ReasonDanglingRelations) || hasReason(res, ReasonDanglingChunks) {
					t.Errorf("%s at LSN %d: %v", mode, n, res.Reasons)
				}
				if mode != Global && mode != Naive && len(d.Entities) != n || mode != Naive && len(d.Relations) != n-1 ||
					(mode == Naive || mode == Mix) && len(d.Chunks) != n {
					t.Errorf("%s at LSN %d: %d entities, %d relations, %d chunks", mode, n, len(d.Entities), len(d.Relations), len(d.Chunks))
				}
				for _, x := range d.Entities {
					if x.Name == name(0) && x.Degree != n-1 {
						t.Errorf("%s at LSN %d: the hub has degree %d", mode, n, x.Degree)
					}
				}
			}
		})
	}
	for i := 1; i < commits; i++ {
		add(i)
	}
	close(stop)
	wg.Wait()
}

func TestEmbedderOfAnotherDimension(t *testing.T) {
	s := small(t)
	other := newStore(t, testDim+1)
	_, err := s.engine(func(c *Config) { c.Embedder = other.emb }).Query(t.Context(), question, given)
	if !errors.Is(err, ErrModel) {
		t.Errorf("got %v, want ErrModel", err)
	}
}

func TestOddRecords(t *testing.T) {
	// What someone put into the graph by hand has no token count, sources or paths.
	s := small(t)
	s.commit(func(w *writer) {
		check(t, w.g.PutNode(w.b, graphNode("Hand", "made")))
		check(t, w.entities.Put(w.b, "Hand", at(axisLow, 1, axisNone)))
	})
	r := ask(t, s.engine(), question, with(given, func(o *Options) { o.Mode = Local }))
	first := r.Data.Entities[0]
	if first.Name != "Hand" || first.Tokens != s.tok.Count(record.EntityLine("Hand", "made", "")) || first.Sources == nil {
		t.Errorf("the first entity is %+v", first)
	}
}
