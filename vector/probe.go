package vector

import (
	"math"

	"github.com/glimdb/db/internal/simd"
)

// Probe is a vector prepared for comparison with points: padded, quantised, its norm known. It belongs to
// one goroutine; Set and SetSlot reuse it.
type Probe struct {
	p      *Points
	t      *table
	vec    []float32 // padded to FloatPad
	slot   uint32    // whose row vec is to hold; NoSlot when it holds what it should
	codes  []int8    // empty without codes
	wide   []int16   // codes, widened for the kernels
	f      facts
	sums   [MaxGather]int32
	scales [MaxGather]float32
}

// MaxGather is the number of slots that one call of Distances takes.
const MaxGather = 256

// NewProbe returns a probe for p, holding the zero vector.
func (p *Points) NewProbe() *Probe {
	pr := &Probe{p: p, t: p.table.Load(), vec: make([]float32, roundUp(p.config.Dim, simd.FloatPad)), slot: NoSlot}
	if p.codeStride > 0 {
		pr.codes = make([]int8, p.config.Dim)
		pr.wide = make([]int16, roundUp(p.config.Dim, simd.CodePad))
	}
	return pr
}

// Set makes v, prepared as the metric asks, the probe's vector. It also notices points added since.
func (pr *Probe) Set(v []float32) {
	pr.t, pr.slot = pr.p.table.Load(), NoSlot
	copy(pr.vec, v)
	pr.f = pr.p.encode(pr.Vector(), pr.codes)
	simd.Widen(pr.codes, pr.wide[:len(pr.codes)])
}

// SetSlot makes the vector of slot the probe's.
func (pr *Probe) SetSlot(slot uint32) {
	pr.t, pr.slot = pr.p.table.Load(), slot
	s, i := pr.t.segs[slot>>simd.SegmentShift], int(slot&(simd.SegmentRows-1))
	pr.f = s.facts[i]
	simd.Widen(pr.p.codesOf(s.codes, i), pr.wide[:len(pr.codes)])
	if pr.p.byRows() {
		pr.Vector()
	}
}

// Vector returns the probe's vector. It is shared: read only, until the next Set.
func (pr *Probe) Vector() []float32 {
	vec := pr.vec[:pr.p.config.Dim]
	if pr.slot != NoSlot {
		copy(vec, pr.p.Vector(pr.slot))
		pr.slot = NoSlot
	}
	return vec
}

// Limit is the number of slots that the probe can reach; slots added after Set may lie beyond.
func (pr *Probe) Limit() uint32 { return uint32(len(pr.t.segs)) << simd.SegmentShift }

// Distances sets out[i] to the approximate distance of slots[i], at most MaxGather of them and all below
// Limit. Smaller is nearer: 1 − cosine, −dot, or the squared Euclidean distance. They come from the rows when
// the quantisation is Float32 or the metric L2, because differences of near vectors drown in the error of
// codes; else from the int8 codes.
func (pr *Probe) Distances(slots []uint32, out []float32) {
	base := float32(0)
	if pr.p.config.Metric == Cosine {
		base = 1
	}
	if pr.p.byRows() {
		r := pr.p.rows.Load()
		if pr.p.config.Metric == L2 {
			simd.L2Gather(pr.vec, r.first, pr.p.stride, slots, out)
			return
		}
		simd.DotGather(pr.vec, r.first, pr.p.stride, slots, out)
		for i, dot := range out[:len(slots)] {
			out[i] = base - dot
		}
		return
	}
	sums, scales := pr.sums[:len(slots)], pr.scales[:len(slots)]
	for i, slot := range slots { // before the rows, so that the processor waits for both at a time
		scales[i] = pr.t.segs[slot>>simd.SegmentShift].facts[slot&(simd.SegmentRows-1)].scale
	}
	simd.DotI8Gather(pr.wide, pr.t.codes, pr.p.codeStride, slots, sums)
	for i, sum := range sums {
		out[i] = base - float32(sum)*(pr.f.scale*scales[i])
	}
}

// byRows reports whether distances come from the float32 rows.
func (p *Points) byRows() bool { return p.config.Quantization == Float32 || p.config.Metric == L2 }

// score compares the float32 values. One kernel serves every caller, so that equal vectors have equal
// scores wherever they are stored.
func (pr *Probe) score(v []float32) float32 {
	if pr.p.config.Metric == L2 {
		return -float32(math.Sqrt(float64(simd.L2(pr.Vector(), v))))
	}
	return simd.Dot(pr.Vector(), v)
}
