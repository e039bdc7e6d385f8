package simd_test

import (
	"fmt"

	"odes.dev/odes/internal/base/simd"
)

// Two rows of three lanes, each multiplied by a factor of its own.
func ExampleBinaryRows() {
	factors, x := []float64{2, 10}, []float64{1, 2, 3, 4, 5, 6}
	out := make([]float64, len(x))
	simd.BinaryRows(simd.Mul, simd.SharedA, out, factors, x, 3)
	fmt.Println(out)
	// Output:
	// [2 4 6 40 50 60]
}
