package sens

import (
	"odes.dev/odes/solvers"
)

// past is a system that reads the past of a run: see solvers.Lagged.
type past interface {
	Over(t, t1 float64)
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
	// Jump adds the cotangent of the time at which the state jumped behind step after to tb[L].
	Jump(after int, tb []float64)
	// Initial adds the cotangents of the initial state to yb[N·L].
	Initial(yb []float64)
}

// over tells a system that reads the past that it is differentiated along st.
func over(sys any, st *solvers.Step) {
	if r, ok := sys.(past); ok && st.H > 0 {
		r.Over(st.T, st.T1)
	}
}

// behind tells a system that reads the past that marks behind step i are differentiated: what they read of the past is
// what the end of that step reads.
func (s *sweep) behind(i int) error {
	if _, reads := s.sys.(PastPuller); !reads {
		return nil
	}
	for ; i >= 0; i-- { // steps without length read what those before them do
		if _, err := s.read.Load(i, &s.step); err != nil {
			return err
		}
		if s.step.H > 0 {
			over(s.sys, &s.step)
			break
		}
	}
	return nil
}

// sow makes s.dense step i where the past was read in it, with what was read; else it reports false.
func (s *sweep) sow(i int) (sown bool, err error) {
	reads, ok := s.sys.(PastPuller)
	if !ok {
		return false, nil
	}
	if _, err := s.interpolant(i); err != nil {
		return false, err
	}
	return reads.Sow(i, &s.dense, s.method), nil
}
