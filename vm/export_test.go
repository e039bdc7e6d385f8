package vm

import (
	"odes.dev/odes/internal/simd"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/native"
)

// Narrow is the backend for native code without AVX-512, in tests.
const Narrow = "native without AVX-512"

// AllBackends lists the backends that there are here, Narrow too if it is another.
func AllBackends() []string {
	list := Backends()
	if list[len(list)-1] == simd.Native && simd.Wide() && native.Supports512() {
		list = append(list, Narrow)
	}
	return list
}

// CompileOn is Compile that knows Narrow.
func CompileOn(t *tape.Tape, opts Options) (*Program, error) {
	if opts.Backend == Narrow {
		opts.Backend, opts.narrow = simd.Native, true
	}
	return Compile(t, opts)
}
