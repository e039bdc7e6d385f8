// Package simd is arithmetic on arrays of float64 for the machine and the solvers: elementwise
// operations and functions, linear combinations, reductions and matrix products.
//
// Every function has a definition in Go, which any processor runs. On amd64 there are kernels for
// AVX2 with FMA that give the same bits (any NaN equals any NaN). Which of the two runs is chosen
// once, when the program starts: the kernels where the processor can run them, unless the
// environment variable ODES_BACKEND says generic. Products with matrices use AVX-512 where the
// processor has it, unless ODES_BACKEND says avx2 or native256. So do elementary functions in the
// machine's threaded code, whose bodies are written here. The build tag purego leaves the
// kernels out.
//
// Nothing here allocates. One kernel call takes about a millisecond at most, so that the garbage
// collector need not wait. Results may overwrite an operand that starts at the same element; no
// other overlap is allowed. The package knows nothing of tapes, models or threads.
package simd

import (
	"fmt"
	"os"
)

//go:generate go run -C _asm . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -table ../table_amd64.go -pkg simd
//go:generate go run -C _asm . -wide -out ../wide_amd64.s -stubs ../wide_amd64.go -pkg simd

// The names of the backends. Native is AVX2, with machine code that package vm makes while the
// program runs. In this package the two are the same.
const (
	Generic = "generic"
	AVX2    = "avx2"
	Native  = "native"
)

// avx512 is a value of ODES_BACKEND: avx2 with vectors of eight in products of matrices and in functions. The
// backend native has these by itself where the processor does. Nothing else depends on the
// difference, so Backend calls it avx2.
const avx512 = "avx512"

// native256 is a value of ODES_BACKEND: native as on a processor without AVX-512. Backend calls it
// native.
const native256 = "native256"

// backendErr says what is wrong with ODES_BACKEND; nil for nothing.
var backendErr = choose(os.Getenv("ODES_BACKEND"))

// choose sets the given backend, or the best one for "".
func choose(want string) error {
	useAVX2, useAVX512, useNative = supported, supported512, supported
	switch want {
	case "":
	case Native, native256:
		if !supported {
			return fmt.Errorf("the backend %s needs an amd64 processor with AVX2 and FMA, and a build without the "+
				"tag purego; unset ODES_BACKEND or choose generic", want)
		}
		useAVX512 = supported512 && want == Native
	case Generic:
		useAVX2, useAVX512, useNative = false, false, false
	case avx512:
		if !supported512 {
			return fmt.Errorf("the backend avx512 needs an amd64 processor with AVX-512F, and a build without the " +
				"tag purego; unset ODES_BACKEND or choose avx2 or generic")
		}
		useNative = false
	case AVX2:
		if !supported {
			return fmt.Errorf("the backend avx2 needs an amd64 processor with AVX2 and FMA, and a build without the " +
				"tag purego; unset ODES_BACKEND or choose generic")
		}
		useAVX512, useNative = false, false
	default:
		return fmt.Errorf("there is no backend %q; set ODES_BACKEND to generic, avx2, avx512, native256 or native, "+
			"or unset it", want)
	}
	return nil
}

// Backend returns the name of the backend in use.
func Backend() string {
	switch {
	case useNative:
		return Native
	case useAVX2:
		return AVX2
	}
	return Generic
}

// Wide reports whether products of matrices, and functions in threaded code, use vectors of eight.
func Wide() bool { return useAVX512 }

// Err returns an error if the environment variable ODES_BACKEND asks for a backend that does not
// exist or cannot run here. Such a value is ignored otherwise.
func Err() error { return backendErr }
