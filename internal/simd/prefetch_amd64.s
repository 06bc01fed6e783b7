//go:build amd64 && !purego

#include "textflag.h"

// func Prefetch(p *uint32)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	RET

// func prefetchRow(p *float32, n int)
TEXT ·prefetchRow(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX
	LEAQ -1(AX)(CX*4), CX // the last byte
	ANDQ $~63, AX

loop:
	PREFETCHT0 (AX)
	ADDQ       $64, AX
	CMPQ       AX, CX
	JLS        loop
	RET
