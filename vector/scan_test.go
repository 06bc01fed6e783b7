package vector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/glimdb/db/kv"
)

// comparisons are the configurations of every metric and quantisation that go together.
func comparisons(dim int) (all []Config) {
	for _, m := range []Metric{Cosine, Dot, L2} {
		for _, q := range []Quantization{Int8, Float32, Binary} {
			if m == L2 && q == Binary {
				continue
			}
			all = append(all, Config{Metric: m, Dim: dim, Quantization: q})
		}
	}
	return all
}

// The candidates of a scan always contain the true nearest, where the codes tell little: vectors that
// differ by less than a code step, norms of many sizes, and crowds far from the origin.
func TestScanIsExact(t *testing.T) {
	shapes := map[string]func(r *rand.Rand, v []float32){
		"plain": func(r *rand.Rand, v []float32) {},
		"crowd": func(r *rand.Rand, v []float32) {
			for i := range v {
				v[i] = 1 + v[i]*1e-3
			}
		},
		"spike": func(r *rand.Rand, v []float32) { v[0] = 300 },
		"norms": func(r *rand.Rand, v []float32) {
			f := float32(1)
			for range r.IntN(8) {
				f *= 10
			}
			for i := range v {
				v[i] *= f
			}
		},
		"offset": func(r *rand.Rand, v []float32) {
			for i := range v {
				v[i] += 100
			}
		},
	}
	for name, shape := range shapes {
		for _, c := range comparisons(40) {
			t.Run(fmt.Sprintf("%s/%v/%v", name, c.Metric, c.Quantization), func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, 3))
				const n, dim, k = 600, 40, 10
				p := newPoints(c, true)
				vec := make([]float32, dim)
				for slot := range uint32(n) {
					v := random(r, dim)
					shape(r, v)
					prepare(c, vec, v)
					p.append(slot, fmt.Sprint(slot), uint64(slot), 1, vec)
				}
				p.publish(n)
				probe := p.NewProbe()
				for range 30 {
					q := random(r, dim)
					shape(r, q)
					prepare(c, vec, q)
					probe.Set(vec)
					admit := func(slot uint32) bool { return slot%7 != 3 && p.VisibleAt(slot, kv.LSN(1)) }
					got := scan{p, 0, n}.Search(Query{Probe: probe, K: k, Admit: admit}, nil)
					var all []uint32
					for slot := range uint32(n) {
						if admit(slot) {
							all = append(all, slot)
						}
					}
					slices.SortFunc(all, func(a, b uint32) int {
						if probe.score(p.Vector(a)) > probe.score(p.Vector(b)) {
							return -1
						}
						return 1
					})
					for _, want := range all[:k] {
						if !slices.Contains(got, want) {
							t.Fatalf("slot %d with score %v is missing among %d candidates", want, probe.score(p.Vector(want)), len(got))
						}
					}
				}
			})
		}
	}
}
