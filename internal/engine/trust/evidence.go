package trust

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/onesided"
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
	// Unlike is how far derivatives are at most from those of runs on both sides of their variables; nil for none.
	Unlike []float64
	// Compared marks columns with runs on both sides of them, so that Unlike tells all there is; nil for none.
	Compared []bool
	// Cleared tells that all suspect columns are Compared.
	Cleared bool
	// Decided marks derivatives of which package contact knows both sides; nil for none.
	Decided []bool
	// Crossed tells that nothing else than ties and kinks makes derivatives one-sided, so far as the run tells, and
	// Kinked for which kinks do; nil for none.
	Crossed bool
	Kinked  []bool
	// Leapt tells by places in Gradient which derivatives of the value jump where the variable moves what met.
	Leapt map[int][]bool
	// Ends tells by places in Gradient what the value continues to from runs on both sides of the variable alone.
	Ends map[int][2]End
	// Sideways are second derivatives of runs on the sides of variables.
	Sideways []Sideways

	spare      spare     // memory of the run before
	decision   *Decision // what Decide was told last
	by         []float64 // the sizes of columns, where runs on both sides were made,
	promised   float64   // and the error that tolerances allow of any value
	parted     []bool    // columns by which Unlike is too much; nil for none
	aside      []bool    // columns of which runs on both sides tell two derivatives; nil for none
	timesKnown [][]bool  // [events][columns] whether derivatives of their times are known on both sides; nil for none
}

// spare is memory of errors and grades of derivatives, which may be millions: each run overwrites those before it.
type spare struct {
	errors []float64
	trusts []result.Trust
}

// Spare returns evidence of nothing that has the memory of e.
func (e *Evidence) Spare() Evidence { return Evidence{spare: e.spare} }

// newErrors returns memory for n errors, which are not cleared. It is never nil, which says that errors are not known.
func (s *spare) newErrors(n int) []float64 {
	if s.errors == nil || cap(s.errors) < n {
		s.errors = make([]float64, n)
	}
	return s.errors[:n:n]
}

// newTrusts returns n grades, all sound.
func (s *spare) newTrusts(n int) []result.Trust {
	if s.trusts == nil || cap(s.trusts) < n {
		s.trusts = make([]result.Trust, n)
	} else {
		clear(s.trusts[:n])
	}
	return s.trusts[:n:n]
}

// Meeting is what came at one time in a run, and comes at two where one of the columns of the gradient is moved.
type Meeting struct {
	solvers.Meeting
	Fold       onesided.Fold
	Of         *explain.Explainer
	Experiment string // whose run it was; "" for that of the model
}

// Sides say which derivatives, [values][columns], are those of one side.
type Sides struct {
	Sided    []bool // kinks and ties make them so; nil for none
	AllSided bool   // something else makes all of them so
	Rounded  []bool // rounding has decided about what they are derivatives of; nil for none
	Bent     []bool // derivatives that may be others on the other side, also where they are zero; or nil
	Curved   []bool // where Bent is not nil: those by which, and any other, second derivatives may jump
	Met      []bool // where Bent is not nil: those by two of which second derivatives may jump
	Reached  []bool // where Bent is not nil, or something may be unseen: derivatives by what the value depends on
}

// None reports whether no derivative is that of one side.
func (s *Sides) None() bool {
	return !s.AllSided && s.Sided == nil && s.Rounded == nil && s.Bent == nil
}

// Lists are all that tell of single derivatives.
func (s *Sides) Lists() [6]*[]bool {
	return [6]*[]bool{&s.Sided, &s.Rounded, &s.Bent, &s.Curved, &s.Met, &s.Reached}
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
	if s.Rounded != nil && s.Rounded[i*s.Columns+k] {
		return true
	}
	if s.decided(i, k) || s.compared(k) {
		return false
	}
	return s.AllSided || s.Sided != nil && s.Sided[i*s.Columns+k]
}

// isBent reports whether the derivative of value i by column k may be another one on the other side of a kink.
func (s *Result) isBent(i, k int) bool {
	at := i*s.Columns + k
	return s.Bent != nil && s.Bent[at] && (s.Rounded != nil && s.Rounded[at] || !s.decided(i, k) && !s.compared(k))
}

// decided reports whether both sides of the derivative of value i by column k are known.
func (s *Result) decided(i, k int) bool { return s.Decided != nil && s.Decided[i*s.Columns+k] }

// compared reports whether runs on both sides of column k tell what its derivatives are there.
func (s *Result) compared(k int) bool { return s.Compared != nil && s.Compared[k] }

// jumps reports whether the second derivative of value i by two columns may be another one on the other side of a kink.
// Where the gradient does not jump, second derivatives jump by a multiple of the product of the derivatives of what
// tells the sides apart, and so only by two columns that move it.
func (s *Result) jumps(i, k, l int) bool {
	at := i * s.Columns
	leaps := func(k int) bool { // or runs beside fail
		return s.Unlike != nil && math.IsInf(s.Unlike[at+k], 1) ||
			slices.ContainsFunc(s.OneSided.Leaps, func(l result.Leap) bool { return l.Value == i && l.Column == k })
	}
	if s.leapt(i, k, l) || s.leapt(i, l, k) || leaps(k) && leaps(l) {
		return true
	}
	if s.Curved == nil {
		return false
	}
	compared := func(k int) bool { return len(s.Sideways) > 0 && s.compared(k) } // second derivatives as well
	curved := func(k int) bool { return !compared(k) && (s.Curved[at+k] || s.Sided[at+k]) }
	return curved(k) && s.Reached[at+l] || curved(l) && s.Reached[at+k] ||
		s.Met[at+k] && s.Met[at+l] && !(compared(k) && compared(l))
}

// leapt reports whether the derivative of value i by column l is known to jump where column k moves.
func (s *Result) leapt(i, k, l int) bool {
	row := s.Leapt[i*s.Columns+k]
	return row != nil && row[l]
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
