package index

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/vector"
)

// stores are the graph and the collections of the workspace.
type stores struct {
	graph                       *graph.Graph
	chunks, entities, relations *vector.Collection
}

// byName lists the collections with their names.
func (s *stores) byName() []struct {
	name string
	c    **vector.Collection
} {
	return []struct {
		name string
		c    **vector.Collection
	}{
		{record.ChunkCollection, &s.chunks},
		{record.EntityCollection, &s.entities},
		{record.RelationCollection, &s.relations},
	}
}

// create returns the stores of the workspace, making what does not exist yet.
func (p *Pipeline) create(b *kv.Batch) (stores, error) {
	var (
		s   stores
		err error
	)
	if s.graph, err = graph.Create(b, p.cfg.Workspace, record.GraphName, graph.Config{}); err != nil {
		return s, err
	}
	cfg := p.layout(p.embedder())
	for _, c := range s.byName() {
		have, err := p.cfg.Vectors.Collection(b, p.cfg.Workspace, c.name)
		if errors.Is(err, kv.ErrNotFound) {
			have, err = p.cfg.Vectors.Create(b, p.cfg.Workspace, c.name, cfg)
		}
		if err != nil {
			return s, err
		}
		if err := p.checkModel(have); err != nil {
			return s, err
		}
		*c.c = have
	}
	return s, nil
}

// CreateStores makes the graph and the collections that documents live in, where they do not exist yet. A
// batch that imports documents needs it: a dump leaves out those that are empty.
func (p *Pipeline) CreateStores(b *kv.Batch) error {
	_, err := p.create(b)
	return err
}

// open returns the stores of the workspace; ok is false before the first write.
func (p *Pipeline) open(r kv.Reader) (s stores, ok bool, err error) {
	if s.graph, err = p.openGraph(r); err != nil || s.graph == nil {
		return s, false, err
	}
	for _, c := range s.byName() {
		if *c.c, err = p.cfg.Vectors.Collection(r, p.cfg.Workspace, c.name); err != nil {
			return s, false, err
		}
	}
	return s, true, nil
}

// layout is the configuration of a collection of vectors of e.
func (p *Pipeline) layout(e llm.Embedder) vector.Config {
	cfg := p.cfg.Layout
	cfg.Metric, cfg.Dim, cfg.Model = vector.Cosine, e.Dim(), e.ID()
	return cfg
}

// checkModel refuses an embedder other than the one a collection was made with. A collection of a view may be older
// than the last change of the model.
func (p *Pipeline) checkModel(c *vector.Collection) error {
	have, e := c.Config(), p.embedding.Load()
	for known := e; known != nil; known = known.before {
		if have.Model == known.ID() && have.Dim == known.Dim() {
			return nil
		}
	}
	return &ModelError{StoredModel: have.Model, StoredDim: have.Dim, GivenModel: e.ID(), GivenDim: e.Dim()}
}

// admit lets the owner of the store refuse a change, or stage what belongs to the first one.
func (p *Pipeline) admit(b *kv.Batch) error {
	if p.cfg.Admit == nil {
		return nil
	}
	return p.cfg.Admit(b)
}

// checkModels refuses another embedder before anything is written.
func (p *Pipeline) checkModels(r kv.Reader) error {
	c, err := p.cfg.Vectors.Collection(r, p.cfg.Workspace, record.ChunkCollection)
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return p.checkModel(c)
}

func absentIsNil(err error) error {
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	return err
}

// stagePlan puts source records, tallies, graph and vectors of a plan into b: nodes before the edges
// that need them, edges before the nodes that they keep alive. Then what people decided.
func (p *Pipeline) stagePlan(b *kv.Batch, pl *plan) error {
	if err := p.stageEdits(b, pl); err != nil {
		return err
	}
	if err := p.stageDormant(b, pl); err != nil {
		return err
	}
	return p.stageDecisions(b, pl)
}

