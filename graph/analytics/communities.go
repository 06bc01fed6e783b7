package analytics

import (
	"context"
	"math/rand/v2"
	"slices"
)

// communities runs Louvain or Leiden: nodes move to the community of a neighbour while that pays, then communities
// become the nodes of a smaller graph, and so on. Leiden aggregates a refinement of the communities, in which every
// part is connected, and starts the next level from the communities themselves. Both begin again from what they
// found, until no node wants to move.
func (r *Result) communities(ctx context.Context) error {
	g, err := symmetrize(r.graph, r.Options.Unweighted)
	if err != nil {
		return err
	}
	s := &seeker{ctx: ctx, resolution: r.Options.Resolution, refine: r.Options.Algorithm == Leiden,
		random: rand.New(rand.NewPCG(r.Options.Seed, 0))} //nolint:gosec // reproducible by intent
	of := newUnion(g.len()) // every node by itself
	quality, round := g.quality(of, s.resolution), 0
	for round < r.Options.Rounds {
		round++
		next, err := s.pass(g, of)
		if err != nil {
			return err
		}
		if s.refine {
			next = g.connect(next)
		}
		better := g.quality(next, s.resolution)
		if better <= quality && round > 1 {
			break
		}
		of, quality = next, better
	}
	r.grouped(of)
	r.figure("modularity", quality)
	r.figure("rounds", float64(round))
	return nil
}

// seeker looks for communities.
type seeker struct {
	ctx        context.Context
	resolution float64
	refine     bool
	random     *rand.Rand
}

// pass goes through all levels, from the communities of on numbers below g.len(), and returns better ones.
func (s *seeker) pass(g *symmetric, on []uint32) ([]uint32, error) {
	of := slices.Clone(on)
	top := newUnion(g.len()) // of each node of the lowest level, the node of the level at hand
	level := g
	for {
		if err := s.move(level, of); err != nil {
			return nil, err
		}
		count := compact(of)
		if count == level.len() {
			break
		}
		parts, number := of, count
		if s.refine {
			var err error
			if parts, err = s.split(level, of, count); err != nil {
				return nil, err
			}
			if number = compact(parts); number == level.len() {
				break // every node refuses every other: rounding, or ties
			}
		}
		above := level.aggregate(parts, number)
		ofAbove := make([]uint32, number)
		for i, p := range parts {
			ofAbove[p] = of[i]
		}
		if !s.refine {
			ofAbove = newUnion(number)
		}
		for i, at := range top {
			top[i] = parts[at]
		}
		level, of = above, ofAbove
	}
	for i, at := range top {
		top[i] = of[at]
	}
	return top, nil
}

// indifferent is the gain, as a share of all weight, up to which a node stays where it is: rounding must not make
// nodes go round in circles.
const indifferent = 1e-12

// move lets nodes change to the community where they add most to the modularity. They queue in random order; who has
// moved wakes its neighbours outside. A node that is not woken may have got a reason to move when the queue is empty:
// the next round asks it again. Of equal communities the one of the smaller number is
// taken, which is that of the node with the smaller name it began with.
func (s *seeker) move(g *symmetric, of []uint32) error {
	n := g.len()
	if g.total == 0 {
		return nil
	}
	strength, size := make([]float64, n), make([]uint32, n)
	for i, k := range of {
		strength[k] += g.strength[i]
		size[k]++
	}
	var free []uint32 // communities without members, which a node may found anew; some may have got members since
	for k := n - 1; k >= 0; k-- {
		if size[k] == 0 {
			free = append(free, uint32(k))
		}
	}
	queue, waits := make([]uint32, n), make([]bool, n)
	for i, v := range s.random.Perm(n) {
		queue[i], waits[i] = uint32(v), true
	}
	near := newGather(n)
	pull := s.resolution / g.total
	for at, left, steps := 0, n, 0; left > 0; steps++ {
		if err := ended(s.ctx, steps); err != nil {
			return err
		}
		v := queue[at]
		waits[v] = false
		left--
		if at++; at == n {
			at = 0
		}
		nodes, weights := g.row(v)
		for k, j := range nodes {
			near.add(of[j], weights[k])
		}
		old, mass := of[v], g.strength[v]
		strength[old] -= mass
		best, gain := old, near.sum[old]-pull*mass*strength[old]
		stay := gain
		for _, k := range near.keys {
			here := near.sum[k] - pull*mass*strength[k]
			if here > gain || here == gain && best != old && k < best {
				best, gain = k, here
			}
		}
		near.clear()
		if gain < 0 && size[old] > 1 {
			for len(free) > 0 && size[free[len(free)-1]] > 0 {
				free = free[:len(free)-1]
			}
			if len(free) > 0 {
				best, gain = free[len(free)-1], 0
			}
		}
		if gain <= stay+indifferent*g.total {
			best = old
		}
		strength[best] += mass
		if best == old {
			continue
		}
		of[v] = best
		size[best]++
		if size[old]--; size[old] == 0 {
			free = append(free, old)
		}
		for _, j := range nodes {
			if of[j] != best && !waits[j] {
				waits[j] = true
				queue[(at+left)%n] = j
				left++
			}
		}
	}
	return nil
}

// compact renumbers groups from 0 in order of their first member and returns their number.
func compact(of []uint32) int {
	const none = ^uint32(0)
	number := make([]uint32, len(of))
	for i := range number {
		number[i] = none
	}
	count := 0
	for i, k := range of {
		if number[k] == none {
			number[k] = uint32(count)
			count++
		}
		of[i] = number[k]
	}
	return count
}

// connect gives the parts of every group that no edge inside joins groups of their own, which never lowers the
// modularity. The groups that a pass ends with are connected but for ties and rounding; this leaves no doubt.
func (g *symmetric) connect(of []uint32) []uint32 {
	u := newUnion(g.len())
	for i := range u {
		nodes, _ := g.row(uint32(i))
		for _, j := range nodes {
			if of[j] == of[i] {
				u.join(uint32(i), j)
			}
		}
	}
	return u.roots()
}
