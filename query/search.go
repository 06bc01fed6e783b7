package query

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
)

// leg is what one search path yields.
type leg struct {
	entities  []*Entity
	relations []*Relation
	bounded   bool // relations beyond these may exist and cannot fit the budget
	chunks    []candidate
	step      TraceStep
	// hits and, without the filter, hitsBefore are what the path itself found.
	hits, hitsBefore int
	routed           *Routed // of the chunk index, when clusters were asked for
	byVector, byText int     // hits of chunks
	reasons
}

// legs are the search paths of one query.
type legs struct{ names, low, high, hits leg }

// all lists the paths in the order in which they are told about.
func (l *legs) all() []*leg { return []*leg{&l.names, &l.low, &l.high, &l.hits} }

// merged interleaves what the paths found. Entities that the question names come before all others; their
// relations take turns with those of the other paths, for a hub's would leave no room.
func (l *legs) merged() ([]*Entity, []*Relation) {
	ents := mergeEntities(l.low.entities, l.high.entities)
	if len(l.names.entities) > 0 {
		ents = mergeEntities(slices.Concat(l.names.entities, ents))
	}
	return ents, mergeRelations(l.names.relations, l.low.relations, l.high.relations)
}

// search runs the paths that s asks for at the same time.
func (q *run) search(ctx context.Context, r *reader, s searches) (*legs, error) {
	found := new(legs)
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range []struct {
		step  Step
		taken bool
	}{{StepEntities, s.searchEntities}, {StepRelations, s.high != ""}, {StepChunks, s.searchChunks}} {
		if s.taken {
			q.tell(s.step)
		}
	}
	path := func(l *leg, name Step, f func(context.Context, *leg, *timer) error) {
		g.Go(func() error {
			t := q.e.timer(name)
			if err := f(ctx, l, t); err != nil {
				return fmt.Errorf("query: search %s: %w", name, err)
			}
			l.step = t.end()
			return nil
		})
	}
	if s.names {
		path(&found.names, StepNames, func(ctx context.Context, l *leg, t *timer) error { return q.byName(ctx, r, l, t) })
	}
	if s.searchEntities {
		path(&found.low, StepEntities, func(ctx context.Context, l *leg, t *timer) error { return q.byEntity(ctx, r, s, l, t) })
	}
	if s.high != "" {
		path(&found.high, StepRelations, func(ctx context.Context, l *leg, t *timer) error { return q.byRelation(ctx, r, s.highVector, l, t) })
	}
	if s.searchChunks {
		path(&found.hits, StepChunks, func(ctx context.Context, l *leg, t *timer) error { return q.byChunk(ctx, r, s, l, t) })
	}
	return found, g.Wait()
}

// byEntity is the node path (spec/query.md §4.1, §4.2): entities in order of similarity, of the words they hold, or of both,
// and their relations by degree sum and weight.
func (q *run) byEntity(ctx context.Context, r *reader, s searches, l *leg, t *timer) error {
	if r.graph == nil || r.entities == nil {
		l.reason(ReasonNothingIndexed, "the workspace holds no entities")
		return nil
	}
	hits, err := q.entityHits(ctx, r, s, l, t)
	if err != nil || len(hits) == 0 {
		return err
	}
	names := make([]string, len(hits))
	for i, h := range hits {
		names[i] = h.id
	}
	found, err := q.entities(ctx, r, names, ViaLow)
	if err != nil {
		return err
	}
	names = names[:0]
	dangling := 0
	for i, e := range found {
		if e == nil {
			dangling++
			continue
		}
		for _, f := range hits[i].found {
			if f.Via == ViaVector {
				e.Score = f.Score.Or(0)
			}
		}
		if q.entitySearch != SearchVector {
			e.Found = hits[i].found
		}
		l.entities = append(l.entities, e)
		names = append(names, e.Name)
	}
	l.counted(ReasonDanglingEntities, dangling, "entity vectors without a node")
	t.count("entities", len(l.entities))
	if err := q.incident(ctx, r, names, ViaLow, l); err != nil {
		return err
	}
	t.count("relations", len(l.relations))
	return nil
}

// edgeBatch is the number of edges whose properties are read at a time while the budget lasts.
const edgeBatch = 64

