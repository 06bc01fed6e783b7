package vector

import (
	"math"

	"github.com/glimdb/db/internal/simd"
)

// Probe is a vector prepared for comparison with points: padded, quantised, its norm known. It belongs to
// one goroutine; Set and SetSlot reuse it.
type Probe struct {
	p       *Points
	t       *table
	vec     []float32 // padded to FloatPad
	slot    uint32    // whose row vec is to hold; NoSlot when it holds what it should
	exact   bool      // vec is compared with rows as long as they are in memory
	packed            // of the vector: in own, or shared with the slot that was set
	padded  []int8    // its codes, with zeros to a whole row
	own     packed
	f       facts
	sums    [MaxGather]int32
	factors [MaxGather]float32 // scales of what is compared
}

// MaxGather is the number of slots that one call of Distances takes.
const MaxGather = 256

// NewProbe returns a probe for p, holding the zero vector.
func (p *Points) NewProbe() *Probe {
	pr := &Probe{p: p, t: p.table.Load(), vec: make([]float32, roundUp(p.config.Dim, simd.FloatPad)), slot: NoSlot}
	pr.own = p.packedRows(1)
	pr.take(pr.own, 0)
	return pr
}

// Set makes v, prepared as the metric asks, the probe's vector. It also notices points added since.
func (pr *Probe) Set(v []float32) {
	p := pr.p
	pr.t, pr.slot = p.table.Load(), NoSlot
	pr.exact = p.config.Quantization == Float32 || p.config.Metric == L2
	copy(pr.vec, v)
	pr.take(pr.own, 0)
	pr.f = p.pack(pr.Vector(), pr.packed)
}

// SetSlot makes the vector of slot the probe's. What is set so is compared to build an index, which deserves
// better than bits.
func (pr *Probe) SetSlot(slot uint32) {
	p := pr.p
	pr.t, pr.slot = p.table.Load(), slot
	pr.exact = p.config.Quantization != Int8 || p.config.Metric == L2
	s, i := pr.t.segs[slot>>simd.SegmentShift], int(slot&(simd.SegmentRows-1))
	pr.take(s.packed, i)
	if p.config.Metric != Cosine { // which needs none: they would be waited for in vain
		pr.f = s.facts[i]
	}
	if pr.exact {
		pr.Vector()
	}
}

// take makes what is packed of row i of k the probe's; it is shared.
func (pr *Probe) take(k packed, i int) {
	stride := pr.p.codeStride
	pr.padded, pr.packed = k.codes[i*stride:(i+1)*stride], pr.p.packedAt(k, i)
}

// Vector returns the probe's vector; after SetSlot, where rows are not in memory, what is packed tells of it.
// It is shared: read only, until the next Set.
func (pr *Probe) Vector() []float32 {
	vec := pr.vec[:pr.p.config.Dim]
	if pr.slot != NoSlot {
		if row := pr.p.Vector(pr.slot); row != nil {
			copy(vec, row)
		} else {
			s, i := pr.p.seg(pr.slot), int(pr.slot&(simd.SegmentRows-1))
			pr.p.unpack(vec, pr.p.packedAt(s.packed, i), s.facts[i])
		}
		pr.slot = NoSlot
	}
	return vec
}

// Limit is the number of slots that the probe can reach; slots added after Set may lie beyond.
func (pr *Probe) Limit() uint32 { return uint32(len(pr.t.segs)) << simd.SegmentShift }

// Distances sets out[i] to the approximate distance of slots[i], at most MaxGather of them and all below
// Limit. Smaller is nearer: 1 − cosine, −dot, or the squared Euclidean distance.
//
// They come from what is packed, but from the rows, if these are in memory, when the quantisation is Float32,
// when the metric is L2, because differences of near vectors drown in the error of codes, and after SetSlot
// when what is packed are bits.
func (pr *Probe) Distances(slots []uint32, out []float32) {
	if pr.exact {
		if r := pr.p.rows.Load(); r != nil {
			pr.fromRows(r, slots, out)
			return
		}
	}
	switch {
	case pr.p.wordStride > 0:
		pr.fromBits(slots, out)
	case pr.p.config.Metric == L2:
		pr.fromSquares(slots, out)
	default:
		pr.fromCodes(slots, out)
	}
}

// base is what a distance is when the product is 0.
func (pr *Probe) base() float32 {
	if pr.p.config.Metric == Cosine {
		return 1
	}
	return 0
}

func (pr *Probe) fromRows(r *rows, slots []uint32, out []float32) {
	if pr.p.config.Metric == L2 {
		simd.L2Gather(pr.vec, r.first, pr.p.stride, slots, out)
		return
	}
	simd.DotGather(pr.vec, r.first, pr.p.stride, slots, out)
	base := pr.base()
	for i, dot := range out[:len(slots)] {
		out[i] = base - dot
	}
}

func (pr *Probe) fromCodes(slots []uint32, out []float32) {
	sums, factors := pr.sums[:len(slots)], pr.factorsOf(slots)
	simd.DotI8Gather(pr.padded, pr.t.codes, pr.p.codeStride, slots, sums)
	base, scale := pr.base(), pr.scales[0]
	for i, sum := range sums {
		out[i] = base - float32(sum)*(scale*factors[i])
	}
}

// fromSquares compares the decoded vectors with each other: what is between them is as small as what is
// between the vectors, and so is its error, but for what rounding adds to every distance alike.
func (pr *Probe) fromSquares(slots []uint32, out []float32) {
	sums, factors := pr.sums[:len(slots)], pr.factorsOf(slots)
	simd.DotI8Gather(pr.padded, pr.t.codes, pr.p.codeStride, slots, sums)
	for i, slot := range slots {
		f := pr.factsOf(slot)
		product := float64(sums[i]) * float64(pr.scales[0]) * float64(factors[i])
		out[i] = float32(float64(pr.f.square) + float64(f.square) - 2*product)
	}
}

func (pr *Probe) fromBits(slots []uint32, out []float32) {
	sums := pr.sums[:len(slots)]
	simd.HammingGather(pr.bits, pr.t.bits, pr.p.wordStride, slots, sums)
	if pr.p.config.Metric == Cosine {
		for i, n := range sums {
			out[i] = 1 - pr.p.cosines[n]
		}
		return
	}
	for i, slot := range slots {
		out[i] = -pr.p.cosines[sums[i]] * pr.f.norm * pr.factsOf(slot).norm
	}
}

// factorsOf returns the scales of the codes of slots, to be called before the codes are compared, so that the
// processor waits for both at a time. They are valid until the next call.
func (pr *Probe) factorsOf(slots []uint32) []float32 {
	factors := pr.factors[:len(slots)]
	for i, slot := range slots {
		factors[i] = pr.t.scales[slot>>simd.SegmentShift][slot&(simd.SegmentRows-1)]
	}
	return factors
}

// factsOf returns the facts of slot, which is below Limit.
func (pr *Probe) factsOf(slot uint32) *facts {
	return &pr.t.segs[slot>>simd.SegmentShift].facts[slot&(simd.SegmentRows-1)]
}

// score compares the float32 values. One kernel serves every caller, so that equal vectors have equal
// scores wherever they are stored.
func (pr *Probe) score(v []float32) float32 {
	if pr.p.config.Metric == L2 {
		return -float32(math.Sqrt(float64(simd.L2(pr.Vector(), v))))
	}
	return simd.Dot(pr.Vector(), v)
}
