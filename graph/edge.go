package graph

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Edge is an edge as callers see it. Reads of an undirected graph return Src <= Dst in code-point order.
type Edge struct {
	Src, Dst string // names of existing nodes; equal for a self-loop
	Type     string // tells parallel edges apart; may be empty
	Weight   float64
	Props    Props
}

// orient returns the ends as the e key holds them.
func (g *Graph) orient(src, dst nodeID) (nodeID, nodeID) {
	if !g.cfg.Directed && src > dst {
		return dst, src
	}
	return src, dst
}

// present returns the names as reads show them.
func (g *Graph) present(src, dst string) (string, string) {
	if !g.cfg.Directed && src > dst {
		return dst, src
	}
	return src, dst
}

// PutEdge stages an edge: a new one, or another weight and other properties for the one with those ends
// and that type. In an undirected graph (a, b) and (b, a) are the same edge. Both ends must exist; if not,
// the error is a *MissingNodeError. e.Props is read during the call only. A new edge writes three keys, two
// more where an end is a hub, and one for every page of degrees that the batch touches.
func (g *Graph) PutEdge(b *kv.Batch, e Edge) error {
	if err := g.putEdge(b, e); err != nil {
		return fmt.Errorf("graph: put edge: %w", err)
	}
	return nil
}

func (g *Graph) putEdge(b *kv.Batch, e Edge) error {
	if err := checkText("edge type", e.Type); err != nil {
		return err
	}
	if err := checkWeight(e.Weight); err != nil {
		return err
	}
	if err := checkProps(e.Props); err != nil {
		return err
	}
	s, err := g.begin(b)
	if err != nil {
		return err
	}
	src, dst, err := g.ends(s.id, e.Src, e.Dst)
	if err != nil {
		return err
	}
	key := g.pairKey(kindEdge, src, dst, e.Type)
	old, err := b.Get(key)
	isNew := errors.Is(err, kv.ErrNotFound)
	if err != nil && !isNew {
		return err
	}
	if err := b.SetText(key, encodeEdge(e)); err != nil {
		return err
	}
	weight := appendWeight(nil, e.Weight)
	if !isNew && bytes.HasPrefix(old, weight) {
		return nil // the adjacency keys hold the weight already
	}
	if err := s.touch(src, dst); err != nil {
		return err
	}
	if err := b.Set(g.pairKey(kindOut, src, dst, e.Type), weight); err != nil {
		return err
	}
	if back := g.backKey(src, dst, e.Type); back != nil {
		if err := b.Set(back, weight); err != nil {
			return err
		}
	}
	if !isNew {
		return nil
	}
	return s.addEdge(src, dst, 1)
}

// backKey is the adjacency key seen from dst; nil for an undirected self-loop, which has one key.
func (g *Graph) backKey(src, dst nodeID, typ string) []byte {
	switch {
	case g.cfg.Directed:
		return g.pairKey(kindIn, dst, src, typ)
	case src != dst:
		return g.pairKey(kindOut, dst, src, typ)
	}
	return nil
}

// ends resolves the ends of an edge with id, and orients them.
func (g *Graph) ends(id func(name string) (nodeID, error), src, dst string) (s, d nodeID, err error) {
	if s, err = id(src); err != nil {
		return 0, 0, err
	}
	if d, err = id(dst); err != nil {
		return 0, 0, err
	}
	s, d = g.orient(s, d)
	return s, d, nil
}

// DeleteEdge stages the removal of an edge, or returns an error that is kv.ErrNotFound.
func (g *Graph) DeleteEdge(b *kv.Batch, src, dst, typ string) error {
	if err := g.deleteEdge(b, src, dst, typ); err != nil {
		return fmt.Errorf("graph: delete edge: %w", err)
	}
	return nil
}

func (g *Graph) deleteEdge(b *kv.Batch, src, dst, typ string) error {
	s, err := g.begin(b)
	if err != nil {
		return err
	}
	from, to, err := g.ends(s.id, src, dst)
	if err != nil {
		return err
	}
	if _, err := b.Get(g.pairKey(kindEdge, from, to, typ)); err != nil {
		return fmt.Errorf("%s - %s (%s): %w", brief.Quote(src), brief.Quote(dst), brief.Quote(typ), err)
	}
	if err := s.touch(from, to); err != nil {
		return err
	}
	if err := g.dropEdgeKeys(b, from, to, typ); err != nil {
		return err
	}
	return s.addEdge(from, to, -1)
}

// dropEdgeKeys deletes the record and both adjacency keys of an edge; degrees and counters are its
// caller's.
func (g *Graph) dropEdgeKeys(b *kv.Batch, src, dst nodeID, typ string) error {
	src, dst = g.orient(src, dst)
	if err := b.Delete(g.pairKey(kindEdge, src, dst, typ)); err != nil {
		return err
	}
	if err := b.Delete(g.pairKey(kindOut, src, dst, typ)); err != nil {
		return err
	}
	if back := g.backKey(src, dst, typ); back != nil {
		return b.Delete(back)
	}
	return nil
}

