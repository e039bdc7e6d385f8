package sizes

import "math"

// Traces follows states that are small beside their absolute tolerance. Error control lets them change at will, and an
// implicit step turns growth within it into decay, so what is about to grow out of such a state would stay unseen.
// Where the options say so, the error of no state may be more than tracePart of it.
type Traces struct {
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

// Reset forgets the run before, of n states.
func (r *Traces) Reset(n int) {
	if r.off == nil {
		r.off = make([]bool, n)
	}
	clear(r.off)
	r.left, r.state, r.tried = traceSteps, -1, 0
}

// norm returns the largest error e[N] over tracePart of a state, of those states where abs, of all or of each, allows
// more. A state that is zero at the start of the step has no size yet.
func (r *Traces) norm(abs, y0, y1, e []float64) (most float64) {
	before := r.state
	for i, y := range y0 {
		size := math.Max(math.Abs(y), math.Abs(y1[i]))
		if y == 0 || float64(tracePart*size) >= abs[min(i, len(abs)-1)] || r.off[i] {
			continue
		}
		if x := math.Abs(e[i]) / float64(tracePart*size); x > most {
			most, r.state = x, i
		}
	}
	if r.state != before || most <= 1 {
		r.tried = 0
	}
	return most
}

// Also returns the larger one of norm and that of traces, for a step from y0 to y1 with the errors e and the absolute
// tolerances abs, and counts what it takes to follow them.
func (r *Traces) Also(abs, y0, y1, e []float64, norm float64) float64 {
	if r.left == 0 {
		return norm
	}
	most := r.norm(abs, y0, y1, e)
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
