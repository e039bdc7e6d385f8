// Package sizes is absolute tolerances that nobody gave: each follows the size of its state along the run.
//
// The tolerance of a state is Part of what its relative tolerance allows at its largest size so far. A state that is
// zero, or that still grows by more than error estimates see, has no size of its own yet: it is young. What stands in
// for its size is
//
//   - the largest size of the elements of its array, where one has a size: a front that moves over a grid reaches all;
//   - else what the other states make of it in as long again as the run has taken so far;
//   - else what a longer step made of it that was rejected.
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
	depth     = 12      // links from states that have sizes to the last young one that is looked at
	again     = 1       // times the time since something happened is what is looked ahead
	rejected  = 3       // times, and rounding may be what is seen
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

	given  []float64 // [N] or nil; negative for those that follow sizes
	per    []float64 // [N] tolerance over size; 0 for those that are given
	base   []float64 // [N] of the young: what they would have without anything that stands in
	groups []int32   // [N] numbers of the arrays that states are elements of; nil where each stands alone
	most   []float64 // [arrays] the largest tolerances of elements that have sizes
	since  float64   // when something last happened at a time
	span   float64   // that was last looked ahead
	tried  int       // rejected steps since the run got past the end of such a step
	end    float64   // of the first of them
	z, k   []float64 // [N], [N+Q] work space
	now    []float64 // [N]
	tau    []float64 // [N] the time that a young state takes
}

// New returns the tolerances of n states and q quadratures, for relative tolerances rtol, or rtols[n]. Those of given,
// [n] or nil, that are not negative stay what they are. groups[n] numbers the arrays that states are elements of, from
// 0; with nil each stands alone.
func New(n, q int, rtol float64, rtols, given []float64, groups []int32) *Tolerances {
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
	arrays := 0
	for _, g := range groups {
		arrays = max(arrays, int(g)+1)
	}
	if arrays < n && groups != nil {
		s.groups, s.most = groups, make([]float64, arrays)
	}
	s.z, s.now, s.tau, s.k = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n+q)
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

// Starts takes in the state y[n] at t, where the run begins or something happened, with its rates k[n+q]. The first
// step is one of at most limit. rates are nil where steps are not chosen by errors. It returns how many rates it took.
func (s *Tolerances) Starts(t float64, y, k []float64, limit float64, rates Rates) (evals int) {
	s.since, s.span, s.tried, s.Changed = t, 0, 0, true
	s.Grown(y)
	rate, empty := 0.0, false
	for _, i := range s.Young {
		empty = empty || y[i] == 0
		s.base[i] = max(s.base[i], math.Abs(float64(s.per[i]*y[i])))
		s.Abs[i] = max(s.base[i], s.Abs[i])
	}
	for i, v := range y {
		if v != 0 {
			rate = max(rate, math.Abs(k[i]/v))
		}
	}
	if !s.alike(y) || !empty || rates == nil {
		return 0
	}
	span, way := min(0.1*math.Abs(limit), 1/rate), math.Copysign(1, limit)
	return s.ahead(t+float64(span*way), true, span, way, y, rates) // what begins to grow may have no rate yet
}

// alike gives the young the largest tolerance of the elements of their arrays. It reports whether some stand alone.
func (s *Tolerances) alike(y []float64) (alone bool) {
	if s.groups == nil {
		return len(s.Young) > 0
	}
	clear(s.most)
	for i, g := range s.groups {
		x := math.Abs(float64(s.per[i] * y[i])) // max would look at what is no number, and takes twice as long
		if b := s.base[i]; b > x {
			x = b
		}
		if x > s.most[g] {
			s.most[g] = x
		}
	}
	for _, i := range s.Young {
		most := s.most[s.groups[i]]
		s.Abs[i] = max(s.Abs[i], most)
		alone = alone || most <= Least
	}
	return alone
}

// ahead has what the other states make of the young in a span stand in for their sizes. Each sweep reaches one link
// further, from states that have sizes: to young states that were zero, but whose rates are not. A state whose rate
// falls by more than half where it has what the span makes of it takes less time. Rates are those at t; at a start,
// states that are not zero stay what they are.
func (s *Tolerances) ahead(t float64, start bool, span, way float64, y []float64, rates Rates) (evals int) {
	s.span = span
	copy(s.now, y)
	for _, i := range s.Young {
		if s.tau[i] = span; y[i] == 0 || !start {
			s.now[i], s.tau[i] = 0, 0
		}
	}
	for range depth {
		rates(t, s.now, s.k)
		evals++
		copy(s.z, s.k) // rates without the sizes that come
		fresh := false
		for _, i := range s.Young {
			if x := s.k[i]; s.tau[i] == 0 && x != 0 && math.Abs(x) <= math.MaxFloat64 {
				s.tau[i], fresh = -span, true
				s.now[i] = float64(span*way) * x
			}
		}
		if !fresh {
			break
		}
		rates(t, s.now, s.k)
		evals++
		for _, i := range s.Young {
			if s.tau[i] >= 0 {
				continue
			}
			s.tau[i] = span
			if loss := math.Abs(s.k[i]-s.z[i]) / math.Abs(s.now[i]); !(float64(loss*span) <= 1) {
				s.tau[i] = 1 / loss
				s.now[i] = float64(way/loss) * s.z[i]
			}
		}
	}
	for _, i := range s.Young {
		if x := math.Abs(float64(s.now[i] * s.per[i])); x > s.Abs[i] && x <= math.MaxFloat64 {
			s.Abs[i] = x
		}
	}
	return evals
}

