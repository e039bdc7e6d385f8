package optim

import (
	"math"

	"odes.dev/odes/internal/base/simd"
)

// Products are rounded before they are added, here and in all of the package, so that no compiler fuses the two: the
// bits are those of every architecture. Long vectors go through package simd, whose bits are so as well: dot products
// in eight chains, and all is fused.

// long is the length from which package simd is faster.
const long = 64

// dot returns aᵀb.
func dot(a, b []float64) float64 {
	if len(a) >= long {
		return simd.Dot(a, b)
	}
	s := 0.0
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

// add adds f·a to to.
func add(to []float64, f float64, a []float64) {
	if len(a) >= long {
		to = to[:len(a)]
		simd.Combine(to, to, f, one[:], first[:], a, 0)
		return
	}
	for i, v := range a {
		to[i] += float64(f * v)
	}
}

// one and first make a sum of one term.
var (
	one   = [1]float64{1}
	first = [1]int{0}
)

// norm returns the Euclidean norm of a, also where squares overflow.
func norm(a []float64) float64 {
	most := largest(a)
	if most == 0 || math.IsInf(most, 1) {
		return most
	}
	if most > 1e-100 && most < 1e100 {
		return math.Sqrt(dot(a, a))
	}
	s := 0.0
	for _, v := range a {
		s += float64((v / most) * (v / most))
	}
	return float64(most * math.Sqrt(s))
}

// largest returns the largest |aᵢ|.
func largest(a []float64) float64 {
	most := 0.0
	for _, v := range a {
		if v = math.Abs(v); !(v <= most) {
			if most = v; v != v {
				return v
			}
		}
	}
	return most
}

// finite reports whether all numbers are.
func finite(a []float64) bool {
	for _, v := range a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// multiply sets out to the product of an m × n matrix, by rows, with v.
func multiply(a, v, out []float64) {
	n := len(v)
	for i := range out {
		out[i] = dot(a[i*n:(i+1)*n], v)
	}
}

// transposed sets out to the product of the transpose of an m × n matrix, by rows, with v.
func transposed(a, v, out []float64) {
	clear(out)
	n := len(out)
	for i, f := range v {
		if f != 0 {
			add(out, f, a[i*n:(i+1)*n])
		}
	}
}

// hypot returns √(a² + b²). The one of math has other bits on some architectures.
func hypot(a, b float64) float64 {
	a, b = math.Abs(a), math.Abs(b)
	if a < b {
		a, b = b, a
	}
	if a == 0 {
		return 0
	}
	t := b / a
	return float64(a * math.Sqrt(1+float64(t*t)))
}