// Edge returns one edge, or an error that is kv.ErrNotFound: a *MissingNodeError when an end is absent.
// It costs three gets.
func (g *Graph) Edge(r kv.Reader, src, dst, typ string) (Edge, error) {
	s, d, err := g.ends(func(name string) (nodeID, error) { return g.id(r, name) }, src, dst)
	if err != nil {
		return Edge{}, fmt.Errorf("graph: edge: %w", err)
	}
	v, err := r.Get(g.pairKey(kindEdge, s, d, typ))
	if err != nil {
		return Edge{}, fmt.Errorf("graph: edge %s - %s (%s): %w", brief.Quote(src), brief.Quote(dst), brief.Quote(typ), err)
	}
	e, err := decodeEdge(v)
	e.Src, e.Dst = g.present(src, dst)
	e.Type = typ
	return e, err
}

// Edges returns the edges of type "" between pairs of names, in their order, nil where absent. It costs
// two batched reads: of the names and of the edges.
func (g *Graph) Edges(r kv.Reader, pairs [][2]string) ([]*Edge, error) {
	refs, err := g.edgeRefs(r, pairs)
	if err == nil {
		err = g.readEdges(r, refs)
	}
	if err != nil {
		return nil, fmt.Errorf("graph: edges: %w", err)
	}
	return placed(refs, len(pairs)), nil
}

// EachEdge is Edges for a caller who needs no map of properties: it calls fn for each pair that is joined, at its place in
// pairs. e has no Props; values hands them out. Both are valid during the call, what values hands out for good.
func (g *Graph) EachEdge(r kv.Reader, pairs [][2]string, fn func(at int, e *Edge, values Values) error) error {
	refs, err := g.edgeRefs(r, pairs)
	if err != nil {
		return fmt.Errorf("graph: edges: %w", err)
	}
	return g.eachEdge(r, refs, fn)
}

// edgeRefs asks for the edges of type "" between pairs, where both ends are there.
func (g *Graph) edgeRefs(r kv.Reader, pairs [][2]string) ([]edgeRef, error) {
	names := make([]string, 0, 2*len(pairs))
	for _, p := range pairs {
		names = append(names, p[0], p[1])
	}
	ids, err := g.lookup(r, names)
	if err != nil {
		return nil, err
	}
	refs := make([]edgeRef, 0, len(pairs))
	for i, p := range pairs {
		if ids[2*i] != 0 && ids[2*i+1] != 0 {
			s, d := g.orient(ids[2*i], ids[2*i+1])
			src, dst := g.present(p[0], p[1])
			refs = append(refs, edgeRef{src: s, dst: d, at: i, edge: Edge{Src: src, Dst: dst}})
		}
	}
	return refs, nil
}

// placed returns n edges, each that was found at its ref's place.
func placed(refs []edgeRef, n int) []*Edge {
	out := make([]*Edge, n)
	for i := range refs {
		if refs[i].found {
			out[refs[i].at] = &refs[i].edge
		}
	}
	return out
}

// eachEdge calls fn for those of refs that are there.
func (g *Graph) eachEdge(r kv.Reader, refs []edgeRef, fn func(at int, e *Edge, values Values) error) error {
	found, err := g.edgeRecords(r, refs)
	if err != nil {
		return fmt.Errorf("graph: edges: %w", err)
	}
	var v codec.Reader
	values := valuesIn(&v)
	for i, value := range found {
		if value == nil {
			continue
		}
		v.Share(value)
		e := &refs[i].edge
		e.Weight = v.Float64()
		if err := fn(refs[i].at, e, values); err != nil {
			return err
		}
	}
	return nil
}

// edgeRef asks readEdges for an edge whose ends are known: src and dst oriented, names and type in edge.
type edgeRef struct {
	src, dst nodeID
	at       int // the caller's position
	edge     Edge
	found    bool
}

// readEdges fills weight and properties of refs.
func (g *Graph) readEdges(r kv.Reader, refs []edgeRef) error {
	values, err := g.edgeRecords(r, refs)
	if err != nil {
		return err
	}
	for i, v := range values {
		if v == nil {
			continue
		}
		e, err := decodeEdge(v)
		if err != nil {
			return err
		}
		ref := &refs[i]
		ref.edge.Weight, ref.edge.Props, ref.found = e.Weight, e.Props, true
	}
	return nil
}

// edgeRecords reads the records of refs, nil where there is none.
func (g *Graph) edgeRecords(r kv.Reader, refs []edgeRef) ([][]byte, error) {
	size := 8 * len(refs)
	for i := range refs {
		size += len(refs[i].edge.Type)
	}
	return r.GetMany(g.keys(kindEdge, len(refs), size, func(k []byte, i int) []byte {
		return appendPair(k, refs[i].src, refs[i].dst, refs[i].edge.Type)
	}))
}
