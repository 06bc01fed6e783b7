package query

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// retrieve fills the data, the context and the outcome of the result.
func (q *run) retrieve(ctx context.Context) error {
	t := q.e.timer(StepKeywords)
	if err := q.e.keywords(ctx, q); err != nil {
		return err
	}
	k := q.res.Keywords
	t.count("high", len(k.High))
	t.count("low", len(k.Low))
	t.note(string(k.Origin))
	if q.opt.Mode != Naive {
		q.record(t)
	}
	var err error
	if q.res.Tokens.Fixed, err = q.e.count.fixed(q.kg(), q.question, q.opt.Reply); err != nil {
		return fmt.Errorf("query: system prompt: %w", err)
	}
	q.res.Tokens.Budget = q.opt.Budget.Total
	s := q.plan()
	if err := q.embed(ctx, &s); err != nil {
		return err
	}
	chunks, err := q.read(ctx, s)
	if err != nil {
		return err
	}
	return q.compose(ctx, chunks)
}

// reader is one view of the store. A field is nil where the store has no such part yet.
type reader struct {
	snap                        *kv.Snapshot
	graph                       *graph.Graph
	entities, relations, chunks *vector.Collection
}

func (e *Engine) open() (*reader, error) {
	snap, err := e.view()
	if err != nil {
		return nil, fmt.Errorf("query: view: %w", err)
	}
	r := &reader{snap: snap}
	if r.graph, err = graph.Open(snap, e.workspace, record.GraphName); err == nil || errors.Is(err, kv.ErrNotFound) {
		err = nil
		for _, c := range []struct {
			name string
			to   **vector.Collection
		}{{record.EntityCollection, &r.entities}, {record.RelationCollection, &r.relations}, {record.ChunkCollection, &r.chunks}} {
			if *c.to, err = e.vectors.Collection(snap, e.workspace, c.name); errors.Is(err, kv.ErrNotFound) {
				err = nil
			}
			if err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("query: open: %w", err), snap.Close())
	}
	return r, nil
}

// read does all that needs the store, on one snapshot: searches, merges, budgets of entities and
// relations, chunk picking, and the chunks themselves. The snapshot is closed when it returns (Q1).
func (q *run) read(ctx context.Context, s searches) (chunks []Chunk, err error) {
	r, err := q.e.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.snap.Close()) }()
	q.res.LSN = r.snap.LSN()

	t := q.e.timer(StepRetrieve)
	low, high, hits, err := q.search(ctx, r, s)
	if err != nil {
		return nil, err
	}
	for _, l := range []*leg{low, high, hits} {
		if l.step.Name != "" {
			t.inner(l.step)
		}
		q.res.Reasons = append(q.res.Reasons, l.reasons...)
	}
	ents, rels := mergeEntities(low.entities, high.entities), mergeRelations(low.relations, high.relations)
	t.count("entities", len(ents))
	t.count("relations", len(rels))
	t.count("chunks", len(hits.chunks))
	q.record(t)

	q.res.Counts.RelationsBounded = low.bounded
	if q.kg() {
		t = q.e.timer(StepBudget)
		ents, rels = q.cutGraph(ents, rels)
		t.count("entities", len(ents))
		t.count("relations", len(rels))
		q.record(t)
	}
	q.res.Data.Entities, q.res.Data.Relations = ents, rels

	t = q.e.timer(StepPick)
	ofEntities, ofRelations, err := q.pick(r, s.queryVector)
	if err != nil {
		return nil, err
	}
	merged := mergeCandidates(hits.chunks, ofEntities, ofRelations)
	t.count("from_entities", len(ofEntities))
	t.count("from_relations", len(ofRelations))
	t.count("merged", len(merged))
	if q.kg() {
		q.record(t)
	}
	q.res.Counts.Chunks = ChunkCounts{Vector: len(hits.chunks), Entities: len(ofEntities), Relations: len(ofRelations), Merged: len(merged)}

	t = q.e.timer(StepRead)
	chunks, err = q.load(ctx, r, merged)
	t.count("chunks", len(chunks))
	q.record(t)
	return chunks, err
}

