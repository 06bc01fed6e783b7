package kmeans

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/glimdb/db/internal/simd"
)

// Rows are the vectors to be partitioned.
type Rows struct {
	// N is their number, Dim the number of values of each.
	N, Dim int
	// Row returns row i, of Dim finite values whose squares sum up to a float32. It is read before the next
	// call on the same goroutine.
	Row func(i int) []float32
}

// Options tell how to partition. Only K has no default.
type Options struct {
	// K is the number of centroids, at least 1.
	K int
	// Spherical compares directions; otherwise distances are Euclidean.
	Spherical bool
	// Rounds bounds Lloyd's rounds; 0 means DefaultRounds. Fewer are made when nothing moves any more.
	Rounds int
	// SampleEach is the number of rows for each centroid that are looked at; 0 means DefaultSampleEach. The
	// others are left out, drawn at random.
	SampleEach int
	// Seed decides what is drawn.
	Seed uint64
	// Workers is the number of goroutines that compare; 0 means one, the caller's.
	Workers int
}

const (
	// DefaultRounds is where further rounds move a partition of text embeddings by less than a percent.
	DefaultRounds = 10
	// DefaultSampleEach rows place a centroid about as well as all of them do.
	DefaultSampleEach = 64

	// seedEach rows for each centroid are candidates for the seeds.
	seedEach = 16
	// still is the share by which a round must improve the partition for another to follow.
	still = 1e-4
	// same is the distance of two directions below which rounding may have made it.
	same = 1e-6
	// blockRows are compared by one goroutine between two looks at the context.
	blockRows = 256
)

// Run returns centroids for rows. The error is that of ctx, looked at every few hundred rows. Without rows there
// are no centroids.
func Run(ctx context.Context, rows Rows, o Options) (*Centroids, error) {
	if o.Rounds == 0 {
		o.Rounds = DefaultRounds
	}
	if o.SampleEach == 0 {
		o.SampleEach = DefaultSampleEach
	}
	o.K = max(1, o.K)
	t := &trainer{ctx: ctx, o: o, rows: rows, c: newCentroids(rows.Dim, o.Spherical)}
	r := rand.New(rand.NewPCG(o.Seed, o.Seed^0x9E3779B97F4A7C15))
	t.sample = draw(r, rows.N, o.SampleEach*o.K)
	if len(t.sample) == 0 {
		return t.c, ctx.Err()
	}
	t.nearest, t.far = make([]uint32, len(t.sample)), make([]float32, len(t.sample))
	if err := t.measure(); err != nil {
		return nil, err
	}
	if err := t.seed(r); err != nil {
		return nil, err
	}
	last := math.Inf(1)
	for range o.Rounds {
		sum, moved, err := t.assign()
		if err != nil {
			return nil, err
		}
		if !moved || sum == 0 || sum > last*(1-still) {
			break
		}
		last = sum
		t.means()
	}
	return t.c, nil
}

// draw returns up to n of the numbers below from, ascending, each set as likely as any other.
func draw(r *rand.Rand, from, n int) []int {
	out := make([]int, 0, min(from, n))
	// Selection sampling (Knuth, volume 2, algorithm S).
	for i := 0; i < from && len(out) < n; i++ {
		if n >= from || r.IntN(from-i) < n-len(out) {
			out = append(out, i)
		}
	}
	return out
}

// trainer is one Run.
type trainer struct {
	ctx  context.Context
	o    Options
	rows Rows
	c    *Centroids

	sample  []int
	weights []float32 // spherical: 1/‖row‖, 0 for a row without direction
	nearest []uint32  // by place in the sample: the nearest centroid
	far     []float32 // and how far it is
}

// measure finds the weights.
func (t *trainer) measure() error {
	if !t.o.Spherical {
		return t.ctx.Err()
	}
	t.weights = make([]float32, len(t.sample))
	return each(t.ctx, t.o.Workers, len(t.sample), func(from, to int) {
		for i := from; i < to; i++ {
			t.weights[i] = float32(inverseNorm(t.row(i)))
		}
	})
}

func (t *trainer) row(i int) []float32 { return t.rows.Row(t.sample[i]) }

