//go:build !purego

package simd

import "golang.org/x/sys/cpu"

var (
	supported    = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	supported512 = supported && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL

	useAVX2, useAVX512, useNative bool // set once, by choose
)
