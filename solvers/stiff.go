package solvers

import "math"

// Gauged is a Method that can tell stiffness from what its steps compute anyway.
type Gauged interface {
	Method
	// Reach returns the length of the interval on the negative real axis where the method is stable.
	Reach() float64
	// Rate estimates the largest eigenvalue of ∂f/∂y from the finished step s; NaN when the step does not tell.
	Rate(s *Step) float64
}

// Reach implements Gauged.
func (r *RungeKutta) Reach() float64 { return r.reach }

// Rate is ‖k_i - k_j‖/‖Y_i - Y_j‖ for two stages at one node: the difference of
// their values lies along the fastest mode (Hairer, Wanner, Solving Ordinary Differential Equations II, section IV.2).
func (r *RungeKutta) Rate(s *Step) float64 {
	i, j := r.pair[0], r.pair[1]
	if i == j {
		return math.NaN()
	}
	if r.other == nil {
		r.other = make([]float64, r.n)
	}
	copy(r.other, r.value(s, j))
	var num, den float64
	for k, y := range r.value(s, i) {
		dk, dy := s.K[i*r.w+k]-s.K[j*r.w+k], y-r.other[k]
		num = math.FMA(dk, dk, num)
		den = math.FMA(dy, dy, den)
	}
	return math.Sqrt(num / den)
}

// gauge finds the reach of the scheme and the last two stages at one node.
func (r *scheme) gauge() {
	for i := range r.info.Stages {
		for j := 1; j < i; j++ {
			if r.c[i] == r.c[j] {
				r.pair = [2]int{i, j}
			}
		}
	}
	// The growth of y' = -x y over a step of length 1.
	y := make([]float64, r.info.Stages)
	along := func(t *terms, x float64) float64 {
		sum := 0.0
		for k, i := range t.row {
			sum = math.FMA(t.c[k], y[i], sum)
		}
		return math.FMA(-x, sum, 1)
	}
	stable := func(x float64) bool {
		for i := range y {
			y[i] = along(&r.a[i], x)
		}
		return math.Abs(along(&r.b, x)) <= 1
	}
	for {
		next := r.reach + max(1.0/64, r.reach/256)
		if !stable(next) {
			return
		}
		r.reach = next
	}
}

// stiffness watches whether stability rather than accuracy holds the steps short.
type stiffness struct {
	method Gauged // nil where there is nothing to watch by
	since  int    // steps since the last look
	at     int    // looks that found the step at the limit of stability
	off    int    // looks since then that did not
	rate   float64
	found  bool
}

// As in DOPRI5: fifteen steps at the limit, not interrupted by six others, look
// stiff. As long as none is, every tenth step is looked at.
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
	rate := w.method.Rate(st)
	switch {
	case rate != rate:
	case float64(math.Abs(st.H)*rate) > float64(looksFactor*w.method.Reach()):
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
