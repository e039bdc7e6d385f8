package hybrid

import (
	"errors"
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// first prepares the step after the start or after a body: the field must be finite there, and the step size is
// chosen anew.
func (s *Solver) first() error {
	if !s.fresh {
		s.evaluate()
	}
	if w := s.size.N + s.size.Q; !simd.Finite(s.trial.K[:w]) && s.tol.opens() {
		s.evaluate()
	}
	if !simd.Finite(s.trial.K[:s.size.N+s.size.Q]) {
		return &solvers.NonFiniteError{Place: s.place(nil), What: "the right-hand side", Stage: 0}
	}
	if s.choice.orders && s.restart && s.member != 0 { // what comes may differ from what was
		s.use(0)
		s.stats.Changes++
		if s.ctl != nil {
			s.ctl.Reset(s.info)
		}
	}
	if s.restart && s.anyKink {
		s.watch.offKinks()
	}
	limit := s.sched.times[1] - s.t
	if s.restart {
		s.tol.starts(s, limit)
	}
	s.restart = false
	if s.opts.Fixed > 0 {
		s.h = s.opts.Fixed
		return nil
	}
	if s.h == 0 && s.opts.H0 > 0 {
		s.h = s.opts.H0
		return nil
	}
	if s.opts.HMax > 0 {
		limit = min(limit, s.opts.HMax)
	}
	s.trial.T = s.t
	h := s.initialStep(limit)
	s.stats.Evals++
	if s.solves != nil {
		// Where the state rests, its derivatives may not: no error control sees what decays fast in them.
		if rate := s.solves.Rate(s.sys, s.trial); float64(h*rate) > 1 && rate <= math.MaxFloat64 {
			h = 1 / rate
		}
		s.again = true
	}
	h = max(h, s.least(s.t))
	if s.h == 0 || h < s.h {
		s.h = h
	}
	return nil
}

// evaluate makes row 0 of the trial step f(t, y).
func (s *Solver) evaluate() {
	w := s.size.N + s.size.Q
	if s.sight.lagged != nil {
		s.sight.lagged.Over(s.t, s.t)
	}
	s.sys.Eval(s.t, s.y, s.trial.K[:w:w])
	s.stats.Evals++
	s.fresh = true
}

// least returns the smallest step that error control may take at t.
func (p *problem) least(t float64) float64 { return elem.AtLeast(float64(4*elem.ULP(t)), p.opts.HMin) }

// aim sets the length of the trial step towards stop, the next explicit time, and reports whether it ends there. The
// last two steps before stop get about the same length, so that no sliver is left.
func (s *Solver) aim(tr *solvers.Step, stop float64) (clipped bool) {
	left := stop - s.t
	tr.T = s.t
	if s.cut > 0 && s.cut < left {
		tr.H, tr.T1 = s.cut, s.t+s.cut
		return false
	}
	if s.opts.Fixed > 0 {
		// The k-th of equal steps ends at anchor + k h, so that rounding errors do not add up.
		end := math.FMA(float64(s.count+1), s.opts.Fixed, s.anchor)
		if end < stop && stop-end > float64(1e-6*s.opts.Fixed) {
			tr.H, tr.T1 = s.opts.Fixed, end
			return false
		}
		tr.H, tr.T1 = left, stop
		return true
	}
	most := s.bounds.longest
	if s.opts.HMax > 0 {
		most = min(most, s.opts.HMax)
	}
	h := elem.AtMost(s.h, most)
	if h >= left || (left < float64(1.01*h) && left <= most) {
		tr.H, tr.T1 = left, stop
		return true
	}
	if h > float64(0.5*left) {
		h = float64(0.5 * left)
	}
	tr.H, tr.T1 = h, s.t+h
	return false
}

const (
	// stiffRun is how many times longer than what decays fastest a run lasts that may become stiff.
	stiffRun = 1000
	// firstReach is how long the first step of such a run is at most, in such times. Where that decays at the start, no
	// other step has so large an error, and derivatives keep it.
	firstReach = 1.0 / 16
)

// opensStiff reports whether the next step is the first one of a run that may become stiff, and go over to implicit
// steps.
func (s *Solver) opensStiff() bool {
	return s.choice.kinds && !s.opts.Explicit && s.opts.Fixed == 0 && s.opts.H0 == 0 &&
		s.stats.Steps+s.stats.Rejected == 0 && float64(s.bounds.spectrum.rho*s.span) > stiffRun
}

// stay keeps the step that is aimed towards stop stable, if need be with another member of the method.
func (s *Solver) stay(stop float64) error {
	h := min(s.h, stop-s.t)
	if s.opts.HMax > 0 {
		h = min(h, s.opts.HMax)
	}
	if len(s.members) > 1 {
		h = s.wishes(stop)
	}
	if seen := s.stats.Events + s.stats.Switches; !s.bounds.spectrum.knows(h, seen) {
		s.lane.settle()
		if !s.fresh {
			s.evaluate()
			s.slopeAway = nil
		}
		f := s.slopeAway
		if f == nil {
			f = s.trial.K
		}
		s.stats.Evals += s.bounds.spectrum.look(s.t, h, s.y, f[:s.size.N], seen)
		if s.opensStiff() {
			s.h = max(min(s.h, firstReach/s.bounds.spectrum.rho), s.least(s.t))
			h = min(h, s.h)
		}
	}
	s.bounds.longest = max(s.bounds.spectrum.longest(h), s.least(s.t))
	if len(s.members) > 1 && s.choice.turns == 0 && !(s.choice.kinds && s.opts.Fixed > 0) {
		if err := s.choose(h); err != nil {
			return err
		}
		s.bounds.longest = max(s.choice.stable(s.member, h, &s.bounds.spectrum), s.least(s.t))
	}
	return nil
}

// judge decides whether the trial step is accepted, and the length of the next one.
func (s *Solver) judge(tr *solvers.Step) (ok bool, err error) {
	if s.opts.Fixed > 0 {
		if !simd.Finite(tr.Y1) || !simd.Finite(tr.DQ) {
			if s.tol.opens() {
				return false, nil
			}
			return false, s.badStep(tr)
		}
		if strays(s) {
			return false, rejoin(s, tr)
		}
		return true, nil
	}
	s.method.Error(tr, s.err)
	norm := s.tol.Norm(tr, s.err)
	return s.decide(tr, norm)
}

// decide is judge for a step of adaptive length whose error has this norm, that of the states.
func (s *Solver) decide(tr *solvers.Step, norm float64) (ok bool, err error) {
	norm = s.overall(tr, norm)
	if norm <= 1 && strays(s) {
		return false, rejoin(s, tr)
	}
	if norm <= 1 && outgrown(s, tr) {
		return false, s.reject(float64(shorter*tr.H), false)
	}
	ok, next := s.ctl.Judge(tr.H, norm)
	return s.decided(tr, norm, ok, next)
}

// overall returns the norm of the error of the trial step, where that of the states has this norm.
func (s *Solver) overall(tr *solvers.Step, norm float64) float64 {
	if !simd.Finite(tr.DQ) {
		norm = math.NaN()
	}
	if norm <= 1 && len(s.integrals.count) > 0 {
		if also := s.integrals.norm(tr, s.err, s.span, s.sight.near); !(also <= norm) {
			norm = also
		}
	}
	if s.opts.Traces && norm <= 1 {
		norm = s.traces.Also(s.tol.Abs, tr.Y0, tr.Y1, s.err, norm)
	}
	if s.opts.Also != nil && norm <= 1 {
		if also := s.opts.Also(tr); also != also || also > norm {
			norm = also
		}
	}
	return norm
}

// decided notes what the controller said of the trial step: whether it is accepted, and the length to try next.
func (s *Solver) decided(tr *solvers.Step, norm float64, ok bool, next float64) (bool, error) {
	if ok {
		s.drift(tr)
	}
	if s.choice.orders && ok {
		s.choice.judged = true
		s.choice.shrinks = s.present.(contracting).Contraction()
	}
	if s.solves != nil && ok {
		s.choice.refused = nil
	}
	if len(s.members) > 1 && ok {
		s.choice.made = madeStep{tr.H, norm, 1 + min(s.info.Order, s.info.Embedded)}
	}
	if !ok {
		return false, s.reject(next, norm != norm || norm > math.MaxFloat64)
	}
	if tr.H >= s.h || next < tr.H {
		s.h = next
	} else {
		// A step that was cut short to meet a time says little against the length chosen before.
		s.h = max(next, s.h)
	}
	// Where errors shrink faster than steps, as those of implicit methods do before a pole, no step is rejected.
	s.h = elem.AtLeast(s.h, s.least(s.t))
	return true, nil
}

// reject rejects the trial step; it will be tried with length h. If bad, something was not finite.
func (s *Solver) reject(h float64, bad bool) error {
	s.stats.Rejected++
	s.tol.rejected(s, bad)
	var fault *solvers.MatrixError
	if bad {
		fault = s.fault()
		s.choice.judged, s.choice.failed = true, true
	}
	switch {
	case fault != nil && s.without(fault, h):
		s.stats.NotFinite++
	case fault != nil && fault.Kind == solvers.MatrixTooLarge:
		return fault
	case fault != nil && fault.Kind == solvers.MatrixNotFinite && !fault.Overflow: // it is so however short the step
		return &solvers.NonFiniteError{
			Place: s.place(s.trial), What: "a derivative of the right-hand side", Stage: -1, Matrix: fault,
		}
	case fault != nil && (fault.Kind == solvers.MatrixSingular || fault.Kind == solvers.MatrixDiverged):
		s.stats.Singular++
	case bad:
		s.stats.NotFinite++
	}
	if h < s.least(s.t) && bad && s.tol.opens() { // what the length was found by were rates that have no value
		s.h, s.cut, s.restart, s.again, s.fresh = 0, 0, true, false, false
		return nil
	}
	if h < s.least(s.t) {
		var unsolved *matrices.ConsistencyError
		if bad && s.solves != nil && errors.As(s.solves.Fault(), &unsolved) {
			unsolved.Place = s.place(s.trial)
			return unsolved
		}
		e := &solvers.StepUnderflowError{
			Place: s.place(s.trial), HMin: s.least(s.t), NonFinite: bad, Stage: -1,
			Matrix: fault,
		}
		if bad {
			e.Stage = s.badStage(s.trial)
		}
		return e
	}
	s.h, s.cut, s.again = h, 0, true
	return nil
}

// badStep is the error of a step of fixed length that is not finite.
func (s *Solver) badStep(tr *solvers.Step) error {
	return &solvers.NonFiniteError{
		Place: s.place(tr), What: "a step of fixed length", Stage: s.badStage(tr), Matrix: s.fault(),
	}
}

// aimed aims the trial step towards stop, the next explicit time, and reports whether it ends there. What is read of
// the past may make it end before.
func aimed(s *Solver, tr *solvers.Step, stop float64) (clipped bool, err error) {
	past := s.sight.lagged
	if past == nil {
		return s.aim(tr, stop), nil
	}
	longest, at, err := past.Next(s.t, s.opts.Fixed, s.least(s.t))
	if err != nil {
		return false, err
	}
	s.h = min(s.h, longest)
	before := at < stop && at < stop-s.eventTol(stop, 0)
	if before {
		stop = at
	}
	clipped = s.aim(tr, stop) && !before
	past.Over(tr.T, tr.T1)
	return clipped, nil
}

// remade reports whether the trial step is to be made again: it passes over something, or reads what is not smooth.
func remade(s *Solver, tr *solvers.Step) bool {
	if s.sight.narrow != nil && s.sight.passes(s) {
		return true
	} else if s.sight.lagged == nil {
		return false
	}
	h, again := s.sight.lagged.Cut(tr)
	if again && h > 0 {
		s.cut = max(h, s.least(s.t))
	}
	return again
}

// evals returns how many right-hand sides a step evaluates where row 0 of K is known, or is not.
func evals(i *solvers.Info, reuse bool) int {
	n := i.Evals
	if i.FSAL {
		n++
	}
	if reuse {
		n--
	}
	return n
}

// passes accepts the trial step, at whose end nothing happens but what a jump makes true that comes back of the past.
func passes(s *Solver) error {
	if s.sched.site() >= 0 { // seldom, and within is not inlined
		s.within(false)
	}
	if err := s.accept(solvers.End{}); err != nil || !s.sight.turned {
		return err
	}
	s.sight.lagged.Over(s.t, s.t)
	s.opens()
	if err := s.rearm(); err != nil {
		return err
	}
	for i := range s.guards { // Choose is still to make it false
		if g := &s.guards[i]; g.Event < 0 && !g.Watch && !g.Kink && s.truth[i] {
			s.starting = append(s.starting, i)
		}
	}
	for _, m := range s.wave {
		s.starting = append(s.starting, m.guard)
	}
	if len(s.starting) == 0 {
		return nil
	}
	return s.meet(false)
}
