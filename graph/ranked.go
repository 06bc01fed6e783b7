package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/glimdb/db/kv"
)

// RankedEdge is a pair of joined nodes with what ranks it.
type RankedEdge struct {
	Src, Dst string // Src <= Dst in code-point order, in directed graphs too
	// Weight is the largest weight of the edges between the two.
	Weight float64
	// Rank is degree(Src) + degree(Dst).
	Rank int

	src, dst nodeID // of RankedEdges
}

// RankedIncident returns the pairs of nodes joined by an edge at one of the named nodes, each unordered
// pair once: by rank descending, weight descending, (Src, Dst) ascending; the first limit of them, or all
// when limit is 0. Absent names are skipped.
//
// It reads no properties. A node of fewer than 512 edges costs one step of a cursor for each of them; a hub,
// when there is a limit, about one for each of the first limit, whatever its degree. To that come one step
// for each page of 64 degrees touched, and one for each name of a pair that may be among the first limit.
// Memory is bounded by the limit and its ties.
func (g *Graph) RankedIncident(r kv.Reader, names []string, limit int) ([]RankedEdge, error) {
	if limit < 0 {
		return nil, &InvalidError{Field: "argument", Key: "limit", Reason: fmt.Sprintf("%d is negative", limit)}
	}
	edges, err := g.rankedIncident(r, names, limit)
	if err != nil {
		return nil, fmt.Errorf("graph: ranked incident: %w", err)
	}
	return edges, nil
}

// EachRankedEdge is EachEdge for pairs that RankedIncident returned on the same view. It needs no look-up of names.
func (g *Graph) EachRankedEdge(r kv.Reader, ranked []RankedEdge, fn func(at int, e *Edge, values Values) error) error {
	return g.eachEdge(r, g.rankedRefs(ranked), fn)
}

func (g *Graph) rankedRefs(ranked []RankedEdge) []edgeRef {
	refs := make([]edgeRef, 0, len(ranked))
	for i, e := range ranked {
		src, dst := g.orient(e.src, e.dst)
		refs = append(refs, edgeRef{src: src, dst: dst, at: i, edge: Edge{Src: e.Src, Dst: e.Dst}})
	}
	return refs
}

type rankedPair struct {
	rank       int // 0 until it is known
	weight     float64
	own, other nodeID
	name       string // of other; empty until it is needed
}

// edge is the pair with its ends in order; own is the name of p.own.
func (p rankedPair) edge(own string) RankedEdge {
	e := RankedEdge{Src: own, Dst: p.name, Weight: p.weight, Rank: p.rank, src: p.own, dst: p.other}
	if e.Src > e.Dst {
		e.Src, e.Dst, e.src, e.dst = e.Dst, e.Src, e.dst, e.src
	}
	return e
}

func (p rankedPair) compare(q rankedPair) int {
	return cmp.Or(cmp.Compare(q.rank, p.rank), cmp.Compare(q.weight, p.weight))
}

func (g *Graph) rankedIncident(r kv.Reader, names []string, limit int) ([]RankedEdge, error) {
	sel := rankSelector{g: g, r: r, limit: limit}
	var err error
	if sel.own, err = g.named(r, names); err != nil || len(sel.own.ids) == 0 {
		return nil, err
	}
	if err := sel.degrees.load(g, r, sel.own.ids); err != nil {
		return nil, err
	}
	s := scanner{g: g, r: r}
	defer s.close()
	var few []nodeID // nodes of few edges, whose lists are read together
	for _, id := range sel.own.ids {
		switch degree := sel.degrees.degree(id); {
		case degree < g.hub && !g.cfg.Directed:
			few = append(few, id)
		case limit > 0 && limit < degree && degree >= g.hub:
			err = sel.addShelf(id, degree)
		default:
			err = g.pairsOf(&s, id, func(other nodeID, weight float64) error {
				return sel.add(rankedPair{weight: weight, own: id, other: other})
			})
		}
		if err != nil {
			return nil, err
		}
	}
	if err := sel.addLists(few); err != nil {
		return nil, err
	}
	if err := sel.rankFresh(); err != nil {
		return nil, err
	}
	return sel.finish()
}

// named returns the nodes of those names that exist, each once.
func (g *Graph) named(r kv.Reader, names []string) (nameTable, error) {
	ids, err := g.lookup(r, names)
	if err != nil {
		return nameTable{}, err
	}
	of := make(map[nodeID]string, len(ids))
	for i, id := range ids {
		if id != 0 {
			of[id] = names[i]
		}
	}
	t := nameTable{ids: slices.Sorted(maps.Keys(of)), names: make([]string, 0, len(of))}
	for _, id := range t.ids {
		t.names = append(t.names, of[id])
	}
	return t, nil
}

// pairsOf calls fn once for each neighbour of id with the largest weight of the edges to it.
func (g *Graph) pairsOf(s *scanner, id nodeID, fn func(other nodeID, weight float64) error) error {
	var last adjacent
	var failed error
	each := func(a adjacent) bool {
		if a.other == last.other {
			last.weight = max(last.weight, a.weight)
			return true
		}
		if last.other != 0 {
			failed = fn(last.other, last.weight)
		}
		last = a
		return failed == nil
	}
	if !g.cfg.Directed {
		if err := s.scan(id, each); err != nil || failed != nil {
			return cmp.Or(failed, err)
		}
	} else {
		// Both directions come in id order; merging them needs one of them in memory.
		var all []adjacent
		if err := s.scan(id, func(a adjacent) bool { all = append(all, a); return true }); err != nil {
			return err
		}
		slices.SortStableFunc(all, func(x, y adjacent) int { return cmp.Compare(x.other, y.other) })
		for _, a := range all {
			if !each(a) {
				return failed
			}
		}
	}
	if last.other != 0 {
		return fn(last.other, last.weight)
	}
	return nil
}

