package linalg

import (
	"math"

	"odes.dev/odes/internal/simd"
)

// iterative stands in for a factorisation that has no room: it solves by GMRES with an incomplete factorisation as the
// preconditioner, until the residual is so small that the solution is as good as that of factors. Where GMRES does not
// get there, the solution is NaN: a step that asked for it cannot be made, and a shorter one has a matrix that is
// closer to the identity. Lanes follow each other.
type iterative struct {
	p       *Pattern
	ilu     Preconditioner
	gmres   *GMRES
	values  []float64
	x, b    []float64
	forward System
	back    System
}

const (
	// converged is the residual, relative to the right-hand side, of a solution that counts as exact: derivatives of a
	// step agree with its transpose to about this number.
	converged = 1e-14
	// enough is what is accepted where rounding prevents more.
	enough = 1e-11

	restart    = 60
	iterations = 1200
)

func newIterative(p *Pattern, ilu Preconditioner) *iterative {
	n := p.N
	f := &iterative{
		p: p, ilu: ilu, gmres: NewGMRES(n, restart), values: make([]float64, len(p.Rows)),
		x: make([]float64, n), b: make([]float64, n),
	}
	f.forward = System{
		Product:      func(y, x []float64) { p.Product(y, f.values, x, 1) },
		Precondition: func(x []float64) { ilu.Solve(x, 1) },
	}
	f.back = System{
		Product:      func(y, x []float64) { p.ProductT(y, f.values, x, 1) },
		Precondition: func(x []float64) { ilu.SolveT(x, 1) },
	}
	return f
}

func (f *iterative) Factor(values []float64) error {
	copy(f.values, values)
	return f.ilu.Factor(f.values)
}

func (f *iterative) Solve(x []float64, lanes int)  { f.solve(&f.forward, x, lanes) }
func (f *iterative) SolveT(x []float64, lanes int) { f.solve(&f.back, x, lanes) }

func (f *iterative) solve(s *System, x []float64, lanes int) {
	for a := range lanes {
		for i := range f.b {
			f.b[i] = x[i*lanes+a]
		}
		copy(f.x, f.b)
		s.Precondition(f.x)
		if _, err := f.gmres.Solve(*s, f.x, f.b, converged, iterations); err != nil && !(f.residual(s) <= enough) {
			for i := range f.x {
				f.x[i] = math.NaN()
			}
		}
		for i, v := range f.x {
			x[i*lanes+a] = v
		}
	}
}

// residual returns the norm of b - A·x, relative to that of b.
func (f *iterative) residual(s *System) float64 {
	r := f.gmres.w
	s.Product(r, f.x)
	simd.Binary(simd.Sub, r, f.b, r)
	return norm(r) / norm(f.b)
}

func (f *iterative) Order() *Order   { return nil }
func (f *iterative) SetOrder(*Order) {}

func (f *iterative) Kept() int { return len(f.values) }

func (f *iterative) Keep(to []float64) bool {
	copy(to, f.values)
	return true
}

func (f *iterative) Restore(from []float64) {
	copy(f.values, from)
	_ = f.ilu.Factor(f.values) // it could be factored before
}

func (f *iterative) Method() Method { return Iterative }
func (f *iterative) NonZeros() int  { return len(f.values) }
func (f *iterative) Flops() int     { return 2 * len(f.values) }
func (f *iterative) Memory() int    { return iterativeBytes(f.p) }

// iterativeBytes returns about how much memory an iterative solution takes.
func iterativeBytes(p *Pattern) int { return 40*len(p.Rows) + 8*p.N*(restart+8) }
