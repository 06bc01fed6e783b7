package analytics

import (
	"context"
	"math"

	"github.com/glimdb/db/graph"
)

// distances finds the shortest paths from one node (Dijkstra, 1959). Of equal ways to a node the one over the smaller
// name before it is kept.
func (r *Result) distances(ctx context.Context) error {
	from, ok := r.graph.Index(r.Options.From)
	if !ok {
		return &graph.MissingNodeError{Name: r.Options.From}
	}
	if length := r.Options.Length; length != Hops {
		if err := checkWeights(r.graph, length == Weight); err != nil {
			return err
		}
	}
	r.Scores, r.parent = make([]float64, r.Nodes), make([]uint32, r.Nodes)
	for i := range r.Scores {
		r.Scores[i], r.parent[i] = math.Inf(1), uint32(i)
	}
	r.Scores[from] = 0
	front := newFront(r.Scores)
	front.push(uint32(from))
	for step := 0; len(front.heap) > 0; step++ {
		if err := ended(ctx, step); err != nil {
			return err
		}
		v := front.pop()
		targets, weights := r.graph.Row(int(v))
		for k, w := range targets {
			d := r.Scores[v] + r.length(weights[k])
			switch {
			case d < r.Scores[w]:
				r.Scores[w], r.parent[w] = d, v
				front.push(w)
			case d == r.Scores[w] && r.parent[w] != w && v < r.parent[w] && r.Scores[v] < d:
				r.parent[w] = v
			}
		}
	}
	reached, farthest, sum := 0, 0.0, 0.0
	for _, d := range r.Scores {
		if !math.IsInf(d, 1) {
			reached++
			farthest = max(farthest, d)
			sum += d
		}
	}
	r.figure("reached", float64(reached))
	r.figure("farthest", farthest)
	if reached > 1 {
		r.figure("mean", sum/float64(reached-1))
	}
	return nil
}

func (r *Result) length(weight float64) float64 {
	switch r.Options.Length {
	case Weight:
		return weight
	case Inverse:
		return 1 / weight
	}
	return 1
}

// front is a heap of nodes by distance, then number; each is in it once.
type front struct {
	distance []float64
	heap     []uint32
	place    []int32 // in the heap, from 1; 0: not in it
}

func newFront(distance []float64) *front {
	return &front{distance: distance, place: make([]int32, len(distance))}
}

func (f *front) before(x, y uint32) bool {
	dx, dy := f.distance[x], f.distance[y]
	return dx < dy || dx == dy && x < y
}

// push adds a node, or moves one whose distance has become less.
func (f *front) push(v uint32) {
	i := int(f.place[v]) - 1
	if i < 0 {
		i = len(f.heap)
		f.heap = append(f.heap, v)
	}
	for i > 0 {
		up := (i - 1) / 2
		if !f.before(v, f.heap[up]) {
			break
		}
		f.put(i, f.heap[up])
		i = up
	}
	f.put(i, v)
}

func (f *front) put(i int, v uint32) { f.heap[i], f.place[v] = v, int32(i+1) }

// pop takes out the nearest.
func (f *front) pop() uint32 {
	top, last := f.heap[0], f.heap[len(f.heap)-1]
	f.heap = f.heap[:len(f.heap)-1]
	f.place[top] = 0
	if len(f.heap) == 0 {
		return top
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(f.heap) {
			break
		}
		if down+1 < len(f.heap) && f.before(f.heap[down+1], f.heap[down]) {
			down++
		}
		if !f.before(f.heap[down], last) {
			break
		}
		f.put(i, f.heap[down])
		i = down
	}
	f.put(i, last)
	return top
}