// seed draws the first centroids.
func (t *trainer) seed(r *rand.Rand) error {
	among := draw(r, len(t.sample), seedEach*t.o.K)
	far := make([]float32, len(among)) // from the nearest seed
	for i := range far {
		far[i] = float32(math.Inf(1))
	}
	next := r.IntN(len(among))
	if t.o.Spherical { // begin with a direction, if there is one
		for range among {
			if t.weights[among[next]] != 0 {
				break
			}
			next = (next + 1) % len(among)
		}
	}
	for {
		seed := t.c.add(t.row(among[next]))
		if t.c.K == t.o.K {
			return t.ctx.Err()
		}
		err := each(t.ctx, t.o.Workers, len(among), func(from, to int) {
			for i := from; i < to; i++ {
				far[i] = min(far[i], t.distance(among[i], seed))
			}
		})
		if err != nil {
			return err
		}
		if next = pick(r, far); next < 0 {
			return nil
		}
	}
}

// distance is that of one row of the sample from a centroid: squared, or 1 − cosine.
func (t *trainer) distance(i int, centroid []float32) float32 {
	row := t.row(i)
	if !t.o.Spherical {
		return simd.L2(row, centroid[:len(row)])
	}
	if t.weights[i] == 0 {
		return 0 // it has no direction to be served
	}
	return angle(simd.Dot(row, centroid[:len(row)]) * t.weights[i])
}

// angle turns a cosine into a distance that is 0 for equal directions, whatever rounding did.
func angle(cos float32) float32 {
	if d := 1 - cos; d > same {
		return d
	}
	return 0
}

// pick draws an index with a chance in proportion to its weight, or -1 when all weights are 0.
func pick(r *rand.Rand, weights []float32) int {
	sum, last := 0.0, -1
	for i, w := range weights {
		if w > 0 {
			sum, last = sum+float64(w), i
		}
	}
	if last < 0 {
		return -1
	}
	at := r.Float64() * sum
	for i, w := range weights {
		if at -= float64(w); at < 0 && w > 0 {
			return i
		}
	}
	return last
}

// assign finds the nearest centroid of each row of the sample. It returns the sum of the distances, and whether
// any row has another one than before.
func (t *trainer) assign() (sum float64, moved bool, err error) {
	old := slices.Clone(t.nearest)
	err = each(t.ctx, t.o.Workers, len(t.sample), func(from, to int) {
		s := t.c.NewScratch()
		for i := from; i < to; i++ {
			at, d := t.c.Nearest(s, t.row(i))
			t.nearest[i] = uint32(at)
			if t.o.Spherical {
				if d = 0; t.weights[i] != 0 {
					d = angle(s.out[at] * t.weights[i])
				}
			}
			t.far[i] = d
		}
	})
	for _, d := range t.far {
		sum += float64(d)
	}
	return sum, !slices.Equal(old, t.nearest) || t.c.K == 1, err
}

// means moves each centroid to the mean of its rows. They are added in their order, whoever compared them.
func (t *trainer) means() {
	dim := t.rows.Dim
	sums, counts := make([]float64, t.c.K*dim), make([]int, t.c.K)
	for i, at := range t.nearest {
		weight := float32(1)
		if t.o.Spherical {
			if weight = t.weights[i]; weight == 0 {
				continue
			}
		}
		counts[at]++
		sum := sums[int(at)*dim:][:dim]
		for j, v := range t.row(i) {
			sum[j] += float64(v) * float64(weight)
		}
	}
	var lost []int
	for at, n := range counts {
		if n == 0 || !t.c.set(at, sums[at*dim:][:dim], n) {
			lost = append(lost, at)
		}
	}
	t.reseed(lost)
}

// reseed puts lost centroids where rows are farthest from their own.
func (t *trainer) reseed(lost []int) {
	if len(lost) == 0 {
		return
	}
	worst := make([]int, 0, len(t.far))
	for i, d := range t.far {
		if d > 0 {
			worst = append(worst, i)
		}
	}
	slices.SortFunc(worst, func(a, b int) int {
		if c := cmp.Compare(t.far[b], t.far[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	for i, at := range lost {
		if i < len(worst) {
			t.c.put(at, t.row(worst[i]))
		}
	}
}

// each calls f for blocks that cover [0, n), on several goroutines when told so, until ctx ends.
func each(ctx context.Context, workers, n int, f func(from, to int)) error {
	blocks := make(chan int)
	work := func() {
		for from := range blocks {
			f(from, min(from+blockRows, n))
		}
	}
	if workers < 2 || n <= blockRows {
		for from := 0; from < n && ctx.Err() == nil; from += blockRows {
			f(from, min(from+blockRows, n))
		}
		return ctx.Err()
	}
	var wait sync.WaitGroup
	for range min(workers, (n+blockRows-1)/blockRows) {
		wait.Go(work)
	}
	for from := 0; from < n && ctx.Err() == nil; from += blockRows {
		blocks <- from
	}
	close(blocks)
	wait.Wait()
	return ctx.Err()
}
