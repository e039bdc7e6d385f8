package hybrid

import (
	"odes.dev/odes/solvers"
)

// borrow moves the stages and the end of tr to memory of the sink.
func (s *Solver) borrow(tr *solvers.Step) {
	y, k := s.lender.Lend(tr.Member)
	if k == nil {
		s.settleSlope()
		return
	}
	if w := s.size.N + s.size.Q; s.fresh && s.slopeAway != nil {
		copy(k[:w], s.slopeAway)
	} else if s.fresh {
		copy(k[:w], tr.K)
	}
	s.slopeAway = nil
	s.own, s.ownY = tr.K, tr.Y1
	tr.K, tr.Y1, s.lent = k, y, true
}

// reclaim moves the slope at the present from stages that the sink lent to memory of the solver, and gives them back.
func (s *Solver) reclaim(tr *solvers.Step) {
	if s.lent {
		w := s.size.N + s.size.Q
		copy(s.own[:w], tr.K[:w])
		s.giveBack(tr)
	}
}

// giveBack moves tr to memory of the solver; the sink may now own the stages that it lent.
func (s *Solver) giveBack(tr *solvers.Step) {
	if s.lent {
		tr.K, tr.Y1, s.lent = s.own, s.ownY, false
	}
}

// advance makes the end of tr the beginning of the next step. f is the slope there, nil if it is not known. What the
// sink lent stays where it is and is read from there.
func (s *Solver) advance(tr *solvers.Step, f []float64) {
	old, lent := tr.Y0, s.lent
	tr.Y0, tr.Y1 = tr.Y1, old
	if s.away {
		tr.Y1 = s.home
	} else if lent {
		s.home = old
	}
	s.away = lent
	s.y = tr.Y0
	s.giveBack(tr)
	s.slopeAway = nil
	switch {
	case f == nil:
	case lent:
		s.slopeAway = f
	default:
		copy(tr.K, f)
	}
}

// settleSlope moves the slope at the present to memory of the solver.
func (s *Solver) settleSlope() {
	if s.slopeAway != nil && s.fresh {
		copy(s.trial.K, s.slopeAway)
	}
	s.slopeAway = nil
}

// settleState moves the present state to memory of the solver, so that it can be changed.
func (s *Solver) settleState() {
	if s.away {
		copy(s.home, s.y)
		s.trial.Y0, s.y, s.away = s.home, s.home, false
	}
}

// recall forgets what the sink of another run lent.
func (s *Solver) recall() {
	s.giveBack(s.trial)
	s.slopeAway = nil
	if s.away {
		s.trial.Y0, s.y, s.away = s.home, s.home, false
	}
}
