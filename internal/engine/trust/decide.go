package trust

import (
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
)

// OnSides is what a run has on both sides of motions.
type OnSides struct {
	Left, Right             []float64   // [values][motions] derivatives
	LeftValues, RightValues []float64   // [values][motions] near which the sides begin
	Times                   [][]float64 // by events, how their times move along motions downwards and upwards
}

// Decision is what package contact knows of the sides of N motions: those of columns, and one along a direction where N
// is more than the columns. Times of events that are not known have a nil row, or NaN.
type Decision struct {
	N        int
	Of, Twin OnSides        // of the run, and of the independent run
	Other    []result.Event // of the independent run

	Known        []bool    // [values][N]
	Sizes        []float64 // [columns] of the variables
	Direction    []float64 // [columns]; nil for none
	From         [][]int   // [N] the coincidences that make sides differ
	Apart        [][]int   // [N] those at which causes come apart
	Leaps        []bool    // [N] states leap: nothing is known of what follows
	More         int       // motions of which too many others have sides of their own
	Clears       bool      // all kinks are at coincidences that were met
	Coincidences []result.Coincidence

	used map[int]int // the numbers in the result of Coincidences
}

// little is the part of the larger side within which two sides are one.
const little = 1e-7

// Decide takes from d which derivatives are the same on both sides and what the others are: no other run is needed for
// these. It reports whether that is known of all. share is that of Compare.
func (s *Result) Decide(d *Decision, share float64) (all bool) {
	all = true
	some := false
	s.Decided, s.decision = make([]bool, len(s.Gradient)), d
	d.used = map[int]int{}
	for i := range s.Values {
		most := mostOf(s, i, d.Sizes)
		for k := range d.N {
			known := s.decide(d, i, k, most, share)
			if k < s.Columns {
				s.Decided[i*s.Columns+k] = known
				all, some = all && known, some || known
			}
		}
	}
	if some {
		s.decideTimes(d, share)
	} else {
		s.Undo()
		s.decision = d
		clear(d.used)
	}
	return all
}

// motion returns the derivative of value i by motion k, its error, and how far the motion goes where variables change
// by their sizes.
func (s *Result) motion(d *Decision, i, k int) (x, err, size float64) {
	row := s.Gradient[i*s.Columns:]
	if k < s.Columns {
		if s.Errors != nil {
			err = s.Errors[i*s.Columns+k]
		}
		return row[k], err, d.Sizes[k]
	}
	size = math.Inf(1)
	for e, by := range d.Direction {
		if by == 0 {
			continue
		}
		x += float64(by * row[e])
		if size = min(size, d.Sizes[e]/math.Abs(by)); s.Errors != nil {
			err += float64(math.Abs(by) * s.Errors[i*s.Columns+e])
		}
	}
	return x, err, min(size, math.MaxFloat64)
}

// decide takes from d what the derivative of value i by motion k is on both sides. It reports whether that is known.
// most is how much a move of any variable by its size changes the value.
func (s *Result) decide(d *Decision, i, k int, most, share float64) bool {
	at := i*d.N + k
	x, own, by := s.motion(d, i, k) // the number in the result is graded by its own error
	l, r := d.there(at, d.Of.Left, d.Of.Right)
	tl, tr := d.there(at, d.Twin.Left, d.Twin.Right)
	err, noise := max(math.Abs(l-tl), math.Abs(r-tr))/share, float64(1e-10*most)/by
	differ, sure := judge(x, l, r, err, noise, own)
	if d.half(at) { // else it is that of the only side there is
		differ, sure = !sure, isKnown(max(math.Abs(l), math.Abs(r)), err, noise)
	}
	column := k
	if k == s.Columns {
		column = result.Along
	}
	switch leaps, known := d.leaps(at, s.Values[i].Value); {
	case !d.Known[at] || !known || err-err != 0 || x-x != 0:
		return false
	case leaps:
		s.leapsBy(d, k, result.Leap{Value: i, Column: column, Left: d.Of.LeftValues[at], Right: d.Of.RightValues[at]})
		return true
	case !sure:
		return false
	case !differ && !d.half(at):
		return true
	}
	if k < s.Columns {
		if s.Errors[i*s.Columns+k] = err; !differ {
			s.Errors[i*s.Columns+k] = max(err, math.Abs(x-l))
		}
	}
	if !differ {
		return true
	}
	side := result.BothSides{Value: i, Column: column, Left: d.only(at, 0, l), Right: d.only(at, 1, r)}
	side.Coincidences = s.from(d, k)
	s.OneSided.Sides = append(s.OneSided.Sides, side)
	return true
}

