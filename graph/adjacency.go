package graph

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/glimdb/db/kv"
)

// adjacent is one incident edge as an adjacency key tells it.
type adjacent struct {
	other    nodeID
	typ      []byte // valid during the call
	weight   float64
	incoming bool // directed graphs: the edge points to the scanned node
}

// scanner reads the adjacency of several nodes with one cursor a direction. Close it.
type scanner struct {
	g       *Graph
	r       kv.Reader
	out, in kv.Cursor
	// only, if not nil, limits scans to the edges to these nodes, which are sorted: the cursor leaps over most of
	// the others, so that the scan of a hub costs no more than one seek for each of these nodes and a few steps.
	only []nodeID
}

// close ends the cursors. What went wrong with them was told by the scans.
func (s *scanner) close() {
	for _, c := range []kv.Cursor{s.out, s.in} {
		if c != nil {
			c.Close()
		}
	}
	s.out, s.in = nil, nil
}

// stepsBeforeLeap is how many edges in a row are stepped over before the cursor leaps to the next node in only.
const stepsBeforeLeap = 4

// scan calls fn for every incident edge of id until fn returns false: outgoing ones by (other id, type),
// then incoming ones. An undirected self-loop comes once, a directed one once a direction.
func (s *scanner) scan(id nodeID, fn func(adjacent) bool) error {
	more, err := s.direction(&s.out, kindOut, id, fn)
	if err != nil || !more || !s.g.cfg.Directed {
		return err
	}
	_, err = s.direction(&s.in, kindIn, id, fn)
	return err
}

// scanOut is scan without incoming edges; in an undirected graph all edges are outgoing.
func (s *scanner) scanOut(id nodeID, fn func(adjacent) bool) error {
	_, err := s.direction(&s.out, kindOut, id, fn)
	return err
}

// scanIn is the reverse of scanOut.
func (s *scanner) scanIn(id nodeID, fn func(adjacent) bool) error {
	if !s.g.cfg.Directed {
		return s.scanOut(id, fn)
	}
	_, err := s.direction(&s.in, kindIn, id, fn)
	return err
}

func (s *scanner) direction(c *kv.Cursor, kind byte, id nodeID, fn func(adjacent) bool) (more bool, err error) {
	if *c == nil {
		if *c, err = s.g.cursor(s.r, kind); err != nil {
			return false, err
		}
	}
	prefix, only := s.g.idKey(kind, id), s.only
	start, passed := prefix, 0
	if len(only) > 0 {
		start = s.g.pairKey(kind, id, only[0], "")
	}
	for ok := (*c).SeekGE(start); ok && bytes.HasPrefix((*c).Key(), prefix); {
		_, other, typ, err := s.g.pairOf((*c).Key())
		if err != nil {
			return false, err
		}
		if s.only != nil {
			i, wanted := slices.BinarySearch(only, other)
			if only = only[i:]; len(only) == 0 {
				break
			}
			if !wanted {
				if passed++; passed <= stepsBeforeLeap {
					ok = (*c).Next()
				} else {
					passed, ok = 0, (*c).SeekGE(s.g.pairKey(kind, id, only[0], ""))
				}
				continue
			}
			passed = 0
		}
		w, err := decodeWeight((*c).Value())
		if err != nil {
			return false, err
		}
		if !fn(adjacent{other: other, typ: typ, weight: w, incoming: kind == kindIn}) {
			return false, nil
		}
		ok = (*c).Next()
	}
	return true, (*c).Err()
}

// Neighbor is one incident edge seen from a node.
type Neighbor struct {
	Name   string // the other end
	Type   string // of the edge
	Weight float64
	// Incoming: the edge points from Name to the node; false in undirected graphs and for self-loops.
	Incoming bool
}

// Neighbors yields the incident edges of a node by (name, type, outgoing first), without reading
// properties. An absent node yields one error that is kv.ErrNotFound. All of them are read and named
// before the first is yielded.
func (g *Graph) Neighbors(r kv.Reader, name string) iter.Seq2[Neighbor, error] {
	return func(yield func(Neighbor, error) bool) {
		ns, err := g.neighbors(r, name)
		if err != nil {
			yield(Neighbor{}, fmt.Errorf("graph: neighbors: %w", err))
			return
		}
		for _, n := range ns {
			if !yield(n, nil) {
				return
			}
		}
	}
}

func (g *Graph) neighbors(r kv.Reader, name string) ([]Neighbor, error) {
	id, err := g.id(r, name)
	if err != nil {
		return nil, err
	}
	s := scanner{g: g, r: r}
	defer s.close()
	var ids []nodeID
	var ns []Neighbor
	err = s.scan(id, func(a adjacent) bool {
		if !a.incoming || a.other != id {
			ids = append(ids, a.other)
			ns = append(ns, Neighbor{Type: string(a.typ), Weight: a.weight, Incoming: a.incoming})
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	names, err := g.namesOf(r, slices.Clone(ids))
	if err != nil {
		return nil, err
	}
	for i := range ns {
		ns[i].Name = names.name(ids[i])
	}
	slices.SortStableFunc(ns, func(x, y Neighbor) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Type, y.Type)) // stable: outgoing came first
	})
	return ns, nil
}

