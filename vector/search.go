package vector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// SearchOptions tell what to return and how to look for it. K is required.
type SearchOptions struct {
	// K is the largest number of hits, at least 1; with fewer vectors all are returned.
	K int
	// Ef is the width of an index search: more is slower and finds more. K to MaxEf; 0 chooses by K.
	Ef int
	// Exact compares every vector that passes the filters even where there is an index.
	Exact bool
	// MinScore drops hits with a lower score; nil drops none.
	MinScore *float64
	// Set admits the ids of a prepared set; nil admits all.
	Set *IDSet
	// Filter admits ids; nil admits all. It must be a pure function, cheap, and not call the collection;
	// it is called on the searching goroutine, for some ids more than once. Where many searches use one
	// filter, an IDSet is faster.
	Filter func(id string) bool
	// IDs, when not nil, are the only ids that may be hits; they are looked up and compared one by one.
	// Unknown and repeated ids are ignored. Where many searches use them, an IDSet is faster.
	IDs []string
	// Plan is the way to search; PlanAuto, the zero value, chooses by cost. Others are for measurements:
	// what the index finds too little of is searched exactly all the same. PlanSet needs Set, PlanIDs IDs.
	Plan Plan
	// Info, when not nil, is told how the search was done.
	Info *SearchInfo
}

// MaxEf is the largest width of an index search. Wider ones cost more than a scan of some million vectors.
const MaxEf = 1 << 16

// Hit is one result.
type Hit struct {
	ID string
	// Score is the cosine, the dot product, or the Euclidean distance negated; larger is nearer. It comes
	// from the float32 rows, whatever the search went through; its last bits may differ between machines.
	Score float32
}

const (
	// efMin is the width of a graph search that finds above 99 % of ten neighbours on text embeddings.
	efMin = 96
)

// check reports the first option that is out of range.
func (o *SearchOptions) check(c *Collection) error {
	switch {
	case o.K < 1:
		return c.refuse("K", o.K, "at least 1")
	case o.Ef != 0 && (o.Ef < o.K || o.Ef > MaxEf):
		return c.refuse("Ef", o.Ef, "0, or K (%d) to %d", o.K, MaxEf)
	case o.MinScore != nil && *o.MinScore != *o.MinScore:
		return c.refuse("MinScore", *o.MinScore, "a number")
	case int(o.Plan) >= plans:
		return c.refuse("Plan", o.Plan, "one of the Plan constants")
	case o.Exact && o.Plan >= PlanIndex:
		return c.refuse("Plan", o.Plan, "auto, scan or set, because Exact is set")
	case o.Plan == PlanSet && o.Set == nil:
		return c.refuse("Plan", o.Plan, "Set to be given with it")
	case (o.Plan == PlanIDs) != (o.IDs != nil) && o.Plan != PlanAuto:
		return c.refuse("Plan", o.Plan, "auto or ids where IDs are given, and ids nowhere else")
	}
	return nil
}

// refuse is the error of an argument that is out of range.
func (c *Collection) refuse(field string, value any, want string, args ...any) error {
	return &ParameterError{Err: ErrParameter, Collection: c.Name(), Field: field, Value: value, Want: fmt.Sprintf(want, args...)}
}

// width is how many admitted slots an index search is to find before its K best are believed.
func (t *search) width() int {
	if t.o.Ef > 0 {
		return t.o.Ef
	}
	return max(efMin, widthShare*min(t.o.K, MaxEf), t.candidates())
}

// widthShare is how wide an index searches for each hit: the last ones are found as surely as the first then.
const widthShare = 2

// candidates is the number of slots that go to the rows.
func (t *search) candidates() int {
	n := t.g.points.Candidates(min(t.o.K, MaxEf))
	if t.o.Ef > 0 {
		return min(n, t.o.Ef)
	}
	return n
}

// scratch is what a search needs and gives back.
type scratch struct {
	probe *Probe
	sieve *sieve
	vec   []float32
	slots []uint32
	found []scored
	hits  []Hit
}

// scored is a slot whose row was compared.
type scored struct {
	score float32
	slot  uint32
}

func (c *Collection) getScratch(p *Points) *scratch {
	s, _ := c.scratch.Get().(*scratch)
	if s == nil || s.probe.p != p {
		s = &scratch{probe: p.NewProbe(), vec: make([]float32, c.config.Dim)}
	}
	s.slots, s.found, s.hits = s.slots[:0], s.found[:0], s.hits[:0]
	return s
}

