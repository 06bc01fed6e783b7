package graph

import (
	"bytes"
	"context"
	"fmt"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// What walks and lists read of a hub: parts of its shelf (shelf.go), found by leaps between its classes and,
// inside a class, between weights.

// shelfCursor reads the shelf of one hub. Close it.
type shelfCursor struct {
	c     kv.Cursor
	g     *Graph
	ok    bool // entry and other are of the entry under the cursor
	entry shelfEntry
	other nodeID
}

// openShelf stands on the first entry.
func (g *Graph) openShelf(r kv.Reader, hub nodeID) (*shelfCursor, error) {
	lower := g.idKey(kindShelf, hub)
	c, err := r.Cursor(lower, codec.PrefixEnd(lower))
	if err != nil {
		return nil, err
	}
	s := &shelfCursor{c: c, g: g}
	if err := s.at(c.First()); err != nil {
		c.Close()
		return nil, err
	}
	return s, nil
}

func (s *shelfCursor) close() { s.c.Close() }

// at reads the entry under the cursor, if there is one.
func (s *shelfCursor) at(ok bool) (err error) {
	if s.ok = ok; !ok {
		return s.c.Err()
	}
	if _, s.entry, err = s.g.shelfEntryOf(s.c.Key()); err != nil {
		return err
	}
	s.other, err = decodeID(s.c.Value())
	return err
}

func (s *shelfCursor) next() error { return s.at(s.c.Next()) }

// nextClass moves behind all entries of the entry's class.
func (s *shelfCursor) nextClass() error { return s.behind(1) }

// nextWeight moves behind all entries of the entry's class and weight.
func (s *shelfCursor) nextWeight() error { return s.behind(9) }

// behind moves behind all keys that share the first n bytes after the hub's.
func (s *shelfCursor) behind(n int) error {
	prefix := bytes.Clone(s.c.Key()[:len(s.g.prefix)+5+n])
	end := codec.PrefixEnd(prefix)
	return s.at(end != nil && s.c.SeekGE(end))
}

// shelfTop calls fn for neighbours of a hub, among them the first limit, by degree descending and name
// ascending, of those for which fn returns true.
//
// Where a class is one degree it is sorted by weight first: of each weight the first limit are taken and the
// rest is leapt over, so that a class of few weights costs little, however large it is.
func (g *Graph) shelfTop(ctx context.Context, r kv.Reader, hub nodeID, limit int, fn func(other nodeID) bool) error {
	s, err := g.openShelf(r, hub)
	if err != nil {
		return err
	}
	defer s.close()
	for taken := 0; s.ok && taken < limit; {
		if err := ctx.Err(); err != nil {
			return err
		}
		class, most := s.entry.class, limit-taken
		for s.ok && s.entry.class == class {
			weight, ofWeight := s.entry.weight, 0
			for s.ok && s.entry.class == class && s.entry.weight == weight && (ofWeight < most || class >= exactDegrees) {
				if fn(s.other) {
					ofWeight++
				}
				if err := s.next(); err != nil {
					return err
				}
			}
			taken += ofWeight
			if s.ok && s.entry.class == class && s.entry.weight == weight {
				if err := s.nextWeight(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Strongest returns the pairs that join the named node with others, by weight descending, then by the other's
// name ascending: the first limit of them, 1.. . The error is kv.ErrNotFound when the node is absent.
//
// It reads no properties; RankedEdges does for what it returns. A node of fewer than 512 edges costs one step
// for each; a hub about limit steps and one seek for each class of degrees among its neighbours, of which there
// are some 150 at most.
func (g *Graph) Strongest(r kv.Reader, name string, limit int) ([]RankedEdge, error) {
	if limit < 1 {
		return nil, &InvalidError{Field: "argument", Key: "limit", Reason: fmt.Sprintf("%d is not positive", limit)}
	}
	pairs, err := g.strongest(r, name, limit)
	if err != nil {
		return nil, fmt.Errorf("graph: strongest: %w", err)
	}
	return pairs, nil
}

func (g *Graph) strongest(r kv.Reader, name string, limit int) ([]RankedEdge, error) {
	id, err := g.id(r, name)
	if err != nil {
		return nil, err
	}
	var degrees degreeTable
	if err := degrees.load(g, r, []nodeID{id}); err != nil {
		return nil, err
	}
	var pairs []rankedPair
	if degree := degrees.degree(id); degree >= g.hub && degree > limit {
		pairs, err = g.strongestOfShelf(r, id, limit)
	} else {
		pairs, err = g.strongestOfAll(r, id, limit)
	}
	if err != nil {
		return nil, err
	}
	others := make([]nodeID, len(pairs))
	for i, p := range pairs {
		others[i] = p.other
	}
	if err := degrees.load(g, r, others); err != nil {
		return nil, err
	}
	edges := make([]RankedEdge, len(pairs))
	for i, p := range pairs {
		p.rank = degrees.degree(id) + degrees.degree(p.other)
		edges[i] = p.edge(name)
	}
	return edges, nil
}

// stronger is the order of Strongest.
func stronger(p, q rankedPair) bool {
	if p.weight != q.weight {
		return p.weight > q.weight
	}
	return p.name < q.name
}

func (g *Graph) strongestOfAll(r kv.Reader, id nodeID, limit int) ([]rankedPair, error) {
	s := scanner{g: g, r: r}
	defer s.close()
	var all []rankedPair
	err := g.pairsOf(&s, id, func(other nodeID, weight float64) error {
		all = append(all, rankedPair{own: id, other: other, weight: weight})
		return nil
	})
	if err != nil {
		return nil, err
	}
	others := make([]nodeID, len(all))
	for i, p := range all {
		others[i] = p.other
	}
	names, err := g.namesOf(r, others)
	if err != nil {
		return nil, err
	}
	best := bounded[rankedPair]{limit: limit, before: stronger}
	for _, p := range all {
		p.name = names.name(p.other)
		best.push(p)
	}
	return best.sorted(), nil
}

// strongestOfShelf merges the classes, each of which is in the order of stronger.
func (g *Graph) strongestOfShelf(r kv.Reader, hub nodeID, limit int) ([]rankedPair, error) {
	s, err := g.openShelf(r, hub)
	if err != nil {
		return nil, err
	}
	defer s.close()
	best := bounded[rankedPair]{limit: limit, before: stronger}
	for s.ok {
		p := rankedPair{own: hub, other: s.other, weight: s.entry.weight, name: s.entry.name}
		if len(best.heap) == limit && !stronger(p, best.heap[0]) {
			err = s.nextClass()
		} else {
			best.push(p)
			err = s.next()
		}
		if err != nil {
			return nil, err
		}
	}
	return best.sorted(), nil
}
