package vector

import (
	"math"

	"github.com/glimdb/db/internal/simd"
)

// Probe is a vector prepared for comparison with points: padded, quantised, its norm known. It belongs to
// one goroutine; Set and SetSlot reuse it.
type Probe struct {
	p     *Points
	t     *table
	vec   []float32 // padded to the points' stride
	codes []int8
	wide  []int16 // codes, widened for the kernels
	f     facts
	wideN int
	sums  [MaxGather]int32
}

// MaxGather is the number of slots that one call of Distances takes.
const MaxGather = 256

// NewProbe returns a probe for p, holding the zero vector.
func (p *Points) NewProbe() *Probe {
	pr := &Probe{p: p, wideN: roundUp(p.config.Dim, simd.CodePad)}
	pr.vec = make([]float32, roundUp(p.config.Dim, simd.FloatPad))
	pr.codes = make([]int8, p.config.Dim)
	pr.wide = make([]int16, pr.wideN)
	pr.t = p.table.Load()
	return pr
}

// Set makes v, prepared as the metric asks, the probe's vector. It also notices points added since.
func (pr *Probe) Set(v []float32) {
	pr.t = pr.p.table.Load()
	copy(pr.vec, v)
	pr.f = encode(pr.vec[:len(pr.codes)], pr.codes)
	for i, c := range pr.codes {
		pr.wide[i] = int16(c)
	}
}

// SetSlot makes the vector of slot the probe's.
func (pr *Probe) SetSlot(slot uint32) {
	pr.t = pr.p.table.Load()
	s, i := pr.t.segs[slot>>simd.SegmentShift], int(slot&(simd.SegmentRows-1))
	copy(pr.vec, s.rows[i*pr.p.stride:(i+1)*pr.p.stride])
	pr.f = s.facts[i]
	for j, c := range s.codes[i*pr.p.codeStride : i*pr.p.codeStride+len(pr.codes)] {
		pr.wide[j] = int16(c)
	}
}

// Vector returns the probe's vector. It is shared: read only, until the next Set.
func (pr *Probe) Vector() []float32 { return pr.vec[:pr.p.config.Dim] }

// Limit is the number of slots that the probe can reach; slots added after Set may lie beyond.
func (pr *Probe) Limit() uint32 { return uint32(len(pr.t.segs)) << simd.SegmentShift }

// Distances sets out[i] to the approximate distance of slots[i], at most MaxGather of them and all below
// Limit. Smaller is nearer: 1 − cosine, −dot, or the squared Euclidean distance. Cosine and dot are taken
// from the int8 codes; L2 from the rows, because differences of near vectors drown in the codes' error.
func (pr *Probe) Distances(slots []uint32, out []float32) {
	if pr.p.config.Metric == L2 {
		simd.L2Gather(pr.vec, pr.t.rows, pr.p.stride, slots, out)
		return
	}
	sums := pr.sums[:len(slots)]
	simd.DotI8Gather(pr.wide, pr.t.codes, pr.p.codeStride, slots, sums)
	base := float32(0)
	if pr.p.config.Metric == Cosine {
		base = 1
	}
	for i, slot := range slots {
		f := &pr.t.segs[slot>>simd.SegmentShift].facts[slot&(simd.SegmentRows-1)]
		out[i] = base - float32(sums[i])*(pr.f.scale*f.scale)
	}
}

// score compares the float32 values. One kernel serves every caller, so that equal vectors have equal
// scores wherever they are stored.
func (pr *Probe) score(v []float32) float32 {
	if pr.p.config.Metric == L2 {
		return -float32(math.Sqrt(float64(simd.L2(pr.Vector(), v))))
	}
	return simd.Dot(pr.Vector(), v)
}
