package vector

import (
	"math"

	"github.com/glimdb/db/internal/simd"
)

// scan is the exact Searcher: it reads the codes of every slot in [lo, hi) and returns all slots that can
// be among the K nearest, whatever the codes' rounding hid. Its candidates are not cut to K.
type scan struct {
	p      *Points
	lo, hi uint32
}

// Search implements Searcher. What it returns provably contains the K admitted slots with the highest
// scores, as a sieve does.
func (s scan) Search(q Query, out []uint32) []uint32 {
	v := newSieve(q.Probe, q.K)
	s.sift(v, q.Admit)
	return v.slots(out)
}

// sift lets the slots through v.
func (s scan) sift(v *sieve, admit func(slot uint32) bool) {
	var b block
	pr := v.probe
	floats := s.p.rows.Load()
	for at := s.lo; at < s.hi; {
		seg := pr.t.segs[at>>simd.SegmentShift]
		first := int(at & (simd.SegmentRows - 1))
		n := min(simd.SegmentRows-first, int(s.hi-at))
		switch b.from = s.p.compared(floats); {
		case b.from == fromCodes:
			b.factors = seg.scales[first:]
			simd.DotI8Rows(pr.padded, seg.codes[first*s.p.codeStride:], s.p.codeStride, b.sums[:n])
		case b.from == fromBits:
			simd.HammingRows(pr.bits, seg.bits[first*s.p.wordStride:], s.p.wordStride, b.sums[:n])
		case s.p.config.Metric == L2:
			simd.L2Rows(pr.vec, floats.segs[at>>simd.SegmentShift][first*s.p.stride:], s.p.stride, b.floats[:n])
		default:
			simd.DotRows(pr.vec, floats.segs[at>>simd.SegmentShift][first*s.p.stride:], s.p.stride, b.floats[:n])
		}
		for i := range n {
			mid, err := v.b.score(&b, i, &seg.facts[first+i])
			v.offer(at+uint32(i), mid, err, admit)
		}
		at += uint32(n)
	}
}

// block holds what the kernels found out about some rows.
type block struct {
	from    source
	sums    [simd.SegmentRows]int32   // products of codes, or differing bits
	floats  [simd.SegmentRows]float32 // products or squared distances of rows
	factors []float32                 // scales of the codes
}

// source is what a kernel compared.
type source uint8

const (
	fromRows source = iota
	fromCodes
	fromBits
)

// compared returns what an exact search reads: the codes, or else the rows, where they are in memory, because
// bits bound nothing.
func (p *Points) compared(r *rows) source {
	switch {
	case p.codeStride > 0:
		return fromCodes
	case r != nil:
		return fromRows
	}
	return fromBits
}

// sieve keeps the slots that can be among the k with the highest scores and reach least, however the codes
// were rounded: with q = q̂+e and x = x̂+f, q̂ and x̂ the decoded vectors,
//
//	|q·x − q̂·x̂| ≤ ‖q‖‖f‖ + ‖e‖‖x̂‖,
//
// so a slot whose score plus its bound stays below the k-th best score minus bound cannot be wanted.
type sieve struct {
	probe *Probe
	b     bounds
	k     int
	low   floor   // of the lowest that the scores can be
	least float32 // what a slot's highest score must reach, whatever the others are
	kept  []kept
}

type kept struct {
	slot uint32
	high float32 // the highest that its score can be
}

func newSieve(pr *Probe, k int) *sieve {
	return &sieve{probe: pr, b: newBounds(pr), k: k, least: lowest}
}

// lowest is below every score.
const lowest = -math.MaxFloat32

// offer takes in a slot whose score is mid, give or take err. admit is asked only about slots that could be
// kept.
func (v *sieve) offer(slot uint32, mid, err float32, admit func(slot uint32) bool) {
	if mid+err < max(v.least, v.low.least(v.k)) || !admit(slot) {
		return
	}
	v.low = v.low.add(mid-err, v.k)
	v.kept = append(v.kept, kept{slot, mid + err})
}

// slots appends what can be wanted to out.
func (v *sieve) slots(out []uint32) []uint32 {
	least := v.low.least(v.k)
	for _, c := range v.kept {
		if c.high >= least {
			out = append(out, c.slot)
		}
	}
	return out
}

// bounds turn what a kernel found into a value that orders like the score, and the largest error of it.
type bounds struct {
	l2, exact    bool // exact: there are no codes
	guess        bool // takes what bits tell for the truth
	cosines      []float32
	scale, resid float32
	norm, slack  float32
	tiny         float32 // covers denormal terms
}

func newBounds(pr *Probe) bounds {
	dim := float32(pr.p.config.Dim)
	// The float32 kernels add n values in at least eight running sums.
	const half = 1.0 / (1 << 24)
	b := bounds{
		l2: pr.p.config.Metric == L2, exact: pr.p.codeStride == 0, cosines: pr.p.cosines, resid: pr.f.resid,
		norm: pr.f.norm * roundingUp, slack: (dim/8 + 16) * half, tiny: 2 * dim * math.SmallestNonzeroFloat32,
	}
	if !b.exact {
		b.scale = pr.scales[0]
	}
	return b
}

// score returns q·x for cosine and dot; for L2 2q·x − ‖x‖² from codes, −‖q−x‖² from rows; and its error bound.
// From bits anything is possible.
func (b *bounds) score(k *block, i int, f *facts) (mid, err float32) {
	switch k.from {
	case fromBits:
		mid = b.cosines[k.sums[i]] * b.norm * f.norm
		if b.guess {
			return mid, 0
		}
		return mid, float32(math.Inf(1))
	case fromRows:
		if b.l2 {
			return -k.floats[i], 2*b.slack*k.floats[i] + b.tiny
		}
		return k.floats[i], 2*b.slack*b.norm*f.norm + b.tiny
	}
	mid = float32(k.sums[i]) * (b.scale * k.factors[i])
	err = b.norm*f.resid + b.resid*(f.norm+f.resid) + b.slack*b.norm*f.norm
	if !b.l2 {
		return mid, err
	}
	reach := b.norm + f.norm
	return 2*mid - f.norm*f.norm, 2*err + b.slack*reach*reach
}
