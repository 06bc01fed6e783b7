package query

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// Views derives entities and relations from the source records of some documents, by the rules of the write side, for
// queries with a filter. The Pipeline of package index is one, whose documentation says more. It is called from many
// goroutines.
type Views interface {
	EntityPart(ctx context.Context, r kv.Reader, name string, from []record.Origin) (record.Entity, record.Part, error)
	RelationPart(ctx context.Context, r kv.Reader, pair record.Object, from []record.Origin) (record.Relation, record.Part, error)
	// IsWhole reports whether the stored view of o follows from part alone.
	IsWhole(r kv.Reader, o record.Object, part record.Part) (bool, error)
}

// part is the view of an entity or relation that follows from the selected documents.
type part struct {
	entity   record.Entity
	relation record.Relation
	record.Part
}

// part derives the view of o from the selected documents, unless it is remembered: it follows from nothing else.
func (q *run) part(ctx context.Context, r *reader, o record.Object) (part, error) {
	s := r.sel
	s.mu.Lock()
	p, ok := s.parts[o]
	s.mu.Unlock()
	if ok {
		return p, nil
	}
	var err error
	if o.IsRelation() {
		p.relation, p.Part, err = q.e.views.RelationPart(ctx, r.snap, o, s.relations[o])
	} else {
		p.entity, p.Part, err = q.e.views.EntityPart(ctx, r.snap, o.A, s.entities[o.A])
	}
	if err != nil {
		return p, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.parts) >= maxParts {
		clear(s.parts)
	}
	s.parts[o] = p
	return p, nil
}

// narrowed returns the part of o that the filter selects, nil when that is all there is.
func (q *run) narrowed(ctx context.Context, r *reader, o record.Object) (*part, error) {
	p, err := q.part(ctx, r, o)
	if err != nil {
		return nil, err
	}
	if whole, err := q.e.views.IsWhole(r.snap, o, p.Part); err != nil || whole {
		return nil, err
	}
	return &p, nil
}

// entities reads entities by name, as the selected documents describe them; nil for one that is not there or that none
// of them speaks of.
func (q *run) entities(ctx context.Context, r *reader, names []string, via Via) ([]*Entity, error) {
	var decoder record.EntityReader
	all, out := make([]Entity, len(names)), make([]*Entity, len(names))
	err := r.graph.EachNode(r.snap, names, func(i int, n *graph.Node, values graph.Values) (err error) {
		if r.sel != nil && !r.sel.hasEntity(n.Name) {
			return nil
		}
		e := &all[i]
		if *e, err = entityOf(&decoder, n, values, via); err != nil {
			return err
		}
		if r.sel != nil {
			e.Degree = len(r.sel.around[e.Name])
			p, err := q.narrowed(ctx, r, record.EntityObject(e.Name))
			if err != nil {
				return err
			}
			if p != nil {
				v := &p.entity
				e.Type, e.Description, e.Tokens, e.cut = v.Type, v.Description, v.Tokens, p.Cut
				e.Sources, e.SourceCount, e.Paths = list(v.Sources), v.SourceCount, list(v.Paths)
			}
		}
		out[i] = e
		return nil
	})
	return out, err
}

// relations is entities for pairs.
func (q *run) relations(ctx context.Context, r *reader, pairs [][2]string, via Via) ([]*Relation, error) {
	var decoder record.RelationReader
	all, out := make([]Relation, len(pairs)), make([]*Relation, len(pairs))
	err := r.graph.EachEdge(r.snap, pairs, func(i int, g *graph.Edge, values graph.Values) (err error) {
		rel := &all[i]
		if *rel, err = relationOf(&decoder, g, values, via); err != nil {
			return err
		}
		if r.sel != nil {
			o := record.RelationObject(rel.Src, rel.Dst)
			if r.sel.relations[o] == nil {
				return nil
			}
			p, err := q.narrowed(ctx, r, o)
			if err != nil {
				return err
			}
			if p != nil {
				v := &p.relation
				rel.Keywords, rel.Description, rel.Weight, rel.Tokens, rel.cut = list(v.Keywords), v.Description, v.Weight, v.Tokens, p.Cut
				rel.Sources, rel.SourceCount, rel.Paths = list(v.Sources), v.SourceCount, list(v.Paths)
			}
		}
		out[i] = rel
		return nil
	})
	return out, err
}

// ranked is a selected relation that is not read yet.
type ranked struct {
	pair  record.Object
	rank  int
	bound float64 // its weight is not above
}

