package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// pick chooses chunks of the entities and relations that survived the budget.
func (q *run) pick(r *reader, query []float32) (ofEntities, ofRelations []candidate, err error) {
	data := q.res.Data
	owners := make([]owner, len(data.Entities))
	for i, e := range data.Entities {
		owners[i] = owner{e.Name, e.Sources}
	}
	ofEntities, err = q.pickFrom(r, query, newPool(owners, nil, true, q.opt.RelatedChunkCap), ViaEntity)
	if err != nil {
		return nil, nil, err
	}
	taken := make(map[string]bool, len(ofEntities))
	for _, c := range ofEntities {
		taken[c.id] = true
	}
	owners = make([]owner, len(data.Relations))
	for i, rel := range data.Relations {
		owners[i] = owner{rel.Src + " - " + rel.Dst, rel.Sources}
	}
	ofRelations, err = q.pickFrom(r, query, newPool(owners, taken, false, q.opt.RelatedChunkCap), ViaRelation)
	return ofEntities, ofRelations, err
}

// pickFrom applies the picker, with PickWeight where PickVector cannot work (spec/query.md §5.2).
func (q *run) pickFrom(r *reader, query []float32, p pool, via Via) ([]candidate, error) {
	related := q.opt.RelatedChunks.Or(defaultRelated)
	if related <= 0 || len(p.owners) == 0 {
		return nil, nil
	}
	if q.picker() != PickVector {
		return p.pickByWeight(related, via), nil
	}
	byWeight := func(why string) ([]candidate, error) {
		q.res.fallback(StepPick, string(PickVector), string(PickWeight), fmt.Sprintf("chunks by %s: %s", via, why))
		return p.pickByWeight(related, via), nil
	}
	if r.chunks == nil {
		return byWeight("the workspace holds no chunk vectors")
	}
	if p.vectorQuota(related) == 0 {
		return byWeight("the quota of one owner is below one chunk")
	}
	ids, owners := p.all()
	near := newNearest(query, p.vectorQuota(related), r.chunks.Config().Metric == vector.Cosine)
	if err := r.chunks.Visit(r.snap, ids, near.see); err != nil {
		return nil, fmt.Errorf("query: pick chunks: %w", err)
	}
	missing := len(ids) - near.seen
	q.res.counted(ReasonVectorsMissing, missing, fmt.Sprintf("candidate chunks by %s without a stored vector", via))
	if float64(missing) > maxMissingShare*float64(len(ids)) || missing == len(ids) {
		return byWeight("too many candidates have no stored vector")
	}
	return p.pickByVector(near, ids, owners, via), nil
}

// load reads merged chunks in order: all of them when a reranker is to order them anew, else only as many
// as can be kept.
func (q *run) load(ctx context.Context, r *reader, merged []candidate) ([]Chunk, error) {
	most := len(merged)
	if !q.reranks() {
		most = min(most, q.opt.ChunkTopK)
	}
	chunks := make([]Chunk, 0, most)
	missing := 0
	for _, c := range merged {
		if len(chunks) == most {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("query: read chunks: %w", err)
		}
		chunk, err := q.e.chunk(r.snap, c)
		if errors.Is(err, kv.ErrNotFound) {
			missing++
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("query: read chunk %q: %w", c.id, err)
		}
		if chunk.Content == "" {
			missing++
			continue
		}
		chunks = append(chunks, chunk)
	}
	q.res.counted(ReasonDanglingChunks, missing, "chunk ids without a stored text")
	return chunks, nil
}

// chunk reads one chunk; an id that names none is kv.ErrNotFound.
func (e *Engine) chunk(r kv.Reader, c candidate) (Chunk, error) {
	doc, order, ok := record.ParseChunkID(c.id)
	if !ok {
		return Chunk{}, kv.ErrNotFound
	}
	rows, err := r.GetMany([][]byte{record.ChunkKey(e.workspace, doc, order)})
	if err != nil {
		return Chunk{}, err
	}
	if rows[0] == nil {
		return Chunk{}, kv.ErrNotFound
	}
	s, err := record.DecodeChunk(doc, order, rows[0])
	return Chunk{ID: c.id, Document: doc, Order: order, Path: s.Path, Start: s.Start, End: s.End, Content: s.Content, Context: s.Context,
		Found: c.found, Tokens: s.Tokens, lineTokens: s.Line()}, err
}
