//go:build !purego

package simd

import "golang.org/x/sys/cpu"

var (
	supported = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	useAVX2   bool // set once, by choose
)
