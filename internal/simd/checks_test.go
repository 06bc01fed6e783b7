package simd

import (
	"math"
	"strings"
	"testing"
)

// Whatever would make a kernel read or write elsewhere panics in the wrapper, with a reason.
func TestLengthsAreChecked(t *testing.T) {
	seg, codes := make([]float32, SegmentRows*8), make([]int8, SegmentRows*16)
	segs, holes, codeSegs := []*float32{&seg[0]}, []*float32{&seg[0], nil}, []*int8{&codes[0]}
	q, coded := make([]float32, 8), make([]int8, 16)
	out, sums := make([]float32, 5), make([]int32, 5)
	long := make([]int8, MaxCodes+16)
	bits, signed := make([]uint64, SegmentRows*4), make([]uint64, 1)
	bitSegs := []*uint64{&bits[0]}
	const (
		lengths  = "slices of different lengths"
		stride   = "stride below the length of a row"
		rows     = "fewer rows than results"
		results  = "ids and results of different lengths"
		segments = "id beyond the segments"
		many     = "more than MaxCodes codes"
	)
	for name, c := range map[string]struct {
		reason string
		call   func()
	}{
		"dot":                   {lengths, func() { Dot(q, q[:7]) }},
		"l2":                    {lengths, func() { L2(q[:7], q) }},
		"codes":                 {lengths, func() { DotI8(codes[:3], codes[:4]) }},
		"quantize":              {lengths, func() { Quantize(q, codes[:7], 1) }},
		"stride of dot":         {stride, func() { DotRows(q, seg, 7, out) }},
		"stride of l2":          {stride, func() { L2Rows(q, seg, -8, out) }},
		"stride of codes":       {stride, func() { DotI8Rows(coded, codes, 15, sums) }},
		"stride of dot gather":  {stride, func() { DotGather(q, segs, 7, []uint32{0}, out[:1]) }},
		"stride of l2 gather":   {stride, func() { L2Gather(q, segs, 0, []uint32{0}, out[:1]) }},
		"stride of code gather": {stride, func() { DotI8Gather(coded, codeSegs, -1, []uint32{0}, sums[:1]) }},
		"no rows":               {rows, func() { DotRows(q, nil, 8, out[:1]) }},
		"short row":             {rows, func() { L2Rows(q, seg[:7], 8, out[:1]) }},
		"short last row":        {rows, func() { DotRows(q, seg[:4*9+7], 9, out) }},
		"short last codes":      {rows, func() { DotI8Rows(coded, codes[:4*16+15], 16, sums) }},
		"far rows":              {rows, func() { DotRows(q, seg, math.MaxInt, out) }},
		"product of 2⁶⁴":        {rows, func() { DotRows(q, seg, 1<<(bitsOfInt-2), out) }},
		"product of 2⁶⁴, codes": {rows, func() { DotI8Rows(coded, codes, 1<<(bitsOfInt-2), sums) }},
		"results of dot":        {results, func() { DotGather(q, segs, 8, []uint32{0, 1}, out) }},
		"results of l2":         {results, func() { L2Gather(q, segs, 8, []uint32{0, 1}, out[:1]) }},
		"results of codes":      {results, func() { DotI8Gather(coded, codeSegs, 16, nil, sums) }},
		"id of dot":             {segments, func() { DotGather(q, segs, 8, []uint32{0, 0, 0, 0, SegmentRows}, out) }},
		"id of l2":              {segments, func() { L2Gather(q, nil, 8, []uint32{0}, out[:1]) }},
		"id of codes":           {segments, func() { DotI8Gather(coded, codeSegs, 16, []uint32{math.MaxUint32}, sums[:1]) }},
		"hole":                  {segments, func() { DotGather(q, holes, 8, []uint32{SegmentRows}, out[:1]) }},
		"signs":                 {lengths, func() { Signs(make([]float32, 65), signed) }},
		"stride of bits":        {stride, func() { HammingRows(bits[:4], bits, 3, sums) }},
		"short last bits":       {rows, func() { HammingRows(bits[:4], bits[:4*5+3], 5, sums) }},
		"stride of bit gather":  {stride, func() { HammingGather(bits[:4], bitSegs, 3, []uint32{0}, sums[:1]) }},
		"results of bits":       {results, func() { HammingGather(bits[:4], bitSegs, 4, []uint32{0}, sums) }},
		"id of bits":            {segments, func() { HammingGather(bits[:4], bitSegs, 4, []uint32{1, SegmentRows}, sums[:2]) }},
		"many":                  {many, func() { DotI8(long, long) }},
		"many in rows":          {many, func() { DotI8Rows(long, long, len(long), sums[:1]) }},
		"many gathered":         {many, func() { DotI8Gather(long, codeSegs, len(long), []uint32{0}, sums[:1]) }},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if reason, _ := recover().(string); !strings.HasSuffix(reason, c.reason) {
					t.Errorf("panicked with %q, want %q", reason, c.reason)
				}
			}()
			c.call()
		})
	}
}

const bitsOfInt = 32 << (^uint(0) >> 63)

// The last row needs no stride behind it, and no results need no rows.
func TestLengthsThatAreEnough(t *testing.T) {
	both(t, func(t *testing.T) {
		q, out := []float32{1, 1, 1, 1, 1, 1, 1, 1}, make([]float32, 5)
		rows := make([]float32, 4*9+8)
		rows[len(rows)-1] = 3
		DotRows(q, rows, 9, out)
		if out[4] != 3 {
			t.Errorf("last row: %v", out[4])
		}
		L2Rows(q, rows, 9, out)
		if out[4] != 7+4 {
			t.Errorf("distance of the last row: %v", out[4])
		}
		DotRows(q, nil, 8, nil)
		DotGather(q, nil, 8, nil, nil)
		DotI8Gather(nil, nil, 0, nil, nil)
		HammingGather(nil, nil, 0, nil, nil)
		Signs(nil, nil)
		PrefetchRow(nil)
		out[0] = 1
		if DotRows(nil, nil, 0, out[:1]); out[0] != 0 {
			t.Errorf("product of nothing: %v", out[0])
		}
	})
}

func TestNothingAllocates(t *testing.T) {
	both(t, func(t *testing.T) {
		const dim = 32
		seg, codes := make([]float32, SegmentRows*dim), make([]int8, SegmentRows*dim)
		segs, codeSegs := []*float32{&seg[0]}, []*int8{&codes[0]}
		q, coded := seg[:dim], make([]int8, dim)
		bits := make([]uint64, SegmentRows*4)
		bitSegs := []*uint64{&bits[0]}
		ids, out, sums := []uint32{1, 2, 3, 4, 5, 6, 7}, make([]float32, 7), make([]int32, 7)
		if n := testing.AllocsPerRun(10, func() {
			DotGather(q, segs, dim, ids, out)
			L2Gather(q, segs, dim, ids, out)
			DotI8Gather(coded, codeSegs, dim, ids, sums)
			DotRows(q, seg, dim, out)
			L2Rows(q, seg, dim, out)
			DotI8Rows(coded, codes, dim, sums)
			HammingGather(bits[:4], bitSegs, 4, ids, sums)
			HammingRows(bits[:4], bits, 4, sums)
			Signs(q, bits[:1])
			Quantize(q, codes[:dim], 1/max(1, AbsMax(q)+Dot(q, q)+L2(q, q)))
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