// Search returns the vectors nearest to q that r shows and the filters admit, best first, equal scores in
// order of id: K of them whenever there are K. A snapshot shows its commit; a batch shows its own changes,
// too. Under cosine the zero vector has no direction: the result for it is empty, without an error. The error
// is a *ParameterError for an option out of range, a *DimensionError or a *ValueError for a query that cannot
// be compared.
//
// Collections below the exact threshold, narrow filters and option Exact give exact results; elsewhere the
// index decides which of the older vectors are seen, and the newest are always compared.
func (c *Collection) Search(ctx context.Context, r kv.Reader, q []float32, o SearchOptions) ([]Hit, error) {
	if err := o.check(c); err != nil {
		return nil, err
	}
	t, err := c.begin(ctx, r, q, o.Set, o.Filter)
	if t == nil {
		return nil, err
	}
	defer c.scratch.Put(t.s)
	t.o = o
	if o.IDs != nil {
		t.info.Plan = PlanIDs
		err = t.ids(ctx)
	} else {
		err = t.slots(ctx)
		t.staged()
	}
	if err != nil {
		return nil, err
	}
	c.searches.count(t.info)
	if o.Info != nil {
		*o.Info = t.info
	}
	slices.SortFunc(t.s.hits, order)
	hits := t.s.hits[:min(o.K, len(t.s.hits))]
	c.set.watch.look(t, hits)
	if o.MinScore != nil {
		hits = hits[:reaching(hits, *o.MinScore)]
	}
	return slices.Clone(hits), nil
}

// search is one running Search.
type search struct {
	c    *Collection
	r    kv.Reader
	lsn  kv.LSN
	g    *generation
	n    uint32 // slots below it may be looked at
	fed  uint32 // slots below it are in the index
	o    SearchOptions
	f    filter
	s    *scratch
	ch   *changes // of the batch that is searched, or nil
	all  uint32   // slots below it are shown by the view, one and all
	info SearchInfo
}

// begin checks what is given and prepares a search. It returns nil without an error for a query that has no
// direction.
func (c *Collection) begin(ctx context.Context, r kv.Reader, q []float32, set *IDSet, test func(string) bool) (*search, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.readable(r); err != nil {
		return nil, err
	}
	if len(q) != c.config.Dim {
		return nil, &DimensionError{Collection: c.Name(), Got: len(q), Want: c.config.Dim}
	}
	g := c.gen.Load()
	f, err := c.filter(g.points, set, test)
	if err != nil {
		return nil, err
	}
	s := c.getScratch(g.points)
	zero, reason, index := prepare(c.config, s.vec, q)
	if reason != "" {
		c.scratch.Put(s)
		return nil, &ValueError{Collection: c.Name(), Index: index, Reason: reason}
	}
	if zero && c.config.Metric == Cosine {
		c.scratch.Put(s)
		return nil, nil
	}
	t := &search{c: c, r: r, lsn: r.LSN(), g: g, f: f, s: s, ch: c.changesIn(r)}
	t.fed = g.fed.Load() // before n, and before the index is searched
	t.n = g.points.Len()
	if t.ch == nil && g.points.allVisibleAt(t.n, t.lsn) {
		t.all = t.n
	}
	s.probe.Set(s.vec)
	return t, nil
}

// changesIn returns what r, if it is a batch, holds for the collection.
func (c *Collection) changesIn(r kv.Reader) *changes {
	if st := c.set.stagedIn(r); st != nil {
		return st.changes[c]
	}
	return nil
}

// admit tells whether slot may be a hit.
func (t *search) admit(slot uint32) bool { return t.shows(slot) && t.f.slot(t.g.points, slot) }

// shows tells whether the view shows slot.
func (t *search) shows(slot uint32) bool {
	if slot < t.all {
		return true
	}
	p := t.g.points
	if !p.VisibleAt(slot, t.lsn) {
		return false
	}
	if t.ch != nil {
		if _, ended := t.ch.ended[p.Ordinal(slot)]; ended {
			return false
		}
	}
	return true
}

// slots scores the candidates among the committed vectors.
func (t *search) slots(ctx context.Context) error {
	c := t.choose()
	t.info = SearchInfo{Plan: c.plan, Share: c.share}
	if c.plan >= PlanIndex {
		enough, err := t.index(c)
		if err != nil {
			return err
		}
		if !enough {
			t.info.Tried = c.plan
			c.plan, _ = t.exactPlan()
			t.info.Plan = c.plan
		}
	}
	if c.plan < PlanIndex {
		t.exact(c.plan, t.o.K)
	}
	return t.score(ctx, t.o.K)
}

// exact leaves the candidates among all admitted slots in s.slots: those of them that can be among the k best.
func (t *search) exact(plan Plan, k int) {
	v := t.sieve(k)
	t.sift(v, plan)
	t.s.slots = v.slots(t.s.slots[:0])
}

