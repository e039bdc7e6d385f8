package linalg

import (
	"fmt"
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
)

// GMRES solves systems whose matrix is too large to factor, by products with it (Y. Saad and M. H.
// Schultz, SIAM J. Sci. Stat. Comput. 7, 1986). It is restarted after a number of iterations, and
// preconditioned from the right, so that the residual is that of the system itself. It belongs to
// one goroutine, and allocates nothing after it was made.
type GMRES struct {
	n, restart int
	v          []float64 // the basis, [restart+1][n]
	w          []float64
	h          []float64 // R of the Hessenberg matrix, column by column, [restart][restart+1]
	again      []float64
	cos, sin   []float64 // rotations that made it
	right      []float64 // the rotated right-hand side
}

// NewGMRES returns a solver for systems of n equations.
func NewGMRES(n, restart int) *GMRES {
	restart = max(1, min(restart, n))
	return &GMRES{
		n: n, restart: restart, v: make([]float64, (restart+1)*n), w: make([]float64, n),
		h: make([]float64, restart*(restart+1)), again: make([]float64, restart),
		cos: make([]float64, restart), sin: make([]float64, restart), right: make([]float64, restart+1),
	}
}

// System is what GMRES sees of a system of equations. For the transposed system it is the transposed
// product, and the transpose of the preconditioner.
type System struct {
	// Product sets y[N] to A·x[N].
	Product func(y, x []float64)

	// Precondition replaces x[N] by about A⁻¹·x; nil for no preconditioner.
	Precondition func(x []float64)
}

// ConvergenceError says that GMRES did not reach its tolerance.
type ConvergenceError struct {
	Iterations int
	Residual   float64 // of which norm it left, relative to that of the right-hand side
}

func (e *ConvergenceError) Error() string {
	return fmt.Sprintf("GMRES does not converge: after %d iterations the residual is %.2g of the right-hand side",
		e.Iterations, e.Residual)
}

// Solve improves x[N] until the residual b − A·x, computed afresh, has at most tolerance times the
// norm of b. It returns the number of iterations, each of which is a product and a preconditioning.
// The error is a *ConvergenceError after most iterations, or where no progress is made.
func (g *GMRES) Solve(s System, x, b []float64, tolerance float64, most int) (iterations int, err error) {
	x, b = x[:g.n], b[:g.n]
	size := norm(b)
	if size == 0 {
		clear(x)
		return 0, nil
	}
	last := math.Inf(1)
	for {
		r := g.v[:g.n]
		s.Product(g.w, x)
		simd.Binary(simd.Sub, r, b, g.w)
		left := norm(r)
		if left <= float64(tolerance*size) {
			return iterations, nil
		}
		if iterations >= most || !(left < float64(0.9*last)) {
			return iterations, &ConvergenceError{Iterations: iterations, Residual: left / size}
		}
		last = left
		iterations += g.cycle(s, x, left, float64(tolerance*size), most-iterations)
	}
}

// Improve sets x[N] to a solution whose residual has about the tolerance times the norm of b, or what the iterations
// up to a restart come to. The residual is not computed.
func (g *GMRES) Improve(s System, x, b []float64, tolerance float64) {
	x, b = x[:g.n], b[:g.n]
	clear(x)
	if size := norm(b); size > 0 {
		copy(g.v, b)
		g.cycle(s, x, size, float64(tolerance*size), g.restart)
	}
}

// cycle improves x by up to most iterations. The residual is in the first vector of the basis and
// has norm left.
func (g *GMRES) cycle(s System, x []float64, left, enough float64, most int) int {
	n := g.n
	scale(g.v[:n], 1/left)
	clear(g.right)
	g.right[0] = left
	k := 0
	for k < min(g.restart, most) && math.Abs(g.right[k]) > float64(0.5*enough) {
		next := g.v[(k+1)*n:][:n]
		copy(g.w, g.v[k*n:])
		if s.Precondition != nil {
			s.Precondition(g.w)
		}
		s.Product(next, g.w)
		// Gram–Schmidt, twice.
		h, again, basis := g.h[k*(g.restart+1):], g.again[:k+1], g.v[:(k+1)*n]
		g.project(h[:k+1], next, basis)
		g.project(again, next, basis)
		for i, v := range again {
			h[i] += v
		}
		below := norm(next)
		g.rotate(h, below, k)
		k++
		if below == 0 {
			break
		}
		scale(next, 1/below)
	}
	y := g.again[:k]
	for i := k - 1; i >= 0; i-- {
		y[i] = g.right[i]
		for j := i + 1; j < k; j++ {
			y[i] = math.FMA(-g.h[j*(g.restart+1)+i], y[j], y[i])
		}
		if d := g.h[i*(g.restart+1)+i]; d != 0 {
			y[i] /= d
		} else {
			y[i] = 0
		}
	}
	simd.MatVecT(g.w, g.v, y, k, n, n, false)
	if s.Precondition != nil {
		s.Precondition(g.w)
	}
	simd.Binary(simd.Add, x, x, g.w)
	return k
}

// project takes from w its parts along the vectors of the basis, and sets h to these parts.
func (g *GMRES) project(h, w, basis []float64) {
	simd.MatVec(h, basis, w, len(h), g.n, g.n, false)
	scale(h, -1)
	simd.MatVecT(w, basis, h, len(h), g.n, g.n, true)
	scale(h, -1)
}

// rotate makes column k of the Hessenberg matrix one of R, where below is its last element.
func (g *GMRES) rotate(h []float64, below float64, k int) {
	for i := range k {
		a, b := h[i], h[i+1]
		h[i] = math.FMA(g.cos[i], a, float64(g.sin[i]*b))
		h[i+1] = math.FMA(g.cos[i], b, -float64(g.sin[i]*a))
	}
	c, s := 1.0, 0.0
	if r := elem.Hypot(h[k], below); r > 0 {
		c, s = h[k]/r, below/r
		h[k] = r
	}
	g.cos[k], g.sin[k] = c, s
	g.right[k], g.right[k+1] = float64(c*g.right[k]), float64(-s*g.right[k])
}

// norm returns the Euclidean norm.
func norm(x []float64) float64 { return math.Sqrt(simd.Dot(x, x)) }
