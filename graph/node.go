package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Node is a vertex as callers see it.
type Node struct {
	Name  string // unique in its graph, valid UTF-8, 1..MaxNameBytes bytes
	Type  string // free text, may be empty
	Props Props
	// Degree is the number of incident edges, a self-loop counting twice. Set by reads, ignored by PutNode.
	Degree int
}

// PutNode stages a node: a new one, or another type and other properties for the one of that name, whose
// edges stay. n.Props is read during the call only. Errors are *InvalidError, or the batch's.
func (g *Graph) PutNode(b *kv.Batch, n Node) error {
	if err := g.putNode(b, n); err != nil {
		return fmt.Errorf("graph: put node: %w", err)
	}
	return nil
}

func (g *Graph) putNode(b *kv.Batch, n Node) error {
	if err := checkName("node name", n.Name); err != nil {
		return err
	}
	if err := checkText("node type", n.Type); err != nil {
		return err
	}
	if err := checkProps(n.Props); err != nil {
		return err
	}
	s, err := g.begin(b)
	if err != nil {
		return err
	}
	id, err := s.id(n.Name)
	if errors.Is(err, kv.ErrNotFound) {
		id, err = s.newNode(n.Name)
	}
	if err != nil {
		return err
	}
	return b.SetText(g.idKey(kindNode, id), encodeNode(n))
}

// newNode stages the maps of a new name.
func (s *staging) newNode(name string) (nodeID, error) {
	id, err := s.allocate()
	if err != nil {
		return 0, err
	}
	if err := s.b.Set(s.g.nameKey(name), codec.AppendKeyUint32(nil, uint32(id))); err != nil {
		return 0, err
	}
	if err := s.b.Set(s.g.foldKey(Fold(name), name), nil); err != nil {
		return 0, err
	}
	if err := s.b.Set(s.g.idKey(kindID, id), []byte(name)); err != nil {
		return 0, err
	}
	s.learn(name, id)
	s.count(1, 0)
	return id, nil
}

// Node returns the node of that name, or an error that is kv.ErrNotFound. It costs three gets.
func (g *Graph) Node(r kv.Reader, name string) (Node, error) {
	ns, err := g.nodes(r, []string{name})
	if err == nil && ns[0] == nil {
		err = &MissingNodeError{Name: name}
	}
	if err != nil {
		return Node{}, fmt.Errorf("graph: node: %w", err)
	}
	return *ns[0], nil
}

// Nodes returns the nodes of those names in their order, nil where absent. A name given twice gives two
// pointers to one Node. It costs three batched reads: of the names, the records and the degrees.
func (g *Graph) Nodes(r kv.Reader, names []string) ([]*Node, error) {
	ns, err := g.nodes(r, names)
	if err != nil {
		return nil, fmt.Errorf("graph: nodes: %w", err)
	}
	return ns, nil
}

func (g *Graph) nodes(r kv.Reader, names []string) ([]*Node, error) {
	ids, err := g.lookup(r, names)
	if err != nil {
		return nil, err
	}
	return g.nodesByID(r, ids, names)
}

// EachNode is Nodes for a caller who needs no map of properties: it calls fn for each name that is there, at its place
// in names. n has no Props; values hands them out. Both are valid during the call, what values hands out for good.
func (g *Graph) EachNode(r kv.Reader, names []string, fn func(at int, n *Node, values Values) error) error {
	ids, err := g.lookup(r, names)
	if err != nil {
		return fmt.Errorf("graph: nodes: %w", err)
	}
	rs, err := g.nodeRecords(r, ids)
	if err != nil {
		return fmt.Errorf("graph: nodes: %w", err)
	}
	var v codec.Reader
	var n Node
	values := valuesIn(&v)
	for i, id := range ids {
		if id == 0 {
			continue
		}
		value, degree := rs.of(id)
		v.Share(value)
		n = Node{Name: names[i], Type: v.String(), Degree: degree}
		if err := fn(i, &n, values); err != nil {
			return err
		}
	}
	return nil
}

// nodesByID reads the nodes of ids (0: none), whose names are known.
func (g *Graph) nodesByID(r kv.Reader, ids []nodeID, names []string) ([]*Node, error) {
	rs, err := g.nodeRecords(r, ids)
	if err != nil {
		return nil, err
	}
	nodes := make([]Node, len(rs.ids))
	for i, id := range rs.ids {
		if nodes[i], err = decodeNode(rs.values[i]); err != nil {
			return nil, err
		}
		nodes[i].Degree = rs.degrees.degree(id)
	}
	out := make([]*Node, len(ids))
	for i, id := range ids {
		if at, ok := slices.BinarySearch(rs.ids, id); ok {
			out[i] = &nodes[at]
			out[i].Name = names[i]
		}
	}
	return out, nil
}

