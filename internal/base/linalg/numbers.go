package linalg

import "math"

//go:generate go run generate.go

// What the sparse code needs of real numbers; complex.go has the same of complex ones.

func fma(a, b, c float64) float64 { return math.FMA(a, b, c) }

func mul(a, b float64) float64 { return float64(a * b) }

// scaled returns a times a power of two.
func scaled(a, by float64) float64 { return float64(a * by) }

func magnitude(a float64) float64 { return math.Abs(a) }

func negativeInverse(a float64) float64 { return -1 / a }

// smallest is the magnitude below which a pivot counts as 0, since its inverse may overflow.
const smallest = 0x1p-1022

// resize returns a slice of n elements, in the memory of s if that is large enough.
func resize[T float64 | complex128](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
