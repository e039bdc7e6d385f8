// Package sizes is absolute tolerances that nobody gave: each follows the size of its state along the run.
//
// The tolerance of a state is Part of what its relative tolerance allows at its largest size so far. A state that is
// zero, or that still multiplies, has no size yet. What others make of it soon stands in for that:
//
//   - at the start, and after what happens at a time, what it grows to in a span in which nothing else changes much;
//   - later, what a longer step made of it that was rejected.
//
// All of it comes from the run up to now, so it is the same whether a run is made alone or beside others.
package sizes

import "math"

const (
	// Part is the share of an absolute tolerance in what the relative one allows at the largest size.
	Part = 1e-3
	// Least is the tolerance of a state without any size.
	Least = 1e-60
)

const (
	depth     = 12      // links from a state that has a size to one that has none
	closer    = 1.0 / 8 // times a span that is too long
	tries     = 40      // of such spans
	settles   = 2       // times the size of a state is the most that the span may change it by
	grid      = 64      // as many states in longer chains are on a grid, and of one kind
	rejected  = 3       // times in succession, and rounding may be what is seen
	slightly  = 0x1p-40 // a relative change of states
	roundings = 10      // units of roundoff that rates are off
)

// Rates evaluates the rates k[N+Q] of states y[N] at a time.
type Rates func(t float64, y, k []float64)

// Tolerances are the absolute tolerances of one run at a time.
type Tolerances struct {
	Abs []float64 // [N] now
	// Young lists the states without a size of their own yet.
	Young []int
	// Changed tells that Abs is other than what Grown makes of it.
	Changed bool

	given []float64 // [N] or nil; negative for those that follow sizes
	per   []float64 // [N] tolerance over size; 0 for those that are given
	base  []float64 // [N] of the young: what they would have without anything that stands in
	since float64   // when something last happened at a time
	tried int       // rejected steps in succession
	y, z  []float64 // [N] work space
	k     []float64 // [N+Q]
}

// New returns the tolerances of n states and q quadratures, for relative tolerances rtol, or rtols[n]. Those of given,
// [n] or nil, that are not negative stay what they are.
func New(n, q int, rtol float64, rtols, given []float64) *Tolerances {
	s := &Tolerances{Abs: make([]float64, n), per: make([]float64, n), base: make([]float64, n), given: given}
	for i := range s.per {
		switch {
		case given != nil && given[i] >= 0:
		case rtols != nil:
			s.per[i] = Part * rtols[i]
		default:
			s.per[i] = Part * rtol
		}
	}
	s.y, s.z, s.k = make([]float64, n), make([]float64, n), make([]float64, n+q)
	s.Reset()
	return s
}

// Per returns the tolerances of states over their sizes, 0 for those that are given.
func (s *Tolerances) Per() []float64 { return s.per }

// Reset forgets the run before.
func (s *Tolerances) Reset() {
	s.Young, s.Changed, s.tried = s.Young[:0], true, 0
	for i := range s.Abs {
		if s.given != nil && s.given[i] >= 0 {
			s.Abs[i] = s.given[i]
			continue
		}
		s.Abs[i], s.base[i] = Least, Least
		s.Young = append(s.Young, i)
	}
}

// Grown makes abs[n] what follows from new values y[n] of states that have sizes.
func (s *Tolerances) Grown(y []float64) {
	abs, per := s.Abs, s.per[:len(s.Abs)]
	for i, v := range y[:len(abs)] {
		if x := math.Abs(float64(per[i] * v)); x > abs[i] {
			abs[i] = x
		}
	}
}

// Starts takes in the state y[n] at t, where the run begins or something happened. rates are nil where nothing is to
// be looked at; otherwise k[n+q] are those at y, the first step is one of at most limit, and bound says how fast the
// fastest changes, 0 for not known. It returns how many rates it took.
func (s *Tolerances) Starts(t float64, y, k []float64, limit float64, rates Rates) (evals int) {
	s.since, s.tried, s.Changed = t, 0, true
	s.Grown(y)
	empty := false
	for _, i := range s.Young {
		s.base[i] = max(s.base[i], math.Abs(float64(s.per[i]*y[i])))
		s.Abs[i] = max(s.base[i], s.Abs[i])
		empty = empty || y[i] == 0
	}
	if empty && rates == nil {
		s.alike(y)
	}
	if !empty || rates == nil || !(limit > 0) {
		return 0
	}
	return s.ahead(t, y, k, limit, rates)
}

// alike gives states that are zero the largest tolerance of the others: that of a size of 1 where there are none.
func (s *Tolerances) alike(y []float64) {
	most := 0.0
	for i, v := range y {
		if v != 0 {
			most = max(most, s.Abs[i])
		}
	}
	for _, i := range s.Young {
		if y[i] == 0 {
			s.Abs[i] = max(s.Abs[i], most)
			if most == 0 {
				s.Abs[i] = max(s.Abs[i], s.per[i])
			}
		}
	}
}

// ahead gives the young what they grow to in a span in which nothing else changes much.
func (s *Tolerances) ahead(t float64, y, k []float64, limit float64, rates Rates) (evals int) {
	rate := 0.0
	for i, v := range y {
		if v != 0 {
			rate = max(rate, math.Abs(k[i]/v))
		}
	}
	h := 0.1 * limit
	if x := 1 / rate; x < h {
		h = x
	}
	try := func(h float64) bool {
		n, ok := s.sweeps(t, h, y, k, rates)
		evals += n
		return ok
	}
	if try(h) {
		return evals
	}
	for range tries {
		if h *= closer; try(h) {
			_ = try(4*h) || try(2*h)
			break
		}
	}
	return evals
}

