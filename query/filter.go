package query

import (
	"context"
	"fmt"

	"github.com/glimdb/db/internal/filter"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/vector"
)

// Filter restricts a query to some documents: by ids, by how ids and paths begin, by metadata (equal, one of, in a range,
// there at all), by their own time. It is the Filter that deletes and lists documents, of package index, and a
// visible version is what it looks at.
//
// A filter reaches everything. Passages are those of matching documents. An entity or relation is found only when a
// matching document speaks of it, and it is shown as those documents describe it: type, description, keywords,
// weight, sources, paths, degree and rank are what a database without the other documents would have, and no model is
// called for it. What people state or set by hand belongs to no document and is left out; names that they gave hold.
// The score alone is that of the stored vector, which was made of the whole description.
type Filter = filter.Filter

// Condition is one on metadata; see Filter.Where.
type Condition = filter.Condition

// Filtered tells what a filter selected.
type Filtered struct {
	// Documents is the number of documents that match, Entities and Relations of what they speak of.
	Documents int `json:"documents"`
	Entities  int `json:"entities"`
	Relations int `json:"relations"`
	// HitsBefore is the number of hits that the same searches have without the filter, and of entities that the
	// question then names; Hits with it.
	HitsBefore int `json:"hits_before"`
	Hits       int `json:"hits"`
}

// fewIDs is the number of ids up to which a search looks its candidates up one by one. A prepared set costs a pass over
// all ids of the collection.
const fewIDs = 256

// hits searches one collection: best first, ties by id, none below the threshold.
func (q *run) hits(ctx context.Context, r *reader, c *vector.Collection, v []float32, k int, l *leg, t *timer) ([]vector.Hit, error) {
	least := q.opt.CosineThreshold.Or(defaultCosine)
	o := vector.SearchOptions{K: k, MinScore: &least}
	hits, err := c.Search(ctx, r.snap, v, o)
	if err != nil {
		return nil, err
	}
	if r.sel != nil {
		l.hitsBefore = len(hits)
		if o.IDs = r.sel.few(r.nameOf(c)); o.IDs == nil {
			o.Set = r.sel.set(c, r.nameOf(c))
		}
		if hits, err = c.Search(ctx, r.snap, v, o); err != nil {
			return nil, err
		}
	}
	l.found(hits, t)
	return hits, nil
}

// found counts what a path found.
func (l *leg) found(hits []vector.Hit, t *timer) {
	l.hits += len(hits)
	t.cut("hits", len(hits), l.hitsBefore)
	if len(hits) > 0 {
		t.scored(float64(hits[0].Score), float64(hits[len(hits)-1].Score))
	}
}

// nameOf is the name of a collection at the time of the view.
func (r *reader) nameOf(c *vector.Collection) string {
	switch c {
	case r.entities:
		return record.EntityCollection
	case r.relations:
		return record.RelationCollection
	}
	return record.ChunkCollection
}

// narrow settles what the query may see, and returns how many documents of that wait.
func (q *run) narrow(ctx context.Context, r *reader) (waiting int, err error) {
	if q.opt.Filter.IsZero() {
		if waiting, err = r.waiting(q.e.workspace); err != nil {
			err = fmt.Errorf("query: queue: %w", err)
		}
		return waiting, err
	}
	t := q.e.timer(StepFilter)
	if r.sel, err = q.e.selected(ctx, r, q.opt.Filter); err != nil {
		return 0, err
	}
	t.count("documents", len(r.sel.documents))
	t.count("entities", len(r.sel.entities))
	t.count("relations", len(r.sel.relations))
	q.record(t)
	return r.sel.waiting, nil
}

// filtered tells about the filter, if there is one, once all paths have searched.
func (q *run) filtered(r *reader, found *legs) {
	if r.sel == nil {
		return
	}
	s := &Filtered{Documents: len(r.sel.documents), Entities: len(r.sel.entities), Relations: len(r.sel.relations)}
	for _, l := range found.all() {
		s.HitsBefore += l.hitsBefore
		s.Hits += l.hits
	}
	q.res.Filter = s
	q.res.counted(ReasonFilterCut, q.cut(), "entities and relations that more passages speak of than the caps of the index show: their weight and number of sources are those of the passages read")
	if s.Hits == 0 && s.HitsBefore > 0 {
		q.res.counted(ReasonFilter, s.HitsBefore, fmt.Sprintf("hits outside of the %d documents that the filter selects", s.Documents))
	}
}
