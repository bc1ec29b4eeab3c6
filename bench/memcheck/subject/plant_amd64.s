//go:build valgrind && linux

#include "textflag.h"

// func leakInAssembly(table *[256]byte, secret byte)
TEXT ·leakInAssembly(SB), NOSPLIT, $0-9
	MOVQ table+0(FP), AX
	MOVBQZX secret+8(FP), CX
	MOVB (AX)(CX*1), DX // leak: UninitValue
	MOVB DX, (AX)
	CMPB CX, $9
	JNE done // leak: UninitCondition
	MOVB $0, (AX)
done:
	RET
