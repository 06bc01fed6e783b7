// Macros of the gather kernels. Registers while a group of four rows is computed:
//
//	SI  query                    AX BX CX DX    the rows
//	R8  offset within the rows   R13 R14 R15 DI rows of the next group, prefetched
//	R9  ids   R10 ids left   R11 results   R12 end of the offset
//
// All kernels have the arguments (q, segs, stride, ids, last, n, out, dim).

#include "go_asm.h"

// ROW sets dst to the address of the row whose id is at k(ids). R8 holds the segments.
#define ROW(k, ids, dst) \
	MOVL  k(ids), dst                   \
	MOVL  dst, SI                       \
	SHRL  $const_SegmentShift, dst      \
	ANDL  $(const_SegmentRows - 1), SI  \
	IMULQ stride+16(FP), SI             \
	MOVQ  (R8)(dst*8), dst              \
	ADDQ  SI, dst

// GROUP finds the four rows to compute and the four to prefetch: those of the next ids, or of the last
// four when fewer follow.
#define GROUP \
	MOVQ    segs+8(FP), R8      \
	ROW(0, R9, AX)              \
	ROW(4, R9, BX)              \
	ROW(8, R9, CX)              \
	ROW(12, R9, DX)             \
	LEAQ    16(R9), R12         \
	CMPQ    R12, last+32(FP)    \
	CMOVQHI last+32(FP), R12    \
	ROW(0, R12, R13)            \
	ROW(4, R12, R14)            \
	ROW(8, R12, R15)            \
	ROW(12, R12, DI)            \
	MOVQ    q+0(FP), SI         \
	XORL    R8, R8

#define PREFETCH \
	PREFETCHT0 (R13)(R8*1) \
	PREFETCHT0 (R14)(R8*1) \
	PREFETCHT0 (R15)(R8*1) \
	PREFETCHT0 (DI)(R8*1)
