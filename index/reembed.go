package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/vector"
)

// ReembedProgress tells how far a change of the embedding model is.
type ReembedProgress struct {
	Done  int `json:"done"`  // chunks, entities and relations that have their next vector
	Total int `json:"total"` // of them all, when the call began
}

// ReembedOptions are those of one Reembed call.
type ReembedOptions struct {
	// Batch is the number of texts that are embedded and stored at once; 0: 256.
	Batch int
	// Progress is called after each batch, one call at a time and without locks held; nil: not.
	Progress func(ReembedProgress)
	// Commit stages what belongs to the change into its commit; nil: nothing.
	Commit func(b *kv.Batch) error
}

// ReembedResult tells what a Reembed call did.
type ReembedResult struct {
	LSN kv.LSN `json:"lsn"` // of the commit that changed the model; 0: the vectors were of this model already
	// Chunks, Entities and Relations have vectors of the model now.
	Chunks    int `json:"chunks"`
	Entities  int `json:"entities"`
	Relations int `json:"relations"`
	// Embedded texts were given to the embedder by this call; Kept vectors are those of earlier, interrupted ones.
	Embedded int `json:"embedded"`
	Kept     int `json:"kept"`
}

// ErrReembedding tells that another Reembed call is running.
var ErrReembedding = errors.New("index: the embedding model is being changed")

// freePasses is how often Reembed looks for what changed before it makes changes wait; fewPerPass texts may be left
// for that time.
const freePasses, fewPerPass = 4, 256

// Reembed makes the vectors of chunks, entities and relations anew with another model. It asks no model but e. The new
// vectors grow in collections beside the present ones, which serve queries and follow documents as before until one
// commit puts the new ones in their places. Each batch is durable with what it was made from: a call that was
// interrupted, by whatever, is taken up by the next one with the same model, which embeds what is missing or has
// changed since; one with another model drops what there is, and one with the present model does no more than that.
//
// Documents may come, change and go meanwhile. At the end, while everything is looked at once more, their commits
// wait; those that were prepared with the old model get their vectors from the new one. From then on the pipeline embeds
// with e. It takes memory and disk for a second set of vectors until then.
func (p *Pipeline) Reembed(ctx context.Context, e llm.Embedder, o ReembedOptions) (ReembedResult, error) {
	if !p.reembedder.TryLock() {
		return ReembedResult{}, ErrReembedding
	}
	defer p.reembedder.Unlock()
	m := &reembedding{p: p, e: e, o: o}
	if err := m.run(ctx); err != nil {
		return m.res, fmt.Errorf("index: reembed: %w", err)
	}
	return m.res, nil
}

// reembedding is one Reembed call.
type reembedding struct {
	p     *Pipeline
	e     llm.Embedder
	o     ReembedOptions
	res   ReembedResult
	total int
	there bool // the vectors are of e
	alone bool // the gate is held
	// looked: what an object was at this commit, a pass has seen.
	looked kv.LSN
}

func (m *reembedding) run(ctx context.Context) error {
	if err := m.begin(ctx); err != nil || m.there {
		return err
	}
	for try, embedded := 0, fewPerPass+1; try < freePasses && embedded > fewPerPass; try++ {
		var err error
		if embedded, err = m.pass(ctx); err != nil {
			return err
		}
	}
	// Now with nobody changing anything.
	if err := m.p.gate.Acquire(ctx, gateShares); err != nil {
		return err
	}
	defer m.p.gate.Release(gateShares)
	m.alone = true
	if err := m.begin(ctx); err != nil { // there may be documents only now
		return err
	}
	if _, err := m.pass(ctx); err != nil {
		return err
	}
	if err := m.clean(ctx); err != nil {
		return err
	}
	return m.swap(ctx)
}

// nextName is the collection that takes the place of another.
func nextName(name string) string { return record.NextPrefix + name }

// digestKey is where the digest of the text behind a next vector is.
func digestKey(ws, collection, id string) []byte {
	return append(digestPrefix(ws, collection), id...)
}

func digestPrefix(ws, collection string) []byte {
	return codec.AppendKeyString(space.In(ws, space.Reembed), collection)
}

const changeReembed = "reembed"

