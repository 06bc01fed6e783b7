package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/glimdb/db/internal/kmeans"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/vector"
)

// field is the vectors that are clustered, in order of id: what comes out does not depend on the order of commits.
type field struct {
	*vector.Survey
	order []int // numbers in the survey, by id
}

func newField(s *vector.Survey) *field {
	f := &field{s, make([]int, s.Len())}
	for i := range f.order {
		f.order[i] = i
	}
	slices.SortFunc(f.order, func(a, b int) int { return cmp.Compare(s.ID(a), s.ID(b)) })
	return f
}

func (f *field) id(i int) string        { return f.ID(f.order[i]) }
func (f *field) ordinal(i int) uint64   { return f.Ordinal(f.order[i]) }
func (f *field) vector(i int) []float32 { return f.Vector(f.order[i]) }

// find returns the number of id.
func (f *field) find(id string) (int, bool) {
	return slices.BinarySearchFunc(f.order, id, func(at int, id string) int { return cmp.Compare(f.ID(at), id) })
}

func (f *field) rows(dim int) kmeans.Rows {
	return kmeans.Rows{N: f.Len(), Dim: dim, Row: f.vector}
}

// workers is how many goroutines compare vectors.
func workers() int { return runtime.GOMAXPROCS(0) }

// partition is a field with the cluster of each vector: 1 to k, or alwaysSearched.
type partition struct {
	f       *field
	primary []uint32
	cells   [][]uint32 // with replicas; nil where there are none
	k       int
}

// cellsOf are those of vector i.
func (p *partition) cellsOf(i int) []uint32 {
	if p.cells != nil {
		return p.cells[i]
	}
	return p.primary[i : i+1]
}

// split clusters the field.
func split(ctx context.Context, f *field, dim int, o Options) (*partition, error) {
	if most := o.Method.most(); most > 0 && f.Len() > most {
		return nil, &OptionError{"Method", o.Method, fmt.Sprintf("kmeans for %d chunks: %s compares each with each, and takes at most %d", f.Len(), o.Method, most)}
	}
	switch o.Method {
	case DBSCAN:
		return dense(ctx, f, o)
	case Communities:
		return communities(ctx, f, o)
	case Hierarchical:
		return linked(ctx, f, dim, o)
	}
	rows := f.rows(dim)
	if o.Reduce > 0 && o.Reduce < dim {
		var err error
		if rows, err = reduce(ctx, rows, o.Reduce, o.Seed); err != nil {
			return nil, err
		}
	}
	k, err := chooseK(ctx, rows, o)
	if err != nil {
		return nil, err
	}
	c, err := kmeans.Run(ctx, rows, kmeans.Options{K: k, Spherical: true, Rounds: o.Rounds, Seed: o.Seed, Workers: workers()})
	if err != nil {
		return nil, err
	}
	cells, err := c.Assign(ctx, rows, workers())
	if err != nil {
		return nil, err
	}
	return number(f, cells, c.K, 1), nil
}

// number gives the cells below k that have at least that many vectors the numbers from 1 on. Vectors of smaller ones
// belong nowhere.
func number(f *field, cells []uint32, k, least int) *partition {
	sizes, ids := make([]int, k), make([]uint32, k)
	for _, c := range cells {
		sizes[c]++
	}
	next := uint32(0)
	for c, n := range sizes {
		if ids[c] = alwaysSearched; n >= least {
			next++
			ids[c] = next
		}
	}
	for i, c := range cells {
		cells[i] = ids[c]
	}
	return &partition{f: f, primary: cells, k: int(next)}
}

// chunksPerCluster is the least mean size of a cluster: fewer do not place a centroid.
const chunksPerCluster = 39

// RuleK is the number of clusters for n chunks when none is given: √n, where looking at all centroids and looking at
// all members of a cluster cost the same.
func RuleK(n int) int { return boundK(int(math.Round(math.Sqrt(float64(n)))), n) }

func boundK(k, n int) int { return max(min(k, max(2, n/chunksPerCluster)), 1) }

func chooseK(ctx context.Context, rows kmeans.Rows, o Options) (int, error) {
	switch {
	case o.K > 0:
		return o.K, nil
	case !o.Elbow:
		return RuleK(rows.N), nil
	}
	curve, err := Curve(ctx, rows, o.Seed)
	if err != nil || len(curve) == 0 {
		return RuleK(rows.N), err
	}
	return curve[elbow(curve)].K, nil
}

