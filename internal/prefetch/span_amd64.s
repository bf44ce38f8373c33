#include "textflag.h"

// func Span(p unsafe.Pointer, size uintptr)
TEXT ·Span(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ size+8(FP), CX
	ADDQ AX, CX
	ANDQ $-64, AX
	CMPQ AX, CX
	JHS  done

line:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	CMPQ AX, CX
	JLO  line

done:
	RET