// judge reports whether sides l and r, known to err and noise, are two numbers, and whether that is sure: where they
// are one, it is x, known to own.
func judge(x, l, r, err, noise, own float64) (differ, sure bool) {
	size := max(math.Abs(l), math.Abs(r))
	differ = !(math.Abs(l-r) <= float64(little*size)+4*err+noise)
	off := min(math.Abs(x-l), math.Abs(x-r)) // of the run, whose order is that of one side if there are two causes
	return differ, isKnown(size, err, noise) && (differ || off <= float64(1e-5*size)+100*err+1000*noise+2*own)
}

// isKnown reports whether an error of sides is small beside the larger one of them.
func isKnown(size, err, noise float64) bool { return err <= float64(1e-4*size)+100*noise }

// leapsBy notes a leap by motion k.
func (s *Result) leapsBy(d *Decision, k int, leap result.Leap) {
	leap.Coincidences = s.from(d, k)
	for _, c := range leap.Coincidences {
		s.OneSided.Coincidences[c].Leap = true
	}
	s.OneSided.Leaps = append(s.OneSided.Leaps, leap)
}

// leaps reports whether a value leaps, and whether that is known: whether the independent run says the same.
func (d *Decision) leaps(at int, value float64) (leaps, known bool) {
	l, r := d.there(at, d.Of.LeftValues, d.Of.RightValues)
	tl, tr := d.there(at, d.Twin.LeftValues, d.Twin.RightValues)
	size := math.Max(math.Abs(l), math.Abs(r))
	if math.Abs(l-value) <= float64(1e-12*size) && math.Abs(r-value) <= float64(1e-12*size) {
		return false, math.Abs(tl-tr) <= float64(1e-12*size)
	}
	most := math.Max(math.Abs(l-r), math.Max(math.Abs(l-value), math.Abs(r-value)))
	off := math.Max(math.Abs(l-tl), math.Abs(r-tr))
	return true, off <= float64(0.01*most)
}

// half reports whether a value is there on one side only, as that of an observation which leaves the run.
func (d *Decision) half(at int) bool {
	l, r := d.Of.LeftValues[at], d.Of.RightValues[at]
	return (l != l) != (r != r)
}

// there returns numbers of both sides; where a value is there on one side only, that of this one twice.
func (d *Decision) there(at int, left, right []float64) (l, r float64) {
	l, r = left[at], right[at]
	switch {
	case !d.half(at):
	case d.Of.LeftValues[at] != d.Of.LeftValues[at]:
		l = r
	default:
		r = l
	}
	return l, r
}

// only returns x for a side, 0 for the left, or NaN where the value is not there.
func (d *Decision) only(at, side int, x float64) float64 {
	if v := [2]float64{d.Of.LeftValues[at], d.Of.RightValues[at]}[side]; v != v {
		return v
	}
	return x
}

