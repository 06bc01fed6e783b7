//go:build amd64 && !purego

#include "textflag.h"
#include "gather_amd64.h"

// Bits are counted by nibble: VPSHUFB looks up the number of ones in each, VPSADBW adds the bytes of eight
// into one sum (Muła, Kurz and Lemire, 2018). Every row has an accumulator of four sums.

DATA ones<>+0(SB)/8, $0x0302020102010100
DATA ones<>+8(SB)/8, $0x0403030203020201
DATA ones<>+16(SB)/8, $0x0302020102010100
DATA ones<>+24(SB)/8, $0x0403030203020201
GLOBL ones<>(SB), RODATA|NOPTR, $32

DATA nibble<>+0(SB)/1, $0x0f
GLOBL nibble<>(SB), RODATA|NOPTR, $1

// TABLES sets Y15 to the numbers of ones, Y14 to the mask of a nibble, Y13 to zero.
#define TABLES \
	VMOVDQU      ones<>(SB), Y15   \
	VPBROADCASTB nibble<>(SB), Y14 \
	VPXOR        Y13, Y13, Y13

#define ZERO4B \
	VPXOR Y0, Y0, Y0 \
	VPXOR Y2, Y2, Y2 \
	VPXOR Y4, Y4, Y4 \
	VPXOR Y6, Y6, Y6

// DIFFER adds to acc how many bits of Y8 differ from the 32 bytes at row.
#define DIFFER(row, acc) \
	VPXOR   row, Y8, Y9    \
	VPAND   Y9, Y14, Y10   \
	VPSRLW  $4, Y9, Y9     \
	VPAND   Y9, Y14, Y9    \
	VPSHUFB Y10, Y15, Y10  \
	VPSHUFB Y9, Y15, Y9    \
	VPADDB  Y9, Y10, Y9    \
	VPSADBW Y9, Y13, Y9    \
	VPADDD  Y9, acc, acc

// BITS32 takes 32 bytes of four rows, at off bytes after the offset R8.
#define BITS32(off) \
	VMOVDQU off(SI)(R8*1), Y8   \
	DIFFER(off(AX)(R8*1), Y0)   \
	DIFFER(off(BX)(R8*1), Y2)   \
	DIFFER(off(CX)(R8*1), Y4)   \
	DIFFER(off(DX)(R8*1), Y6)

// SUM4B adds up the sums of four rows into the four int32 of X0.
#define SUM4B \
	VPHADDD      Y2, Y0, Y0 \
	VPHADDD      Y6, Y4, Y4 \
	VPHADDD      Y4, Y0, Y0 \
	VEXTRACTI128 $1, Y0, X1 \
	VPADDD       X1, X0, X0

// func hammingRowsAVX2(q, rows *uint64, stride, n int, out *int32, bytes int)
TEXT ·hammingRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ q+0(FP), SI
	MOVQ rows+8(FP), AX
	MOVQ stride+16(FP), DI
	MOVQ n+24(FP), R10
	MOVQ out+32(FP), R11
	MOVQ bytes+40(FP), R12
	TABLES

rows4:
	LEAQ (AX)(DI*1), BX
	LEAQ (BX)(DI*1), CX
	LEAQ (CX)(DI*1), DX
	ZERO4B
	XORL R8, R8

loop:
	BITS32(0)
	ADDQ $32, R8
	CMPQ R8, R12
	JLT  loop

	SUM4B
	VMOVDQU X0, (R11)
	ADDQ    $16, R11
	LEAQ    (AX)(DI*4), AX
	SUBQ    $4, R10
	JNZ     rows4
	VZEROUPPER
	RET

// func hammingGatherAVX2(q *uint64, segs **uint64, stride int, ids, last *uint32, n int, out *int32, bytes int)
TEXT ·hammingGatherAVX2(SB), NOSPLIT, $0-64
	MOVQ ids+24(FP), R9
	MOVQ n+40(FP), R10
	MOVQ out+48(FP), R11
	TABLES

rows4:
	GROUP
	ZERO4B
	MOVQ bytes+56(FP), R12
	ANDQ $~63, R12
	JZ   rest

loop:
	PREFETCH
	BITS32(0)
	BITS32(32)
	ADDQ $64, R8
	CMPQ R8, R12
	JLT  loop

rest:
	CMPQ R8, bytes+56(FP)
	JGE  done
	PREFETCH
	BITS32(0)

done:
	SUM4B
	VMOVDQU X0, (R11)
	ADDQ    $16, R9
	ADDQ    $16, R11
	SUBQ    $4, R10
	JNZ     rows4
	VZEROUPPER
	RET

// func signsAVX2(v *float32, bits *uint64, n int)
TEXT ·signsAVX2(SB), NOSPLIT, $0-24
	MOVQ v+0(FP), SI
	MOVQ bits+8(FP), DI
	MOVQ n+16(FP), CX

loop:
	VMOVUPS   (SI), Y0
	VMOVMSKPS Y0, AX
	MOVB      AX, (DI)
	ADDQ      $32, SI
	INCQ      DI
	SUBQ      $8, CX
	JNZ       loop
	VZEROUPPER
	RET
