package vector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/glimdb/db/kv"
)

// SearchOptions tell what to return. The zero value returns nothing: K decides.
type SearchOptions struct {
	// K is the largest number of hits; with fewer vectors all are returned, with K ≤ 0 none.
	K int
	// Ef is the width of a graph search: more is slower and finds more. 0 chooses by K; values below
	// what K needs count as that.
	Ef int
	// Exact scans every vector even where there is an index.
	Exact bool
	// MinScore drops hits with a lower score; nil drops none.
	MinScore *float64
	// Filter admits ids; nil admits all. It must be a pure function, cheap, and not call the collection;
	// it is called on the searching goroutine, for some ids more than once. Whatever it admits, Search
	// returns K hits when K admitted vectors exist.
	Filter func(id string) bool
	// IDs, when not nil, are the only ids that may be hits; they are compared one by one. Unknown and
	// repeated ids are ignored.
	IDs []string
}

// Hit is one result.
type Hit struct {
	ID string
	// Score is the cosine, the dot product, or the Euclidean distance negated; larger is nearer. It comes
	// from the float32 rows, whatever the search went through; its last bits may differ between machines.
	Score float32
}

const (
	// rescoreMin candidates, or twice K, go from a graph to the float32 rows: what the codes' rounding
	// swaps at the border of K is then found again.
	rescoreMin = 20
	// efMin is the width of a graph search that finds above 99 % of ten neighbours on text embeddings.
	efMin = 96
	// A graph search for more than 1/wideShare of the vectors, or with a filter that admits less than
	// 1/narrowShare of a sample, costs more than a scan.
	wideShare    = 8
	narrowShare  = 10
	filterSample = 512
)

// scratch is what a search needs and gives back.
type scratch struct {
	probe *Probe
	vec   []float32
	slots []uint32
	hits  []Hit
}

func (c *Collection) getScratch(p *Points) *scratch {
	s, _ := c.scratch.Get().(*scratch)
	if s == nil || s.probe.p != p {
		s = &scratch{probe: p.NewProbe(), vec: make([]float32, c.config.Dim)}
	}
	s.slots, s.hits = s.slots[:0], s.hits[:0]
	return s
}

// Search returns the vectors nearest to q that r shows, best first, equal scores in order of id. A
// snapshot shows its commit; a batch shows its own changes, too. Under cosine the zero vector has no
// direction: the result for it is empty, without an error. The error is a *DimensionError or a
// *ValueError for a query that cannot be compared.
//
// Collections below the exact threshold, and options Exact and IDs, give exact results; elsewhere the
// graph decides which of the older vectors are seen, and the newest are always compared.
func (c *Collection) Search(ctx context.Context, r kv.Reader, q []float32, o SearchOptions) ([]Hit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.readable(r); err != nil {
		return nil, err
	}
	if len(q) != c.config.Dim {
		return nil, &DimensionError{Collection: c.name, Got: len(q), Want: c.config.Dim}
	}
	g := c.gen.Load()
	s := c.getScratch(g.points)
	defer c.scratch.Put(s)
	zero, reason, index := prepare(c.config, s.vec, q)
	if reason != "" {
		return nil, &ValueError{Collection: c.name, Index: index, Reason: reason}
	}
	if o.K <= 0 || zero && c.config.Metric == Cosine {
		return nil, nil
	}
	t := &search{c: c, r: r, g: g, n: g.points.Len(), o: o, s: s, ch: c.changesIn(r)}
	s.probe.Set(s.vec)
	if o.IDs != nil {
		if err := t.ids(ctx); err != nil {
			return nil, err
		}
	} else {
		t.slots()
		t.staged()
	}
	return t.result(), nil
}

// changesIn returns what r, if it is a batch, holds for the collection.
func (c *Collection) changesIn(r kv.Reader) *changes {
	if st := c.set.stagedIn(r); st != nil {
		return st.changes[c]
	}
	return nil
}

// search is one running Search.
type search struct {
	c  *Collection
	r  kv.Reader
	g  *generation
	n  uint32 // slots below it may be looked at
	o  SearchOptions
	s  *scratch
	ch *changes // of the batch that is searched, or nil
}

