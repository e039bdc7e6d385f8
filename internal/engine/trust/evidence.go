package trust

import (
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/result"
	"odes.dev/odes/solvers"
)

// Result is a result of a run with the evidence that its grades come from.
type Result struct {
	result.Sensitivities
	Evidence
}

// Evidence is what a run, and runs beside it, tell of the derivatives of a result beyond their numbers. It is not a
// part of the result.
type Evidence struct {
	Sides
	Finite bool // all values and derivatives are known to be finite
	// Held marks values that read a largest value which is held for a while; nil for none.
	Held []bool
	// Fastest is by columns how much the time of an event moves at most; nil where that is not known.
	Fastest []float64
	// Meetings are what came at one time in the run.
	Meetings []Meeting
	// Unlike is how far derivatives are from those with meetings in the other order; nil for none.
	Unlike []float64
	// Settled marks columns of which Unlike tells all that meetings do; nil for none.
	Settled []bool
	Near    bool
	// Decided marks derivatives of which package contact knows both sides; nil for none.
	Decided []bool
	// Uncertain is how far derivatives by what makes states leap at a coincidence are from those of the sides; nil for
	// none.
	Uncertain []float64
	// Crossed tells that nothing else than ties and kinks makes derivatives one-sided, so far as the run tells, and
	// Kinked for which kinks do; nil for none.
	Crossed bool
	Kinked  []bool
	// Leapt tells by places in Gradient which derivatives of the value jump where the variable moves what met.
	Leapt map[int][]bool
	// Turned are second derivatives of runs with meetings in another order.
	Turned []*result.Sensitivities

	parted []bool // columns by which Unlike is too much; nil for none
}

// Meeting is what came at one time in a run, and comes at two where one of the columns of the gradient is moved.
type Meeting struct {
	solvers.Meeting
	Fold       system.Fold
	Columns    []bool
	Later      []int // by columns, which cause comes later where the column grows: 1, -1, or 0 if nobody knows
	Turned     bool  // in a list of those that come apart together: the other one than of the first that is known
	Told       bool  // by a warning of the run
	Of         *explain.Explainer
	Experiment string // whose run it was; "" for that of the model
}

// Sides say which derivatives, [values][columns], are those of one side.
type Sides struct {
	Sided    []bool // kinks and ties make them so; nil for none
	AllSided bool   // something else makes all of them so
	Bent     []bool // derivatives that may be others on the other side, also where they are zero; or nil
	Curved   []bool // where Bent is not nil: those by which, and any other, second derivatives may jump
	Met      []bool // where Bent is not nil: those by two of which second derivatives may jump
	Reached  []bool // where Bent is not nil, or something may be unseen: derivatives by what the value depends on
	// Of Sided and Bent, those that are so by more than meetings that runs in both orders decide about.
	FirmlySided, FirmlyBent []bool
}

// Lists are all that tell of single derivatives.
func (s *Sides) Lists() [7]*[]bool {
	return [7]*[]bool{&s.Sided, &s.Bent, &s.Curved, &s.Met, &s.Reached, &s.FirmlySided, &s.FirmlyBent}
}

// Join adds what o says of row k to row i of s, of so many columns. s has all n rows.
func (s *Sides) Join(i int, o *Sides, k, columns, n int) {
	s.AllSided = s.AllSided || o.AllSided
	from := o.Lists()
	for of, to := range s.Lists() {
		if *from[of] == nil {
			continue
		}
		if *to == nil {
			*to = make([]bool, n*columns)
		}
		for j, x := range (*from[of])[k*columns : (k+1)*columns] {
			(*to)[i*columns+j] = (*to)[i*columns+j] || x
		}
	}
}

// isSided reports whether the derivative of value i by column k is that of one side.
func (s *Result) isSided(i, k int) bool {
	if s.decided(i, k) || s.Near && s.Settled[k] {
		return false
	}
	return s.AllSided || s.Sided != nil && s.Sided[i*s.Columns+k]
}

// isBent reports whether the derivative of value i by column k may be another one on the other side of a kink.
func (s *Result) isBent(i, k int) bool {
	return s.Bent != nil && s.Bent[i*s.Columns+k] && !s.decided(i, k) && !(s.Near && s.Settled[k])
}

// decided reports whether both sides of the derivative of value i by column k are known.
func (s *Result) decided(i, k int) bool { return s.Decided != nil && s.Decided[i*s.Columns+k] }

// jumps reports whether the second derivative of value i by two columns may be another one on the other side of a kink.
// Where the gradient does not jump, second derivatives jump by a multiple of the product of the derivatives of what
// tells the sides apart, and so only by two columns that move it.
func (s *Result) jumps(i, k, l int) bool {
	at := i * s.Columns
	leapt := func(k, l int) bool {
		row := s.Leapt[at+k]
		return row != nil && row[l]
	}
	if leapt(k, l) || leapt(l, k) {
		return true
	}
	if s.Curved == nil {
		return false
	}
	decided := func(k int) bool { return s.Settled != nil && s.Settled[k] }
	parted := func(k int) bool { return s.parted != nil && s.parted[k] && !decided(k) }
	curved := func(k int) bool { return s.Curved[at+k] || s.Sided[at+k] && !decided(k) }
	return curved(k) && s.Reached[at+l] || curved(l) && s.Reached[at+k] ||
		s.Met[at+k] && s.Met[at+l] || parted(k) || parted(l)
}

// isFirmlySided is isSided but where runs in both orders, which have second derivatives as well, decide.
func (s *Result) isFirmlySided(i, k int) bool {
	if s.decided(i, k) {
		return false
	}
	if s.Settled != nil && s.Settled[k] && s.FirmlySided != nil && !s.Near {
		return s.AllSided || s.FirmlySided[i*s.Columns+k]
	}
	return s.isSided(i, k)
}

// jumpsAlong reports that of an element of the product of the Hessian and the direction.
func (s *Result) jumpsAlong(i, k int) bool {
	for l, d := range s.Direction {
		if d != 0 && s.jumps(i, k, l) {
			return true
		}
	}
	return false
}

// ClearUnreached sets second derivatives to zero that are: those by what a value does not depend on, in products with
// count unit vectors and, if all is more, a direction. reached is Sides.Reached, of so many columns. Where such a time
// comes together with a kink, the end of the step moves with it, and not with the kink.
func ClearUnreached(products []float64, reached []bool, columns, all, count int) {
	for i := range len(reached) / columns {
		reached := reached[i*columns : (i+1)*columns]
		for k := range all {
			row := products[(i*all+k)*columns:][:columns]
			for l := range row {
				if !reached[l] || k < count && !reached[k] {
					row[l] = 0
				}
			}
		}
	}
}

// oneSides returns what Doubtful of Sensitivities.OneSided is; nil where no derivative is one of those.
func (s *Result) oneSides() []bool {
	if !s.AllSided && s.Sided == nil && s.Bent == nil {
		return nil
	}
	list := make([]bool, len(s.Gradient))
	for at := range list {
		list[at] = s.isSided(at/s.Columns, at%s.Columns) || s.isBent(at/s.Columns, at%s.Columns)
	}
	return list
}
