package index

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/postings"
)

// postings checks that the index of postings is sound, and holds exactly the chunks that it covers, as their texts are read
// anew. One of another analyser is only checked for being sound, for Tend replaces it.
func (c *checker) postings() error {
	x, g, err := c.p.postingsOf(c.r)
	if errors.Is(err, kv.ErrCorrupt) {
		return c.report("I11", "postings: %v", err)
	}
	if err != nil || x == nil {
		return err
	}
	terms := func(id string) ([]postings.Term, bool, error) {
		doc, order, ok := record.ParseChunkID(id)
		if !ok || !g.Covers(doc) {
			return nil, false, nil
		}
		v, err := c.r.Get(record.ChunkKey(c.ws, doc, order))
		if errors.Is(err, kv.ErrNotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		k, err := record.DecodeChunk(doc, order, v)
		if err != nil { // reported with the chunks
			return nil, true, nil
		}
		return c.p.wordingOf(&k).terms, true, c.ctx.Err()
	}
	other := x.Config().Analyser != c.p.words.ID()
	if other {
		terms = nil
	}
	for problem, err := range x.Check(c.r, terms) {
		if err != nil {
			return err
		}
		if err := c.report("I11", "%v", problem); err != nil {
			return err
		}
	}
	if other {
		return nil
	}
	return c.under(space.Chunk, func(rest, _ []byte) error {
		doc, order, err := record.ParseChunkKey(rest)
		if err != nil || !g.Covers(doc) {
			return nil // the former is reported with the chunks
		}
		switch has, err := x.Has(c.r, record.ChunkID(doc, order)); {
		case err != nil:
			return fmt.Errorf("postings: %w", err)
		case !has:
			return c.report("I11", "chunk %s has no postings", record.ChunkID(doc, order))
		}
		return nil
	})
}

// entityPostings checks the same of the postings of entities.
func (c *checker) entityPostings() error {
	x, cover, err := c.p.entityPostings(c.r)
	if errors.Is(err, kv.ErrCorrupt) {
		return c.report("I11", "postings of entities: %v", err)
	}
	if err != nil || x == nil {
		return err
	}
	g, err := c.p.openGraph(c.r)
	if err != nil {
		return err
	}
	terms := func(name string) ([]postings.Term, bool, error) {
		if g == nil || !cover.Covers(name) {
			return nil, false, nil
		}
		n, err := g.Node(c.r, name)
		if errors.Is(err, kv.ErrNotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		e, err := record.EntityOf(n.Name, n.Type, n.Props)
		if err != nil { // reported with the objects
			return nil, true, nil
		}
		return c.p.wordsOfEntity(e.Name, e.Description), true, c.ctx.Err()
	}
	other := x.Config().Analyser != c.p.words.ID()
	if other {
		terms = nil
	}
	for problem, err := range x.Check(c.r, terms) {
		if err != nil {
			return err
		}
		if err := c.report("I11", "of entities: %v", problem); err != nil {
			return err
		}
	}
	if other || g == nil {
		return nil
	}
	for n, err := range g.AllNodes(c.r) {
		if err != nil {
			return err
		}
		if !cover.Covers(n.Name) {
			continue
		}
		switch has, err := x.Has(c.r, n.Name); {
		case err != nil:
			return err
		case !has:
			if err := c.report("I11", "entity %q has no postings", n.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