// decideTimes takes from d which derivatives of times of events are others on the other side.
func (s *Result) decideTimes(d *Decision, share float64) {
	if len(d.Of.Times) != len(s.Events) || len(d.Twin.Times) != len(d.Other) {
		return
	}
	twins, at := map[occurrence][]float64{}, 0
	occurrences(d.Other, func(o occurrence, _ *result.Event) { twins[o], at = d.Twin.Times[at], at+1 })
	s.timesKnown, at = make([][]bool, len(s.Events)), 0
	given := make([]bool, s.Columns) // times have no derivatives by initial values
	for _, v := range s.Variables {
		for k := v.Offset; k < v.Offset+v.Size(); k++ {
			given[k] = !v.Initial
		}
	}
	occurrences(s.Events, func(o occurrence, e *result.Event) {
		mine, theirs, known := d.Of.Times[at], twins[o], make([]bool, len(e.Params))
		s.timesKnown[at], at = known, at+1
		if mine == nil {
			return
		}
		if theirs == nil { // it lacks the event
			theirs = mine
		}
		for k, x := range e.Params {
			l, r, tl, tr := 0-mine[2*k], mine[2*k+1], 0-theirs[2*k], theirs[2*k+1]
			err := max(math.Abs(l-tl), math.Abs(r-tr)) / share
			differ, sure := judge(x, l, r, err, float64(1e-10*math.Abs(s.To-s.From))/d.Sizes[k], 0)
			// It may come on one side only.
			alone := (l != l) != (r != r) && (l != l) == (tl != tl) && (r != r) == (tr != tr)
			if known[k] = !given[k] || alone || sure; !given[k] || !known[k] {
				continue
			}
			if !alone && e.Errors != nil {
				e.Errors[k] = max(err, math.Min(math.Abs(x-l), math.Abs(x-r)))
			}
			if alone || differ {
				side := result.TimeSides{Column: k, Left: l, Right: r}
				side.Coincidences = s.from(d, k)
				e.OneSided = append(e.OneSided, side)
			}
		}
	})
}

// from returns which coincidences of s make sides by column k differ.
func (s *Result) from(d *Decision, k int) (list []int) {
	from := d.From[k]
	for c := 0; len(d.From[k]) == 0 && c < len(d.Coincidences); c++ { // the same happens, at other times
		from = append(from, c)
	}
	for _, c := range from {
		list = append(list, s.use(d, c))
	}
	return list
}

// Piece adds the pieces of a coincidence, if something in the result comes from that.
func (s *Result) Piece(d *Decision, c int, pieces []result.Piece) {
	if n, used := d.used[c]; used {
		s.OneSided.Coincidences[n].Pieces = pieces
	}
}

// Uses reports whether something in the result comes from a coincidence.
func (d *Decision) Uses(c int) bool { _, used := d.used[c]; return used }

// use returns the number in the result of a coincidence.
func (s *Result) use(d *Decision, c int) int {
	if _, known := d.used[c]; !known {
		d.used[c] = len(s.OneSided.Coincidences)
		s.OneSided.Coincidences = append(s.OneSided.Coincidences, d.Coincidences[c])
	}
	return d.used[c]
}

// LoseLeaps grades derivatives of what leaps.
func (s *Result) LoseLeaps() {
	for _, x := range s.OneSided.Leaps {
		if x.Column == result.Along {
			continue
		}
		if s.Trusts == nil {
			s.Trusts = make([]result.Trust, len(s.Gradient))
		}
		s.Trusts[x.Value*s.Columns+x.Column] = result.Lost
	}
}

// Agree takes back what runs on both sides say of derivatives of which both sides are known.
func (s *Result) Agree() {
	for at, known := range s.Decided {
		if known && s.Unlike != nil {
			s.Unlike[at] = 0
		}
	}
}

// DoubtTimes grades the times of events at coincidences, at some times, and behind the first of them: which of several
// a time is, and how it moves, depends on the side. Derivatives that are known on both sides are sound.
func (s *Result) DoubtTimes(times []float64, within float64) {
	first := slices.Min(append(times, math.Inf(1)))
	for i := range s.Events {
		e := &s.Events[i]
		if e.T < first-within {
			continue
		}
		at := slices.ContainsFunc(times, func(t float64) bool { return math.Abs(e.T-t) <= within })
		if at {
			e.Trust = min(e.Trust, result.Loose)
		}
		for k, t := range e.Trusts {
			switch {
			case s.timesKnown != nil && s.timesKnown[i][k]:
				e.Trusts[k] = result.Sound
			case at:
				e.Trusts[k] = result.Loose
			case e.Params[k] != 0:
				e.Trusts[k] = max(t, result.Loose)
			}
		}
	}
}

// Undo forgets what Decide took.
func (s *Result) Undo() {
	s.Decided, s.OneSided, s.timesKnown, s.decision, s.aside = nil, result.OneSided{}, nil, nil, nil
	for i := range s.Events {
		s.Events[i].OneSided = nil
	}
}

