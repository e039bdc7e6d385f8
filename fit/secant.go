package fit

import (
	"math"
	"slices"
)

// secant is a Hessian that learns from gradients, by symmetric updates of rank one: second derivatives of an integral
// over random effects are differences of many gradients. The first one may be an estimate. Reference: Conn, Gould and
// Toint, Math Program 50:177 (1991).
type secant struct {
	x, gradient, hessian []float64
}

// see learns the gradient at x. The Hessian that came with it counts if it is the first; else it is what was learnt.
func (s *secant) see(x, gradient, hessian []float64, first bool) {
	defer func() { s.x, s.gradient = slices.Clone(x), slices.Clone(gradient) }()
	if first {
		s.hessian = slices.Clone(hessian)
		return
	}
	n := len(x)
	step, rest := make([]float64, n), make([]float64, n)
	for i := range n {
		step[i], rest[i] = x[i]-s.x[i], gradient[i]-s.gradient[i]
	}
	for i := range n {
		rest[i] -= dot(s.hessian[i*n:(i+1)*n], step)
	}
	const small = 1e-8 // of the product of the norms: the update would be of no size
	if by := dot(rest, step); math.Abs(by) > small*norm(rest)*norm(step) {
		for i := range n {
			for j := range n {
				s.hessian[i*n+j] += float64(rest[i] * rest[j] / by)
			}
		}
	}
	copy(hessian, s.hessian)
}
