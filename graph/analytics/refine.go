package analytics

import (
	"math"
)

// vagueness is how freely the refinement chooses among parts that a node may join, in gains of an average edge: the
// value of the authors. It is never greedy, so that every partition that cannot be improved can be reached.
const vagueness = 0.01

// split refines communities, numbered below count: within each of them every node begins as a part of its own, and
// nodes that are still alone, in random order, join a part that they are connected with, if both are connected well
// enough with the rest of the community and the modularity does not fall. Which one is drawn by the exponential of
// the gain. Parts are numbered below g.len().
func (s *seeker) split(g *symmetric, of []uint32, count int) ([]uint32, error) {
	n := g.len()
	whole := make([]float64, count) // strength of the communities
	for i, k := range of {
		whole[k] += g.strength[i]
	}
	part := []uint32(newUnion(n))
	mass := append([]float64(nil), g.strength...) // of the parts
	size := make([]uint32, n)
	reach := make([]float64, n) // weight between a part and the rest of its community
	for i := range part {
		size[i] = 1
		nodes, weights := g.row(uint32(i))
		for k, j := range nodes {
			if of[j] == of[i] {
				reach[i] += weights[k]
			}
		}
	}
	pull := s.resolution / g.total
	connected := func(p, k uint32) bool { return reach[p] >= pull*mass[p]*(whole[k]-mass[p]) }
	theta := vagueness * g.total / float64(max(len(g.to), 1))
	near := newGather(n)
	gains := make([]float64, 0, 64)
	for step, i := range s.random.Perm(n) {
		if err := ended(s.ctx, step); err != nil {
			return nil, err
		}
		v := uint32(i)
		if own := part[v]; own != v || size[v] != 1 || !connected(v, of[v]) {
			continue
		}
		nodes, weights := g.row(v)
		for k, j := range nodes {
			if of[j] == of[v] {
				near.add(part[j], weights[k])
			}
		}
		gains = gains[:0]
		best := 0.0 // of staying alone
		for _, p := range near.keys {
			gain := math.Inf(-1)
			if connected(p, of[v]) {
				gain = near.sum[p] - pull*mass[v]*mass[p]
			}
			gains = append(gains, gain)
			best = max(best, gain)
		}
		total := math.Exp(-best / theta)
		for k, gain := range gains {
			if gains[k] = 0; gain >= 0 {
				gains[k] = math.Exp((gain - best) / theta)
			}
			total += gains[k]
		}
		to, draw := v, s.random.Float64()*total
		for k, chance := range gains {
			if draw < chance {
				to = near.keys[k]
				break
			}
			draw -= chance
		}
		if to != v {
			part[v] = to
			reach[to] += reach[v] - 2*near.sum[to]
			mass[to] += mass[v]
			size[to]++
			size[v] = 0
		}
		near.clear()
	}
	return part, nil
}
