package vector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/kv"
)

// SearchOptions are the options of one search.
type SearchOptions struct {
	// K is the number of results wanted; 0 or less wants none, more than there are gets all.
	K int
	// Ef is the width of a graph search, at least K, at most MaxEf; 0: chosen from K. An exact scan does
	// not use it.
	Ef int
	// Exact scans even where an index exists.
	Exact bool
	// MinScore drops results below it; nil: none.
	MinScore *float64
	// Filter admits ids; nil admits all. It is called for candidates, in no order, on the caller's
	// goroutine.
	Filter func(id string) bool
	// IDs, when not nil, restricts the search to these ids, which are scored one by one: exact, and cheap
	// when they are few. Unknown ids do not matter.
	IDs []string
}

// MaxEf bounds SearchOptions.Ef: wider searches cost more than a scan.
const MaxEf = 1 << 16

// Hit is one result.
type Hit struct {
	ID string
	// Score is larger for nearer: the cosine, the dot product, or the negated Euclidean distance.
	Score float32
}

const (
	// minEf is the least width of a graph search: below it recall falls off steeply.
	minEf = 64
	// rescored is the least number of candidates of a graph search that are scored from their float32
	// rows; twice K where that is more. It makes up for what int8 traversal confuses.
	rescored = 20
	// checkEvery is how many candidates are looked at between two looks at the context.
	checkEvery = 1 << 12
)

// Search returns the K vectors nearest to q among those that r shows, nearest first, ties by id. r is a
// snapshot, whose state it sees exactly, or a batch, whose own changes count. A zero q has no direction
// under cosine and finds nothing. Errors: *DimensionError, *VectorError, the context's.
func (c *Collection) Search(ctx context.Context, r kv.Reader, q []float32, o SearchOptions) ([]Hit, error) {
	if len(q) != c.cfg.Dim {
		return nil, &DimensionError{Collection: c.name, Got: len(q), Want: c.cfg.Dim}
	}
	if o.Ef < 0 || o.Ef > MaxEf {
		return nil, fmt.Errorf("%w: ef %d is not within 0 to %d", ErrConfig, o.Ef, MaxEf)
	}
	vec := make([]float32, len(q))
	zero, reason, at := prepare(c.cfg, vec, q)
	if reason != "" {
		return nil, &VectorError{Collection: c.name, Index: at, Reason: reason}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.K <= 0 || zero && c.cfg.Metric == Cosine {
		return nil, nil
	}
	s := &search{c: c, o: o, lsn: r.LSN(), staged: c.st.stagedIn(r), shape: c.st.shape.Load()}
	s.probe = c.st.probe(s.shape.p)
	defer c.st.probes.Put(s.probe)
	s.probe.Set(vec)
	var err error
	if o.IDs != nil {
		err = s.listed(ctx, r)
	} else {
		err = s.all(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.result(), nil
}

// probe returns a probe for p, reusing one.
func (st *state) probe(p *Points) *Probe {
	if pr, ok := st.probes.Get().(*Probe); ok && pr.p == p {
		return pr
	}
	return p.NewProbe()
}

// search is one search under way.
type search struct {
	c      *Collection
	o      SearchOptions
	lsn    kv.LSN
	staged *staged
	shape  *shape
	probe  *Probe
	hits   []Hit
}

// admit tells whether a slot may be a result.
func (s *search) admit(slot uint32) bool {
	p := s.shape.p
	if !p.VisibleAt(slot, s.lsn) {
		return false
	}
	if s.staged != nil && s.staged.ended[p.Ordinal(slot)] {
		return false
	}
	return s.o.Filter == nil || s.o.Filter(p.ID(slot))
}

// all searches the index and scans what it has not taken in.
func (s *search) all(ctx context.Context) error {
	q := Query{Probe: s.probe, K: s.o.K, Admit: s.admit, Narrow: s.o.Filter != nil}
	limit := min(s.shape.p.Len(), s.probe.Limit())
	q.K = min(q.K, int(limit))
	var slots []uint32
	from := uint32(0)
	if q.K > 0 && s.shape.index != nil && !s.o.Exact {
		wide := q
		wide.K = min(max(rescored, 2*q.K), int(limit))
		wide.Ef = max(s.o.Ef, wide.K, minEf)
		slots = s.shape.index.Search(wide, slots)
		from = s.shape.fed
		// The index may have grown since this shape was taken; what lies beyond is scanned below.
		slots = slices.DeleteFunc(slots, func(slot uint32) bool { return slot >= from })
		if len(slots) < q.K && s.o.Filter != nil {
			// Fewer than asked for came through a narrow filter: only a scan can tell that there are no more.
			slots, from = slots[:0], 0
		}
	}
	if q.K > 0 && from < limit {
		slots = scan{s.shape.p, from, limit}.Search(q, slots)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.score(slots)
	if s.staged != nil {
		for id, row := range s.staged.rows {
			if s.o.Filter == nil || s.o.Filter(id) {
				s.add(id, s.probe.score(row.vec))
			}
		}
	}
	return nil
}

// score adds the slots that the view shows, by their float32 rows.
func (s *search) score(slots []uint32) {
	var out [MaxGather]float32
	for len(slots) > 0 {
		n := min(len(slots), MaxGather)
		s.probe.Scores(slots[:n], out[:n])
		for i, slot := range slots[:n] {
			if s.admit(slot) {
				s.add(s.shape.p.ID(slot), out[i])
			}
		}
		slots = slots[n:]
	}
}

func (s *search) add(id string, score float32) {
	if s.o.MinScore == nil || float64(score) >= *s.o.MinScore {
		s.hits = append(s.hits, Hit{id, score})
	}
}

// listed scores the given ids only.
func (s *search) listed(ctx context.Context, r kv.Reader) error {
	seen := make(map[string]bool, len(s.o.IDs))
	for i, id := range s.o.IDs {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if seen[id] || s.o.Filter != nil && !s.o.Filter(id) {
			continue
		}
		seen[id] = true
		v, err := s.c.Get(r, id)
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		s.add(id, s.probe.score(v))
	}
	return nil
}

// result orders the hits and cuts them to K.
func (s *search) result() []Hit {
	slices.SortFunc(s.hits, func(a, b Hit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	if len(s.hits) > s.o.K {
		s.hits = s.hits[:s.o.K:s.o.K]
	}
	return s.hits
}