// Accepted takes in an accepted step from (t0, y0) to (t1, y1); rates are nil where nobody looks ahead. A state has a
// size of its own from where it does not grow by more than a power of time that the estimate of errors, of this order,
// sees all of. Accepted returns how many rates it took.
func (s *Tolerances) Accepted(t0, t1 float64, y0, y1 []float64, order int, rates Rates) (evals int) {
	s.Passed(t1)
	s.Changed = true
	if len(s.Young) == 0 {
		s.Grown(y1)
		return 0
	}
	growth, by := 1.0, (t1-s.since)/(t0-s.since)
	for range order {
		growth *= by
	}
	if t0 == s.since {
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
	span := float64(again * math.Abs(t1-s.since))
	if len(s.Young) == 0 || !s.alike(y1) || rates == nil || span < float64(2*s.span) {
		return 0
	}
	return s.ahead(t1, false, span, math.Copysign(1, t1-t0), y1, rates)
}

// Passed takes in that a step to t1 was accepted whose states grew elsewhere.
func (s *Tolerances) Passed(t1 float64) {
	if math.Abs(t1-s.since) >= math.Abs(s.end-s.since) {
		s.tried = 0
	}
}

// Rejected takes in that a step to t1 was rejected that would have ended at y1[n]. It reports whether rounding may be
// what is seen: of each third step that is rejected before the run gets past where the first of them was to end.
func (s *Tolerances) Rejected(t1 float64, y1 []float64, count bool) bool {
	if count {
		for _, i := range s.Young {
			if x := math.Abs(float64(s.per[i] * y1[i])); x > s.Abs[i] && x <= math.MaxFloat64 {
				s.Abs[i], s.Changed = x, true
			}
		}
	}
	if s.tried++; s.tried == 1 {
		s.end = t1
	}
	return s.tried%rejected == 0
}

// Rounding makes no tolerance smaller than what rounding errors of the rates k[n+q] at (t, y) leave of a step h, nor
// than what a state changes by in a rounding error of the time, at which a rate may begin or jump, nor than what such
// changes make of other states. What the quadratures have of these, over h, is written to noise[q]. It returns how many
// rates it took.
func (s *Tolerances) Rounding(t, h float64, y, k []float64, rates Rates, noise []float64) (evals int) {
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
			s.now[i] = math.FMA(v, by, v)
		}
		rates(t, s.now, s.k)
		for i, v := range k {
			if x := math.Abs(s.k[i] - v); x <= math.MaxFloat64 {
				gross[i] = max(gross[i], x)
			}
		}
	}
	const by = roundings * 0x1p-53 / slightly
	off := make([]float64, n) // what states are off by
	for i := range off {
		off[i] = float64(float64(by*math.Abs(h)) * gross[i])
	}
	moment := float64(roundings * 0x1p-53 * math.Max(math.Abs(t), math.Abs(t+h)))
	late := func(i int, rate float64) {
		if x := float64(moment * math.Abs(rate)); x <= math.MaxFloat64 {
			off[i] = max(off[i], x)
		}
	}
	rates(t+h, y, s.k)
	for i := range off {
		late(i, k[i])
		late(i, s.k[i])
	}
	for i := range noise {
		noise[i] = max(noise[i], float64(by*gross[n+i]))
	}
	evals = 3
	if len(s.Young) > 0 {
		// The end of the step may be where an input begins: what it grows to in as long again bounds how fast.
		rates(math.FMA(2, h, t), y, s.k)
		for _, i := range s.Young {
			late(i, s.k[i])
		}
		evals += 1 + s.carry(t, h, y, k, rates, off, noise)
	}
	for i, x := range off {
		if s.per[i] > 0 && (x > s.base[i] || x > s.Abs[i]) {
			s.base[i] = max(s.base[i], x)
			s.Abs[i] = max(s.Abs[i], x)
		}
	}
	s.Changed = true
	return evals
}

// carry adds to what states are off by, off[n], what that makes of the young in a step h from (t, y) with rates
// k[n+q]. Each sweep reaches one link further, and each state is reached once: it loses what it has in a time of its
// own, if that is shorter than the step. What the quadratures have of it goes to noise[q].
func (s *Tolerances) carry(t, h float64, y, k []float64, rates Rates, off, noise []float64) (evals int) {
	span := math.Abs(h)
	for i, v := range y {
		s.now[i] = v + off[i]
	}
	for _, i := range s.Young {
		s.tau[i] = 0
		if off[i] > s.Abs[i] {
			s.tau[i] = span // a link that others hang on
		}
	}
	for range depth {
		rates(t, s.now, s.k)
		evals++
		for i := range noise {
			if x := math.Abs(s.k[len(off)+i] - k[len(off)+i]); x <= math.MaxFloat64 {
				noise[i] = max(noise[i], x)
			}
		}
		copy(s.z, s.k)
		fresh := false
		for _, i := range s.Young {
			x := float64(span * math.Abs(s.k[i]-k[i]))
			if s.tau[i] == 0 && x > max(s.Abs[i], off[i]) && x <= math.MaxFloat64 {
				s.tau[i], off[i], fresh = -span, x, true
				s.now[i] = y[i] + x
			}
		}
		if !fresh {
			break
		}
		rates(t, s.now, s.k)
		evals++
		for _, i := range s.Young {
			if s.tau[i] >= 0 {
				continue
			}
			s.tau[i] = span
			if loss := math.Abs(s.k[i]-s.z[i]) / off[i]; float64(loss*span) > 1 {
				off[i] /= float64(loss * span)
				s.now[i] = y[i] + off[i]
			}
		}
	}
	return evals
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
