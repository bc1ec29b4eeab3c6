//go:build valgrind && linux

#include "textflag.h"

// func request(args *[6]uint64) uint64
//
// The instructions that valgrind takes for a request of the program: rotations
// that cancel, then an exchange of BX with itself. AX points to the number of the
// request and its arguments; the answer is in DX. On a processor they do nothing.
TEXT ·request(SB), NOSPLIT, $0-16
	MOVQ args+0(FP), AX
	XORL DX, DX
	ROLQ $3, DI
	ROLQ $13, DI
	ROLQ $61, DI
	ROLQ $51, DI
	XCHGQ BX, BX
	MOVQ DX, ret+8(FP)
	RET