// sweeps tries a span h. Each sweep reaches one link further: to states that are zero, but whose rates are not.
// What the span makes of such a state at that rate is its size. With that size, its rate must not be much larger, nor
// may those of others. The result reports whether that holds.
func (s *Tolerances) sweeps(t, h float64, y, k []float64, rates Rates) (evals int, ok bool) {
	now := s.y
	copy(now, y)
	last := math.Inf(1) // the least tolerance of those that the last sweep reached
	most := 0.0         // the largest of those that any did
	for sweep := range depth {
		if sweep > 0 {
			rates(t+h, now, s.k)
			k = s.k
			evals++
		}
		fresh := false
		last = math.Inf(1)
		for i, v := range now {
			x := math.Abs(float64(h * k[i]))
			switch {
			case !(x <= math.MaxFloat64):
				return evals, false
			case v == 0 && x > 0:
				s.z[i] = h * k[i]
				if fresh = true; s.per[i] > 0 {
					last, most = min(last, float64(x*s.per[i])), max(most, float64(x*s.per[i]))
				}
			default:
				if s.z[i] = v; sweep > 0 && x > float64(settles*math.Abs(v)) {
					return evals, false
				}
			}
		}
		if copy(now, s.z); !fresh && sweep > 0 {
			break
		}
	}
	for _, i := range s.Young {
		x := math.Abs(float64(now[i] * s.per[i]))
		if last <= math.MaxFloat64 && (x == 0 || y[i] == 0 && len(y) >= grid) { // some are further away
			x = last
			if len(y) >= grid {
				x = most
			}
		}
		s.Abs[i] = max(s.Abs[i], x)
	}
	return evals, true
}

// Passed takes in that a step was accepted whose states grew elsewhere.
func (s *Tolerances) Passed() { s.tried = 0 }

// Accepted takes in an accepted step from (t0, y0) to (t1, y1). A state has a size of its own from where it does not
// grow by more than a power of time that the estimate of errors, of this order, sees all of.
func (s *Tolerances) Accepted(t0, t1 float64, y0, y1 []float64, order int) {
	s.tried, s.Changed = 0, true
	if len(s.Young) == 0 {
		s.Grown(y1)
		return
	}
	growth, by := 1.0, (t1-s.since)/(t0-s.since)
	for range order {
		growth *= by
	}
	if !(t0 > s.since) {
		growth = 2
	}
	keep := s.Young[:0]
	for _, i := range s.Young {
		s.base[i] = max(s.base[i], math.Abs(float64(s.per[i]*y1[i])))
		if y1[i] != 0 && math.Abs(y1[i]) <= float64(growth*math.Abs(y0[i])) {
			s.Abs[i] = s.base[i]
			continue
		}
		keep = append(keep, i)
		s.Abs[i] = max(s.Abs[i], s.base[i])
	}
	s.Young = keep
	s.Grown(y1)
}

// Rejected takes in that a step was rejected that would have ended at y1[n]. It reports whether rounding may be what
// is seen.
func (s *Tolerances) Rejected(y1 []float64, count bool) bool {
	if count {
		for _, i := range s.Young {
			if x := math.Abs(float64(s.per[i] * y1[i])); x > s.Abs[i] && x <= math.MaxFloat64 {
				s.Abs[i], s.Changed = x, true
			}
		}
	}
	s.tried++
	return s.tried == rejected
}

// Rounding makes no tolerance smaller than what rounding errors of the rates k[n+q] at (t, y) leave of a step h. What
// the quadratures have of these, over h, is written to noise[q]. It takes two more rates.
func (s *Tolerances) Rounding(t, h float64, y, k []float64, rates Rates, noise []float64) {
	n := len(y)
	gross := make([]float64, len(k))
	state := uint64(1)
	for range 2 {
		for i, v := range y {
			state = state*6364136223846793005 + 1442695040888963407
			by := slightly
			if state>>63 != 0 {
				by = -slightly
			}
			s.y[i] = math.FMA(v, by, v)
		}
		rates(t, s.y, s.k)
		for i, v := range k {
			if x := math.Abs(s.k[i] - v); x <= math.MaxFloat64 {
				gross[i] = max(gross[i], x)
			}
		}
	}
	const by = roundings * 0x1p-53 / slightly
	for i := range n {
		if x := float64(float64(by*h) * gross[i]); s.per[i] > 0 && (x > s.base[i] || x > s.Abs[i]) {
			s.base[i] = max(s.base[i], x)
			s.Abs[i] = max(s.Abs[i], x)
		}
	}
	for i := range noise {
		noise[i] = max(noise[i], float64(by*gross[n+i]))
	}
	s.Changed = true
}

// Smallest returns the least of the tolerances of states that have a size, and 1e-9 if there is none.
func Smallest(abs []float64) float64 {
	least := math.Inf(1)
	for _, x := range abs {
		if x > Least && x < least {
			least = x
		}
	}
	if least > math.MaxFloat64 {
		return 1e-9
	}
	return least
}
