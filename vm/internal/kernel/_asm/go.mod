module odes.dev/odes/vm/internal/kernel/_asm

go 1.26.8

require (
	github.com/mmcloughlin/avo v0.6.0
	odes.dev/odes/internal/base/simd/_asm v0.0.0
)

require (
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

replace odes.dev/odes/internal/base/simd/_asm => ../../../../internal/base/simd/_asm
