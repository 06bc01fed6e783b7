package vector

import (
	"github.com/glimdb/db/internal/simd"
)

// scan is the exact Searcher: it reads the codes of every slot in [lo, hi) and returns all slots that can
// be among the K nearest, whatever the codes' rounding hid. Its candidates are not cut to K.
type scan struct {
	p      *Points
	lo, hi uint32
}

// Search implements Searcher. What it returns provably contains the K admitted slots with the highest
// scores: with q = q̂+e and x = x̂+f, q̂ and x̂ the decoded vectors,
//
//	|q·x − q̂·x̂| ≤ ‖q‖‖f‖ + ‖e‖‖x̂‖,
//
// so a slot whose score plus its bound stays below the K-th best score minus bound cannot be wanted.
func (s scan) Search(q Query, out []uint32) []uint32 {
	b := newBounds(q.Probe)
	low := make(floor, 0, min(q.K, int(s.hi-s.lo)))
	type maybe struct {
		slot uint32
		high float32
	}
	var cands []maybe
	var sums [simd.SegmentRows]int32
	pr := q.Probe
	for at := s.lo; at < s.hi; {
		seg := pr.t.segs[at>>simd.SegmentShift]
		first := int(at & (simd.SegmentRows - 1))
		n := min(simd.SegmentRows-first, int(s.hi-at))
		simd.DotI8Rows(pr.wide, seg.codes[first*s.p.codeStride:], s.p.codeStride, sums[:n])
		for i := range n {
			mid, err := b.score(sums[i], &seg.facts[first+i])
			if mid+err < low.least(q.K) || !q.Admit(at+uint32(i)) {
				continue
			}
			low = low.add(mid-err, q.K)
			cands = append(cands, maybe{at + uint32(i), mid + err})
		}
		at += uint32(n)
	}
	least := low.least(q.K)
	for _, c := range cands {
		if c.high >= least {
			out = append(out, c.slot)
		}
	}
	return out
}

// bounds turn a product of codes into a value that orders like the score, and the largest error of it.
type bounds struct {
	l2           bool
	scale, resid float32
	norm, slack  float32
}

func newBounds(pr *Probe) bounds {
	dim := float32(pr.p.config.Dim)
	// The float32 kernels add n values in at least eight running sums.
	const half = 1.0 / (1 << 24)
	return bounds{l2: pr.p.config.Metric == L2, scale: pr.f.scale, resid: pr.f.resid, norm: pr.f.norm * roundingUp, slack: (dim/8 + 16) * half}
}

// score returns q·x for cosine and dot and 2q·x − ‖x‖² for L2, and its error bound.
func (b *bounds) score(sum int32, f *facts) (mid, err float32) {
	mid = float32(sum) * (b.scale * f.scale)
	err = b.norm*f.resid + b.resid*(f.norm+f.resid) + b.slack*b.norm*f.norm
	if !b.l2 {
		return mid, err
	}
	reach := b.norm + f.norm
	return 2*mid - f.norm*f.norm, 2*err + b.slack*reach*reach
}
