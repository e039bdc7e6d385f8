package sens

import (
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// Where a system has algebraic equations, its state is made consistent at the start and behind every body and change of
// modes: the last thing that such a mark does, with the discretes and modes of its right limit. So the tangent of a
// mark ends with matrices.Consistency.Push, and the transpose of one begins with Pull.

// consistencyOf returns what solves the algebraic equations of sys, of which there was a run, or nil.
func consistencyOf(sys any, lanes int) *matrices.Consistency {
	c, err := matrices.NewConsistency(sys, lanes)
	if err != nil {
		panic("sens: the run had consistent states: " + err.Error())
	}
	return c
}

// pullConsistent transposes the end of m.
func (s *sweep) pullConsistent(m *solvers.Mark) {
	if s.algebra != nil {
		s.visit(-1)
		s.algebra.Pull(s.sys.(matrices.CotangentJacobianField), m.T, m.Yp, s.yb, s.tb)
	}
}

// pushConsistent moves yd through the end of m, whose right limit the system has entered.
func (w *walk) pushConsistent(m *solvers.Mark, yd []float64) {
	if w.algebra != nil {
		w.algebra.Push(w.sys.(matrices.TangentJacobianField), m.T, m.Yp, w.td, yd)
	}
}

// pullConsistent transposes the end of s.mark, where the point moves by dot.
func (s *secondSweep) pullConsistent(dot *PointTangent) {
	if s.algebra != nil {
		t := [1]float64{s.mark.T}
		s.algebra.PullPush(s.sys.(matrices.SecondJacobianField), solvers.Dual{X: t[:], D: dot.T},
			solvers.Dual{X: s.mark.Yp, D: dot.Yp}, s.yb, s.tb)
	}
}

// consistent makes the present state of a replay consistent, as m was recorded.
func (r *replay) consistent(m *solvers.Mark, t complex128) {
	if r.algebra != nil {
		r.algebra.SolveComplex(r.System.(matrices.ComplexJacobianField), t, r.y, m.Yp)
	}
}
