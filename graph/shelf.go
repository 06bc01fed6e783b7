package graph

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// A shelf holds the joined pairs of a hub in nearly the order of RankedIncident: by class of the neighbour's
// degree descending, weight descending, name ascending. Ranking the pairs of a hub reads its shelf from the
// top and stops early, whatever the degree.
//
// What that costs the writer: an entry moves when the neighbour's class or name changes. Only hubs have
// shelves, so that a change of a node's degree concerns the few hubs among its neighbours, and a graph
// without hubs pays nothing.

// hubDegree is the degree from which a node has a shelf: below it a scan of the adjacency, some 0.3 µs an
// edge, costs no more than reading the records of the pairs that are shown.
const hubDegree = 512

// exactDegrees is the degree below which a class holds one degree only, so that a class is sorted to its
// end and needs no look at the degrees. Most neighbours of a hub are there. From it on a class spans a
// quarter of an octave, so that moves stay rare where there may be many neighbours.
const exactDegrees = 32

// degreeClass grows with the degree; a larger class holds larger degrees only.
func degreeClass(degree uint32) byte {
	if degree < exactDegrees {
		return byte(degree)
	}
	octave := bits.Len32(degree) - bits.Len32(exactDegrees) // 0 for exactDegrees..2*exactDegrees-1
	quarter := degree >> (bits.Len32(degree) - 3) & 3
	return byte(exactDegrees + 4*octave + int(quarter))
}

// shelfEntry is one joined pair on a hub's shelf.
type shelfEntry struct {
	class  byte // of the neighbour's degree
	weight float64
	name   string // the neighbour's
}

// shelfKey is the key of an entry: everything that sorts first is complemented.
func (g *Graph) shelfKey(hub nodeID, e shelfEntry) []byte {
	k := g.key(kindShelf, 13+len(e.name))
	k = codec.AppendKeyUint32(k, uint32(hub))
	k = append(k, ^e.class)
	k = codec.AppendKeyUint64(k, ^orderedBits(e.weight))
	return append(k, e.name...)
}

// shelfEntryOf reads the key of an entry.
func (g *Graph) shelfEntryOf(key []byte) (hub nodeID, e shelfEntry, err error) {
	rest := key[min(len(key), len(g.prefix)+1):]
	id, rest, err := codec.KeyUint32(rest)
	if err == nil && len(rest) < 9 {
		err = fmt.Errorf("shelf key of %d bytes", len(key))
	}
	if err != nil {
		return 0, e, corrupt(err)
	}
	e.class = ^rest[0]
	weight, name, err := codec.KeyUint64(rest[1:])
	e.weight, e.name = fromOrderedBits(^weight), string(name)
	return nodeID(id), e, corrupt(err)
}

