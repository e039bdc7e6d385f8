package trust

import (
	"maps"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/result"
)

// Sideways are runs at two distances on one side of variables: Near, which is about Part of their sizes away, and Far
// at twice the distance. Noise is the part of values within which they agree with derivatives.
type Sideways struct {
	Near, Far   result.Sensitivities
	Noise, Part float64
	Moved       []bool // by columns
	Alone       bool   // only one is
}

// moves reports whether runs tell of second derivatives by columns a and b: a derivative by some columns is one of what
// these do where all others stay.
func (x *Sideways) moves(a, b int) bool {
	return x.Moved[a] && x.Moved[b] || x.Alone && (x.Moved[a] || x.Moved[b])
}

// keep puts numbers that are not asked for in the place of those of runs beside.
func (x *Sideways) keep(row, other []float64, asked func(k int) bool) {
	for k, y := range other {
		if !asked(k) {
			row[k] = y
		}
	}
}

// Suspects lists columns by which a derivative may be that of one side, as far as that is not decided: first those
// that move causes apart, in all numbers met, then those by which it is for other reasons. With second, so are those by
// which second derivatives may jump.
func (s *Result) Suspects(second bool) (list []int, met int) {
	if len(s.Meetings) == 0 && s.None() { // the usual case, without passes over what may be millions of derivatives
		return nil, 0
	}
	open := func(k int, of func(i, at int) bool) bool {
		for i := range s.Values {
			if at := i*s.Columns + k; (second || !s.decided(i, k)) && of(i, at) {
				return true
			}
		}
		return false
	}
	moves := func(k int) bool {
		return slices.ContainsFunc(s.Meetings, func(m Meeting) bool { return m.Fold.Moves.Has(k) }) &&
			open(k, func(int, int) bool { return true })
	}
	for k := range s.Columns {
		if moves(k) {
			list = append(list, k)
		}
	}
	met = len(list)
	for k := range s.Columns {
		if !slices.Contains(list[:met], k) && open(k, func(i, at int) bool {
			return s.isSided(i, k) || s.isBent(i, k) || second && s.Curved != nil && (s.Curved[at] || s.Met[at])
		}) {
			list = append(list, k)
		}
	}
	return list, met
}

// Beside prepares s for Side. by are the sizes of columns, promised is the error of any value that tolerances allow.
func (s *Result) Beside(by []float64, promised float64) {
	s.by, s.promised = by, promised
	s.Unlike, s.Compared = make([]float64, len(s.Gradient)), make([]bool, s.Columns)
	s.Leapt, s.Ends = map[int][]bool{}, map[int][2]End{}
}

// End is what a value and its derivative on one side of a variable continue to at the variable itself.
type End struct {
	Value, Slope float64
	Error, Off   float64 // of these; NaN where they are not known
}

// End returns what value i continues to from runs on one side of a column. x.Near is away by a step, x.Far by two: a
// cubic has the values and derivatives of both, and the error is how far that with the derivatives alone is from it.
func (x *Sideways) End(i, at int, by float64) End {
	v, w := x.Near.Values[i].Value, x.Far.Values[i].Value
	d, e := float64(by*x.Near.Gradient[at]), float64(by*x.Far.Gradient[at])
	cubic := 5*w - 4*v - 4*d - 2*e
	line := v - float64(1.5*d) + float64(0.5*e)
	off := math.Abs(cubic-line) + float64(10*x.Noise*max(math.Abs(v), math.Abs(w), math.Abs(d), math.Abs(e)))
	if math.Abs(cubic) <= off {
		cubic = 0
	}
	near, far := x.Near.Gradient[at], x.Far.Gradient[at]
	bend := float64(0.01*math.Abs(near-far)) + float64(x.Noise*max(math.Abs(near), math.Abs(far))) // a root's is large
	return End{cubic, 2*near - far, off, bend}
}

// Alone notes which values are those at column k on the side that runs were on, away by step.
func (s *Result) Alone(x *Sideways, k int, step float64) {
	for i := range s.Values {
		at := i*s.Columns + k
		e, ok := s.Ends[at]
		if !ok {
			e = [2]End{{Error: math.NaN(), Off: math.NaN()}, {Error: math.NaN(), Off: math.NaN()}}
		}
		side := 0
		if step > 0 {
			side = 1
		}
		e[side] = x.End(i, at, step)
		s.Ends[at] = e
	}
}

