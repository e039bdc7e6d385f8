package linalg

import (
	"math"

	"odes.dev/odes/internal/base/simd"
)

// Inexact is an LU that may have no factors, and then solves by iteration, as far as it is asked to.
type Inexact interface {
	LU
	// Exact reports whether the last Factor made factors.
	Exact() bool
	// SolveTo is Solve with an error of about the tolerance times the solution.
	SolveTo(x []float64, lanes int, tolerance float64)
}

// Spreading is an LU whose solutions take longer, the farther apart the eigenvalues of the matrix are.
type Spreading interface {
	LU
	// Dearer returns how many times as long as LU.Work says, where the largest is so many times the smallest.
	Dearer(spread float64) float64
}

// iterative stands in for a factorisation that has no room. Where the diagonal of the matrix does not dominate, it
// solves by GMRES with an incomplete factorisation as the preconditioner, until the residual is so small that the
// solution is as good as that of factors. Where GMRES does not get there, the solution is NaN: a step that asked for it
// cannot be made, and a shorter one has a matrix that is closer to the identity. Lanes follow each other.
type iterative struct {
	easy    *dominated
	mild    bool // easy solves
	ilu     *incomplete
	gmres   *GMRES
	x, b    []float64
	forward System
	back    System
}

// iterativePlan is what the pattern alone decides.
type iterativePlan struct {
	p    *Pattern
	ilu  *incompletePlan
	runs *diagonals
}

const (
	// converged is the residual, relative to the right-hand side, of a solution that counts as exact: derivatives of a
	// step agree with its transpose to about this number.
	converged = 1e-14
	// enough is what is accepted where rounding prevents more.
	enough = 1e-11

	restart    = 60
	iterations = 1200

	// usualIterations solve the equations of a step of diffusion on a grid, and spreadIterations times the root of the
	// spread of eigenvalues do where that is known: it was 4.4 to 5.3 on cubes of 20³ to 64³ cells, for spreads of 3
	// to 130.
	usualIterations  = 25
	spreadIterations = 5
)

func newIterativePlan(p *Pattern) (*iterativePlan, error) {
	ilu, err := newIncompletePlan(p, math.MaxInt)
	if err != nil {
		return nil, err
	}
	return &iterativePlan{p: p, ilu: ilu, runs: newDiagonals(p)}, nil
}

func newIterative(plan *iterativePlan) *iterative {
	n := plan.p.N
	f := &iterative{
		easy: newDominated(plan.p, plan.runs), ilu: plan.ilu.new(), gmres: NewGMRES(n, restart),
		x: make([]float64, n), b: make([]float64, n),
	}
	f.forward = System{Product: f.easy.product, Precondition: func(x []float64) { f.ilu.Solve(x, 1) }}
	f.back = System{Product: f.easy.productT, Precondition: func(x []float64) { f.ilu.SolveT(x, 1) }}
	return f
}

func (f *iterative) Factor(values []float64) error {
	values = values[:len(f.easy.values)]
	if _, finite := largest(values); !finite {
		return f.easy.p.notFinite(values)
	}
	if f.mild = f.easy.take(values); f.mild {
		return nil
	}
	f.easy.hold(values)
	return f.ilu.Factor(values)
}

func (f *iterative) Solve(x []float64, lanes int)  { f.solve(&f.forward, x, lanes, 0) }
func (f *iterative) SolveT(x []float64, lanes int) { f.solve(&f.back, x, lanes, 0) }

func (f *iterative) SolveTo(x []float64, lanes int, tolerance float64) {
	f.solve(&f.forward, x, lanes, tolerance)
}

// Exact implements Inexact.
func (f *iterative) Exact() bool { return false }

// solve solves to about the tolerance, and, where that is 0, as well as factors would.
func (f *iterative) solve(s *System, x []float64, lanes int, tolerance float64) {
	if f.mild {
		f.easy.solve(x, lanes, s == &f.back, max(tolerance, exactly))
		return
	}
	for a := range lanes {
		for i := range f.b {
			f.b[i] = x[i*lanes+a]
		}
		copy(f.x, f.b)
		s.Precondition(f.x)
		if tolerance > 0 {
			f.gmres.Improve(*s, f.x, f.b, tolerance)
		} else if _, err := f.gmres.Solve(*s, f.x, f.b, converged, iterations); err != nil {
			if !(f.residual(s) <= enough) {
				for i := range f.x {
					f.x[i] = math.NaN()
				}
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

func (f *iterative) Kept() int { return len(f.easy.values) }

func (f *iterative) Keep(to []float64) bool {
	f.easy.give(to)
	return true
}

func (f *iterative) Restore(from []float64) { _ = f.Factor(from) } // it could be factored before

func (f *iterative) Method() Method { return Iterative }
func (f *iterative) NonZeros() int  { return len(f.easy.values) }
func (f *iterative) Flops() int     { return 2 * len(f.easy.values) }

// Work implements LU.
func (f *iterative) Work() (factor, solve int) { return f.Flops(), f.work(usualIterations) }

// work returns the operations of so many iterations. Each makes a product, a solution with the incomplete factors, and
// takes its parts along the vectors before it, of which there are half as many as since a restart on average, from the
// new one twice.
func (f *iterative) work(iterations int) int {
	return iterations * (4*f.NonZeros() + 4*min(iterations, restart)*f.easy.p.N)
}

// Dearer implements Spreading. By the bound for symmetric matrices, the iterations grow like the root of the spread.
func (f *iterative) Dearer(spread float64) float64 {
	needed := min(spreadIterations*math.Sqrt(max(spread, 1)), iterations)
	return float64(f.work(int(needed))) / float64(f.work(usualIterations))
}

func (f *iterative) Memory() int { return iterativeBytes(f.easy.p) }

// iterativeBytes returns about how much memory an iterative solution takes.
func iterativeBytes(p *Pattern) int { return 48*len(p.Rows) + 8*p.N*(restart+12) }
