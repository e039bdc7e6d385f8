package steady

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"odes.dev/odes/solvers"
)

// swings watches for states that swing to and fro without coming to rest.
type swings struct {
	last   []swing
	recent []recent
	begun  bool
	length float64
}

// swing is what is known of one state: the times of its last maxima, and how far it went between them.
type swing struct {
	times, heights []float64
}

// recent is what each step looks at of a state, and writes.
type recent struct {
	before float64 // the value a step ago
	low    float64 // since the last maximum
	rising bool
}

// cycles is how many swings must be alike.
const cycles = 8

func newSwings(n int) *swings {
	return &swings{last: make([]swing, n), recent: make([]recent, n)}
}

func (w *swings) reset() {
	w.begun = false
	for i := range w.last {
		w.last[i], w.recent[i].low = swing{}, 0
	}
}

// errSwings tells which states swing, and how.
type errSwings struct {
	states []int
	period float64
}

func (errSwings) Error() string { return "the states swing" }

// step looks at the end of a step. The error is errSwings.
func (w *swings) step(st *solvers.Step, far []float64) error {
	var found []int
	period := 0.0
	begins := st.Y0[:len(w.recent)]
	for i, y := range st.Y1[:len(w.recent)] {
		r := &w.recent[i]
		rises := y > begins[i]
		if r.rising && !rises && w.begun {
			// The top of the parabola through the last three points.
			top, at := peak(r.before, begins[i], y, st.T-w.length, st.T, st.T1)
			s := &w.last[i]
			s.times, s.heights = append(s.times, at), append(s.heights, top-r.low)
			if len(s.times) > cycles+1 {
				s.times, s.heights = s.times[1:], s.heights[1:]
			}
			if p, ok := s.regular(far[i]); ok {
				found, period = append(found, i), p
			}
			r.low = y
		}
		if y < r.low {
			r.low = y
		}
		r.rising, r.before = rises, begins[i]
	}
	w.begun, w.length = true, st.H
	if found == nil {
		return nil
	}
	slices.SortStableFunc(found, func(a, b int) int {
		return -cmp.Compare(w.last[a].size(far[a]), w.last[b].size(far[b]))
	})
	return errSwings{found, period}
}

func (s *swing) size(far float64) float64 { return s.heights[len(s.heights)-1] / far }

// regular returns the period of a state whose last swings were alike.
func (s *swing) regular(far float64) (period float64, ok bool) {
	const (
		alike = 1e-2 // periods and heights
		fades = 1e-3 // of the height, over all swings
		slack = 1e-3 // of the state's size: smaller swings may be errors of the run
	)
	n := len(s.times)
	if n < cycles+1 {
		return 0, false
	}
	period = (s.times[n-1] - s.times[0]) / float64(n-1)
	h := s.heights[n-1]
	for k := 1; k < n; k++ {
		if math.Abs(s.times[k]-s.times[k-1]-period) > float64(alike*period) ||
			math.Abs(s.heights[k]-h) > float64(alike*h) {
			return 0, false
		}
	}
	// Those that fade, however slowly, come to rest at last: heights go down all the time.
	half := n / 2
	first, second := 0.0, 0.0
	for k := 1; k <= half; k++ {
		first += s.heights[k]
		second += s.heights[n-k]
	}
	return period, h > float64(slack*far) && first-second < float64(fades*first)
}

// peak returns the top of the parabola through three points.
func peak(a, b, c, ta, tb, tc float64) (top, at float64) {
	p, q := (b-a)/(tb-ta), (c-b)/(tc-tb)
	curve := (q - p) / (tc - ta)
	if !(curve < 0) {
		return b, tb
	}
	at = (ta+tb)/2 - p/float64(2*curve)
	return math.FMA(at-ta, math.FMA(curve, at-tb, p), a), at
}

// oscillates is the error for states that swing.
func (f *follower) oscillates(err error) error {
	var w errSwings
	errors.As(err, &w)
	return &Error{Fault: Oscillating, States: f.names(w.states), Period: w.period, T: f.end - f.t}
}

// beyond is how many times as large as at first, or as one, a state is then.
const beyond = 1e12

// grown reports whether a state has become so large that it will not come back.
func (f *follower) grown() bool {
	for i, y := range f.y {
		if math.Abs(y) > float64(beyond*(1+math.Abs(f.from[i]))) {
			return true
		}
	}
	return false
}

// diagnose says why the run led to no steady state.
func (f *follower) diagnose(err error) error {
	elapsed := f.end - f.t
	var cancelled *solvers.CancelledError
	if errors.As(err, &cancelled) {
		return err
	}
	largest := 0
	for i, y := range f.y {
		if math.Abs(y)/(1+math.Abs(f.from[i])) > math.Abs(f.y[largest])/(1+math.Abs(f.from[largest])) {
			largest = i
		}
	}
	f.sys.Eval(f.t, f.y, f.f)
	var short *solvers.StepUnderflowError
	var broken *solvers.NonFiniteError
	name := []string{f.sys.StateName(largest)}
	switch {
	case errors.As(err, &short) || errors.As(err, &broken):
		if math.Abs(f.y[largest]) > float64(1e4*(1+math.Abs(f.from[largest]))) {
			return &Error{Fault: Exploding, States: name, T: elapsed}
		}
		return &Error{Fault: Broken, Cause: err}
	case f.grown() || math.Abs(f.y[largest]) > float64(1e4*(1+math.Abs(f.from[largest]))) &&
		float64(f.f[largest]/f.y[largest]*elapsed) > 0.5:
		e := &Error{Fault: Growing, States: name, T: elapsed}
		relative := f.f[largest] / f.y[largest]
		switch folds := float64(relative * elapsed); { // 30 of an exponential
		case folds > 1000:
			e.Fault = Exploding
		case folds > 3:
			e.Rate = relative
		default:
			e.Rate, e.Linear = f.f[largest], true
		}
		return e
	}
	var many *solvers.TooManyStepsError
	if err != nil && !errors.As(err, &many) {
		return &Error{Fault: Broken, Cause: err}
	}
	copy(f.next, f.y)
	if i := f.timed(); i >= 0 {
		return &Error{Fault: Timed, States: []string{f.sys.StateName(i)}}
	}
	if many == nil || f.blank { // the end of time, or nothing to solve: it hardly moves
		if _, err := f.step(f.next); err != nil {
			return f.marginal(err)
		}
		if _, err := f.stability(f.y); err != nil {
			return err
		}
		if many == nil {
			return &Error{Fault: Marginal, States: f.moving(f.y)}
		}
	}
	return &Error{Fault: Slow, States: f.moving(f.y), T: elapsed}
}
