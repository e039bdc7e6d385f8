package solvers

import "math"

// stiffness watches whether stability rather than accuracy holds the steps short.
type stiffness struct {
	method StiffnessDetector // nil where there is nothing to watch by
	since  int               // steps since the last look
	at     int               // looks that found the step at the limit of stability
	off    int               // looks since then that did not
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

// look reports whether the run looks stiff since the finished step st.
func (w *stiffness) look(st *Step) bool {
	if w.method == nil || w.found {
		return false
	}
	if w.since++; w.at == 0 && w.since < looksEvery {
		return false
	}
	w.since = 0
	rate := w.method.Eigenvalue(st)
	switch {
	case rate != rate:
	case float64(math.Abs(st.H)*rate) > float64(looksFactor*w.method.StabilityInterval()):
		w.at++
		w.off = 0
		w.rate = rate
	default:
		if w.off++; w.off >= looksRelax {
			w.at, w.off = 0, 0
		}
	}
	w.found = w.at >= looksStiff
	return w.found
}
