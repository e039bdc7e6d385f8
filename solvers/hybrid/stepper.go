package hybrid

import (
	"errors"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
)

// stepper is the part of a Solver that makes steps and reads within them: the members of the method, the trial step,
// and what the sink lends for it.
type stepper struct {
	*problem
	*moment
	*told
	makers
	trials
	loan
	algebra algebra
	lane    *lane // where the run is made beside others; nil for one that is made alone
}

// makers make steps, and say how long they are.
type makers struct {
	method  solvers.Method
	present solvers.Method       // its member that makes the steps now
	solves  solvers.Implicit     // that member, where its steps solve equations; otherwise nil
	ctl     Controller           // nil in fixed-step mode
	members []solvers.Info       // of the method's members
	member  int                  // that makes the steps now
	info    solvers.Info         // of it
	worked  solvers.ImplicitWork // before this run
}

// trials are the steps of a Solver, and what is made of them.
type trials struct {
	trial, kept, spare *solvers.Step
	inner              []int     // sites within the trial step
	err                []float64 // [N+Q]
	work               []float64 // [2N+Q]
	yi                 []float64 // [N] a state within the trial step, or beside the present
}

func newStepper(of *problem, now *moment, told *told, method solvers.Method, ctl Controller) stepper {
	members, z := solvers.Members(method), of.size
	info := members[0].Info()
	s := stepper{
		problem: of, moment: now, told: told,
		makers: makers{method: method, ctl: ctl, info: info},
		trials: trials{
			trial: solvers.NewStep(info, z), err: make([]float64, z.N+z.Q), work: make([]float64, 2*z.N+z.Q),
			yi: make([]float64, z.N),
		},
	}
	for _, m := range members {
		s.members = append(s.members, m.Info())
	}
	return s
}

// makes makes a member of the method that which makes the steps to come.
func (s *stepper) makes(member int, by solvers.Method) {
	s.member, s.info, s.again, s.present = member, s.members[member], false, by
	s.solves, _ = by.(solvers.Implicit)
}

// newStep returns a step with room for the present member of the method.
func (s *stepper) newStep() *solvers.Step {
	st := solvers.NewStep(s.info, s.size)
	st.Member = s.member
	return st
}

// ready prepares st to be made by the present member of the method.
func (s *stepper) ready(st *solvers.Step) {
	if st.Member != s.member {
		s.hand(st)
	}
}

// hand hands st over to the present member of the method.
func (s *stepper) hand(st *solvers.Step) {
	st.Member = s.member
	if st == s.trial {
		s.reclaim(st, s.size.N+s.size.Q)
	}
	if n := (s.info.Stages + s.info.DenseStages) * (s.size.N + s.size.Q); len(st.K) < n {
		k := make([]float64, n)
		copy(k, st.K)
		st.K = k
	}
}

// interpolate writes to yi the states at a fraction of a step.
func (s *stepper) interpolate(tr *solvers.Step, theta float64) {
	s.lane.load()
	if !tr.Dense && theta > 0 && theta < 1 {
		s.stats.Evals += s.info.DenseStages
	}
	s.method.Interpolate(s.sys, tr, theta, s.yi)
}

// slope returns f(T1, Y1) if the step knows it.
func (s *stepper) slope(st *solvers.Step) []float64 {
	if e, w := s.info.End, s.size.N+s.size.Q; e >= 0 && (e < s.info.Stages || st.Dense) {
		return st.K[e*w : (e+1)*w]
	}
	return nil
}

// slopeAt returns f(T1, Y1) in any case: the rates of the states at the end of st. Those of algebraic unknowns are the
// slopes of the dense output.
func (s *stepper) slopeAt(st *solvers.Step) []float64 {
	if s.algebra.solves != nil {
		f := s.work[s.size.N:]
		if m, ok := s.present.(solvers.Interpolant); ok {
			m.InterpolateSlope(s.sys, st, 1, s.algebra.before, f[:s.size.N])
		}
		return f
	}
	if f := s.slope(st); f != nil {
		return f
	}
	f := s.work[s.size.N:]
	s.sys.Eval(st.T1, st.Y1, f)
	s.stats.Evals++
	return f
}

// fault returns why the equations of the last step had no solution, or nil.
func (s *stepper) fault() *solvers.MatrixError {
	var fault *solvers.MatrixError
	if s.solves != nil {
		errors.As(s.solves.Fault(), &fault)
	}
	return fault
}

// badStage returns the first stage whose derivative is not finite, or -1.
func (s *stepper) badStage(tr *solvers.Step) int {
	w := s.size.N + s.size.Q
	for i := range s.info.Stages {
		if !simd.Finite(tr.K[i*w : (i+1)*w]) {
			return i
		}
	}
	return -1
}

// retake makes the trial step with length h, in the spare step.
func (s *stepper) retake(h float64) *solvers.Step {
	tr, st := s.trial, s.spare
	st.T, st.H, st.T1, st.Y0 = tr.T, h, tr.T+h, tr.Y0
	if h == tr.H {
		st.T1 = tr.T1
	}
	s.ready(st)
	st.Again = tr.Member == st.Member && s.lane.made()
	w := s.size.N + s.size.Q
	copy(st.K[:w], tr.K[:w])
	s.method.Step(s.sys, st, true)
	s.stats.Evals += evals(&s.info, true)
	s.stats.Located++
	return st
}
