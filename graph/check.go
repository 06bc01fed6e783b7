package graph

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/glimdb/db/kv"
)

// Problem is a broken invariant that Check found.
type Problem struct {
	Rule string // "G1".."G5", "G7".."G9", see the package comment; "key" or "value" for bytes that do not decode
	What string // for people: names ids, not names
}

func (p Problem) String() string { return "graph: " + p.Rule + ": " + p.What }

// Check reads every key of the graph and yields what breaks an invariant; an intact graph yields nothing.
// A read error comes last. Damage never stops it: bytes that do not decode are a Problem. Memory is
// bounded; the cost is one pass over all keys and two gets for each adjacency key.
func (g *Graph) Check(r kv.Reader) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		if err := g.settle(r); err != nil {
			yield(Problem{}, fmt.Errorf("graph: check: %w", err))
			return
		}
		c := checker{g: g, r: r, yield: yield}
		for _, step := range []func() error{c.keys, c.counters, c.names, c.folds, c.ids, c.nodes, c.edges, c.degrees, c.shelves, c.derived} {
			if err := step(); err != nil {
				if !errors.Is(err, errStop) {
					yield(Problem{}, fmt.Errorf("graph: check: %w", err))
				}
				return
			}
		}
	}
}

// errStop ends a check whose consumer has left its loop.
var errStop = errors.New("graph: stop")

type checker struct {
	g     *Graph
	r     kv.Reader
	yield func(Problem, error) bool

	maxID        nodeID
	nodesFound   uint64
	edgesFound   uint64
	endsFound    uint64 // adjacency keys, an undirected self-loop's twice
	stored       counters
	haveCounters bool
}

func (c *checker) report(rule, format string, args ...any) error {
	if !c.yield(Problem{Rule: rule, What: fmt.Sprintf(format, args...)}, nil) {
		return errStop
	}
	return nil
}

// get returns the value under key; absence is not an error.
func (c *checker) get(key []byte) (v []byte, ok bool, err error) {
	v, err = c.r.Get(key)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, false, nil
	}
	return v, err == nil, err
}

// each calls fn for all keys of one kind. The value is fn's to read until it returns.
func (c *checker) each(kind byte, fn func(key, value []byte) error) error {
	cur, err := c.g.cursor(c.r, kind)
	if err != nil {
		return err
	}
	defer cur.Close()
	for cur.Next() {
		if err := fn(cur.Key(), cur.Value()); err != nil {
			return err
		}
	}
	return cur.Err()
}

const allKinds = "acdefhiknoprs"

// keys finds keys of no kind, without reading those of any: one seek a kind.
func (c *checker) keys() error {
	lower := c.g.prefix
	cur, err := c.r.Cursor(lower, append(slices.Clone(lower), 0xFF))
	if err != nil {
		return err
	}
	defer cur.Close()
	for ok := cur.First(); ok; {
		if len(cur.Key()) == len(lower) {
			if err := c.report("key", "a key without a kind"); err != nil {
				return err
			}
			ok = cur.Next()
			continue
		}
		kind := cur.Key()[len(lower)]
		if !strings.ContainsRune(allKinds, rune(kind)) {
			if err := c.report("key", "keys of the unknown kind %q", kind); err != nil {
				return err
			}
		}
		_, upper := c.g.keysOf(kind)
		ok = cur.SeekGE(upper)
	}
	return cur.Err()
}

func (c *checker) counters() error {
	v, ok, err := c.get(c.g.key(kindCounters, 0))
	if err != nil {
		return err
	}
	if !ok {
		return c.report("G4", "no counters")
	}
	if c.stored, err = decodeCounters(v); err != nil {
		return c.report("value", "counters: %v", err)
	}
	c.haveCounters = true
	return nil
}

