//go:build amd64 && !purego

#include "textflag.h"
#include "gather_amd64.h"

// Thirty-two products at a time: VPMADDUBSW takes bytes without a sign on one side, so that it is given the
// magnitudes of the query and rows whose signs were turned by the query's. It adds neighbours: two products
// of codes, at most 2 · 127², fit its int16. VPMADDWD by ones adds neighbours again, into eight int32. So the
// results are exact.

// ONES sets every int16 of Y15 to 1.
#define ONES \
	VPCMPEQW Y15, Y15, Y15 \
	VPSRLW   $15, Y15, Y15

// PRODUCTS adds to acc the products of Y8, whose magnitudes are in Y9, and the codes at row.
#define PRODUCTS(row, acc, tmp) \
	VMOVDQU    row, tmp        \
	VPSIGNB    Y8, tmp, tmp    \
	VPMADDUBSW tmp, Y9, tmp    \
	VPMADDWD   Y15, tmp, tmp   \
	VPADDD     tmp, acc, acc

// HALF is PRODUCTS of the sixteen codes in the lower halves; loading them clears the upper ones.
#define HALF(row, acc, low, tmp) \
	VMOVDQU    row, low        \
	VPSIGNB    Y8, tmp, tmp    \
	VPMADDUBSW tmp, Y9, tmp    \
	VPMADDWD   Y15, tmp, tmp   \
	VPADDD     tmp, acc, acc

// SUM1I adds up Y0 and Y2 into the low int32 of X0.
#define SUM1I \
	VPADDD       Y2, Y0, Y0 \
	VEXTRACTI128 $1, Y0, X1 \
	VPADDD       X1, X0, X0 \
	VPHADDD      X0, X0, X0 \
	VPHADDD      X0, X0, X0

// ZERO4I clears the sums of four rows, Y0, Y2, Y4 and Y6.
#define ZERO4I \
	VPXOR Y0, Y0, Y0 \
	VPXOR Y2, Y2, Y2 \
	VPXOR Y4, Y4, Y4 \
	VPXOR Y6, Y6, Y6

// SUM4I adds up the sums of four rows into the four int32 of X0.
#define SUM4I \
	VPHADDD      Y2, Y0, Y0 \
	VPHADDD      Y6, Y4, Y4 \
	VPHADDD      Y4, Y0, Y0 \
	VEXTRACTI128 $1, Y0, X1 \
	VPADDD       X1, X0, X0

// CODES32 takes 32 codes of four rows, at off bytes after the offset R8.
#define CODES32(off) \
	VMOVDQU off(SI)(R8*1), Y8        \
	VPABSB  Y8, Y9                   \
	PRODUCTS(off(AX)(R8*1), Y0, Y10) \
	PRODUCTS(off(BX)(R8*1), Y2, Y11) \
	PRODUCTS(off(CX)(R8*1), Y4, Y12) \
	PRODUCTS(off(DX)(R8*1), Y6, Y13)

// CODES16 takes sixteen.
#define CODES16 \
	VMOVDQU (SI)(R8*1), X8             \
	VPABSB  Y8, Y9                     \
	HALF((AX)(R8*1), Y0, X10, Y10)     \
	HALF((BX)(R8*1), Y2, X11, Y11)     \
	HALF((CX)(R8*1), Y4, X12, Y12)     \
	HALF((DX)(R8*1), Y6, X13, Y13)