// rankSelector keeps the pairs that may be among the first limit. Pairs collect in fresh without a rank,
// because degrees are cheapest to read many at a time.
type rankSelector struct {
	g       *Graph
	r       kv.Reader
	limit   int
	own     nameTable // the nodes whose edges are ranked
	degrees degreeTable
	kept    []rankedPair
	fresh   []rankedPair
}

// rankBatch is how many pairs are ranked at a time: enough that their degrees are read in one pass, in less
// than half a megabyte.
const rankBatch = 8192

// add takes a pair, unless it came with the end of the smaller id: when it is among the first limit of all
// pairs, it is so among the pairs of either end.
func (s *rankSelector) add(p rankedPair) error {
	if p.other < p.own {
		if _, taken := slices.BinarySearch(s.own.ids, p.other); taken {
			return nil
		}
	}
	s.fresh = append(s.fresh, p)
	if len(s.fresh) < rankBatch {
		return nil
	}
	return s.rankFresh()
}

// addLists adds the pairs of nodes of an undirected graph.
func (s *rankSelector) addLists(ids []nodeID) error {
	for part := range slices.Chunk(ids, listsAtOnce) {
		prefixes := make([][]byte, len(part))
		for i, id := range part {
			prefixes[i] = s.g.idKey(kindOut, id)
		}
		lists, err := s.r.ScanMany(prefixes, 0)
		if err != nil {
			return err
		}
		for i, id := range part {
			if err := s.addList(id, lists[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// addList adds the pairs of one node, whose list has them by the other node and the type of the edge.
func (s *rankSelector) addList(id nodeID, list []kv.Pair) error {
	var last rankedPair
	for _, p := range list {
		other, err := listedID(p.Key)
		if err != nil {
			return err
		}
		weight, err := decodeWeight(p.Value)
		if err != nil {
			return err
		}
		if other == last.other {
			last.weight = max(last.weight, weight)
			continue
		}
		if last.other != 0 {
			if err := s.add(last); err != nil {
				return err
			}
		}
		last = rankedPair{weight: weight, own: id, other: other}
	}
	if last.other == 0 {
		return nil
	}
	return s.add(last)
}

// listsAtOnce bounds the lists in memory at a time; each has fewer edges than a hub.
const listsAtOnce = 64

// addShelf adds the pairs of a hub that may be among the first limit.
func (s *rankSelector) addShelf(hub nodeID, degree int) error {
	return s.g.shelf(s.r, hub, s.limit, func(other nodeID, e shelfEntry) error {
		p := rankedPair{weight: e.weight, own: hub, other: other, name: e.name}
		if e.class < exactDegrees {
			p.rank = degree + int(e.class)
		}
		return s.add(p)
	})
}

// rankFresh ranks what is in fresh, keeps it, and drops what the limit already excludes.
func (s *rankSelector) rankFresh() error {
	others := make([]nodeID, 0, len(s.fresh))
	for _, p := range s.fresh {
		if p.rank == 0 {
			others = append(others, p.other)
		}
	}
	if err := s.degrees.load(s.g, s.r, others); err != nil {
		return err
	}
	for i := range s.fresh {
		if p := &s.fresh[i]; p.rank == 0 {
			p.rank = s.degrees.degree(p.own) + s.degrees.degree(p.other)
		}
	}
	s.kept = append(s.kept, s.fresh...)
	s.fresh = s.fresh[:0]
	s.prune()
	return nil
}

// prune drops the pairs that rank behind the limit-th, whose ties stay: only names can order those.
func (s *rankSelector) prune() {
	if s.limit == 0 || len(s.kept) <= s.limit {
		return
	}
	best := bounded[rankedPair]{limit: s.limit, before: func(x, y rankedPair) bool { return x.compare(y) < 0 }}
	for _, p := range s.kept {
		best.push(p)
	}
	last := best.heap[0]
	s.kept = slices.DeleteFunc(s.kept, func(p rankedPair) bool { return p.compare(last) > 0 })
}

// finish names, sorts and cuts the kept pairs.
func (s *rankSelector) finish() ([]RankedEdge, error) {
	ids := make([]nodeID, 0, len(s.kept))
	for _, p := range s.kept {
		if p.name == "" {
			ids = append(ids, p.other)
		}
	}
	names, err := s.g.namesOf(s.r, ids)
	if err != nil {
		return nil, err
	}
	edges := make([]RankedEdge, len(s.kept))
	for i, p := range s.kept {
		if p.name == "" {
			p.name = names.name(p.other)
		}
		edges[i] = p.edge(s.own.name(p.own))
	}
	slices.SortFunc(edges, func(x, y RankedEdge) int {
		return cmp.Or(cmp.Compare(y.Rank, x.Rank), cmp.Compare(y.Weight, x.Weight),
			strings.Compare(x.Src, y.Src), strings.Compare(x.Dst, y.Dst))
	})
	if s.limit > 0 && len(edges) > s.limit {
		edges = edges[:s.limit:s.limit]
	}
	return edges, nil
}