// CurvePoint is what clustering a sample with K clusters yields.
type CurvePoint struct {
	K          int     `json:"k"`
	SSE        float64 `json:"sse"`        // mean squared distance from the own mean, vectors of length one
	Silhouette float64 `json:"silhouette"` // -1 to 1
}

// curveSample vectors and curveRounds rounds are enough to see a bend. Where the sample is a part of the vectors, a
// cluster of it stands for one of as many more: K is scaled by the root, as RuleK grows.
const (
	curveSample = 20_000
	curveRounds = 5
	curveSteps  = 8
)

// Curve clusters rows, or a sample of them, with each K of a geometric grid from √N/4 to 4√N.
func Curve(ctx context.Context, rows kmeans.Rows, seed uint64) ([]CurvePoint, error) {
	sample := rows
	if rows.N > curveSample {
		step := float64(rows.N) / curveSample
		sample = kmeans.Rows{N: curveSample, Dim: rows.Dim, Row: func(i int) []float32 { return rows.Row(int(float64(i) * step)) }}
	}
	root, scale := math.Sqrt(float64(sample.N)), math.Sqrt(float64(rows.N)/float64(max(1, sample.N)))
	var out []CurvePoint
	last := 0
	for i := range curveSteps + 1 {
		k := boundK(int(math.Round(root/4*math.Pow(16, float64(i)/curveSteps))), sample.N)
		if k <= last {
			continue
		}
		last = k
		c, err := kmeans.Run(ctx, sample, kmeans.Options{K: k, Spherical: true, Rounds: curveRounds, Seed: seed, Workers: workers()})
		if err != nil {
			return nil, err
		}
		cells, err := c.Assign(ctx, sample, workers())
		if err != nil {
			return nil, err
		}
		sums, counts := kmeans.Sums(sample, cells, c.K)
		sse := 0.0
		for j, n := range counts {
			sse += kmeans.SSE(sums[j*sample.Dim:][:sample.Dim], n)
		}
		s, err := kmeans.Silhouette(ctx, sample, cells, c.K, silhouetteSample, seed, workers())
		if err != nil {
			return nil, err
		}
		out = append(out, CurvePoint{K: boundK(int(math.Round(float64(k)*scale)), rows.N), SSE: sse / float64(max(1, sample.N)), Silhouette: s})
	}
	return out, nil
}

func elbow(curve []CurvePoint) int {
	x, y := make([]float64, len(curve)), make([]float64, len(curve))
	for i, p := range curve {
		x[i], y[i] = float64(p.K), p.SSE
	}
	return kmeans.Elbow(x, y)
}

// replicate puts vectors near a border into further clusters, and each first of all into the one with the nearest mean.
func (p *partition) replicate(ctx context.Context, clusters []*Cluster, o Options) error {
	if o.Replicas == 1 {
		return nil
	}
	p.cells = make([][]uint32, p.f.Len())
	mean := func(id uint32) []float32 { return clusters[id].mean }
	return kmeans.Each(ctx, workers(), p.f.Len(), func(from, to int) {
		for i := from; i < to; i++ {
			if p.primary[i] == alwaysSearched {
				p.cells[i] = []uint32{alwaysSearched}
				continue
			}
			v := p.f.vector(i)
			var near []Scored
			for _, c := range clusters {
				if c != nil && c.mean != nil {
					near = append(near, Scored{c.ID, float64(simd.Dot(v, c.mean))})
				}
			}
			p.cells[i] = closure(near, o, mean)
			p.primary[i] = p.cells[i][0]
		}
	})
}

// clusters sums the members up.
func (p *partition) clusters(dim int) []*Cluster {
	counts, sums := make([]int, p.k+1), make([][]int64, p.k+1)
	for i, c := range p.primary {
		if sums[c] == nil {
			sums[c] = make([]int64, dim)
		}
		counts[c]++
		add(sums[c], p.f.vector(i), 1)
	}
	out := make([]*Cluster, p.k+1)
	for c := range out {
		if sums[c] != nil {
			out[c] = newCluster(uint32(c), counts[c], sums[c], new(note))
		}
	}
	return out
}