// names checks s keys against i keys.
func (c *checker) names() error {
	skip := len(c.g.prefix) + 1
	err := c.each(kindName, func(key, value []byte) error {
		c.nodesFound++
		id, err := decodeID(value)
		if err != nil {
			return c.report("value", "a name's id: %v", err)
		}
		back, ok, err := c.get(c.g.idKey(kindID, id))
		if err != nil {
			return err
		}
		if !ok || !bytes.Equal(back, key[skip:]) {
			return c.report("G1", "a name leads to id %d, which has %s", id, nameOrNone(ok))
		}
		name := string(key[skip:])
		if _, ok, err = c.get(c.g.foldKey(Fold(name), name)); err == nil && !ok {
			err = c.report("G8", "the name of id %d is not found by its fold", id)
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.haveCounters && c.nodesFound != c.stored.nodes {
		return c.report("G4", "%d nodes counted, %d found", c.stored.nodes, c.nodesFound)
	}
	return nil
}

// folds checks f keys against s keys.
func (c *checker) folds() error {
	skip := len(c.g.prefix) + 1 + foldBytes
	return c.each(kindFold, func(key, _ []byte) error {
		if len(key) <= skip {
			return c.report("key", "fold key of %d bytes", len(key))
		}
		name := string(key[skip:])
		if !bytes.Equal(key, c.g.foldKey(Fold(name), name)) {
			return c.report("G8", "a name of %d bytes stands under a hash that is not its fold's", len(name))
		}
		_, ok, err := c.get(c.g.nameKey(name))
		if err == nil && !ok {
			err = c.report("G8", "a fold leads to a name of %d bytes that no node has", len(name))
		}
		return err
	})
}

func nameOrNone(some bool) string {
	if some {
		return "another name"
	}
	return "no name"
}

// ids checks i keys against s and n keys.
func (c *checker) ids() error {
	err := c.each(kindID, func(key, value []byte) error {
		id, err := c.g.idOf(key)
		if err != nil {
			return c.report("key", "%v", err)
		}
		c.maxID = max(c.maxID, id)
		v, ok, err := c.get(c.g.nameKey(string(value)))
		if err != nil {
			return err
		}
		if back, derr := decodeID(v); !ok || derr != nil || back != id {
			if err := c.report("G1", "id %d has a name that does not lead back to it", id); err != nil {
				return err
			}
		}
		if _, ok, err = c.get(c.g.idKey(kindNode, id)); err != nil {
			return err
		}
		if !ok {
			return c.report("G1", "id %d has no record", id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.haveCounters && uint64(c.maxID) >= c.stored.next {
		return c.report("G4", "id %d exists, the next id is %d", c.maxID, c.stored.next)
	}
	return nil
}

// nodes checks n keys against i keys.
func (c *checker) nodes() error {
	return c.each(kindNode, func(key, value []byte) error {
		id, err := c.g.idOf(key)
		if err != nil {
			return c.report("key", "%v", err)
		}
		if _, err := decodeNode(value); err != nil {
			if err := c.report("value", "record of id %d: %v", id, err); err != nil {
				return err
			}
		}
		return c.wantID(id, "a record")
	})
}

func (c *checker) wantID(id nodeID, what string) error {
	_, ok, err := c.get(c.g.idKey(kindID, id))
	if err == nil && !ok {
		err = c.report("G1", "%s refers to id %d, which is no node", what, id)
	}
	return err
}

// edges checks e keys against adjacency and back.
func (c *checker) edges() error {
	err := c.each(kindEdge, func(key, value []byte) error {
		c.edgesFound++
		src, dst, typ, err := c.g.pairOf(key)
		if err != nil {
			return c.report("key", "%v", err)
		}
		if s, _ := c.g.orient(src, dst); s != src {
			if err := c.report("G5", "edge %d - %d (%q) is stored with the larger id first", src, dst, typ); err != nil {
				return err
			}
		}
		e, err := decodeEdge(value)
		if err != nil {
			return c.report("value", "edge %d - %d (%q): %v", src, dst, typ, err)
		}
		if err := c.wantWeight(kindOut, src, dst, string(typ), e.Weight); err != nil {
			return err
		}
		if c.g.cfg.Directed {
			return c.wantWeight(kindIn, dst, src, string(typ), e.Weight)
		}
		return c.wantWeight(kindOut, dst, src, string(typ), e.Weight)
	})
	if err != nil {
		return err
	}
	if c.haveCounters && c.edgesFound != c.stored.edges {
		if err := c.report("G4", "%d edges counted, %d found", c.stored.edges, c.edgesFound); err != nil {
			return err
		}
	}
	for _, kind := range []byte{kindOut, kindIn} {
		if err := c.each(kind, func(key, value []byte) error { return c.adjacency(kind, key) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) wantWeight(kind byte, a, b nodeID, typ string, want float64) error {
	v, ok, err := c.get(c.g.pairKey(kind, a, b, typ))
	if err != nil {
		return err
	}
	if !ok {
		return c.report("G2", "edge %d - %d (%q) has no adjacency key %c %d %d", a, b, typ, kind, a, b)
	}
	if w, err := decodeWeight(v); err != nil || w != want {
		return c.report("G2", "adjacency %c %d %d (%q) has weight %v, the edge %v", kind, a, b, typ, w, want)
	}
	return nil
}

// adjacency checks that an adjacency key has its edge and joins nodes. Weights were compared from the
// edge's side.
func (c *checker) adjacency(kind byte, key []byte) error {
	a, b, typ, err := c.g.pairOf(key)
	if err != nil {
		return c.report("key", "%v", err)
	}
	if kind == kindIn && !c.g.cfg.Directed {
		return c.report("key", "an undirected graph has the incoming key %d %d", a, b)
	}
	c.endsFound++
	if a == b && !c.g.cfg.Directed {
		c.endsFound++
	}
	if err := c.wantID(a, "an adjacency key"); err != nil {
		return err
	}
	src, dst := a, b
	if kind == kindIn {
		src, dst = b, a
	}
	src, dst = c.g.orient(src, dst)
	_, ok, err := c.get(c.g.pairKey(kindEdge, src, dst, string(typ)))
	if err != nil {
		return err
	}
	if !ok {
		return c.report("G2", "adjacency %c %d %d (%q) has no edge", kind, a, b, typ)
	}
	return nil
}

// degrees compares every degree page with the adjacency of its nodes. Nodes outside the pages are found by
// the sum: the pages must cover every adjacency key.
func (c *checker) degrees() error {
	out, err := c.g.cursor(c.r, kindOut)
	if err != nil {
		return err
	}
	defer out.Close()
	in, err := c.g.cursor(c.r, kindIn)
	if err != nil {
		return err
	}
	defer in.Close()
	var covered uint64
	err = c.each(kindDegree, func(key, value []byte) error {
		number, err := c.g.idOf(key)
		if err != nil {
			return c.report("key", "%v", err)
		}
		var page degreePage
		if err := decodePage(value, &page); err != nil {
			return c.report("value", "degree page %d: %v", number, err)
		}
		if len(value) == 0 || value[len(value)-1] == 0 {
			if err := c.report("value", "degree page %d is not trimmed", number); err != nil {
				return err
			}
		}
		for i, d := range page {
			id := number<<pageBits + nodeID(i)
			have := c.ends(out, kindOut, id) + c.ends(in, kindIn, id)
			if covered += have; have != uint64(d) {
				if err := c.report("G3", "degree of id %d is %d, its adjacency has %d", id, d, have); err != nil {
					return err
				}
			}
		}
		return errors.Join(out.Err(), in.Err())
	})
	if err != nil {
		return err
	}
	if covered != c.endsFound {
		return c.report("G3", "degree pages cover %d ends of edges, the adjacency has %d", covered, c.endsFound)
	}
	return nil
}

// ends counts the adjacency keys of id; the one key of an undirected self-loop is two ends.
func (c *checker) ends(cur kv.Cursor, kind byte, id nodeID) (n uint64) {
	prefix := c.g.idKey(kind, id)
	for ok := cur.SeekGE(prefix); ok && bytes.HasPrefix(cur.Key(), prefix); ok = cur.Next() {
		n++
		if !c.g.cfg.Directed && bytes.HasPrefix(cur.Key()[len(prefix):], prefix[len(prefix)-4:]) {
			n++
		}
	}
	return n
}