// manyRanked is the number of relations from which the stored weights are asked for, which bound those of the selected
// documents: then only those that may come first are derived. maxRanked bounds the relations of one rank that
// are derived to put them in order; what lies behind is in order of the stored weights.
const (
	manyRanked = 256
	maxRanked  = 4096
)

// incidentSelected is incident among what the filter selects: ranks are sums of degrees there, weights are those that
// the selected documents give.
func (q *run) incidentSelected(ctx context.Context, r *reader, names []string, via Via, l *leg) error {
	all, err := r.rankedSelected(names)
	if err != nil {
		return err
	}
	budget, sum, left, dangling := q.opt.Budget.Relations, 0, len(all), 0
	for len(all) > 0 && sum <= budget {
		n := 1
		for n < len(all) && all[n].rank == all[0].rank {
			n++
		}
		group := all[:n]
		all = all[n:]
		missing, err := q.byWeight(ctx, r, group, via, func(rel *Relation) bool {
			rel.Rank = group[0].rank
			left--
			sum += q.e.count.relation(rel)
			l.relations = append(l.relations, rel)
			return sum <= budget
		})
		if err != nil {
			return err
		}
		dangling += missing
	}
	l.bounded = left > dangling
	l.counted(ReasonDanglingRelations, dangling, "joined entities without a relation record")
	return nil
}

// rankedSelected lists the selected relations of some entities: by rank, then by the bound of their weight, then by pair.
func (r *reader) rankedSelected(names []string) ([]ranked, error) {
	s := r.sel
	var all []ranked
	seen := make(map[record.Object]bool)
	for _, name := range names {
		for _, o := range s.around[name] {
			if !seen[o] {
				seen[o] = true
				all = append(all, ranked{o, len(s.around[o.A]) + len(s.around[o.B]), math.Inf(1)})
			}
		}
	}
	if len(all) > manyRanked && !s.edited { // weights set by hand bound nothing
		stored, err := r.graph.RankedIncident(r.snap, names, 0)
		if err != nil {
			return nil, err
		}
		weights := make(map[record.Object]float64, len(stored))
		for _, e := range stored {
			weights[record.Object{A: e.Src, B: e.Dst}] = e.Weight
		}
		for i := range all {
			all[i].bound = weights[all[i].pair]
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.bound, a.bound), a.pair.Compare(b.pair))
	})
	return all, nil
}

// byWeight yields the relations of one rank by weight, then by pair, until yield returns false. It derives those that may
// come before the next one, and no more. missing are without a record.
func (q *run) byWeight(ctx context.Context, r *reader, group []ranked, via Via, yield func(*Relation) bool) (missing int, err error) {
	var ready heaviest
	for at := 0; at < len(group) || len(ready) > 0; {
		for len(ready) > 0 && (at == len(group) || at >= maxRanked || ready.first(&group[at])) {
			if rel := heap.Pop(&ready).(*Relation); !yield(rel) {
				return missing, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return missing, err
		}
		batch := group[at:min(at+edgeBatch, len(group))]
		at += len(batch)
		pairs := make([][2]string, len(batch))
		for i, c := range batch {
			pairs[i] = [2]string{c.pair.A, c.pair.B}
		}
		rels, err := q.relations(ctx, r, pairs, via)
		if err != nil {
			return missing, err
		}
		for _, rel := range rels {
			if rel == nil {
				missing++
				continue
			}
			heap.Push(&ready, rel)
		}
	}
	return missing, nil
}

// heaviest is a heap of relations of one rank.
type heaviest []*Relation

func (h heaviest) Len() int { return len(h) }
func (h heaviest) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Src, b.Src), strings.Compare(a.Dst, b.Dst)) < 0
}
func (h heaviest) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heaviest) Push(x any)   { *h = append(*h, x.(*Relation)) }
func (h *heaviest) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// first reports whether the first of h comes before next and all that are bounded by it.
func (h heaviest) first(next *ranked) bool {
	rel := h[0]
	return cmp.Or(cmp.Compare(next.bound, rel.Weight), record.Object{A: rel.Src, B: rel.Dst}.Compare(next.pair)) < 0
}

// cut counts the entities and relations of the result whose sums are those of a part of their records.
func (q *run) cut() (n int) {
	for i := range q.res.Data.Entities {
		if q.res.Data.Entities[i].cut {
			n++
		}
	}
	for i := range q.res.Data.Relations {
		if q.res.Data.Relations[i].cut {
			n++
		}
	}
	return n
}
