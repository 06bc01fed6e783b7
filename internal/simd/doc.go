// Package simd holds the arithmetic of vector search: dot product, squared Euclidean distance, int8 dot
// product and Hamming distance, for one row, for contiguous rows and for rows gathered by id, and what makes
// codes and bits of rows.
//
// It knows no metric, collection or key, and allocates nothing. It owns no on-disk keys.
//
// On amd64 the kernels are AVX2 and FMA assembly, chosen at run time when the processor has both; every
// other machine, and every build with the tag purego, runs the Go twins in kernels_go.go and bits_go.go,
// which are always compiled and are the reference in tests. Bits are counted by table look-ups of nibbles:
// five nanoseconds for 768 bits, where the POPCNT instruction word by word takes seventeen.
//
// Gathered rows live in segments of SegmentRows rows, so that storage grows without copying: row i is
// row i%SegmentRows of segs[i/SegmentRows]. The gather kernels take all rows of a list in one call and
// prefetch the next rows while they compute. Assembly cannot be interrupted by the scheduler, so that long
// lists are handed to it in blocks.
//
// Speed needs padding: float kernels over rows run in assembly when len(q) is a multiple of FloatPad,
// int8 kernels when it is a multiple of CodePad, kernels over bits when it is one of WordPad. Any other length
// is correct, in Go.
//
// All functions are pure and safe for concurrent use.
//
// Invariants:
//   - M1: the result differs from the exact sum of its n terms tᵢ, aᵢbᵢ or (aᵢ−bᵢ)², by at most
//     (n+2)·2⁻²⁴·Σ|tᵢ| + n·2⁻¹⁴⁹ while nothing overflows; NaN and infinity come through; int8 and Hamming
//     results are exact. The last bits may differ between kernels and machines: no stored value may depend on them.
//   - M2: the exported wrappers check every length that memory safety needs; they panic, as slicing does,
//     when a caller breaks them. Only the size of a gather segment cannot be checked.
//   - M3: no kernel reads outside the rows and ids it is given.
package simd
