package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sort"
	"sync"

	"github.com/glimdb/db/vector"
)

// Sizes of the generated set. They give what text embeddings have: a local intrinsic dimension near 20 in
// a space of hundreds, topics of very unequal size inside wider fields, documents cut into pieces that lie
// close together, a mean that all share and a few dimensions far larger than the rest.
const (
	latent  = 64 // dimensions that meaning varies in
	warp    = 256
	fields  = 40
	topics  = 1200
	pieces  = 0.66 // chance that a document has one more piece
	longest = 20   // pieces of a document

	clusteredSeed    = 11
	clusteredVersion = 1 // part of the cached file's name: raised with every change of the values
	defaultN         = 100_000
)

func loadClustered(o dataOptions, dim int) ([]*dataset, error) {
	if o.n == 0 {
		o.n = defaultN
	}
	o.queries = min(o.queries, max(1, o.n/9)) // split gives queries at most a tenth of all
	all := o.n + o.queries
	rows, err := cached(o, fmt.Sprintf("clustered-v%d-%d-%d", clusteredVersion, dim, all), func() (matrix, error) {
		return clustered(clusteredSeed, all, dim), nil
	})
	if err != nil {
		return nil, err
	}
	d, err := split(fmt.Sprintf("clustered%d", dim), vector.Cosine, rows, o)
	return []*dataset{d}, err
}

// clustered returns n vectors, a function of its arguments, in random order.
func clustered(seed uint64, n, dim int) matrix {
	out := newMatrix(n, dim)
	newGenerator(seed, n, dim).fill(0, out)
	return out
}

// generator makes the vectors of clustered part by part.
type generator struct {
	seed     uint64
	meanings matrix
	decoder  *decoder
}

func newGenerator(seed uint64, n, dim int) *generator {
	r := rand.New(rand.NewPCG(seed, uint64(dim)))
	return &generator{seed, meanings(r, n), newDecoder(r, dim)}
}

// fill writes the vectors from from on, as many as out has rows of zeros, on all processors.
func (g *generator) fill(from int, out matrix) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			bend := make([]float32, warp)
			for i := w; i < out.rows(); i += workers {
				g.decoder.decode(g.meanings.row(from+i), bend, rand.New(rand.NewPCG(g.seed, uint64(from+i))), out.row(i))
			}
		})
	}
	wg.Wait()
}

// topic is one region of meaning: its centre and how far its documents spread in each dimension.
type topic struct{ centre, spread [latent]float64 }

// meanings draws latent vectors of document pieces and shuffles them.
func meanings(r *rand.Rand, n int) matrix {
	var scale [latent]float64 // most variance lies in few dimensions
	for i := range scale {
		scale[i] = math.Pow(float64(i+1), -0.3)
	}
	around := func(c [latent]float64, by float64) [latent]float64 {
		for i := range c {
			c[i] += r.NormFloat64() * scale[i] * by
		}
		return c
	}
	var field [fields][latent]float64
	for i := range field {
		field[i] = around([latent]float64{}, 0.7)
	}
	all := make([]topic, topics)
	upTo := make([]float64, topics) // cumulative weights, like Zipf's
	sum := 0.0
	for i := range all {
		all[i].centre = around(field[r.IntN(fields)], 0.6)
		for j := range scale {
			all[i].spread[j] = scale[j] * 0.65 * math.Exp(0.5*r.NormFloat64())
		}
		sum += math.Pow(float64(i+5), -0.9)
		upTo[i] = sum
	}
	out := newMatrix(n, latent)
	for i := 0; i < n; {
		t := &all[min(sort.SearchFloat64s(upTo, r.Float64()*sum), topics-1)]
		doc := t.centre
		for j := range doc {
			doc[j] += r.NormFloat64() * t.spread[j]
		}
		for piece := 0; i < n && (piece == 0 || piece < longest && r.Float64() < pieces); piece++ {
			for j, x := range around(doc, 0.6) {
				out.row(i)[j] = float32(x)
			}
			i++
		}
	}
	r.Shuffle(n, func(i, j int) {
		a, b := out.row(i), out.row(j)
		for k := range a {
			a[k], b[k] = b[k], a[k]
		}
	})
	return out
}

// decoder maps meaning to the full space: linearly, bent by a hidden layer, off centre, with noise.
type decoder struct {
	dim    int
	linear matrix // latent × dim
	into   matrix // latent × warp
	from   matrix // warp × dim
	mean   []float32
}

func newDecoder(r *rand.Rand, dim int) *decoder {
	gaussian := func(rows, cols int, by float64) matrix {
		m := newMatrix(rows, cols)
		for i := range m.values {
			m.values[i] = float32(r.NormFloat64() * by)
		}
		return m
	}
	d := &decoder{dim: dim, linear: gaussian(latent, dim, 1/math.Sqrt(latent)), into: gaussian(latent, warp, 2.4/math.Sqrt(latent)),
		from: gaussian(warp, dim, 0.5/math.Sqrt(warp)), mean: gaussian(1, dim, 0.45).values}
	for i := range d.mean {
		if r.IntN(100) == 0 {
			d.mean[i] *= 6
		}
	}
	return d
}

func (d *decoder) decode(meaning, bend []float32, noise *rand.Rand, out []float32) {
	copy(out, d.mean)
	clear(bend)
	for i, x := range meaning {
		addScaled(out, d.linear.row(i), x)
		addScaled(bend, d.into.row(i), x)
	}
	for i, x := range bend {
		addScaled(out, d.from.row(i), float32(math.Tanh(float64(x))))
	}
	for i := range out {
		out[i] += float32(noise.NormFloat64() * 0.08)
	}
}

func addScaled(to, v []float32, by float32) {
	for i, x := range v[:len(to)] {
		to[i] += by * x
	}
}
