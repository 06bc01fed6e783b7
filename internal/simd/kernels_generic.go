//go:build !amd64 || purego

package simd

func dot(a, b []float32) float32 { return dotGo(a, b) }
func l2(a, b []float32) float32  { return l2Go(a, b) }
func dotI8(a, b []int8) int32    { return dotI8Go(a, b) }
func absMax(v []float32) float32 { return absMaxGo(v) }

func dotRows(q, rows []float32, stride int, out []float32) { dotRowsGo(q, rows, stride, out) }
func l2Rows(q, rows []float32, stride int, out []float32)  { l2RowsGo(q, rows, stride, out) }
func dotI8Rows(q, rows []int8, stride int, out []int32)    { dotI8RowsGo(q, rows, stride, out) }

func dotGather(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	dotGatherGo(q, segs, stride, ids, out)
}

func l2Gather(q []float32, segs []*float32, stride int, ids []uint32, out []float32) {
	l2GatherGo(q, segs, stride, ids, out)
}

func dotI8Gather(q []int8, segs []*int8, stride int, ids []uint32, out []int32) {
	dotI8GatherGo(q, segs, stride, ids, out)
}

func quantize(v []float32, codes []int8, inv float32) float32 { return quantizeGo(v, codes, inv) }
