//go:build !amd64 || purego

package simd

func hammingRows(q, rows []uint64, stride int, out []int32) { hammingRowsGo(q, rows, stride, out) }

func hammingGather(q []uint64, segs []*uint64, stride int, ids []uint32, out []int32) {
	hammingGatherGo(q, segs, stride, ids, out)
}

func signs(v []float32, bits []uint64) { signsGo(v, bits) }
