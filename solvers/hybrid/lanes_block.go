package hybrid

import (
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/lanes"
	"odes.dev/odes/solvers/matrices"
)

// Side returns how the steps of each member of the method can be made side by side; nil for members of which they
// cannot, and no forms if those of the first cannot.
func (s *Solver) Side() []*lanes.Form {
	if s.ctl == nil || s.opts.Fixed > 0 || s.tol.Kind != solvers.NormRMS || s.opts.Also != nil ||
		s.choice.turns > 0 || s.choice.orders || s.size.N == 0 || s.size.N > lanes.States {
		return nil
	}
	forms := make([]*lanes.Form, len(s.members))
	if forms[0] = s.side(s.choice.members[0]); forms[0] == nil {
		return nil
	}
	for i, m := range s.choice.members[1:] {
		if _, solves := m.(solvers.Implicit); solves && !s.opts.NoJacobian && !s.opts.Explicit {
			forms[1+i] = s.side(m)
		}
	}
	return forms
}

// side returns how steps of a member of the method can be made side by side; nil if they cannot.
func (s *Solver) side(m solvers.Method) *lanes.Form {
	switch m := m.(type) {
	case solvers.Arithmetical:
		return &lanes.Form{
			Arithmetic: m.Arithmetic(), Tolerance: &s.tol.Tolerance, Sized: s.tol.sizes != nil, Moves: s.moves(),
			Inside: s.sched.readsInside(), Errors: s.opts.Traces,
		}
	case matrices.SolvedArithmetical:
		if m.Prepare(s.sys) != nil {
			return nil
		}
		if whole, matrix := m.SolvedArithmetic(); matrix != nil {
			return &lanes.Form{
				Arithmetic: &whole.Arithmetic, Solved: whole, Matrix: matrix, Tolerance: &s.tol.Tolerance,
				Sized: s.tol.sizes != nil, Moves: s.moves(), Inside: s.sched.readsInside(),
				Errors: s.opts.Traces,
			}
		}
	}
	return nil
}

// moves reports whether some steps may end at times that depend on something.
func (s *Solver) moves() bool {
	return len(s.guards) > 0 || s.sched.moves
}
