// Package simd is arithmetic on arrays of float64 for the machine and the
// solvers: elementwise operations and functions, linear combinations, reductions
// and matrix products.
//
// Every function has a definition in Go, which any processor runs, and on amd64
// kernels for AVX2 with FMA that give the same bits (any NaN equals any NaN).
// Which of them runs is chosen once, when the program starts: the kernels where
// the processor has them, unless the environment variable ODES_BACKEND says
// generic. Products with matrices use AVX-512 where it is there, unless ODES_BACKEND
// says avx2 or native256. The build tag purego leaves the kernels out.
//
// Nothing here allocates, and one kernel call takes about a millisecond at most,
// so that the garbage collector need not wait. Results may overwrite an operand
// that starts at the same element; other overlap is not allowed. The package
// knows nothing of tapes, models or threads.
package simd

import (
	"fmt"
	"os"
)

//go:generate go run -C _asm . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -table ../table_amd64.go -pkg simd
//go:generate go run -C _asm . -wide -out ../wide_amd64.s -stubs ../wide_amd64.go -pkg simd

// The names of the backends. Native is AVX2 with code that the machine makes while
// the program runs, which package vm does: here they are the same.
const (
	Generic = "generic"
	AVX2    = "avx2"
	Native  = "native"
)

// avx512 in ODES_BACKEND is avx2 with vectors of eight in the products of
// matrices, which native has by itself where the processor has them. Its name is
// avx2 otherwise: nothing else depends on it.
const avx512 = "avx512"

// native256 in ODES_BACKEND is native as on a processor without AVX-512. Its name
// is native otherwise.
const native256 = "native256"

// backendErr is what is wrong with ODES_BACKEND.
var backendErr = choose(os.Getenv("ODES_BACKEND"))

// choose sets the backend that is wanted, or the best one for "".
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

// Wide reports whether products of matrices use vectors of eight.
func Wide() bool { return useAVX512 }

// Err returns what is wrong with the choice in the environment variable
// ODES_BACKEND, nil if it was followed or empty. The choice is ignored then.
func Err() error { return backendErr }
