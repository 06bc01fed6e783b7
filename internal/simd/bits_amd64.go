//go:build amd64 && !purego

package simd

func hammingRows(q, rows []uint64, stride int, out []int32) {
	if !useAVX2 || !whole(len(q), WordPad) {
		hammingRowsGo(q, rows, stride, out)
		return
	}
	for len(out) >= group {
		n := min(len(out), block) &^ (group - 1)
		hammingRowsAVX2(&q[0], &rows[0], 8*stride, n, &out[0], 8*len(q))
		rows, out = rows[min(n*stride, len(rows)):], out[n:]
	}
	hammingRowsGo(q, rows, stride, out)
}

func hammingGather(q []uint64, segs []*uint64, stride int, ids []uint32, out []int32) {
	if !useAVX2 || !whole(len(q), WordPad) {
		hammingGatherGo(q, segs, stride, ids, out)
		return
	}
	for len(ids) >= group {
		n := min(len(ids), block) &^ (group - 1)
		hammingGatherAVX2(&q[0], &segs[0], 8*stride, &ids[0], &ids[len(ids)-group], n, &out[0], 8*len(q))
		ids, out = ids[n:], out[n:]
	}
	if len(ids) == 1 {
		hammingGatherGo(q, segs, stride, ids, out)
	} else if len(ids) > 1 {
		few, res := fill(ids), [group]int32{}
		hammingGatherAVX2(&q[0], &segs[0], 8*stride, &few[0], &few[0], group, &res[0], 8*len(q))
		copy(out, res[:])
	}
}

// signs leaves the last word, if v does not fill it, to the twin: whole bytes go to memory in their order,
// which is that of the bits on this machine.
func signs(v []float32, bits []uint64) {
	n := len(v) &^ (wordBits - 1)
	if !useAVX2 || n == 0 {
		signsGo(v, bits)
		return
	}
	signsAVX2(&v[0], &bits[0], n)
	signsGo(v[n:], bits[n/wordBits:])
}

// bytes is the length of a row, a positive multiple of 8·WordPad.

//go:noescape
func hammingRowsAVX2(q, rows *uint64, stride, n int, out *int32, bytes int)

//go:noescape
func hammingGatherAVX2(q *uint64, segs **uint64, stride int, ids, last *uint32, n int, out *int32, bytes int)

//go:noescape
func signsAVX2(v *float32, bits *uint64, n int)
