package sens

import (
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// past is a system that reads the past of a run: see solvers.Lagged.
type past interface {
	Over(t, t1 float64)
	// Follows reports whether the end of step i moves with what comes back of the past.
	Follows(i int) bool
}

// PastPusher is a TangentSystem that reads the past of a run. It keeps the tangents of steps, for what reads them
// later.
type PastPusher interface {
	past
	// Begins takes the tangents of the initial state.
	Begins(yd []float64)
	// LeapPush adds to the tangents yd[N·L] of the state y at t, which moves by td[L], and to fd of the quadratures,
	// what comes of it that a jump which is read there comes at another time.
	LeapPush(t float64, y, td, yd, fd []float64)
	// Keep takes step i, s, whose last Push was with d.
	Keep(i int, f solvers.TangentField, m solvers.Method, s *solvers.Step, d *solvers.StepTangent)
	// EndPush makes td[L] the tangent of the time at which step i ends, where that moves with what comes back of the
	// past. It reports whether it does.
	EndPush(i int, td []float64) bool
	// Jumped takes the tangent of the time at which the state jumped behind step after.
	Jumped(after int, td []float64)
}

// PastPuller is a CotangentSystem that reads the past of a run. It gathers the cotangents of steps that later ones
// read.
type PastPuller interface {
	past
	// LeapPull transposes LeapPush: yb[N·L] and fb, cotangents of the quadratures, stay as they are. It adds to tb[L].
	LeapPull(t float64, y, yb, fb, tb []float64)
	// Sow adds what was read of step i to what the next Pull of m, that of s, takes in. It reports whether that is any.
	Sow(i int, s *solvers.Step, m solvers.Method) bool
	// EndPull transposes EndPush, and Ended adds to tb[L] what came of it, that of the end of step i, -1 for the start.
	EndPull(i int, hb []float64)
	Ended(i int, tb []float64)
	// Jump adds the cotangent of the time at which the state jumped behind step after to tb[L].
	Jump(after int, tb []float64)
	// Initial adds the cotangents of the initial state to yb[N·L].
	Initial(yb []float64)
}

// PastPullPusher is a SecondSystem that reads the past of a run: a PastPusher, the ends of whose steps move with all
// that comes back of the past, and what PastPuller says together with its tangents.
type PastPullPusher interface {
	PastPusher
	SowSecond(i int, s *solvers.Step, m solvers.Method) bool
	EndPullPush(i int, hb solvers.Dual)
	// EndedSecond adds to tb, the cotangent of the time at which step i ends, what came of that. yb and fb are those of
	// states and functionals there.
	EndedSecond(i int, yb, fb, tb solvers.Dual)
	JumpSecond(after int)
	InitialSecond(yb solvers.Dual)
	// RootOf returns the guard at whose root step i ends, beside those that the run recorded. It belongs to a delay
	// that moves, which comes to read what is behind a jump or a kink there. Roots returns how many such steps there
	// are.
	RootOf(i int) (guard int, is bool)
	Roots() int
	// TwoSided reports after a sweep whether the direction of a lane moves stops apart that meet, so that second
	// derivatives have two sides, and when.
	TwoSided(lane int) (t float64, is bool)
}

// ComplexPast is a ComplexSystem that reads the past of the run that it repeats.
type ComplexPast interface {
	// Begins takes the time of the start, and the state and the discretes there.
	Begins(t complex128, y, d []complex128)
	// Repeats tells that what is evaluated next belongs to step s of the recorded run, where discretes and modes were d
	// and m, which is repeated as as.
	Repeats(s *solvers.Step, d, m []float64, as *solvers.ComplexStep)
	// Leap adds to the state y at t, where the step begins, and to the quadratures f what comes of it that jumps come
	// back at another time than in the recorded run.
	Leap(t complex128, y, f []complex128)
	// EndOf returns where step i ends, if that moves with what comes back of the past.
	EndOf(i int) (t complex128, follows bool)
	// Repeated takes the step when it is made.
	Repeated(s *solvers.ComplexStep)
	// Sets takes the discretes that marks behind step after have set, and the time of that.
	Sets(after int, t complex128, d []complex128)
}

// over tells a system that reads the past that it is differentiated along st.
func over(sys any, st *solvers.Step) {
	if r, ok := sys.(past); ok && st.H > 0 {
		r.Over(st.T, st.T1)
	}
}

// behind tells a system that reads the past that marks behind step i are differentiated: what they read of the past is
// what the end of that step reads.
func (s *sweep) behind(i int) error { return behind(s.sys, &s.read, &s.step, i) }

func behind(sys any, read *record.Reader, st *solvers.Step, i int) error {
	if _, reads := sys.(past); !reads {
		return nil
	}
	for ; i >= 0; i-- { // steps without length read what those before them do
		if _, err := read.Load(i, st); err != nil {
			return err
		}
		if st.H > 0 {
			over(sys, st)
			break
		}
	}
	return nil
}

// endOf returns how step i ends where sys is differentiated.
func endOf(sys any, run *record.Trajectory, i int) solvers.End {
	e := run.End(i)
	if past, ok := sys.(PastPullPusher); ok && e.Kind == solvers.EndFree {
		if guard, is := past.RootOf(i); is {
			return solvers.End{Kind: solvers.EndRoot, Index: guard}
		}
	}
	return e
}

// sow makes s.dense step i where the past was read in it, with what was read; else it reports false.
func (s *sweep) sow(i int) (sown bool, err error) {
	reads, ok := s.sys.(PastPuller)
	if !ok {
		return false, nil
	}
	fresh, err := s.loadDense(i)
	if err != nil {
		return false, err
	}
	if fresh {
		s.moved.clear()
	}
	return reads.Sow(i, &s.dense, s.method), nil
}
