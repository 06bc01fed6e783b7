package vector

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Distances of a strip are those of its slots, wherever one begins, and a longer strip leaves the shorter as it is.
func TestStrip(t *testing.T) {
	const n = 600
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []Config{{Metric: Cosine, Dim: 7}, {Metric: Dot, Dim: 100}, {Metric: Cosine, Dim: 500}} {
		p := newPoints(c, true)
		row := make([]float32, c.Dim)
		for slot := range uint32(n) {
			for i := range row {
				row[i] = float32(r.NormFloat64())
			}
			p.append(slot, "", uint64(slot), 1, row)
		}
		p.publish(n)
		if !p.Strips() {
			t.Fatalf("%v has no strips", c)
		}
		slots := make([]uint32, n)
		for i := range slots {
			slots[i] = uint32(i)
		}
		r.Shuffle(n, func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
		short := p.Strip(Strip{}, slots[:300]...)
		long := p.Strip(short, slots[300:]...)
		probe := p.NewProbe()
		probe.SetSlot(9)
		for _, at := range []int{0, 1, 44, n - MaxGather} {
			want, got := make([]float32, MaxGather), make([]float32, MaxGather)
			probe.Distances(slots[at:at+MaxGather], want)
			probe.StripDistances(long, at, got)
			if !slices.Equal(got, want) {
				t.Errorf("%v: from %d: %v, want %v", c, at, got, want)
			}
			if at+MaxGather <= short.Len() {
				if probe.StripDistances(short, at, got); !slices.Equal(got, want) {
					t.Errorf("%v: the short strip from %d: %v, want %v", c, at, got, want)
				}
			}
		}
		if short.Len() != 300 || long.Len() != n || long.Bytes() < int64(n*(c.Dim+4)) {
			t.Errorf("%v: %d and %d slots, %d bytes", c, short.Len(), long.Len(), long.Bytes())
		}
	}
	for _, c := range []Config{{Metric: L2, Dim: 8}, {Dim: 8, Quantization: Float32}, {Dim: 513}} {
		if newPoints(c, true).Strips() {
			t.Errorf("%v has strips", c)
		}
	}
}