// TakeBeside takes from runs on both sides of columns which values leap, and which derivatives are others on the other
// side, as far as these runs know: values come to others, or to one that the run itself does not have, as where bodies
// come together; derivatives do, and that of the run is one of them. The rest stays as these runs grade it. d is what
// sides say that the run itself has; nil for nothing.
func (s *Result) TakeBeside(d *Decision) {
	for _, at := range slices.Sorted(maps.Keys(s.Ends)) {
		i, k, e := at/s.Columns, at%s.Columns, s.Ends[at]
		switch y := s.Values[i]; {
		case s.decided(i, k):
		case math.IsInf(s.Unlike[at], 1):
			leap, leaps := leapOf(e, &y, s.promised)
			leap.Value, leap.Column = i, k
			switch {
			case leaps && d != nil && d.Leaps[k]:
				s.leapsBy(d, k, leap)
			case leaps:
				s.OneSided.Leaps = append(s.OneSided.Leaps, leap)
			}
		case d == nil: // else what the sides do not tell is not known
			s.takeSides(i, k, e, float64(1e-6*mostOf(s, i, s.by))/s.by[k])
		}
	}
}

// leapOf takes from what y comes to on both sides of a column whether it leaps there, by more than tolerances allow.
func leapOf(e [2]End, y *result.Value, promised float64) (leap result.Leap, leaps bool) {
	least := float64(100*(e[0].Error+e[1].Error)) + promised
	off := min(math.Abs(e[0].Value-y.Value), math.Abs(e[1].Value-y.Value))
	leaps = math.Abs(e[0].Value-e[1].Value) > least || off > least+float64(100*y.Error)
	for side := range e { // the order of the run is that of one side
		if math.Abs(y.Value-e[side].Value) <= least {
			e[side].Value = y.Value
		}
	}
	return result.Leap{Left: e[0].Value, Right: e[1].Value, Coincidences: []int{}}, leaps
}

// takeSides takes from what the derivative of value i by column k comes to on both sides whether it is two, which are
// least apart at least.
func (s *Result) takeSides(i, k int, e [2]End, least float64) {
	at := i*s.Columns + k
	x, l, r := s.Gradient[at], e[0].Slope, e[1].Slope
	size, err := max(math.Abs(l), math.Abs(r)), max(e[0].Off, e[1].Off)
	if s.Errors != nil {
		err += s.Errors[at]
	}
	differ := math.Abs(l-r) > max(least, float64(0.01*size))
	known := err <= float64(1e-4*size) && min(math.Abs(x-l), math.Abs(x-r)) <= 4*err
	if !differ || !known || s.Kinked != nil && s.Kinked[at] || s.Rounded != nil && s.Rounded[at] {
		return
	}
	if math.Abs(x-l) < math.Abs(x-r) { // the order of the run is that of one side
		l = x
	} else {
		r = x
	}
	side := result.BothSides{Value: i, Column: k, Left: l, Right: r, Coincidences: []int{}}
	s.OneSided.Sides, s.Unlike[at] = append(s.OneSided.Sides, side), 0
	if s.aside == nil {
		s.aside = make([]bool, s.Columns)
	}
	s.aside[k] = true
}

// Unsure has nothing known of the derivatives by column k.
func (s *Result) Unsure(k int) {
	for at := k; at < len(s.Gradient); at += s.Columns {
		s.Unlike[at] = math.Inf(1)
	}
}

// mostOf returns the most that a variable changes value i of s by where it changes by its size, or the value if that is
// more. by are the sizes of columns.
func mostOf(s *Result, i int, by []float64) float64 {
	most := math.Abs(s.Values[i].Value)
	for k, x := range s.Gradient[i*s.Columns : (i+1)*s.Columns] {
		if moved := float64(by[k] * math.Abs(x)); moved <= math.MaxFloat64 {
			most = max(most, moved)
		}
	}
	return most
}

// partOfRounding is the part of what moves a value most within which rounding leaves it where it is zero.
const partOfRounding = 1e-13

// oneSide compares s with runs on one side of columns: x.Near is away by steps, which are 0 for all other columns.
type oneSide struct {
	*Result
	fine  *result.Sensitivities // the independent run
	x     *Sideways
	steps []float64
	row   []float64 // of a value: what derivatives there continue to
}