// func dotI8AVX2(a, b *int8, n int) int32
TEXT ·dotI8AVX2(SB), NOSPLIT, $0-28
	MOVQ  a+0(FP), SI
	MOVQ  b+8(FP), DI
	MOVQ  n+16(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y2, Y2, Y2
	ONES
	SUBQ  $64, CX
	JLT   rest

loop:
	VMOVDQU (SI), Y8
	VPABSB  Y8, Y9
	PRODUCTS((DI), Y0, Y10)
	VMOVDQU 32(SI), Y8
	VPABSB  Y8, Y9
	PRODUCTS(32(DI), Y2, Y11)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $64, CX
	JGE     loop

rest:
	ADDQ $64, CX
	JZ   done

codes16:
	VMOVDQU (SI), X8
	VPABSB  Y8, Y9
	HALF((DI), Y0, X10, Y10)
	ADDQ    $16, SI
	ADDQ    $16, DI
	SUBQ    $16, CX
	JNZ     codes16

done:
	SUM1I
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func dotI8RowsAVX2(q, rows *int8, stride, n int, out *int32, dim int)
TEXT ·dotI8RowsAVX2(SB), NOSPLIT, $0-48
	MOVQ q+0(FP), SI
	MOVQ rows+8(FP), AX
	MOVQ stride+16(FP), DI
	MOVQ n+24(FP), R10
	MOVQ out+32(FP), R11
	MOVQ dim+40(FP), R12
	MOVQ R12, R13
	ANDQ $~63, R12
	ONES

rows4:
	LEAQ (AX)(DI*1), BX
	LEAQ (BX)(DI*1), CX
	LEAQ (CX)(DI*1), DX
	LEAQ (AX)(DI*4), R9 // the next four rows are asked for in order, a fourth of them with each step
	ZERO4I
	XORL R8, R8
	CMPQ R8, R12
	JEQ  rest

loop:
	PREFETCHT0 (R9)(R8*4)
	PREFETCHT0 64(R9)(R8*4)
	PREFETCHT0 128(R9)(R8*4)
	PREFETCHT0 192(R9)(R8*4)
	CODES32(0)
	CODES32(32)
	ADDQ $64, R8
	CMPQ R8, R12
	JLT  loop

rest:
	CMPQ R8, R13
	JGE  done
	CODES16
	ADDQ $16, R8
	JMP  rest

done:
	SUM4I
	VMOVDQU X0, (R11)
	ADDQ    $16, R11
	LEAQ    (AX)(DI*4), AX
	SUBQ    $4, R10
	JNZ     rows4
	VZEROUPPER
	RET

// func dotI8GatherAVX2(q *int8, segs **int8, stride int, ids, last *uint32, n int, out *int32, dim int)
TEXT ·dotI8GatherAVX2(SB), NOSPLIT, $0-64
	MOVQ ids+24(FP), R9
	MOVQ n+40(FP), R10
	MOVQ out+48(FP), R11
	ONES

rows4:
	GROUP
	ZERO4I
	MOVQ dim+56(FP), R12
	ANDQ $~63, R12
	JZ   rest

loop:
	PREFETCH
	CODES32(0)
	CODES32(32)
	ADDQ $64, R8
	CMPQ R8, R12
	JLT  loop

rest:
	CMPQ R8, dim+56(FP)
	JGE  done
	PREFETCH

codes16:
	CODES16
	ADDQ $16, R8
	CMPQ R8, dim+56(FP)
	JLT  codes16

done:
	SUM4I
	VMOVDQU X0, (R11)
	ADDQ    $16, R9
	ADDQ    $16, R11
	SUBQ    $4, R10
	JNZ     rows4
	VZEROUPPER
	RET

DATA magnitude<>+0(SB)/4, $0x7fffffff
GLOBL magnitude<>(SB), RODATA|NOPTR, $4

// Magnitudes are compared as integers, which order like the floats; NaN is above infinity and so stays.
//
// func absMaxAVX2(v *float32, n int) float32
TEXT ·absMaxAVX2(SB), NOSPLIT, $0-20
	MOVQ         v+0(FP), SI
	MOVQ         n+8(FP), CX
	VPBROADCASTD magnitude<>(SB), Y7
	VPXOR        Y0, Y0, Y0

loop:
	VPAND   (SI), Y7, Y1
	VPMAXUD Y1, Y0, Y0
	ADDQ    $32, SI
	SUBQ    $8, CX
	JNZ     loop

	VEXTRACTI128 $1, Y0, X1
	VPMAXUD      X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPMAXUD      X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPMAXUD      X1, X0, X0
	VMOVSS       X0, ret+16(FP)
	VZEROUPPER
	RET

DATA limit<>+0(SB)/4, $127.0
DATA limit<>+4(SB)/4, $-127.0
GLOBL limit<>(SB), RODATA|NOPTR, $8

// func quantizeAVX2(v *float32, codes *int8, n int, inv float32) float32
TEXT ·quantizeAVX2(SB), NOSPLIT, $0-36
	MOVQ         v+0(FP), SI
	MOVQ         codes+8(FP), DI
	MOVQ         n+16(FP), CX
	VBROADCASTSS inv+24(FP), Y15
	VBROADCASTSS limit<>+0(SB), Y14
	VBROADCASTSS limit<>+4(SB), Y13
	VXORPS       Y8, Y8, Y8
	VXORPS       Y9, Y9, Y9

loop:
	VMULPS      (SI), Y15, Y0
	VMULPS      32(SI), Y15, Y1
	VROUNDPS    $0, Y0, Y2       // nearest, ties to even
	VROUNDPS    $0, Y1, Y3
	VMINPS      Y14, Y2, Y2
	VMINPS      Y14, Y3, Y3
	VMAXPS      Y13, Y2, Y2
	VMAXPS      Y13, Y3, Y3
	VSUBPS      Y2, Y0, Y0
	VSUBPS      Y3, Y1, Y1
	VFMADD231PS Y0, Y0, Y8
	VFMADD231PS Y1, Y1, Y9
	VCVTPS2DQ   Y2, Y2
	VCVTPS2DQ   Y3, Y3
	VPACKSSDW   Y3, Y2, Y2       // each half: four codes of Y2, four of Y3
	VPERMQ      $0xD8, Y2, Y2
	VEXTRACTI128 $1, Y2, X3
	VPACKSSWB   X3, X2, X2
	VMOVDQU     X2, (DI)
	ADDQ        $64, SI
	ADDQ        $16, DI
	SUBQ        $16, CX
	JNZ         loop

	VADDPS       Y9, Y8, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VHADDPS      X0, X0, X0
	VHADDPS      X0, X0, X0
	VMOVSS       X0, ret+32(FP)
	VZEROUPPER
	RET
