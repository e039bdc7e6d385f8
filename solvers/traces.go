package solvers

import "math"

// traces follows states that are small beside their absolute tolerance. Error control lets them change at will, and an
// implicit step turns growth within it into decay, so what is about to grow out of such a state would stay unseen.
// Where the options say so, the error of no state may be more than tracePart of it.
type traces struct {
	left  int    // steps that it may hold short
	off   []bool // [N] states whose error does not come from the steps
	state int    // with the largest error of the last look
	tried int    // steps in succession that were rejected because of that state
}

const (
	tracePart  = 0.01
	traceSteps = 500 // a growth by the range of doubles takes a few hundred
	traceTries = 8   // then it is rounding
)

func (r *traces) reset(n int) {
	if r.off == nil {
		r.off = make([]bool, n)
	}
	clear(r.off)
	r.left, r.state, r.tried = traceSteps, -1, 0
}

// norm returns the largest error e[N] over tracePart of a state, of those states of s where tol allows more. A state
// that is zero at the start of the step has no size yet.
func (r *traces) norm(tol *Tolerance, s *Step, e []float64) (most float64) {
	before := r.state
	for i, y := range s.Y0 {
		size := largerSize(y, s.Y1[i])
		if y == 0 || float64(tracePart*size) >= tol.AbsOf(i) || r.off[i] {
			continue
		}
		if x := quotient(e[i], float64(tracePart*size)); x > most {
			most, r.state = x, i
		}
	}
	if r.state != before || most <= 1 {
		r.tried = 0
	}
	return most
}

// also returns the larger one of norm and that of traces, and counts what it takes to follow these.
func (r *traces) also(tol *Tolerance, s *Step, e []float64, norm float64) float64 {
	if r.left == 0 {
		return norm
	}
	most := r.norm(tol, s, e)
	if most <= norm {
		return norm
	}
	r.left--
	if most > 1 {
		if r.tried++; r.tried == traceTries {
			r.off[r.state] = true
			return norm
		}
	}
	return min(most, math.MaxFloat64)
}
