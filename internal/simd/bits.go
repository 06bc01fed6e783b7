package simd

const (
	wordBits = 64
	// WordPad is the multiple of len(q) for which rows of bits are compared in assembly: one AVX register.
	WordPad = 4
)

// Words is the number of words that n bits take.
func Words(n int) int { return (n + wordBits - 1) / wordBits }

// HammingRows sets out[i] to the number of bits in which q and row i of rows differ; that row begins at word
// i·stride. It is DotRows over bits, exact.
func HammingRows(q, rows []uint64, stride int, out []int32) {
	checkRows(len(q), len(rows), stride, len(out))
	hammingRows(q, rows, stride, out)
}

// HammingGather sets out[i] to the number of bits in which q and row ids[i] of the segments differ. It is
// DotGather over bits, exact.
func HammingGather(q []uint64, segs []*uint64, stride int, ids []uint32, out []int32) {
	checkGather(len(q), segs, stride, ids, len(out))
	if len(ids) > 0 {
		hammingGather(q, segs, stride, ids, out)
	}
}

// Signs sets bit i%64 of words[i/64] to the sign bit of v[i], and the bits behind the last to 0. words holds
// Words(len(v)) words.
func Signs(v []float32, words []uint64) {
	checkSame(Words(len(v)), len(words))
	signs(v, words)
}
