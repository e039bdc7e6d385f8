//go:build amd64 && !purego

#include "textflag.h"

// func Call(code uintptr, args *Args)
TEXT ·Call(SB), NOSPLIT, $0-16
	MOVQ code+0(FP), AX
	MOVQ args+8(FP), DI
	JMP  AX