// AllNodes yields every node in name order. Memory is bounded; the cost is one pass over the names and,
// for each window of them, one over records and degrees.
func (g *Graph) AllNodes(r kv.Reader) iter.Seq2[*Node, error] { return g.NodesBehind(r, "") }

// NodesBehind yields the nodes whose names come behind one, which need not be a node's, like AllNodes.
func (g *Graph) NodesBehind(r kv.Reader, name string) iter.Seq2[*Node, error] {
	return func(yield func(*Node, error) bool) {
		for w, err := range g.nameWindows(r, name) {
			var nodes []*Node
			if err == nil {
				nodes, err = g.nodesByID(r, w.ids, w.names)
			}
			if err != nil {
				yield(nil, fmt.Errorf("graph: all nodes: %w", err))
				return
			}
			for _, n := range nodes {
				if !yield(n, nil) {
					return
				}
			}
		}
	}
}

// AllEdges yields every edge by (src, dst, type). Memory is bounded by the largest degree. An undirected
// edge comes once, with Src <= Dst.
func (g *Graph) AllEdges(r kv.Reader) iter.Seq2[*Edge, error] {
	return func(yield func(*Edge, error) bool) {
		s := scanner{g: g, r: r}
		defer s.close()
		for w, err := range g.nameWindows(r, "") {
			if err != nil {
				yield(nil, fmt.Errorf("graph: all edges: %w", err))
				return
			}
			for i, id := range w.ids {
				edges, err := g.edgesFrom(&s, id, w.names[i])
				if err != nil {
					yield(nil, fmt.Errorf("graph: all edges: %w", err))
					return
				}
				for j := range edges {
					if !yield(&edges[j].edge, nil) {
						return
					}
				}
			}
		}
	}
}

// edgesFrom reads the edges whose Src is the named node, by (dst, type).
func (g *Graph) edgesFrom(s *scanner, id nodeID, name string) ([]edgeRef, error) {
	var refs []edgeRef
	var others []nodeID
	err := s.scanOut(id, func(a adjacent) bool {
		src, dst := g.orient(id, a.other)
		refs = append(refs, edgeRef{src: src, dst: dst, edge: Edge{Src: name, Type: string(a.typ)}})
		others = append(others, a.other)
		return true
	})
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	names, err := g.namesOf(s.r, slices.Clone(others))
	if err != nil {
		return nil, err
	}
	kept := refs[:0]
	for i, ref := range refs {
		ref.edge.Dst = names.name(others[i])
		if g.cfg.Directed || name <= ref.edge.Dst {
			kept = append(kept, ref)
		}
	}
	if err := g.readEdges(s.r, kept); err != nil {
		return nil, err
	}
	for i := range kept {
		if !kept[i].found {
			return nil, corrupt(fmt.Errorf("edge %q - %q (%q) has no record", name, kept[i].edge.Dst, kept[i].edge.Type))
		}
	}
	slices.SortFunc(kept, func(x, y edgeRef) int { return compareEdges(&x.edge, &y.edge) })
	return kept, nil
}

func compareEdges(x, y *Edge) int {
	return cmp.Or(strings.Compare(x.Src, y.Src), strings.Compare(x.Dst, y.Dst), strings.Compare(x.Type, y.Type))
}

// scanWindow is how many names a full scan resolves at a time: enough that the sorted passes over their
// records are mostly steps, little enough to hold any records.
const scanWindow = 256

type nameWindow struct {
	names []string
	ids   []nodeID
}

// nameWindows yields all names behind after with their ids, scanWindow at a time, in name order. A window is valid
// until the next one.
func (g *Graph) nameWindows(r kv.Reader, after string) iter.Seq2[nameWindow, error] {
	return func(yield func(nameWindow, error) bool) {
		c, err := g.cursor(r, kindName)
		if err != nil {
			yield(nameWindow{}, err)
			return
		}
		defer c.Close()
		skip := len(g.prefix) + 1
		var w nameWindow
		for ok := c.SeekGE(append(g.nameKey(after), 0)); ok; ok = c.Next() { // names are not empty
			id, err := decodeID(c.Value())
			if err != nil {
				yield(nameWindow{}, err)
				return
			}
			w.names = append(w.names, string(c.Key()[skip:]))
			w.ids = append(w.ids, id)
			if len(w.ids) == scanWindow {
				if !yield(w, nil) {
					return
				}
				w.names, w.ids = w.names[:0], w.ids[:0]
			}
		}
		if err := c.Err(); err != nil {
			yield(nameWindow{}, err)
			return
		}
		if len(w.ids) > 0 {
			yield(w, nil)
		}
	}
}