// TellSides notes what derivatives are on both sides. Where that is known of all, it takes back the warnings that some
// do not exist; of kinks, if all were met.
func (s *Result) TellSides(x *explain.Explainer, all, met bool) {
	s.Warnings = slices.DeleteFunc(slices.Clone(s.Warnings), func(d diag.Diagnostic) bool {
		return all && (d.Code == explain.CodeTie || met && d.Code == explain.CodeKink) && d.Level == diag.Warning
	})
	if d := s.decision; d != nil && d.More > 0 {
		s.Note(x, explain.CodeTie, diag.Warning, "no more than 64 sequences of coincident causes are examined; both "+
			"sides of the derivatives by %s are not known", diag.Count(d.More, "more element"))
	}
	none := len(s.OneSided.Coincidences)
	for c := range none + 1 { // last, what no coincidence makes
		first := func(list []int) bool { return len(list) == 0 && c == none || len(list) > 0 && list[0] == c }
		var sides, leaps []string
		for i := range s.OneSided.Sides {
			if b := &s.OneSided.Sides[i]; first(b.Coincidences) {
				sides = append(sides, sidesInWords(&s.Sensitivities, b))
			}
		}
		for i := range s.OneSided.Leaps {
			if leap := &s.OneSided.Leaps[i]; first(leap.Coincidences) {
				leaps = append(leaps, leapInWords(&s.Sensitivities, leap))
			}
		}
		where, leapt, level := "by runs on both sides,",
			"the value leaps, so that there is no derivative, by runs on both sides", diag.Note
		if c < none {
			at := &s.OneSided.Coincidences[c]
			met := together(at.Causes) + ", " + x.When(at.T)
			where, leapt = met+":", met+", and the value leaps there, so there is no derivative"
			if all { // else those of the run remain
				level = diag.Warning
			}
		}
		if len(sides) > 0 {
			s.Note(x, explain.CodeTie, diag.Note, "%s %s", where, some(sides, "derivative"))
		}
		if len(leaps) > 0 {
			s.Note(x, explain.CodeTie, level, "%s: %s", leapt, some(leaps, "value"))
		}
	}
}

// sidesInWords says what a derivative is on both sides.
func sidesInWords(s *result.Sensitivities, b *result.BothSides) string {
	what := "d" + s.Values[b.Value].Name + "/d" + ColumnName(s, b.Column)
	if b.Column == result.Along {
		what = "the derivative of " + s.Values[b.Value].Name + " along the direction"
	}
	switch {
	case b.Left != b.Left:
		return what + " is " + diag.Number(b.Right) + " from the right, and there is no value on the left"
	case b.Right != b.Right:
		return what + " is " + diag.Number(b.Left) + " from the left, and there is no value on the right"
	}
	return what + " is " + diag.Number(b.Left) + " from the left, " + diag.Number(b.Right) + " from the right"
}

// leapInWords says what a value is on both sides of what it leaps by.
func leapInWords(s *result.Sensitivities, x *result.Leap) string {
	v := &s.Values[x.Value]
	number := func(x float64) string {
		if x != x {
			return "nothing"
		}
		return diag.Number(x)
	}
	text := v.Name + " is " + number(x.Left) + " on the left of " + ColumnName(s, x.Column) + ", " +
		number(x.Right) + " on its right"
	if x.Left != v.Value && x.Right != v.Value {
		text += ", " + diag.Number(v.Value) + " at it"
	}
	return text
}

// together says that causes come at one time; a single one comes at a limit of its own, such as its last time.
func together(causes []string) string {
	if len(causes) == 1 {
		return causes[0] + " comes exactly at a limit"
	}
	return diag.All(causes) + " come at the same time"
}

// some joins the first of a list.
func some(list []string, what string) string {
	const most = 3
	if n := len(list) - most; n > 0 {
		return strings.Join(list[:most], "; ") + "; and " + diag.Count(n, what) + " more"
	}
	return strings.Join(list, "; ")
}

// ColumnName names a column of the gradient, or the direction.
func ColumnName(s *result.Sensitivities, k int) string {
	if k == result.Along {
		return "direction"
	}
	for _, v := range s.Variables {
		if k >= v.Offset && k < v.Offset+v.Size() {
			return v.Element(k - v.Offset)
		}
	}
	return ""
}
