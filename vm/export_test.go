package vm

import (
	"odes.dev/odes/internal/simd"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/native"
)

// Narrow names the backend of native code without AVX-512, in tests.
const Narrow = "native without AVX-512"

// AllBackends lists the backends of this machine, with Narrow if it differs from the others.
func AllBackends() []string {
	list := Backends()
	if list[len(list)-1] == simd.Native && simd.Wide() && native.Supports512() {
		list = append(list, Narrow)
	}
	return list
}

// CompileOn is Compile for any backend of AllBackends.
func CompileOn(t *tape.Tape, opts Options) (*Program, error) {
	if opts.Backend == Narrow {
		opts.Backend, opts.narrow = simd.Native, true
	}
	return Compile(t, opts)
}