// moved lists the columns that are away.
func (s *oneSide) moved() (list []int) {
	for k, by := range s.steps {
		if by != 0 {
			list = append(list, k)
		}
	}
	return list
}

// comesApart reports whether value i jumps on the way back. It fills row with what derivatives continue to.
func (s *oneSide) comesApart(i int) bool {
	from, to := i*s.Columns, (i+1)*s.Columns
	near := s.x.Near.Gradient[from:to]
	s.x.towards(s.row, s.fine.Gradient[from:to], near, s.x.Far.Gradient[from:to])
	// The value at the variables themselves, by the derivatives on their side: exact for cubics.
	y, beside := s.fine.Values[i].Value, s.x.Near.Values[i].Value
	there := beside
	for k, by := range s.steps {
		if by != 0 {
			there -= float64(by * 0.5 * (s.row[k] + near[k]))
		}
	}
	// Beyond the noise, runs do not agree on what happens.
	noise := min(10*s.Values[i].Error, float64(LooseValue*math.Abs(y)))
	least := float64(s.x.Noise*max(math.Abs(y), math.Abs(beside))) +
		min(float64(partOfRounding*mostOf(s.Result, i, s.by)), s.promised)
	off := math.Abs(y - there)
	return !(off <= noise+least || s.x.comes(off, beside-y) ||
		y == 0 && returns(y, beside, s.x.Far.Values[i].Value))
}

// unlike returns which derivatives of value i come back to others, by more than errors.
func (s *oneSide) unlike(i int) []bool {
	from, to := i*s.Columns, (i+1)*s.Columns
	fine := s.fine.Gradient[from:to]
	row := s.x.returns(s.row, fine, s.x.Near.Gradient[from:to], s.x.Far.Gradient[from:to])
	most := 0.0
	for l, x := range fine {
		most = max(most, float64(s.by[l]*math.Abs(x)))
	}
	list := make([]bool, len(fine))
	for l, x := range fine {
		off := float64(1e-6 * max(math.Abs(x), math.Abs(row[l])))
		if s.Errors != nil {
			off = max(off, float64(10*s.Errors[from+l]))
		}
		d := math.Abs(x - row[l])
		list[l] = d > off && float64(d*s.by[l]) > float64(PartOfDerivatives*most)
	}
	return list
}

// leap notes that the derivative of value i by column l jumps where column k moves.
func (s *oneSide) leap(i, k, l int) {
	at := i*s.Columns + k
	if s.Leapt[at] == nil {
		s.Leapt[at] = make([]bool, s.Columns)
	}
	s.Leapt[at][l] = true
}

// Aslant notes second derivatives by two of the columns that steps move which jump there: those of a value that jumps,
// or of a derivative that does, where no column alone makes it.
func (s *Result) Aslant(fine *result.Sensitivities, x *Sideways, steps []float64) {
	side := &oneSide{s, fine, x, steps, make([]float64, s.Columns)}
	moved := side.moved()
	for i := range s.Values {
		jumps := side.comesApart(i)
		for _, k := range moved {
			jumps = jumps && !s.leapt(i, k, k)
		}
		unlike := side.unlike(i)
		var found []int
		for _, l := range moved {
			if (jumps || unlike[l]) && !slices.ContainsFunc(moved, func(k int) bool { return s.leapt(i, k, l) }) {
				found = append(found, l)
			}
		}
		for _, l := range found {
			for _, k := range moved {
				if k != l {
					side.leap(i, k, l)
				}
			}
		}
	}
}

