package graph

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/glimdb/db/kv"
)

// staging is what a graph keeps beside an open batch: counters, changed degree pages and known ids. Loading
// a graph changes some pages with every edge; they become keys of the batch when it is applied, or when
// something reads them through it (settle), not with every change.
type staging struct {
	g *Graph
	b *kv.Batch
	counters
	loaded bool // the counters were read
	dirty  bool // the counters changed since the last flush
	pages  map[nodeID]*stagedPage
	ids    map[string]nodeID // of names that this batch has used

	touched map[shelved]joined // pairs that changed, with what the shelves hold for them
	names   map[nodeID]string  // of renamed and deleted nodes, as the shelves hold them
}

// counters are a graph's counters as its key k holds them.
type counters struct {
	next         uint64 // the id that the next node gets
	nodes, edges uint64
}

type stagedPage struct {
	degreePage
	was   degreePage // at the last flush, which is what the shelves know
	dirty bool
}

// maxStagedIDs bounds the ids kept beside a batch (about 8 MB with their names); beyond it they are
// looked up again.
const maxStagedIDs = 1 << 16

type stagingOf string // the attachment key of a graph's staging: its key prefix

func (g *Graph) staged(b *kv.Batch) *staging {
	return b.Attachment(stagingOf(g.prefix), func() any {
		s := &staging{g: g, b: b}
		s.reset()
		b.BeforeApply(s.flush)
		return s
	}).(*staging)
}

// reset forgets everything: the graph was created or dropped.
func (s *staging) reset() {
	*s = staging{g: s.g, b: s.b, pages: map[nodeID]*stagedPage{}, ids: map[string]nodeID{},
		touched: map[shelved]joined{}, names: map[nodeID]string{}}
}

// begin returns the staging that a change updates. It fails when the graph was dropped.
func (g *Graph) begin(b *kv.Batch) (*staging, error) {
	s := g.staged(b)
	if s.loaded {
		return s, nil
	}
	c, err := g.readCounters(b)
	if err != nil {
		return nil, fmt.Errorf("graph %q: %w", g.name, err)
	}
	s.counters, s.loaded = c, true
	return s, nil
}

// flush stages what changed as keys, in order of the keys.
func (s *staging) flush() error {
	if s.dirty {
		if err := s.b.Set(s.g.key(kindCounters, 0), s.counters.encode()); err != nil {
			return err
		}
		s.dirty = false
	}
	if err := s.flushShelves(); err != nil {
		return err
	}
	clear(s.touched)
	clear(s.names)
	var v []byte
	for _, number := range slices.Sorted(maps.Keys(s.pages)) {
		p := s.pages[number]
		if !p.dirty {
			continue
		}
		var err error
		key := s.g.idKey(kindDegree, number)
		if v = appendPage(v[:0], &p.degreePage); len(v) == 0 {
			err = s.b.Delete(key)
		} else {
			err = s.b.Set(key, v)
		}
		if err != nil {
			return err
		}
		p.dirty, p.was = false, p.degreePage
	}
	return nil
}

// settle is called before counters or degrees are read from r: if r is a batch, its keys must show what is
// staged.
func (g *Graph) settle(r kv.Reader) error {
	b, ok := r.(*kv.Batch)
	if !ok {
		return nil
	}
	if s, ok := b.Attachment(stagingOf(g.prefix), nil).(*staging); ok {
		return s.flush()
	}
	return nil
}

func (g *Graph) readCounters(r kv.Reader) (counters, error) {
	if err := g.settle(r); err != nil {
		return counters{}, err
	}
	v, err := r.Get(g.key(kindCounters, 0))
	if err != nil {
		return counters{}, err
	}
	return decodeCounters(v)
}

func (s *staging) allocate() (nodeID, error) {
	if s.next > math.MaxUint32 {
		return 0, &LimitError{What: "node ids", Limit: math.MaxUint32}
	}
	id := nodeID(s.next)
	s.next++
	s.dirty = true
	return id, nil
}

// count changes the numbers of nodes and edges.
func (s *staging) count(nodes, edges int) {
	s.nodes += uint64(nodes) // two's complement: a negative number subtracts
	s.edges += uint64(edges)
	s.dirty = true
}

// id is Graph.id over the ids that the batch has used before.
func (s *staging) id(name string) (nodeID, error) {
	if id, ok := s.ids[name]; ok {
		return id, nil
	}
	id, err := s.g.id(s.b, name)
	if err == nil {
		s.learn(name, id)
	}
	return id, err
}

func (s *staging) learn(name string, id nodeID) {
	if len(s.ids) >= maxStagedIDs {
		clear(s.ids)
	}
	s.ids[name] = id
}

// page returns the degrees around id.
func (s *staging) page(id nodeID) (*stagedPage, error) {
	if p := s.pages[id.page()]; p != nil {
		return p, nil
	}
	p := new(stagedPage)
	v, err := s.b.Get(s.g.idKey(kindDegree, id.page()))
	if err == nil {
		err = decodePage(v, &p.degreePage)
	}
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return nil, err
	}
	p.was = p.degreePage
	s.pages[id.page()] = p
	return p, nil
}

// addDegree changes one degree.
func (s *staging) addDegree(id nodeID, by int) error {
	p, err := s.page(id)
	if err != nil {
		return err
	}
	d := int64(p.degreePage[id.slot()]) + int64(by)
	if d < 0 || d > math.MaxUint32 {
		return corrupt(fmt.Errorf("degree of id %d would be %d", id, d))
	}
	p.degreePage[id.slot()] = uint32(d)
	p.dirty = true
	return nil
}

// addEdge counts a new edge (by 1) or a removed one (by -1).
func (s *staging) addEdge(src, dst nodeID, by int) error {
	s.count(0, by)
	return cmp.Or(s.addDegree(src, by), s.addDegree(dst, by))
}