func (p *Pipeline) stageEdits(b *kv.Batch, pl *plan) error {
	if len(pl.edits) == 0 {
		return nil
	}
	s, err := p.create(b)
	if err != nil {
		return err
	}
	words, err := p.createEntityPostings(b)
	if err != nil {
		return fmt.Errorf("index: postings of entities: %w", err)
	}
	for _, e := range pl.edits {
		if err := p.stageSources(b, e); err != nil {
			return err
		}
		if err := p.stageTally(b, e); err != nil {
			return err
		}
		if !e.gone {
			if err := p.stageView(b, &s, words, e); err != nil {
				return fmt.Errorf("index: store %v: %w", e.object, err)
			}
		}
	}
	for i := len(pl.edits) - 1; i >= 0; i-- { // relations first
		if e := pl.edits[i]; e.gone {
			if err := removeView(b, &s, words, e); err != nil {
				return fmt.Errorf("index: remove %v: %w", e.object, err)
			}
		}
	}
	return nil
}

// stageSources replaces the records of e.
func (p *Pipeline) stageSources(b *kv.Batch, e *edit) error {
	ws := p.cfg.Workspace
	stored := make(map[string][]byte, len(e.removed))
	for i := range e.removed {
		stored[string(e.removed[i].Key(ws))] = e.removed[i].Encode()
	}
	for i := range e.added {
		key, value := e.added[i].Key(ws), e.added[i].Encode()
		if have, ok := stored[string(key)]; ok {
			delete(stored, string(key))
			if bytes.Equal(have, value) {
				continue
			}
		}
		if err := b.Set(key, value); err != nil {
			return err
		}
	}
	for i := range e.removed {
		key := e.removed[i].Key(ws)
		if _, left := stored[string(key)]; left {
			if err := b.Delete(key); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Pipeline) stageTally(b *kv.Batch, e *edit) error {
	key := record.TallyKey(p.cfg.Workspace, e.object)
	if e.gone {
		return b.Delete(key)
	}
	e.tally.Version = uint64(b.LSN()) + 1
	return b.Set(key, e.tally.Encode())
}

// stageView stores the derived entity or relation, its vector and its postings, each only when it changed.
func (p *Pipeline) stageView(b *kv.Batch, s *stores, words *entityWords, e *edit) error {
	if e.changed() {
		now := p.cfg.Now().Unix()
		if e.object.IsRelation() {
			n := &e.nextRelation
			if e.relation == nil {
				n.CreatedAt = now
			}
			if err := s.graph.PutEdge(b, graph.Edge{Src: n.Src, Dst: n.Dst, Weight: n.Weight, Props: n.Props()}); err != nil {
				return err
			}
		} else {
			n := &e.nextEntity
			if e.entity == nil {
				n.CreatedAt = now
			}
			if err := s.graph.PutNode(b, graph.Node{Name: n.Name, Type: n.Type, Props: n.Props()}); err != nil {
				return err
			}
			if err := words.put(e.entity, n); err != nil {
				return err
			}
		}
	}
	if !e.embed {
		return nil
	}
	if e.object.IsRelation() {
		return s.relations.Put(b, record.PairID(e.object.A, e.object.B), e.vector)
	}
	return s.entities.Put(b, e.object.A, e.vector)
}

func removeView(b *kv.Batch, s *stores, words *entityWords, e *edit) error {
	if e.entity == nil && e.relation == nil {
		return nil // neither was nor is
	}
	if e.object.IsRelation() {
		if err := s.graph.DeleteEdge(b, e.object.A, e.object.B, ""); err != nil {
			return err
		}
		return s.relations.Delete(b, record.PairID(e.object.A, e.object.B))
	}
	if err := s.graph.DeleteNode(b, e.object.A); err != nil {
		return err
	}
	if err := words.remove(e.entity); err != nil {
		return err
	}
	return s.entities.Delete(b, e.object.A)
}