// nodeRecords are the records of some nodes, in order of their ids.
type nodeRecords struct {
	ids     []nodeID
	values  [][]byte
	degrees degreeTable
}

// nodeRecords reads those of ids (0: none).
func (g *Graph) nodeRecords(r kv.Reader, ids []nodeID) (rs nodeRecords, err error) {
	sorted := slices.DeleteFunc(slices.Clone(ids), func(id nodeID) bool { return id == 0 })
	slices.Sort(sorted)
	rs.ids = slices.Compact(sorted)
	if err := rs.degrees.load(g, r, rs.ids); err != nil {
		return rs, err
	}
	rs.values = make([][]byte, 0, len(rs.ids))
	return rs, g.readMany(r, kindNode, rs.ids, func(id nodeID, v []byte) error {
		if v == nil {
			return corrupt(fmt.Errorf("node %d has no record", id))
		}
		rs.values = append(rs.values, v)
		return nil
	})
}

// of returns the record of a node that was read, and its degree.
func (rs *nodeRecords) of(id nodeID) (value []byte, degree int) {
	at, _ := slices.BinarySearch(rs.ids, id)
	return rs.values[at], rs.degrees.degree(id)
}

// RenameNode gives a node another name; its edges, properties and degree stay, and no edge is written but the
// entries on the shelves of hubs that it is joined with.
// Errors: kv.ErrNotFound, ErrExists when the new name is another node's, *InvalidError.
func (g *Graph) RenameNode(b *kv.Batch, from, to string) error {
	if err := g.renameNode(b, from, to); err != nil {
		return fmt.Errorf("graph: rename node: %w", err)
	}
	return nil
}

func (g *Graph) renameNode(b *kv.Batch, from, to string) error {
	if err := checkName("node name", to); err != nil {
		return err
	}
	s, err := g.begin(b)
	if err != nil {
		return err
	}
	id, err := s.id(from)
	if err != nil || from == to {
		return err
	}
	if _, err := s.id(to); err == nil {
		return fmt.Errorf("%w: %s", ErrExists, brief.Quote(to))
	} else if !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	if err := b.Delete(g.nameKey(from)); err != nil {
		return err
	}
	if err := b.Set(g.nameKey(to), codec.AppendKeyUint32(nil, uint32(id))); err != nil {
		return err
	}
	if err := b.Delete(g.foldKey(Fold(from), from)); err != nil {
		return err
	}
	if err := b.Set(g.foldKey(Fold(to), to), nil); err != nil {
		return err
	}
	s.renamed(id, from)
	delete(s.ids, from)
	s.learn(to, id)
	return b.Set(g.idKey(kindID, id), []byte(to))
}

// DeleteNode stages the removal of a node and of its edges, or returns an error that is kv.ErrNotFound.
// It costs three or four deletes an edge and one write for each page of its neighbours' degrees.
func (g *Graph) DeleteNode(b *kv.Batch, name string) error {
	if err := g.deleteNode(b, name); err != nil {
		return fmt.Errorf("graph: delete node: %w", err)
	}
	return nil
}

func (g *Graph) deleteNode(b *kv.Batch, name string) error {
	s, err := g.begin(b)
	if err != nil {
		return err
	}
	id, err := s.id(name)
	if err != nil {
		return err
	}
	type incident struct {
		adjacent
		typ string
	}
	var edges []incident
	page, err := s.page(id)
	if err != nil {
		return err
	}
	// The scan ends with the last edge: what follows may be the traces of many nodes deleted before.
	if left := int(page.degreePage[id.slot()]); left > 0 {
		adj := scanner{g: g, r: b}
		defer adj.close()
		err = adj.scan(id, func(a adjacent) bool {
			if !a.incoming || a.other != id { // a directed self-loop comes from both sides
				edges = append(edges, incident{a, string(a.typ)})
			}
			if left--; a.other == id && !g.cfg.Directed {
				left-- // one key, two ends
			}
			return left > 0
		})
		if err != nil {
			return err
		}
	}
	s.renamed(id, name)
	for _, e := range edges {
		src, dst := id, e.other
		if e.incoming {
			src, dst = dst, src
		}
		if err := s.touch(src, dst); err != nil {
			return err
		}
		if err := g.dropEdgeKeys(b, src, dst, e.typ); err != nil {
			return err
		}
		if err := s.addEdge(src, dst, -1); err != nil {
			return err
		}
	}
	for _, k := range [][]byte{g.nameKey(name), g.foldKey(Fold(name), name), g.idKey(kindID, id), g.idKey(kindNode, id), g.idKey(kindDerived, id)} {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	delete(s.ids, name)
	s.count(-1, 0)
	return nil
}
