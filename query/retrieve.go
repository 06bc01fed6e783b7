package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/postings"
	"github.com/glimdb/db/vector"
)

// retrieve fills the data, the context and the outcome of the result.
func (q *run) retrieve(ctx context.Context) error {
	t := q.e.timer(StepKeywords)
	if q.opt.Mode != Naive {
		q.tell(StepKeywords)
	}
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
	t = q.e.timer(StepPrompt)
	if q.res.Tokens.Fixed, err = q.e.count.fixed(q.kg(), q.question, q.opt.Reply); err != nil {
		return fmt.Errorf("query: system prompt: %w", err)
	}
	t.count("tokens", q.res.Tokens.Fixed)
	q.record(t)
	q.res.Tokens.Budget = q.opt.Budget.Total
	if err := q.hypothesis(ctx); err != nil {
		return err
	}
	for {
		s := q.plan()
		q.embedder = q.e.embedder.Load()
		if err := q.embed(ctx, &s); err != nil {
			return err
		}
		chunks, err := q.read(ctx, s)
		switch {
		case errors.Is(err, ErrModel) && q.embedder != q.e.embedder.Load():
			continue // it was changed between the embedding call and the view
		case errors.Is(err, errNoPostings):
			q.res.fallback(StepChunks, string(q.opt.Search), string(SearchVector), "the postings do not cover every document yet")
			q.opt.Search = SearchVector
			continue
		case errors.Is(err, errNoEntityPostings):
			q.res.fallback(StepEntities, string(q.entitySearch), string(SearchVector), "the postings do not cover every entity")
			q.entitySearch = SearchVector
			continue
		case err != nil:
			return err
		}
		return q.compose(ctx, chunks)
	}
}

// ErrModel tells that the stored vectors are of another model than the one that embeds questions.
var ErrModel = errors.New("query: the stored vectors are of another embedding model")

// embeddedBy fails with ErrModel when e did not make the vectors.
func (r *reader) embeddedBy(e *embedder) error {
	for _, c := range []*vector.Collection{r.entities, r.relations, r.chunks} {
		if c != nil && (c.Config().Model != e.ID() || c.Config().Dim != e.Dim()) {
			return fmt.Errorf("%w: %s of %d dimensions, not %s of %d", ErrModel, c.Config().Model, c.Config().Dim, e.ID(), e.Dim())
		}
	}
	return nil
}

// reader is one view of the store. A field is nil where the store has no such part yet.
type reader struct {
	workspace                   string
	snap                        *kv.Snapshot
	sel                         *selection // nil without a filter
	graph                       *graph.Graph
	entities, relations, chunks *vector.Collection
	words                       *postings.Index // of chunks; nil unless they are searched by words
	entityWords                 *postings.Keyed // of entities; nil unless they are
}

func (e *Engine) open() (*reader, error) {
	snap, err := e.view()
	if err != nil {
		return nil, fmt.Errorf("query: view: %w", err)
	}
	r := &reader{workspace: e.workspace, snap: snap}
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

// maxWaiting bounds the count of documents in the queue: more are worth no more time of a query.
const maxWaiting = 10_000

// waiting counts the documents whose newest version is not processed yet, up to maxWaiting.
func (r *reader) waiting(ws string) (n int, err error) {
	prefix := record.QueuePrefix(ws)
	c, err := r.snap.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for n < maxWaiting && c.Next() {
		n++
	}
	return n, c.Err()
}

// read does all that needs the store, on one snapshot: searches, merges, budgets of entities and
// relations, chunk picking, and the chunks themselves. The snapshot is closed when it returns (Q1).
func (q *run) read(ctx context.Context, s searches) (chunks []Chunk, err error) {
	r, err := q.e.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.snap.Close()) }()
	if err := r.embeddedBy(q.embedder); err != nil {
		return nil, err
	}
	q.res.LSN = r.snap.LSN()
	if s.searchChunks && q.opt.Search != SearchVector {
		if err := q.e.openPostings(r); err != nil {
			return nil, err
		}
	}
	if s.searchEntities && q.entitySearch != SearchVector {
		if err := q.e.openEntityPostings(r); err != nil {
			return nil, err
		}
	}
	waiting, err := q.narrow(ctx, r)
	if err != nil {
		return nil, err
	}

	t := q.e.timer(StepRetrieve)
	found, err := q.search(ctx, r, s)
	if err != nil {
		return nil, err
	}
	for _, l := range found.all() {
		if l.step.Name != "" {
			t.inner(l.step)
		}
		q.res.Reasons = append(q.res.Reasons, l.reasons...)
	}
	q.tellRoute(&found.hits)
	q.res.counted(ReasonDocumentsWaiting, waiting, "documents that are not processed yet")
	ents, rels := found.merged()
	t.count("entities", len(ents))
	t.count("relations", len(rels))
	t.count("chunks", len(found.hits.chunks))
	q.record(t)

	q.res.Counts.Named = len(found.names.entities)
	q.res.Counts.RelationsBounded = found.names.bounded || found.low.bounded
	if q.kg() {
		t = q.e.timer(StepBudget)
		ents, rels = q.cutGraph(ents, rels)
		t.cut("entities", len(ents), q.res.Counts.Entities.Found)
		t.cut("relations", len(rels), q.res.Counts.Relations.Found)
		q.record(t)
	}
	q.res.Data.Entities, q.res.Data.Relations = values(ents), values(rels)
	q.filtered(r, found)

	t = q.e.timer(StepPick)
	ofEntities, ofRelations, err := q.pick(r, s.queryVector)
	if err != nil {
		return nil, err
	}
	merged := mergeCandidates(found.hits.chunks, ofEntities, ofRelations)
	if q.opt.Search != SearchVector && len(found.hits.chunks) > 0 {
		byPlaces(merged, found.hits.chunks, ofEntities, ofRelations)
	}
	t.count("from_entities", len(ofEntities))
	t.count("from_relations", len(ofRelations))
	t.cut("merged", len(merged), len(found.hits.chunks)+len(ofEntities)+len(ofRelations))
	if q.kg() {
		q.record(t)
	}
	q.res.Counts.Chunks = ChunkCounts{Vector: found.hits.byVector, Text: found.hits.byText, Entities: len(ofEntities), Relations: len(ofRelations), Merged: len(merged)}

	t = q.e.timer(StepRead)
	if chunks, err = q.load(ctx, r, merged); err == nil {
		err = q.statistics(ctx, r)
	}
	t.count("chunks", len(chunks))
	q.record(t)
	return chunks, err
}