// begin makes the next collections, or drops those that are of no use. It counts what there is to do.
func (m *reembedding) begin(ctx context.Context) error {
	p, ws := m.p, m.p.cfg.Workspace
	m.total = 0
	_, err := p.cfg.Updater.Update(ctx, changeReembed, nil, func(b *kv.Batch) error {
		s, ok, err := p.open(b)
		if err != nil || !ok {
			return err // without documents there is nothing to embed
		}
		m.there = s.chunks.Config().Model == m.e.ID() && s.chunks.Config().Dim == m.e.Dim()
		if m.there {
			return p.dropNext(b)
		}
		want := p.layout(m.e)
		for _, c := range s.byName() {
			n, err := (*c.c).Len(b)
			if err != nil {
				return err
			}
			m.total += n
			have, err := p.cfg.Vectors.Collection(b, ws, nextName(c.name))
			if err == nil && (have.Config().Model != want.Model || have.Config().Dim != want.Dim) {
				if err = p.dropNext(b); err == nil {
					err = kv.ErrNotFound
				}
			}
			if errors.Is(err, kv.ErrNotFound) {
				_, err = p.cfg.Vectors.Create(b, ws, nextName(c.name), want)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// dropNext stages the end of all next collections.
func (p *Pipeline) dropNext(b *kv.Batch) error {
	ws := p.cfg.Workspace
	for _, c := range new(stores).byName() {
		if err := absentIsNil(p.cfg.Vectors.Drop(b, ws, nextName(c.name))); err != nil {
			return err
		}
	}
	prefix := space.In(ws, space.Reembed)
	return b.DeleteRange(prefix, codec.PrefixEnd(prefix))
}

// swap puts the next collections into the places of the present ones.
func (m *reembedding) swap(ctx context.Context) error {
	p, ws := m.p, m.p.cfg.Workspace
	counts := map[string]*int{record.ChunkCollection: &m.res.Chunks, record.EntityCollection: &m.res.Entities, record.RelationCollection: &m.res.Relations}
	lsn, err := p.cfg.Updater.Update(ctx, changeReembed, nil, func(b *kv.Batch) error {
		s, ok, err := p.open(b)
		if err != nil {
			return err
		}
		for _, c := range s.byName() {
			if !ok {
				break
			}
			next, err := p.cfg.Vectors.Collection(b, ws, nextName(c.name))
			if err != nil {
				return err
			}
			n, err := next.Len(b)
			if err != nil {
				return err
			}
			if have, err := (*c.c).Len(b); err != nil || n != have {
				return errors.Join(err, fmt.Errorf("%w: %d next vectors for %d in collection %q", kv.ErrCorrupt, n, have, c.name))
			}
			*counts[c.name] = n
			if err := p.cfg.Vectors.Drop(b, ws, c.name); err != nil {
				return err
			}
			if err := p.cfg.Vectors.Rename(b, ws, nextName(c.name), c.name); err != nil {
				return err
			}
		}
		prefix := space.In(ws, space.Reembed)
		if err := b.DeleteRange(prefix, codec.PrefixEnd(prefix)); err != nil {
			return err
		}
		if m.o.Commit != nil {
			if err := m.o.Commit(b); err != nil {
				return err
			}
		}
		b.OnCommit(func(kv.LSN) {
			p.embedding.Store(&embedding{m.e, &embedding{Embedder: p.embedder()}})
		})
		return nil
	})
	m.res.LSN = lsn
	return err
}

// NextModel is a change of the embedding model that was begun and not ended.
type NextModel struct {
	Embedder string `json:"embedder"`
	Dim      int    `json:"dim"`
	ReembedProgress
}

// Reembedding tells of a change of the embedding model that was begun and not ended; nil when there is none.
func (p *Pipeline) Reembedding(r kv.Reader) (*NextModel, error) {
	var out *NextModel
	for _, c := range new(stores).byName() {
		next, err := p.cfg.Vectors.Collection(r, p.cfg.Workspace, nextName(c.name))
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		var live *vector.Collection
		if err == nil {
			live, err = p.cfg.Vectors.Collection(r, p.cfg.Workspace, c.name)
		}
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = &NextModel{Embedder: next.Config().Model, Dim: next.Config().Dim}
		}
		done, err := next.Len(r)
		if err != nil {
			return nil, err
		}
		total, err := live.Len(r)
		if err != nil {
			return nil, err
		}
		out.Done, out.Total = out.Done+min(done, total), out.Total+total
	}
	return out, nil
}