// admit tells whether slot may be a hit.
func (t *search) admit(slot uint32) bool {
	p := t.g.points
	if !p.VisibleAt(slot, t.r.LSN()) {
		return false
	}
	if t.ch != nil {
		if _, ended := t.ch.ended[p.Ordinal(slot)]; ended {
			return false
		}
	}
	return t.o.Filter == nil || t.o.Filter(p.ID(slot))
}

// slots scores the candidates among the committed vectors.
func (t *search) slots() {
	q := Query{Probe: t.s.probe, K: t.o.K, Admit: t.admit}
	if !t.graph(q) {
		t.s.slots = scan{t.g.points, 0, t.n}.Search(q, t.s.slots[:0])
	}
	for _, slot := range t.s.slots {
		t.s.hits = append(t.s.hits, Hit{ID: t.g.points.ID(slot), Score: t.s.probe.score(t.g.points.Vector(slot))})
	}
}

// graph leaves the candidates of the index and the tail in s.slots. It reports false when a scan is
// better: without an index, for wide or very selective searches, and when it found less than there is.
func (t *search) graph(q Query) bool {
	fed := t.g.fed.Load() // before the search: every slot below it is in the index
	if t.g.index == nil || !t.g.whole.Load() || t.o.Exact || t.o.K > int(fed)/wideShare {
		return false
	}
	if t.o.Filter != nil {
		if t.passing(fed) < filterSample/narrowShare {
			return false
		}
		q.Narrow = true
	}
	q.K = max(2*t.o.K, rescoreMin)
	q.Ef = max(t.o.Ef, q.K)
	if t.o.Ef == 0 {
		q.Ef = max(efMin, q.K)
	}
	s := t.s
	s.slots = t.g.index.Search(q, s.slots[:0])
	// A slot that was fed during the search would be found twice.
	s.slots = slices.DeleteFunc(s.slots, func(slot uint32) bool { return slot >= fed || !t.admit(slot) })
	q.K = t.o.K
	s.slots = scan{t.g.points, fed, t.n}.Search(q, s.slots)
	if len(s.slots) >= t.o.K {
		return true
	}
	if t.o.Filter != nil {
		return false
	}
	n, err := t.c.Len(t.r)
	return err == nil && len(s.slots) >= n
}

// passing is the number of slots, out of filterSample spread over the first fed, that may be hits.
func (t *search) passing(fed uint32) int {
	pass := 0
	for i := range uint64(filterSample) {
		if t.admit(uint32(i * uint64(fed) / filterSample)) {
			pass++
		}
	}
	return pass
}

// staged scores the vectors that the searched batch adds.
func (t *search) staged() {
	if t.ch == nil {
		return
	}
	for _, a := range t.ch.adds {
		if !a.gone && (t.o.Filter == nil || t.o.Filter(a.id)) {
			t.s.hits = append(t.s.hits, Hit{ID: a.id, Score: t.s.probe.score(a.vec)})
		}
	}
}

// ids scores the allowed ids one by one.
func (t *search) ids(ctx context.Context) error {
	const ctxEvery = 1024
	seen := make(map[string]struct{}, len(t.o.IDs))
	for i, id := range t.o.IDs {
		if i%ctxEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, twice := seen[id]; twice || t.o.Filter != nil && !t.o.Filter(id) {
			continue
		}
		seen[id] = struct{}{}
		ord, err := t.c.ordinal(t.r, id)
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("vector: search %q: %w", t.c.name, err)
		}
		v, ok := t.c.vectorAt(t.r, ord)
		if !ok {
			return t.c.lost(id, ord)
		}
		t.s.hits = append(t.s.hits, Hit{ID: id, Score: t.s.probe.score(v)})
	}
	return nil
}

// result orders the hits and copies what was asked for.
func (t *search) result() []Hit {
	hits := t.s.hits
	if t.o.MinScore != nil {
		hits = slices.DeleteFunc(hits, func(h Hit) bool { return float64(h.Score) < *t.o.MinScore })
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return append([]Hit(nil), hits[:min(t.o.K, len(hits))]...)
}
