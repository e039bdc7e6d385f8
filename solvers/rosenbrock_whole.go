package solvers

// describe fills in the arithmetic of the scheme's steps.
func (r *rosenbrockScheme) describe() {
	forms := func(list []terms) (out []Terms) {
		for _, t := range list {
			out = append(out, Terms{t.row, t.c})
		}
		return out
	}
	r.whole = SolvedArithmetic{
		Arithmetic: Arithmetic{
			Stages: 1 + r.stages, FSAL: r.info.FSAL, Nodes: r.alpha, A: forms(r.a), B: Terms{r.m.row, r.m.c},
			E: Terms{r.e.row, r.e.c}, At: forms(r.at), Sum: Terms{r.total.row, r.total.c},
		},
		Inverse: r.inverse, Gamma: r.gamma, Gammas: r.gammas, Same: r.same, C: forms(r.c), Ct: forms(r.ct),
		Omega: r.omega,
	}
	r.whole.sample(r.beta, r.dps, r.info.DenseOrder)
}

// Sampling implements Sampling.
func (r *rosenbrock) Sampling(Field, *Step) *Arithmetic { return &r.whole.Arithmetic }

// makeWhole makes the step as a whole, if f can. It reports whether it did.
func (r *rosenbrock) makeWhole(f Field, s *Step, reuse bool) bool {
	g, ok := f.(SolvingStepper)
	if !ok || r.plan == nil || r.plan.matrix == nil || g.Jacobian() != r.jac ||
		!g.MakeSolvedStep(&r.whole, r.plan.matrix, s, reuse, &r.left) {
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

// exchanged returns the exchanges of rows of the last step, as LU.Keep writes them.
func (r *rosenbrock) exchanged() []float64 { return r.left.Kept[r.plan.matrix.Kept:] }

// pullWhole pulls the step as a whole, with what was kept of it, if f can. It reports whether it did.
func (r *rosenbrock) pullWhole(f Field, s *Step, c *StepCotangent, kept []float64) bool {
	g, ok := f.(SolvingStepPuller)
	if !ok || r.Prepare(f) != nil || r.plan.matrix == nil ||
		!g.PullSolvedStep(&r.whole, r.plan.matrix, s, c, kept) {
		return false
	}
	r.work.Solves += r.stages
	return true
}

// pullRefactored is pullWhole for the factors that were just made.
func (r *rosenbrock) pullRefactored(f Field, s *Step, c *StepCotangent) bool {
	to := r.left.Kept
	return to != nil && r.lu.Keep(to) && r.pullWhole(f, s, c, append(to, r.j...))
}