// leg is what one search path yields.
type leg struct {
	entities  []Entity
	relations []Relation
	bounded   bool // relations beyond these may exist and cannot fit the budget
	chunks    []candidate
	reasons   []Reason
	step      TraceStep
}

func (l *leg) reason(c ReasonCode, n int, detail string) {
	l.reasons = append(l.reasons, Reason{Code: c, Count: n, Detail: detail})
}

// search runs the paths that s asks for at the same time.
func (q *run) search(ctx context.Context, r *reader, s searches) (low, high, hits *leg, err error) {
	low, high, hits = &leg{}, &leg{}, &leg{}
	g, ctx := errgroup.WithContext(ctx)
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
	if s.low != "" {
		path(low, StepEntities, func(ctx context.Context, l *leg, t *timer) error { return q.byEntity(ctx, r, s.lowVector, l, t) })
	}
	if s.high != "" {
		path(high, StepRelations, func(ctx context.Context, l *leg, t *timer) error { return q.byRelation(ctx, r, s.highVector, l, t) })
	}
	if s.searchChunks {
		path(hits, StepChunks, func(ctx context.Context, l *leg, t *timer) error { return q.byChunk(ctx, r, s.queryVector, l, t) })
	}
	err = g.Wait()
	return low, high, hits, err
}

// hits searches one collection: best first, ties by id, none below the threshold.
func (q *run) hits(ctx context.Context, r *reader, c *vector.Collection, v []float32, k int) ([]vector.Hit, error) {
	least := q.opt.CosineThreshold.Or(defaultCosine)
	return c.Search(ctx, r.snap, v, vector.SearchOptions{K: k, MinScore: &least})
}

// byEntity is the node path (spec/query.md §4.1, §4.2): entities in order of similarity, and their
// relations by degree sum and weight.
func (q *run) byEntity(ctx context.Context, r *reader, v []float32, l *leg, t *timer) error {
	if r.graph == nil || r.entities == nil {
		l.reason(ReasonNothingIndexed, 0, "the workspace holds no entities")
		return nil
	}
	hits, err := q.hits(ctx, r, r.entities, v, q.opt.TopK)
	if err != nil {
		return err
	}
	t.count("hits", len(hits))
	if len(hits) == 0 {
		l.reason(ReasonNoEntityHits, 0, "no entity is similar enough to the low keywords")
		return nil
	}
	names := make([]string, len(hits))
	for i, h := range hits {
		names[i] = h.ID
	}
	nodes, err := r.graph.Nodes(r.snap, names)
	if err != nil {
		return err
	}
	names = names[:0]
	dangling := 0
	for i, n := range nodes {
		if n == nil {
			dangling++
			continue
		}
		e, err := entityOf(n, ViaLow)
		if err != nil {
			return err
		}
		e.Score = hits[i].Score
		l.entities = append(l.entities, e)
		names = append(names, n.Name)
	}
	if dangling > 0 {
		l.reason(ReasonDanglingEntities, dangling, "entity vectors have no node")
	}
	t.count("entities", len(l.entities))
	if err := q.incident(ctx, r, names, l); err != nil {
		return err
	}
	t.count("relations", len(l.relations))
	return nil
}

// edgeBatch is the number of edges whose properties are read at a time while the budget lasts.
const edgeBatch = 64

