package hybrid

import (
	"odes.dev/odes/solvers"
)

// loan is what the sink lends a Solver.
type loan struct {
	lender    solvers.Lender // nil for none
	lent      bool           // K and Y1 of the trial step are the lender's
	own, ownY []float64      // those of the solver meanwhile
	away      bool           // Y0 of the trial step is the lender's
	home      []float64      // that of the solver meanwhile
	slopeAway []float64      // f(t, y) in memory of the lender; nil: in K of the trial step
}

// borrow moves the stages and the end of tr to memory of the sink. The slope at its start, of w numbers, comes along
// where it is fresh.
func (s *loan) borrow(tr *solvers.Step, w int, fresh bool) {
	y, k := s.lender.Lend(tr.Member)
	if k == nil {
		s.settleSlope(tr, fresh)
		return
	}
	if fresh && s.slopeAway != nil {
		copy(k[:w], s.slopeAway)
	} else if fresh {
		copy(k[:w], tr.K)
	}
	s.slopeAway = nil
	s.own, s.ownY = tr.K, tr.Y1
	tr.K, tr.Y1, s.lent = k, y, true
}

// reclaim moves the slope at the present, of w numbers, from stages that the sink lent to memory of the solver, and
// gives them back.
func (s *loan) reclaim(tr *solvers.Step, w int) {
	if s.lent {
		copy(s.own[:w], tr.K[:w])
		s.giveBack(tr)
	}
}

// giveBack moves tr to memory of the solver; the sink may now own the stages that it lent.
func (s *loan) giveBack(tr *solvers.Step) {
	if s.lent {
		tr.K, tr.Y1, s.lent = s.own, s.ownY, false
	}
}

// advance makes the end of tr the beginning of the next step, which it returns. f is the slope there, nil if it is not
// known. What the sink lent stays where it is and is read from there.
func (s *loan) advance(tr *solvers.Step, f []float64) []float64 {
	old, lent := tr.Y0, s.lent
	tr.Y0, tr.Y1 = tr.Y1, old
	if s.away {
		tr.Y1 = s.home
	} else if lent {
		s.home = old
	}
	s.away = lent
	s.giveBack(tr)
	s.slopeAway = nil
	switch {
	case f == nil:
	case lent:
		s.slopeAway = f
	default:
		copy(tr.K, f)
	}
	return tr.Y0
}

// settleSlope moves the slope at the start of tr, if it is fresh, to memory of the solver.
func (s *loan) settleSlope(tr *solvers.Step, fresh bool) {
	if s.slopeAway != nil && fresh {
		copy(tr.K, s.slopeAway)
	}
	s.slopeAway = nil
}

// settleState moves the present state y, at the start of tr, to memory of the solver, so that it can be changed. It
// returns where it is.
func (s *loan) settleState(tr *solvers.Step, y []float64) []float64 {
	if s.away {
		copy(s.home, y)
		tr.Y0, y, s.away = s.home, s.home, false
	}
	return y
}

// recall forgets what the sink of another run lent, and returns where the present state is.
func (s *loan) recall(tr *solvers.Step, y []float64) []float64 {
	s.giveBack(tr)
	s.slopeAway = nil
	if s.away {
		tr.Y0, y, s.away = s.home, s.home, false
	}
	return y
}