// orderedBits maps finite floats to integers of the same order; both zeros are one.
func orderedBits(f float64) uint64 {
	b := math.Float64bits(f + 0) // -0 + 0 is 0
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

func fromOrderedBits(b uint64) float64 {
	if b>>63 == 1 {
		return math.Float64frombits(b &^ (1 << 63))
	}
	return math.Float64frombits(^b)
}

// shelved is one entry's place: whose shelf, which neighbour.
type shelved struct{ hub, other nodeID }

// joined is what joins a pair: the largest weight of its edges, if there are any.
type joined struct {
	weight float64
	any    bool
}

// pairWeight reads what joins two nodes.
func (g *Graph) pairWeight(r kv.Reader, a, b nodeID) (joined, error) {
	var j joined
	kinds := []byte{kindOut, kindIn}
	if !g.cfg.Directed {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		lower := g.pairKey(kind, a, b, "")
		c, err := r.Cursor(lower, codec.PrefixEnd(lower))
		if err != nil {
			return j, err
		}
		defer c.Close()
		for c.Next() {
			w, err := decodeWeight(c.Value())
			if err != nil {
				return j, err
			}
			if !j.any || w > j.weight {
				j = joined{w, true}
			}
		}
		if err := c.Err(); err != nil {
			return j, err
		}
	}
	return j, nil
}

// touch is called before the edges between two nodes change: it remembers what the shelves hold for them.
func (s *staging) touch(a, b nodeID) error {
	for _, at := range [2]shelved{{a, b}, {b, a}} {
		p, err := s.page(at.hub)
		if err != nil {
			return err
		}
		if int(p.was[at.hub.slot()]) < s.g.hub {
			continue // it has no shelf; should it become a hub, one is made whole
		}
		if _, known := s.touched[at]; known {
			continue
		}
		if s.touched[at], err = s.g.pairWeight(s.b, at.hub, at.other); err != nil {
			return err
		}
	}
	return nil
}

// renamed is called before a node changes or loses its name: the shelves hold it under the first one.
func (s *staging) renamed(id nodeID, name string) {
	if _, known := s.names[id]; !known {
		s.names[id] = name
	}
}

// flushShelves brings the shelves in line with degrees, weights and names.
func (s *staging) flushShelves() error {
	grown, fallen, moved := s.degreeChanges()
	if len(grown)+len(fallen)+len(s.touched) == 0 {
		if len(moved)+len(s.names) == 0 {
			return nil
		}
		if some, err := s.g.hasShelves(s.b); err != nil || !some {
			return err
		}
	}
	for _, id := range fallen {
		lower := s.g.idKey(kindShelf, id)
		if err := s.b.DeleteRange(lower, codec.PrefixEnd(lower)); err != nil {
			return err
		}
	}
	for id := range s.names {
		moved[id] = true
	}
	if err := s.findMoved(moved); err != nil {
		return err
	}
	for _, at := range slices.SortedFunc(maps.Keys(s.touched), func(x, y shelved) int {
		return cmp.Or(cmp.Compare(x.hub, y.hub), cmp.Compare(x.other, y.other))
	}) {
		if err := s.reshelve(at, s.touched[at]); err != nil {
			return err
		}
	}
	for _, id := range grown {
		if err := s.buildShelf(id); err != nil {
			return err
		}
	}
	return nil
}

// degreeChanges compares degrees with those that the shelves know: nodes that became hubs, nodes that no
// longer are, and nodes of which neighbouring hubs hold an entry of another class.
func (s *staging) degreeChanges() (grown, fallen []nodeID, moved map[nodeID]bool) {
	moved = make(map[nodeID]bool)
	for _, number := range slices.Sorted(maps.Keys(s.pages)) {
		p := s.pages[number]
		if !p.dirty {
			continue
		}
		for i, now := range p.degreePage {
			was, id := p.was[i], number<<pageBits+nodeID(i)
			switch isHub, wasHub := int(now) >= s.g.hub, int(was) >= s.g.hub; {
			case isHub && !wasHub:
				grown = append(grown, id)
			case wasHub && !isHub:
				fallen = append(fallen, id)
			}
			// without edges before or now there is no entry to move: touch knows all that came or went
			if was > 0 && now > 0 && degreeClass(was) != degreeClass(now) {
				moved[id] = true
			}
		}
	}
	return grown, fallen, moved
}

// hasShelves costs one seek.
func (g *Graph) hasShelves(r kv.Reader) (bool, error) {
	c, err := g.cursor(r, kindShelf)
	if err != nil {
		return false, err
	}
	defer c.Close()
	return c.First(), c.Err()
}

// findMoved touches the entries that hubs hold of the moved nodes.
func (s *staging) findMoved(moved map[nodeID]bool) error {
	adj := scanner{g: s.g, r: s.b}
	defer adj.close()
	for _, id := range slices.Sorted(maps.Keys(moved)) {
		err := s.g.pairsOf(&adj, id, func(other nodeID, weight float64) error {
			p, err := s.page(other)
			if err != nil || int(p.was[other.slot()]) < s.g.hub {
				return err
			}
			at := shelved{hub: other, other: id}
			if _, known := s.touched[at]; !known {
				s.touched[at] = joined{weight, true} // no edge between them changed, or it would be known
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reshelve replaces the entry of one pair; old is what the shelf holds.
func (s *staging) reshelve(at shelved, old joined) error {
	hub, err := s.page(at.hub)
	if err != nil {
		return err
	}
	if int(hub.degreePage[at.hub.slot()]) < s.g.hub {
		return nil // the shelf went as a whole
	}
	other, err := s.page(at.other)
	if err != nil {
		return err
	}
	now, err := s.g.pairWeight(s.b, at.hub, at.other)
	if err != nil {
		return err
	}
	v, err := s.b.Get(s.g.idKey(kindID, at.other))
	if err != nil && !errors.Is(err, kv.ErrNotFound) { // a deleted node has its name in s.names
		return err
	}
	name, first := string(v), string(v)
	if n, ok := s.names[at.other]; ok {
		first = n
	}
	var before, after []byte
	if old.any {
		before = s.g.shelfKey(at.hub, shelfEntry{degreeClass(other.was[at.other.slot()]), old.weight, first})
	}
	if now.any {
		after = s.g.shelfKey(at.hub, shelfEntry{degreeClass(other.degreePage[at.other.slot()]), now.weight, name})
	}
	if bytes.Equal(before, after) {
		return nil
	}
	if before != nil {
		if err := s.b.Delete(before); err != nil {
			return err
		}
	}
	if after == nil {
		return nil
	}
	return s.b.Set(after, codec.AppendKeyUint32(nil, uint32(at.other)))
}

// buildShelf makes the shelf of a new hub.
func (s *staging) buildShelf(hub nodeID) error {
	adj := scanner{g: s.g, r: s.b}
	defer adj.close()
	var others []nodeID
	var weights []float64
	err := s.g.pairsOf(&adj, hub, func(other nodeID, weight float64) error {
		others, weights = append(others, other), append(weights, weight)
		return nil
	})
	if err != nil {
		return err
	}
	names, err := s.g.namesOf(s.b, slices.Clone(others))
	if err != nil {
		return err
	}
	for i, other := range others {
		p, err := s.page(other)
		if err != nil {
			return err
		}
		key := s.g.shelfKey(hub, shelfEntry{degreeClass(p.degreePage[other.slot()]), weights[i], names.name(other)})
		if err := s.b.Set(key, codec.AppendKeyUint32(nil, uint32(other))); err != nil {
			return err
		}
	}
	return nil
}

// shelf calls fn for the pairs of a hub until those that follow cannot be among the first limit.
func (g *Graph) shelf(r kv.Reader, hub nodeID, limit int, fn func(other nodeID, e shelfEntry) error) error {
	s, err := g.openShelf(r, hub)
	if err != nil {
		return err
	}
	defer s.close()
	class := byte(0)
	for n := 0; s.ok; n++ {
		if n >= limit && (s.entry.class != class || s.entry.class < exactDegrees) {
			return nil
		}
		class = s.entry.class
		if err := fn(s.other, s.entry); err != nil {
			return err
		}
		if err := s.next(); err != nil {
			return err
		}
	}
	return nil
}

// shelves checks that hubs, and only they, have shelves that hold what their adjacency tells (G7).
func (c *checker) shelves() error {
	var expected, found uint64
	err := c.each(kindDegree, func(key, value []byte) error {
		number, err := c.g.idOf(key)
		var page degreePage
		if err != nil || decodePage(value, &page) != nil {
			return nil // reported as what it is by another step
		}
		for i, d := range page {
			if int(d) < c.g.hub {
				continue
			}
			n, err := c.shelfOf(number<<pageBits + nodeID(i))
			if err != nil {
				return err
			}
			expected += n
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.each(kindShelf, func(key, _ []byte) error { found++; return nil }); err != nil {
		return err
	}
	if found != expected {
		return c.report("G7", "shelves hold %d entries, hubs have %d neighbours", found, expected)
	}
	return nil
}

// shelfOf looks up the entry of each neighbour of a hub and returns their number.
func (c *checker) shelfOf(hub nodeID) (n uint64, err error) {
	adj := scanner{g: c.g, r: c.r}
	defer adj.close()
	var degrees degreeTable
	err = c.g.pairsOf(&adj, hub, func(other nodeID, weight float64) error {
		n++
		if err := degrees.load(c.g, c.r, []nodeID{other}); err != nil {
			return err
		}
		name, ok, err := c.get(c.g.idKey(kindID, other))
		if err != nil || !ok {
			return err // an id without a name is reported by another step
		}
		v, ok, err := c.get(c.g.shelfKey(hub, shelfEntry{degreeClass(uint32(degrees.degree(other))), weight, string(name)}))
		if err != nil {
			return err
		}
		if id, derr := decodeID(v); !ok || derr != nil || id != other {
			return c.report("G7", "the shelf of id %d lacks its neighbour %d", hub, other)
		}
		return nil
	})
	return n, err
}