// incident adds the relations of names in order of rank, until their lines alone exceed the relation
// budget: no later one could be shown, whatever it is merged with. A hub therefore costs one cursor step
// an edge, and properties are read for the few that fit.
func (q *run) incident(ctx context.Context, r *reader, names []string, l *leg) error {
	budget, count := q.opt.Budget.Relations, q.e.count
	limit := budget/count.leastRelation() + 1
	dangling, sum := 0, 0
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
			pairs := make([][2]string, len(batch))
			for i, e := range batch {
				pairs[i] = [2]string{e.Src, e.Dst}
			}
			edges, err := r.graph.Edges(r.snap, pairs)
			if err != nil {
				return err
			}
			for i := 0; i < len(edges) && sum <= budget; i++ {
				done++
				if edges[i] == nil {
					dangling++
					continue
				}
				rel, err := relationOf(edges[i], ViaLow)
				if err != nil {
					return err
				}
				rel.Rank = batch[i].Rank
				sum += count.relation(&rel)
				l.relations = append(l.relations, rel)
			}
		}
		l.bounded = done < len(ranked) || len(ranked) == limit
		if len(ranked) < limit {
			break
		}
	}
	if dangling > 0 {
		l.reason(ReasonDanglingRelations, dangling, "pairs of joined entities have no relation record")
	}
	return nil
}

// byRelation is the edge path (spec/query.md §4.3, §4.4): relations in order of similarity, and their
// ends in order of first appearance.
func (q *run) byRelation(ctx context.Context, r *reader, v []float32, l *leg, t *timer) error {
	if r.graph == nil || r.relations == nil {
		l.reason(ReasonNothingIndexed, 0, "the workspace holds no relations")
		return nil
	}
	hits, err := q.hits(ctx, r, r.relations, v, q.opt.TopK)
	if err != nil {
		return err
	}
	t.count("hits", len(hits))
	if len(hits) == 0 {
		l.reason(ReasonNoRelationHits, 0, "no relation is similar enough to the high keywords")
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
	edges, err := r.graph.Edges(r.snap, pairs)
	if err != nil {
		return err
	}
	var names []string
	seen := make(map[string]bool)
	for i, e := range edges {
		if e == nil {
			dangling++
			continue
		}
		rel, err := relationOf(e, ViaHigh)
		if err != nil {
			return err
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
	if dangling > 0 {
		l.reason(ReasonDanglingRelations, dangling, "relation vectors have no edge")
	}
	t.count("relations", len(l.relations))
	return q.ends(r, names, l, t)
}

// ends adds the entities at the ends of relations.
func (q *run) ends(r *reader, names []string, l *leg, t *timer) error {
	nodes, err := r.graph.Nodes(r.snap, names)
	if err != nil {
		return err
	}
	dangling := 0
	for _, n := range nodes {
		if n == nil {
			dangling++
			continue
		}
		e, err := entityOf(n, ViaHigh)
		if err != nil {
			return err
		}
		l.entities = append(l.entities, e)
	}
	if dangling > 0 {
		l.reason(ReasonDanglingEntities, dangling, "ends of relations have no node")
	}
	t.count("entities", len(l.entities))
	return nil
}

// byChunk searches the chunk index with the question.
func (q *run) byChunk(ctx context.Context, r *reader, v []float32, l *leg, t *timer) error {
	if r.chunks == nil {
		l.reason(ReasonNothingIndexed, 0, "the workspace holds no chunks")
		return nil
	}
	hits, err := q.hits(ctx, r, r.chunks, v, q.opt.ChunkTopK)
	if err != nil {
		return err
	}
	t.count("hits", len(hits))
	if len(hits) == 0 {
		l.reason(ReasonNoChunkHits, 0, "no chunk is similar enough to the question")
	}
	for _, h := range hits {
		l.chunks = append(l.chunks, candidate{h.ID, []Found{{Via: ViaVector, Score: Some(h.Score)}}})
	}
	return nil
}

func entityOf(n *graph.Node, via Via) (Entity, error) {
	e, err := record.EntityOf(n.Name, n.Type, n.Props)
	return Entity{Name: e.Name, Type: e.Type, Description: e.Description, Sources: list(e.Sources), SourceCount: e.SourceCount,
		Paths: list(e.Paths), References: []string{}, Degree: n.Degree, Via: via, Tokens: e.Tokens}, err
}

func relationOf(g *graph.Edge, via Via) (Relation, error) {
	r, err := record.RelationOf(g.Src, g.Dst, g.Weight, g.Props)
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