// sift lets the admitted slots through v.
func (t *search) sift(v *sieve, plan Plan) {
	p := t.g.points
	if plan == PlanSet {
		in := t.f.in
		subset{p, in.slots, min(in.n, t.n)}.sift(v, t.admit)
		scan{p, min(in.n, t.n), t.n}.sift(v, t.admit)
		return
	}
	scan{p, 0, t.n}.sift(v, t.admit)
}

// sieve returns the scratch's, emptied.
func (t *search) sieve(k int) *sieve {
	if t.s.sieve == nil {
		t.s.sieve = &sieve{}
	}
	v := t.s.sieve
	*v = sieve{probe: t.s.probe, b: newBounds(t.s.probe), k: k, least: lowest, low: v.low[:0], kept: v.kept[:0]}
	return v
}

// index leaves the candidates of the index and the tail in s.slots, and reports whether they are as many as
// there are to find, at most K.
func (t *search) index(c choice) (bool, error) {
	s := t.s
	q := Query{Probe: s.probe, K: t.candidates(), Ef: t.width(), Most: c.most, Admit: t.admit}
	switch c.plan {
	case PlanWide:
		// Two standard deviations more than pass on average.
		q.Width = min(int((float64(q.Ef)+2*math.Sqrt(float64(q.Ef)))/c.share), int(t.fed))
	case PlanNarrow:
		q.Narrow = true
	}
	s.slots = t.g.index.Search(q, s.slots[:0])
	// A slot that was fed during the search would be found twice.
	s.slots = slices.DeleteFunc(s.slots, func(slot uint32) bool { return slot >= t.fed || !t.admit(slot) })
	v := t.sieve(t.o.K)
	if t.g.points.blind() { // the rows of a whole tail are too many to read
		v.k, v.b.guess = q.K, true
	}
	scan{t.g.points, t.fed, t.n}.sift(v, t.admit)
	s.slots = v.slots(s.slots)
	if len(s.slots) >= t.o.K {
		return true, nil
	}
	if !t.f.none() {
		return false, nil
	}
	n, err := t.c.Len(t.r)
	if t.ch != nil {
		n -= t.ch.live
	}
	return len(s.slots) >= n, err
}

// rowsAhead is how many rows before its turn a row is asked for: it then comes while others are compared.
const rowsAhead = 2

// score compares the rows of the slots and makes hits of the k best, and of those that score as the last of them does.
func (t *search) score(ctx context.Context, k int) error {
	if err := t.compare(ctx); err != nil {
		return err
	}
	found := t.s.found
	if k < len(found) {
		slices.SortFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
		least := found[k-1].score
		for k < len(found) && found[k].score == least {
			k++
		}
		found = found[:k]
	}
	for _, f := range found { // ids are scattered in memory: only those that are wanted
		t.s.hits = append(t.s.hits, Hit{ID: t.g.points.ID(f.slot), Score: f.score})
	}
	return nil
}

// compare leaves the scores of the slots in s.found.
func (t *search) compare(ctx context.Context) error {
	for i, slot := range t.s.slots {
		row := t.g.points.Vector(slot)
		if row == nil {
			return t.read(ctx, t.s.slots[i:])
		}
		if next := i + rowsAhead; next < len(t.s.slots) {
			simd.PrefetchRow(t.g.points.Vector(t.s.slots[next]))
		}
		t.found(slot, row)
	}
	return nil
}

func (t *search) found(slot uint32, row []float32) {
	t.s.found = append(t.s.found, scored{t.s.probe.score(row), slot})
}

// staged scores the vectors that the searched batch adds.
func (t *search) staged() {
	if t.ch == nil {
		return
	}
	for _, a := range t.ch.adds {
		if !a.gone && t.f.id(a.id) {
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
		if _, twice := seen[id]; twice || !t.f.id(id) {
			continue
		}
		seen[id] = struct{}{}
		ord, err := t.c.ordinal(t.r, id)
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("vector: search %q: %w", t.c.Name(), err)
		}
		v, err := t.c.vectorAt(t.r, id, ord)
		if err != nil {
			return fmt.Errorf("vector: search %q: %w", t.c.Name(), err)
		}
		t.s.hits = append(t.s.hits, Hit{ID: id, Score: t.s.probe.score(v)})
	}
	return nil
}

// reaching is the number of hits, which are in order, whose score is at least least.
func reaching(hits []Hit, least float64) int {
	return sort.Search(len(hits), func(i int) bool { return float64(hits[i].Score) < least })
}

// order puts the better hit first, equal ones by id.
func order(a, b Hit) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}