// Side notes how far the derivatives of fine, the independent run of s, by columns are from what runs on one side of
// them continue to. x.Near is away by steps, which are 0 for all other columns. With second, it also notes what that
// says of second derivatives.
func (s *Result) Side(fine *result.Sensitivities, x *Sideways, steps []float64, second bool) {
	side := &oneSide{s, fine, x, steps, make([]float64, s.Columns)}
	moved, row := side.moved(), side.row
	alone := len(moved) == 1
	for i := range s.Values {
		from, to := i*s.Columns, (i+1)*s.Columns
		near, y := x.Near.Gradient[from:to], fine.Values[i].Value
		apart := x.Near.Values[i].Value - y
		size := max(math.Abs(y), math.Abs(x.Near.Values[i].Value))
		power := alone && isPower(fine.Gradient[from+moved[0]], near[moved[0]], x.Far.Gradient[from+moved[0]],
			apart/steps[moved[0]])
		jumps := side.comesApart(i) && !power
		for _, k := range moved {
			by, off := steps[k], math.Inf(1)
			if !jumps {
				off = math.Abs(fine.Gradient[from+k] - row[k])
				if slope := 2*near[k] - x.Far.Gradient[from+k]; alone && x.line(slope, near[k], apart, by) {
					off = math.Abs(fine.Gradient[from+k] - slope)
				}
				g, far := fine.Gradient[from+k], x.Far.Gradient[from+k]
				if little := float64(PartOfDerivatives * x.Part * size); power || x.comes(off, near[k]-g) ||
					(float64(off*math.Abs(by)) <= little || y == 0 && g == 0) && returns(g, near[k], far) {
					off = 0 // the line through Near and Far is not straight
				}
			}
			s.Unlike[from+k] = max(s.Unlike[from+k], off)
		}
		if !second {
			continue
		}
		for l, unlike := range side.unlike(i) {
			for _, k := range moved {
				if unlike || jumps && l == k {
					side.leap(i, k, l)
				}
			}
		}
	}
}

// Continues reports whether all derivatives by column k continue to what Side has compared them with, with room to
// spare.
func (s *Result) Continues(k int) bool {
	for i := range s.Values {
		at := i*s.Columns + k
		off := float64(1e-4 * math.Abs(s.Gradient[at]))
		if s.Errors != nil {
			off = max(off, 10*s.Errors[at])
		}
		if x := s.Unlike[at]; !(x <= off || float64(x*s.by[k]) <= float64(1e-9*mostOf(s, i, s.by))) {
			return false
		}
	}
	return true
}

// Ask forgets what is known of the derivatives by column k.
func (s *Result) Ask(k int) {
	for at := k; at < len(s.Gradient); at += s.Columns {
		s.Unlike[at] = 0
	}
}

// comes reports whether a number that is away by so much at Near comes to what it is compared with but for off. Where
// all is zero at the variable itself, as of a square, nothing else tells how large numbers are.
func (x *Sideways) comes(off, away float64) bool {
	return float64(off*x.Part) <= float64(PartOfDerivatives*math.Abs(away))
}

// towards fills in what numbers on one side continue to at the variable itself: linearly, or as a square or a root of
// the distance does, or the nearer ones as they are, whichever is nearest to what they are compared with. Beyond
// something else, there is no line.
func (x *Sideways) towards(row, other, near, far []float64) []float64 {
	for l, y := range other {
		row[l] = near[l]
		for _, twice := range []float64{2, 4, math.Sqrt2} { // what twice the distance makes of the difference
			z := (float64(twice*near[l]) - far[l]) / (twice - 1)
			if math.Abs(z-y) < math.Abs(row[l]-y) {
				row[l] = z
			}
		}
	}
	return row
}

// line reports whether a derivative by a column that was moved alone is what the line through Near and Far continues
// to, slope, and not near, that at Near: it is nearer to what the values say, which are apart by so much.
func (x *Sideways) line(slope, near, apart, by float64) bool {
	of := float64(2*apart/by) - near // of a parabola
	return math.Abs(of-slope) < math.Abs(of-near)
}

// returns reports whether numbers at Near and Far come back to y, as some power of the distance does.
func returns(y, near, far float64) bool { return math.Abs(near-y) <= 2*math.Abs(far-near) }

// isPower reports whether a derivative by a column that was moved alone differs from g at Near and Far as a power of
// the distance does, however slowly that goes to zero, as those of |p|^1.5 at 0: the mean slope up to Near says the
// same of the power.
func isPower(g, near, far, mean float64) bool {
	const least, off = 0.1, 1e-4
	d := near - g
	power := elem.Log((far-g)/d) / math.Ln2
	return power >= least && math.Abs(float64((mean-g)*(1+power))-d) <= float64(off*math.Abs(d))
}

// returns puts numbers that come back to those that they are compared with in the place of what towards makes of them.
func (x *Sideways) returns(row, other, near, far []float64) []float64 {
	for l, y := range other {
		if returns(y, near[l], far[l]) {
			row[l] = y
		}
	}
	return row
}
