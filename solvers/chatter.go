package solvers

// history remembers when something fired last, to find firings without end.
type history struct {
	count int        // firings this run, at any time
	last  [5]float64 // the last times, a ring
	burst int        // times of firing since first
	first float64    // start of the present burst
}

// window is the part of the time span within which maxBurst firings of one event count as chattering.
const (
	window   = 1e-9
	maxBurst = 100
)

// fired records a firing at t and reports whether there are too many within the window. Firings at one time count
// once, since MaxCascade limits them.
func (f *history) fired(t, span float64) bool {
	if f.burst == 0 || t-f.first > window*span {
		f.first, f.burst = t, 0
	}
	if n := len(f.last); f.count == 0 || f.last[(f.count-1)%n] != t {
		f.burst++
	}
	f.last[f.count%len(f.last)] = t
	f.count++
	return f.burst >= maxBurst
}

// stutters reports whether the last three firings came at different times so close to each other that rounding
// decides about them.
func (f *history) stutters() bool {
	if f.count < 3 {
		return false
	}
	n := len(f.last)
	a, b, c := f.last[(f.count-3)%n], f.last[(f.count-2)%n], f.last[(f.count-1)%n]
	return a < b && b < c && c-a < float64(100*ulp(c))
}

// times returns the last times in order.
func (f *history) times() []float64 {
	n := min(f.count, len(f.last))
	out := make([]float64, n)
	for i := range out {
		out[i] = f.last[(f.count-n+i)%len(f.last)]
	}
	return out
}
