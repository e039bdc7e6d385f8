package hybrid

import (
	"math"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
)

// stiffness watches whether stability rather than accuracy holds the steps short.
type stiffness struct {
	method solvers.StiffnessDetector // nil where there is nothing to watch by
	since  int                       // steps since the last look
	at     int                       // looks that found the step at the limit of stability
	off    int                       // looks since then that did not
	rate   float64
	found  bool
}

// As in DOPRI5, a run looks stiff after fifteen steps at the limit of stability that were not interrupted by six
// others. As long as no step is at the limit, only every tenth is looked at.
const (
	looksStiff  = 15
	looksRelax  = 6
	looksEvery  = 10
	looksFactor = 0.9 // of the method's reach
)

func (w *stiffness) reset() { *w = stiffness{method: w.method} }

// look reports whether the run looks stiff since the finished step st. What bounds the steps of a run knows better than
// the stages of one.
func (w *stiffness) look(st *solvers.Step, bound *spectrum) bool {
	if w.method == nil || w.found {
		return false
	}
	if bound.reach > 0 {
		w.count(bound.bound && simd.Finite([]float64{bound.rho}), bound.rho)
		return w.found
	}
	if w.since++; w.at == 0 && w.since < looksEvery {
		return false
	}
	w.since = 0
	rate := w.method.Eigenvalue(st)
	if rate-rate == 0 {
		w.count(float64(math.Abs(st.H)*rate) > float64(looksFactor*w.method.StabilityInterval()), rate)
	}
	return w.found
}

// reads reports whether look reads the stages of the next step.
func (w *stiffness) reads(bound *spectrum) bool {
	return !w.found && !(bound.reach > 0) && (w.at > 0 || w.since+1 >= looksEvery)
}

// count takes a look into account that found the step at the limit of stability, for an eigenvalue of that size, or
// not.
func (w *stiffness) count(at bool, rate float64) {
	if at {
		w.at++
		w.off, w.rate = 0, rate
	} else if w.off++; w.off >= looksRelax {
		w.at, w.off = 0, 0
	}
	w.found = w.at >= looksStiff
}
