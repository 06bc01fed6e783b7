package graph

import (
	"cmp"
	"fmt"
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
}

// RankedIncident returns the pairs of nodes joined by an edge at one of the named nodes, each unordered
// pair once: by rank descending, weight descending, (Src, Dst) ascending; the first limit of them, or all
// when limit is 0. Absent names are skipped.
//
// It reads no properties. The cost is one step of a cursor for each incident edge, one for each page of
// 64 degrees touched, and one for each name of a pair that may be among the first limit; memory is
// bounded by the limit and its ties.
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

type rankedPair struct {
	rank   int
	weight float64
	own    nodeID
	other  nodeID
}

func (p rankedPair) compare(q rankedPair) int {
	return cmp.Or(cmp.Compare(q.rank, p.rank), cmp.Compare(q.weight, p.weight))
}

func (g *Graph) rankedIncident(r kv.Reader, names []string, limit int) ([]RankedEdge, error) {
	ids, err := g.lookup(r, names)
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > 0 && ids[0] == 0 {
		ids = ids[1:]
	}
	if len(ids) == 0 {
		return nil, nil
	}
	s := scanner{g: g, r: r}
	defer s.close()
	sel := rankSelector{g: g, r: r, limit: limit}
	if err := sel.degrees.load(g, r, ids); err != nil {
		return nil, err
	}
	for _, id := range ids {
		err := g.pairsOf(&s, id, func(other nodeID, weight float64) error {
			if other < id {
				if _, taken := slices.BinarySearch(ids, other); taken {
					return nil // the pair came with the smaller id
				}
			}
			return sel.add(rankedPair{weight: weight, own: id, other: other})
		})
		if err != nil {
			return nil, err
		}
	}
	if err := sel.rankFresh(); err != nil {
		return nil, err
	}
	return sel.finish()
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
	degrees degreeTable
	kept    []rankedPair
	fresh   []rankedPair
}

// rankBatch is how many pairs are ranked at a time. A hub of 5,000 fits in one; more would only cost
// memory (24 bytes a pair).
const rankBatch = 8192

func (s *rankSelector) add(p rankedPair) error {
	s.fresh = append(s.fresh, p)
	if len(s.fresh) < rankBatch {
		return nil
	}
	return s.rankFresh()
}

// rankFresh ranks what is in fresh, keeps it, and drops what the limit already excludes.
func (s *rankSelector) rankFresh() error {
	others := make([]nodeID, len(s.fresh))
	for i, p := range s.fresh {
		others[i] = p.other
	}
	if err := s.degrees.load(s.g, s.r, others); err != nil {
		return err
	}
	for i := range s.fresh {
		p := &s.fresh[i]
		p.rank = s.degrees.degree(p.own) + s.degrees.degree(p.other)
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
	ids := make([]nodeID, 0, len(s.kept)+8)
	for i, p := range s.kept {
		if i == 0 || p.own != s.kept[i-1].own {
			ids = append(ids, p.own)
		}
		ids = append(ids, p.other)
	}
	names, err := s.g.namesOf(s.r, ids)
	if err != nil {
		return nil, err
	}
	edges := make([]RankedEdge, len(s.kept))
	for i, p := range s.kept {
		src, dst := names.name(p.own), names.name(p.other)
		if src > dst {
			src, dst = dst, src
		}
		edges[i] = RankedEdge{Src: src, Dst: dst, Weight: p.weight, Rank: p.rank}
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
