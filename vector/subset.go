package vector

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/glimdb/db/internal/simd"
)

// subset is the exact search of some slots: it reads their codes and nothing else.
type subset struct {
	p     *Points
	slots *roaring.Bitmap
	end   uint32 // slots from here on are not looked at
}

// sift lets the slots through v.
func (s subset) sift(v *sieve, admit func(slot uint32) bool) {
	var batch [MaxGather]uint32
	all := s.slots.ManyIterator()
	for {
		n := all.NextMany(batch[:])
		ids := batch[:n]
		for n > 0 && ids[n-1] >= s.end {
			n--
		}
		s.gather(v, ids[:n], admit)
		if n < len(batch) {
			return
		}
	}
}

func (s subset) gather(v *sieve, ids []uint32, admit func(slot uint32) bool) {
	var b block
	pr, floats := v.probe, s.p.rows.Load()
	switch b.from = s.p.compared(floats); {
	case b.from == fromCodes:
		b.factors = pr.factorsOf(ids)
		simd.DotI8Gather(pr.padded, pr.t.codes, s.p.codeStride, ids, b.sums[:len(ids)])
	case b.from == fromBits:
		simd.HammingGather(pr.bits, pr.t.bits, s.p.wordStride, ids, b.sums[:len(ids)])
	case s.p.config.Metric == L2:
		simd.L2Gather(pr.vec, floats.first, s.p.stride, ids, b.floats[:len(ids)])
	default:
		simd.DotGather(pr.vec, floats.first, s.p.stride, ids, b.floats[:len(ids)])
	}
	for i, slot := range ids {
		mid, err := v.b.score(&b, i, &pr.t.segs[slot>>simd.SegmentShift].facts[slot&(simd.SegmentRows-1)])
		v.offer(slot, mid, err, admit)
	}
}
