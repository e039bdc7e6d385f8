package rosenbrock

import (
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// describe fills in the arithmetic of the scheme's steps.
func (r *rosenbrockScheme) describe() {
	forms := func(list []stages.Form) (out []solvers.Terms) {
		for _, t := range list {
			out = append(out, solvers.Terms{Row: t.Row, C: t.C})
		}
		return out
	}
	r.whole = matrices.SolvedArithmetic{
		Arithmetic: solvers.Arithmetic{
			Stages: 1 + r.stages, FSAL: r.info.FSAL, Nodes: r.alpha, A: forms(r.a), B: solvers.Terms{
				Row: r.m.Row,
				C:   r.m.C,
			},
			E: solvers.Terms{Row: r.e.Row, C: r.e.C}, At: forms(r.at), Sum: solvers.Terms{
				Row: r.total.Row,
				C:   r.total.C,
			},
		},
		Inverse: r.inverse, Gamma: r.gamma, Gammas: r.gammas, Same: r.same, C: forms(r.c), Ct: forms(r.ct),
		Omega: r.omega,
	}
	stages.FillSamples(&r.whole.Arithmetic, r.Beta, r.Rows, r.info.DenseOrder)
}

// Sampling implements Sampling.
func (r *rosenbrock) Sampling(solvers.Field, *solvers.Step) *solvers.Arithmetic {
	return &r.whole.Arithmetic
}

// makeWhole makes the step as a whole, if f can. It reports whether it did.
func (r *rosenbrock) makeWhole(f solvers.Field, s *solvers.Step, reuse bool) bool {
	g, ok := f.(matrices.SolvingStepper)
	if !ok || r.plan == nil || r.plan.Matrix == nil || g.Jacobian() != r.jac ||
		!g.MakeSolvedStep(&r.whole, r.plan.Matrix, s, reuse, &r.left) {
		return false
	}
	r.fault = nil
	r.note(s, true)
	if !s.Again {
		r.work.Jacobians++
	}
	r.work.Factorisations++
	r.work.Solves += r.stages
	return true
}

// SolvedArithmetic implements SolvedArithmetical.
func (r *rosenbrock) SolvedArithmetic() (*matrices.SolvedArithmetic, *matrices.StepMatrix) {
	return &r.whole, r.plan.Matrix
}

// Exchanged implements SolvedArithmetical.
func (r *rosenbrock) Exchanged() []float64 {
	if r.fault != nil {
		return nil
	}
	return r.left.Kept[r.plan.Matrix.Kept:]
}

// pullWhole pulls the step as a whole, with what was kept of it, if f can. It reports whether it did.
func (r *rosenbrock) pullWhole(f solvers.Field, s *solvers.Step, c *solvers.StepCotangent, kept []float64) bool {
	g, ok := f.(matrices.SolvingStepPuller)
	if !ok || r.Prepare(f) != nil || r.plan.Matrix == nil ||
		!g.PullSolvedStep(&r.whole, r.plan.Matrix, s, c, kept) {
		return false
	}
	r.work.Solves += r.stages
	return true
}

// pullRefactored is pullWhole for the factors that were just made.
func (r *rosenbrock) pullRefactored(f solvers.Field, s *solvers.Step, c *solvers.StepCotangent) bool {
	to := r.left.Kept
	return to != nil && r.lu.Keep(to) && r.pullWhole(f, s, c, append(to, r.j...))
}
