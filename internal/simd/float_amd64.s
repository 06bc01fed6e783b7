//go:build amd64 && !purego

#include "textflag.h"
#include "gather_amd64.h"

// Every kernel keeps at least four independent sums of eight floats, which hides the latency of the
// fused multiply-add.

// SUM1 adds up Y0 to Y3 into the low float of X0.
#define SUM1 \
	VADDPS       Y1, Y0, Y0 \
	VADDPS       Y3, Y2, Y2 \
	VADDPS       Y2, Y0, Y0 \
	VEXTRACTF128 $1, Y0, X1 \
	VADDPS       X1, X0, X0 \
	VHADDPS      X0, X0, X0 \
	VHADDPS      X0, X0, X0

// ZERO8 clears the sums of four rows: Y0 and Y1 are those of the first, and so on.
#define ZERO8 \
	VXORPS Y0, Y0, Y0 \
	VXORPS Y1, Y1, Y1 \
	VXORPS Y2, Y2, Y2 \
	VXORPS Y3, Y3, Y3 \
	VXORPS Y4, Y4, Y4 \
	VXORPS Y5, Y5, Y5 \
	VXORPS Y6, Y6, Y6 \
	VXORPS Y7, Y7, Y7

// SUM4 adds up the sums of four rows into the four floats of X0.
#define SUM4 \
	VADDPS       Y1, Y0, Y0 \
	VADDPS       Y3, Y2, Y2 \
	VADDPS       Y5, Y4, Y4 \
	VADDPS       Y7, Y6, Y6 \
	VHADDPS      Y2, Y0, Y0 \
	VHADDPS      Y6, Y4, Y4 \
	VHADDPS      Y4, Y0, Y0 \
	VEXTRACTF128 $1, Y0, X1 \
	VADDPS       X1, X0, X0

// DOT16 and L216 take the next sixteen floats of four rows, DOT8 and L28 the next eight.
#define DOT8 \
	VMOVUPS     (SI)(R8*1), Y8     \
	VFMADD231PS (AX)(R8*1), Y8, Y0 \
	VFMADD231PS (BX)(R8*1), Y8, Y2 \
	VFMADD231PS (CX)(R8*1), Y8, Y4 \
	VFMADD231PS (DX)(R8*1), Y8, Y6

#define DOT16 \
	DOT8                             \
	VMOVUPS     32(SI)(R8*1), Y9     \
	VFMADD231PS 32(AX)(R8*1), Y9, Y1 \
	VFMADD231PS 32(BX)(R8*1), Y9, Y3 \
	VFMADD231PS 32(CX)(R8*1), Y9, Y5 \
	VFMADD231PS 32(DX)(R8*1), Y9, Y7

#define L28 \
	VMOVUPS     (SI)(R8*1), Y8      \
	VSUBPS      (AX)(R8*1), Y8, Y10 \
	VSUBPS      (BX)(R8*1), Y8, Y11 \
	VSUBPS      (CX)(R8*1), Y8, Y12 \
	VSUBPS      (DX)(R8*1), Y8, Y13 \
	VFMADD231PS Y10, Y10, Y0        \
	VFMADD231PS Y11, Y11, Y2        \
	VFMADD231PS Y12, Y12, Y4        \
	VFMADD231PS Y13, Y13, Y6

#define L216 \
	L28                               \
	VMOVUPS     32(SI)(R8*1), Y9      \
	VSUBPS      32(AX)(R8*1), Y9, Y10 \
	VSUBPS      32(BX)(R8*1), Y9, Y11 \
	VSUBPS      32(CX)(R8*1), Y9, Y12 \
	VSUBPS      32(DX)(R8*1), Y9, Y13 \
	VFMADD231PS Y10, Y10, Y1          \
	VFMADD231PS Y11, Y11, Y3          \
	VFMADD231PS Y12, Y12, Y5          \
	VFMADD231PS Y13, Y13, Y7

// NEXTROWS sets AX to DX to the next four contiguous rows, DI apart.
#define NEXTROWS \
	LEAQ (AX)(DI*1), BX \
	LEAQ (BX)(DI*1), CX \
	LEAQ (CX)(DI*1), DX

