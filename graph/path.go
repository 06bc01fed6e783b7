package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/kv"
)

// maxPathVisits bounds the nodes that one path search may hold: about 64 MiB with their parents in a
// graph of average degree 8.
const maxPathVisits = 1 << 20

// Path returns the names along a shortest path from one node to another, both included, with at most
// maxDepth edges; directed edges are followed forwards. Weights do not count. Of several shortest paths
// it is the one whose names come first, compared node by node from the start.
//
// Errors: kv.ErrNotFound when an end is absent, ErrNoPath, and a *LimitError when the search would hold
// more than a million nodes. It searches from both ends, first where fewer edges lead on, and does not read
// the edges of hubs that lead on where only the next step can end the path.
func (g *Graph) Path(ctx context.Context, r kv.Reader, from, to string, maxDepth int) ([]string, error) {
	if err := checkBounds(maxDepth, 1); err != nil {
		return nil, err
	}
	p, err := g.path(ctx, r, from, to, maxDepth)
	if err != nil {
		return nil, fmt.Errorf("graph: path: %w", err)
	}
	return p, nil
}

// side is one half of the search: the nodes it reached by distance from its end, each with its
// neighbours one step nearer to that end.
type side struct {
	scan   func(nodeID, func(adjacent) bool) error
	depth  int
	level  []nodeID // at depth, sorted
	cost   int      // the degrees of level, summed
	at     map[nodeID]int
	nearer map[nodeID][]nodeID
}

func (g *Graph) path(ctx context.Context, r kv.Reader, from, to string, maxDepth int) ([]string, error) {
	src, err := g.id(r, from)
	if err != nil {
		return nil, err
	}
	dst, err := g.id(r, to)
	if err != nil {
		return nil, err
	}
	if src == dst {
		return []string{from}, nil
	}
	s := scanner{g: g, r: r}
	defer s.close()
	fwd := newSide(src, s.scanOut)
	back := newSide(dst, s.scanIn)
	var degrees degreeTable
	for _, end := range []*side{fwd, back} {
		if err := end.weigh(&degrees, g, r); err != nil {
			return nil, err
		}
	}
	for fwd.depth+back.depth < maxDepth && len(fwd.level) > 0 && len(back.level) > 0 {
		near, far := fwd, back
		if back.cost < fwd.cost {
			near, far = back, fwd
		}
		last := fwd.depth+back.depth == maxDepth-1
		if last || near.cost/stepsBeforeLeap > len(near.level)*len(far.level) {
			// Do the sides touch? If they do, or must, nobody needs the nodes that lead elsewhere.
			s.only = far.level
			meet, err := near.grow(ctx, len(far.at))
			s.only = nil
			if err != nil {
				return nil, err
			}
			if len(meet) > 0 {
				return g.smallest(r, src, fwd, back, meet)
			}
			if last {
				break
			}
			near.depth--
		}
		next, err := near.grow(ctx, len(far.at))
		if err != nil {
			return nil, err
		}
		near.level = next
		if meet := common(near, far); len(meet) > 0 {
			return g.smallest(r, src, fwd, back, meet)
		}
		if err := near.weigh(&degrees, g, r); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w of at most %d edges from %s to %s", ErrNoPath, maxDepth, brief.Quote(from), brief.Quote(to))
}

func newSide(end nodeID, scan func(nodeID, func(adjacent) bool) error) *side {
	return &side{scan: scan, level: []nodeID{end}, at: map[nodeID]int{end: 0}, nearer: map[nodeID][]nodeID{}}
}

// weigh sums the degrees of the level.
func (s *side) weigh(t *degreeTable, g *Graph, r kv.Reader) error {
	if err := t.load(g, r, s.level); err != nil {
		return err
	}
	s.cost = 0
	for _, id := range s.level {
		s.cost += t.degree(id)
	}
	return nil
}

// grow moves a side one edge outwards and returns the nodes found there, sorted.
func (s *side) grow(ctx context.Context, others int) (next []nodeID, err error) {
	s.depth++
	for _, id := range s.level {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := s.scan(id, func(a adjacent) bool {
			at, seen := s.at[a.other]
			if !seen {
				at = s.depth
				s.at[a.other] = at
				next = append(next, a.other)
			}
			if near := s.nearer[a.other]; at == s.depth && (len(near) == 0 || near[len(near)-1] != id) {
				s.nearer[a.other] = append(near, id) // parallel edges are neighbours in the scan: one parent
			}
			return len(s.at)+others <= maxPathVisits
		})
		if err != nil {
			return nil, err
		}
		if len(s.at)+others > maxPathVisits {
			return nil, &LimitError{What: "visited nodes", Limit: maxPathVisits}
		}
	}
	slices.Sort(next)
	return next, nil
}

// common returns the nodes of the new level that the other side has on its outermost level. The sides
// met nowhere before, so that every shortest path passes through exactly one of them.
func common(grown, other *side) []nodeID {
	var meet []nodeID
	for _, id := range grown.level {
		if at, ok := other.at[id]; ok && at == other.depth {
			meet = append(meet, id)
		}
	}
	return meet
}

// smallest walks from the start over nodes that lie on a shortest path, to the one of the smallest name
// each time.
func (g *Graph) smallest(r kv.Reader, src nodeID, fwd, back *side, meet []nodeID) ([]string, error) {
	// steps[a] are the nodes after a on the paths: on the forward side the reverse of nearer, as far as it
	// leads to a meeting node; on the backward side nearer itself.
	steps := make(map[nodeID][]nodeID)
	for level := meet; len(level) > 0; {
		var before []nodeID
		for _, id := range level {
			for _, p := range fwd.nearer[id] {
				if len(steps[p]) == 0 {
					before = append(before, p)
				}
				steps[p] = append(steps[p], id)
			}
		}
		level = before
	}
	var path []nodeID
	var names []string
	for at := []nodeID{src}; len(at) > 0; {
		resolved, err := g.namesOf(r, slices.Clone(at))
		if err != nil {
			return nil, err
		}
		best := 0
		for i, name := range resolved.names {
			if name < resolved.names[best] {
				best = i
			}
		}
		id := resolved.ids[best]
		path = append(path, id)
		names = append(names, resolved.names[best])
		if len(path) > fwd.depth {
			at = back.nearer[id]
		} else {
			at = steps[id]
		}
	}
	if len(path) != fwd.depth+back.depth+1 {
		return nil, errors.New("the graph changed during the search") // a reader that is not one view
	}
	return names, nil
}