// incident adds the relations of names in order of rank, until their lines alone exceed the relation
// budget: no later one could be shown, whatever it is merged with. A hub therefore costs no more than the
// edges that fit (P8): the graph ranks it from the top, and properties are read for those few.
func (q *run) incident(ctx context.Context, r *reader, names []string, via Via, l *leg) error {
	if r.sel != nil {
		return q.incidentSelected(ctx, r, names, via, l)
	}
	budget, count := q.opt.Budget.Relations, q.e.count
	limit := budget/(2*count.leastRelation()) + 1 // a first guess: real lines are at least twice the empty one
	dangling, sum := 0, 0
	var decoder record.RelationReader
	for done := 0; sum <= budget; limit *= 4 {
		if err := ctx.Err(); err != nil {
			return err
		}
		ranked, err := r.graph.RankedIncident(r.snap, names, limit)
		if err != nil {
			return err
		}
		for done < len(ranked) && sum <= budget {
			batch := ranked[done:min(done+edgeBatch, len(ranked))]
			had := len(l.relations)
			rels := make([]Relation, 0, len(batch)) // l.relations points into it
			read := 0
			err := r.graph.EachRankedEdge(r.snap, batch, func(at int, e *graph.Edge, values graph.Values) error {
				if sum > budget {
					return nil
				}
				rel, err := relationOf(&decoder, e, values, via)
				rel.Rank = batch[at].Rank
				sum += count.relation(&rel)
				rels = append(rels, rel)
				l.relations = append(l.relations, &rels[len(rels)-1])
				read = at + 1
				return err
			})
			if err != nil {
				return err
			}
			if sum <= budget {
				read = len(batch)
			}
			dangling += read - (len(l.relations) - had)
			done += read
		}
		l.bounded = done < len(ranked) || len(ranked) == limit
		if len(ranked) < limit {
			break
		}
	}
	l.counted(ReasonDanglingRelations, dangling, "joined entities without a relation record")
	return nil
}

// byRelation is the edge path (spec/query.md §4.3, §4.4): relations in order of similarity, and their
// ends in order of first appearance.
func (q *run) byRelation(ctx context.Context, r *reader, v []float32, l *leg, t *timer) error {
	if r.graph == nil || r.relations == nil {
		l.reason(ReasonNothingIndexed, "the workspace holds no relations")
		return nil
	}
	hits, err := q.hits(ctx, r, r.relations, v, q.opt.TopK, l, t)
	if err != nil {
		return err
	}
	if len(hits) == 0 {
		l.reason(ReasonNoRelationHits, "no relation is similar enough to the high keywords")
		return nil
	}
	pairs := make([][2]string, 0, len(hits))
	scores := make([]float32, 0, len(hits))
	dangling := 0
	for _, h := range hits {
		if a, b, ok := record.ParsePairID(h.ID); ok {
			pairs, scores = append(pairs, [2]string{a, b}), append(scores, h.Score)
		} else {
			dangling++
		}
	}
	found, err := q.relations(ctx, r, pairs, ViaHigh)
	if err != nil {
		return err
	}
	var names []string
	seen := make(map[string]bool)
	for i, rel := range found {
		if rel == nil {
			dangling++
			continue
		}
		rel.Score = scores[i]
		l.relations = append(l.relations, rel)
		for _, name := range []string{rel.Src, rel.Dst} {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	l.counted(ReasonDanglingRelations, dangling, "relation vectors without an edge")
	t.count("relations", len(l.relations))
	return q.ends(ctx, r, names, l, t)
}

// ends adds the entities at the ends of relations.
func (q *run) ends(ctx context.Context, r *reader, names []string, l *leg, t *timer) error {
	found, err := q.entities(ctx, r, names, ViaHigh)
	if err != nil {
		return err
	}
	dangling := 0
	for _, e := range found {
		if e == nil {
			dangling++
			continue
		}
		l.entities = append(l.entities, e)
	}
	l.counted(ReasonDanglingEntities, dangling, "ends of relations without a node")
	t.count("entities", len(l.entities))
	return nil
}

func entityOf(d *record.EntityReader, n *graph.Node, values graph.Values, via Via) (Entity, error) {
	e, err := d.Read(n.Name, n.Type, record.Values(values))
	return Entity{Name: e.Name, Type: e.Type, Description: e.Description, Sources: list(e.Sources), SourceCount: e.SourceCount,
		Paths: list(e.Paths), References: []string{}, Degree: n.Degree, Via: via, Tokens: e.Tokens}, err
}

func relationOf(d *record.RelationReader, g *graph.Edge, values graph.Values, via Via) (Relation, error) {
	r, err := d.Read(g.Src, g.Dst, g.Weight, record.Values(values))
	return Relation{Src: r.Src, Dst: r.Dst, Keywords: list(r.Keywords), Description: r.Description, Weight: r.Weight,
		Sources: list(r.Sources), SourceCount: r.SourceCount, Paths: list(r.Paths), References: []string{}, Via: via, Tokens: r.Tokens}, err
}

// list is l, never nil, so that it is [] in JSON.
func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}