// func dotAVX2(a, b *float32, n int) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ   a+0(FP), SI
	MOVQ   b+8(FP), DI
	MOVQ   n+16(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	SUBQ   $32, CX
	JLT    rest

loop:
	VMOVUPS     (SI), Y4
	VMOVUPS     32(SI), Y5
	VMOVUPS     64(SI), Y6
	VMOVUPS     96(SI), Y7
	VFMADD231PS (DI), Y4, Y0
	VFMADD231PS 32(DI), Y5, Y1
	VFMADD231PS 64(DI), Y6, Y2
	VFMADD231PS 96(DI), Y7, Y3
	ADDQ        $128, SI
	ADDQ        $128, DI
	SUBQ        $32, CX
	JGE         loop

rest:
	ADDQ $32, CX
	JZ   done

eight:
	VMOVUPS     (SI), Y4
	VFMADD231PS (DI), Y4, Y0
	ADDQ        $32, SI
	ADDQ        $32, DI
	SUBQ        $8, CX
	JNZ         eight

done:
	SUM1
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func l2AVX2(a, b *float32, n int) float32
TEXT ·l2AVX2(SB), NOSPLIT, $0-28
	MOVQ   a+0(FP), SI
	MOVQ   b+8(FP), DI
	MOVQ   n+16(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	SUBQ   $32, CX
	JLT    rest

loop:
	VMOVUPS     (SI), Y4
	VMOVUPS     32(SI), Y5
	VMOVUPS     64(SI), Y6
	VMOVUPS     96(SI), Y7
	VSUBPS      (DI), Y4, Y4
	VSUBPS      32(DI), Y5, Y5
	VSUBPS      64(DI), Y6, Y6
	VSUBPS      96(DI), Y7, Y7
	VFMADD231PS Y4, Y4, Y0
	VFMADD231PS Y5, Y5, Y1
	VFMADD231PS Y6, Y6, Y2
	VFMADD231PS Y7, Y7, Y3
	ADDQ        $128, SI
	ADDQ        $128, DI
	SUBQ        $32, CX
	JGE         loop

rest:
	ADDQ $32, CX
	JZ   done

eight:
	VMOVUPS     (SI), Y4
	VSUBPS      (DI), Y4, Y4
	VFMADD231PS Y4, Y4, Y0
	ADDQ        $32, SI
	ADDQ        $32, DI
	SUBQ        $8, CX
	JNZ         eight

done:
	SUM1
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func dotRowsAVX2(q, rows *float32, stride, n int, out *float32, dim int)
TEXT ·dotRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ q+0(FP), SI
	MOVQ rows+8(FP), AX
	MOVQ stride+16(FP), DI
	MOVQ n+24(FP), R10
	MOVQ out+32(FP), R11
	MOVQ dim+40(FP), R12
	SHLQ $2, R12
	ANDQ $~63, R12

rows4:
	NEXTROWS
	ZERO8
	XORL R8, R8
	CMPQ R8, R12
	JEQ  rest

loop:
	DOT16
	ADDQ $64, R8
	CMPQ R8, R12
	JLT  loop

rest:
	TESTQ $8, dim+40(FP)
	JZ    done
	DOT8

done:
	SUM4
	VMOVUPS X0, (R11)
	ADDQ    $16, R11
	LEAQ    (AX)(DI*4), AX
	SUBQ    $4, R10
	JNZ     rows4
	VZEROUPPER
	RET

// func l2RowsAVX2(q, rows *float32, stride, n int, out *float32, dim int)
TEXT ·l2RowsAVX2(SB), NOSPLIT, $0-48
	MOVQ q+0(FP), SI
	MOVQ rows+8(FP), AX
	MOVQ stride+16(FP), DI
	MOVQ n+24(FP), R10
	MOVQ out+32(FP), R11
	MOVQ dim+40(FP), R12
	SHLQ $2, R12
	ANDQ $~63, R12

rows4:
	NEXTROWS
	ZERO8
	XORL R8, R8
	CMPQ R8, R12
	JEQ  rest

loop:
	L216
	ADDQ $64, R8
	CMPQ R8, R12
	JLT  loop

rest:
	TESTQ $8, dim+40(FP)
	JZ    done
	L28

done:
	SUM4
	VMOVUPS X0, (R11)
	ADDQ    $16, R11
	LEAQ    (AX)(DI*4), AX
	SUBQ    $4, R10
	JNZ     rows4
	VZEROUPPER
	RET

// func dotGatherAVX2(q *float32, segs **float32, stride int, ids, last *uint32, n int, out *float32, dim int)
TEXT ·dotGatherAVX2(SB), NOSPLIT, $0-64
	MOVQ ids+24(FP), R9
	MOVQ n+40(FP), R10
	MOVQ out+48(FP), R11

rows4:
	GROUP
	ZERO8
	MOVQ dim+56(FP), R12
	SHLQ $2, R12
	ANDQ $~63, R12
	JZ   rest

loop:
	PREFETCH
	DOT16
	ADDQ $64, R8
	CMPQ R8, R12
	JLT  loop

rest:
	TESTQ $8, dim+56(FP)
	JZ    done
	PREFETCH
	DOT8

done:
	SUM4
	VMOVUPS X0, (R11)
	ADDQ    $16, R9
	ADDQ    $16, R11
	SUBQ    $4, R10
	JNZ     rows4
	VZEROUPPER
	RET

// func l2GatherAVX2(q *float32, segs **float32, stride int, ids, last *uint32, n int, out *float32, dim int)
TEXT ·l2GatherAVX2(SB), NOSPLIT, $0-64
	MOVQ ids+24(FP), R9
	MOVQ n+40(FP), R10
	MOVQ out+48(FP), R11

rows4:
	GROUP
	ZERO8
	MOVQ dim+56(FP), R12
	SHLQ $2, R12
	ANDQ $~63, R12
	JZ   rest

loop:
	PREFETCH
	L216
	ADDQ $64, R8
	CMPQ R8, R12
	JLT  loop

rest:
	TESTQ $8, dim+56(FP)
	JZ    done
	PREFETCH
	L28

done:
	SUM4
	VMOVUPS X0, (R11)
	ADDQ    $16, R9
	ADDQ    $16, R11
	SUBQ    $4, R10
	JNZ     rows4
	VZEROUPPER
	RET
