package cluster

import (
	"context"

	"github.com/glimdb/db/internal/simd"
)

// linked joins clusters bottom up by average linkage: the distance of two clusters is the mean cosine distance of their
// members, which is that of their mean vectors, not normalised. It follows chains of nearest neighbours (Murtagh, 1983),
// whose ends are nearest to each other and are joined; with average linkage this finds the same clusters as joining the
// two nearest of all each time. What has nobody within Radius never will have, and is done with. It takes memory for one
// mean a vector, and about three passes of each over each.
func linked(ctx context.Context, f *field, dim int, o Options) (*partition, error) {
	n := f.Len()
	l := &linkage{means: make([][]float32, n), sizes: make([]int, n), active: make([]uint32, n)}
	all := make([]float32, n*dim)
	of := make([]uint32, n) // by vector, the cluster that it was joined into
	for i := range n {
		l.means[i], all = all[:dim:dim], all[dim:]
		copy(l.means[i], f.vector(i))
		l.sizes[i], l.active[i], of[i] = 1, uint32(i), uint32(i)
	}
	var chain []uint32
	for len(l.active) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(chain) == 0 {
			chain = append(chain, l.active[0])
		}
		end := chain[len(chain)-1]
		before := end
		if len(chain) > 1 {
			before = chain[len(chain)-2]
		}
		next, distance := l.nearest(end, before)
		switch {
		case next == end || distance > o.Radius:
			l.remove(end)
			chain = chain[:len(chain)-1]
		case next == before:
			of[max(end, before)] = min(end, before)
			l.join(min(end, before), max(end, before))
			chain = chain[:len(chain)-2]
		default:
			chain = append(chain, next)
		}
	}
	for i, into := range of { // into a lower number, which has its last one already
		of[i] = of[into]
	}
	return number(f, of, n, pairLeast), nil
}

// linkage is the clusters on their way, each under the number of its first vector.
type linkage struct {
	means  [][]float32
	sizes  []int
	active []uint32 // that may still be joined
}

// nearest finds the active cluster nearest to c, before where that is as near as any, then the first; c itself when
// there is no other.
func (l *linkage) nearest(c, before uint32) (next uint32, distance float64) {
	next, best := c, float32(0)
	if before != c {
		next, best = before, simd.Dot(l.means[c], l.means[before])
	}
	for _, other := range l.active {
		if other == c {
			continue
		}
		if s := simd.Dot(l.means[c], l.means[other]); next == c || s > best || s == best && next != before && other < next {
			next, best = other, s
		}
	}
	return next, 1 - float64(best)
}

// join makes one cluster of two, under the number of the first.
func (l *linkage) join(a, b uint32) {
	na, nb := float32(l.sizes[a]), float32(l.sizes[b])
	for i, v := range l.means[b] {
		l.means[a][i] = (na*l.means[a][i] + nb*v) / (na + nb)
	}
	l.sizes[a] += l.sizes[b]
	l.remove(b)
}

func (l *linkage) remove(c uint32) {
	for i, other := range l.active {
		if other == c {
			l.active[i] = l.active[len(l.active)-1]
			l.active = l.active[:len(l.active)-1]
			return
		}
	}
}
