// Package plot draws pictures: curves over an axis with marks, bars, heat maps
// and stacks of these, as text for terminals and as svg, png, pdf or html. It
// takes plain numbers and knows nothing of models.
package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// Picture is what can be drawn: *Lines, *Bars, *Heat, *Stack or *Corner.
type Picture interface {
	// text writes the picture as lines of text.
	text(p *page)
	// size is that of a page that suits the picture.
	size() (w, h vg.Length)
	// draw fills c.
	draw(c canvas) error
}

// Axis describes a direction.
type Axis struct {
	Label string
	Unit  string // "" when there is none
	Log   bool   // spaced by powers of ten; what is not positive is left out
	Range Range  // what is shown
}

// from is the axis of which the ticks say how far beyond an offset they are.
func (a Axis) from(offset float64) Axis {
	if offset == 0 {
		return a
	}
	if a.Label == "" {
		a.Label = "value"
	}
	sign := " − "
	if offset < 0 {
		sign = " + "
	}
	a.Label += sign + number(math.Abs(offset), 15)
	return a
}

// title returns "x [m]".
func (a Axis) title() string {
	switch {
	case a.Unit == "" || a.Unit == "1":
		return a.Label
	case a.Label == "":
		return "[" + a.Unit + "]"
	}
	return a.Label + " [" + a.Unit + "]"
}

// Lines are curves over a common pair of axes.
type Lines struct {
	Title  string
	X, Y   Axis
	Curves []Curve
	Bands  []Band
	Marks  []Mark
	Arrows []Arrow
}

// Arrow is a direction at a place, as of a vector field: Across and Up are its parts along the axes, each in lengths of
// the picture, where 1 is as long as an arrow may be.
type Arrow struct{ X, Y, Across, Up float64 }

// Curve joins the points (X[i], Y[i]), len(X) == len(Y). It is broken where a
// number is not finite, and where X repeats with another Y: there it jumps. Where
// only Y[i] is not finite, a cross stands at the foot of the picture.
type Curve struct {
	Name string
	X, Y []float64
	// PX and PY are points in the curve's colour, each with a sign: what was measured where the curve is computed.
	PX, PY []float64
	// Side tells of which of these points only a bound is known: the i-th lies at or below PY[i]
	// where Side[i] < 0, at or above it where Side[i] > 0. nil: all are known.
	Side []int
	// Spread is how far the truth may lie from each point, as a standard deviation; nil: not known.
	Spread []float64
	// Gaps tells that the curve is meant to be broken, so that no cross marks it.
	Gaps bool
	// Dots draws points instead of a line.
	Dots bool
	// Loop tells that X may turn back (a phase plane), so that a repeated X is no jump.
	Loop bool
	// Ramp, from 1 to Of, places the curve in a family that shares a range of shades; 0 outside of families.
	Ramp, Of int
}

// Band fills what lies between Lo and Hi; all of one length.
type Band struct {
	Name      string
	X, Lo, Hi []float64
	Curve     int // the curve that it surrounds, counted from 1, and has the colour of; 0 for none
}

// Mark is an upright line at X, such as an event.
type Mark struct {
	X    float64
	Name string
}

// Bars are horizontal bars from zero, in the order given: a tornado when the
// longest comes first.
type Bars struct {
	Title string
	X     Axis
	Items []Bar
}

// Bar is one bar.
type Bar struct {
	Label string
	Value float64
	Note  string // behind the bar; "" for the value
	// Lo and Hi, where they differ, are the ends of an interval around the value.
	Lo, Hi float64
}

// ends returns what the bar and its interval reach.
func (b *Bar) ends() (lo, hi float64) {
	lo, hi = min(0, b.Value), max(0, b.Value)
	if b.Lo < b.Hi && finite(b.Lo) && finite(b.Hi) {
		lo, hi = min(lo, b.Lo), max(hi, b.Hi)
	}
	return lo, hi
}

// Heat shows a matrix, Values[row][column], in colours from negative to positive.
type Heat struct {
	Title      string
	Rows, Cols Axis   // labels are those of the row and the column index
	Unit       string // of the values
	Values     [][]float64
	// FirstRow and FirstCol are the indices of the first row and column (usually 1).
	FirstRow, FirstCol int
	// RowNames, if not nil, are what rows are called instead of their indices; ColNames so for columns.
	RowNames, ColNames []string
	Colours            Colour
	// Range, if set, is what colours stand for whatever the values are: -1 to 1 for correlations.
	Range Range
	// Up says that the rows are an axis of numbers, which grow upwards. Without it, the first row is on top, as in a
	// matrix.
	Up bool
	// From and To, where they differ, are what the first and the last column stand for: the axis shows them
	// instead of indices.
	From, To float64
}

// upright returns h with its first row on top: where rows grow upwards, they are reversed, with their names.
func (h *Heat) upright() *Heat {
	if !h.Up {
		return h
	}
	turned := *h
	turned.Up, turned.Values, turned.RowNames = false, slices.Clone(h.Values), nil
	slices.Reverse(turned.Values)
	for i := range h.Values {
		turned.RowNames = append(turned.RowNames, h.rowName(len(h.Values)-1-i))
	}
	return &turned
}

// rowName returns what stands before row i, counted from 0.
func (h *Heat) rowName(i int) string {
	if i < len(h.RowNames) {
		return h.RowNames[i]
	}
	return fmt.Sprint(h.FirstRow + i)
}

// colName returns what stands below column j, counted from 0.
func (h *Heat) colName(j int) string {
	if j < len(h.ColNames) {
		return h.ColNames[j]
	}
	return fmt.Sprint(h.FirstCol + j)
}

// columnTicks returns about n labels of columns, at places counted from 0.
func (h *Heat) columnTicks(cols, n int) []tick {
	var list []tick
	if h.To == h.From || cols < 2 {
		for _, j := range places(cols, n) {
			list = append(list, tick{float64(j), h.colName(j)})
		}
		return list
	}
	ticks, _ := (span{h.From, h.To}).plainTicks(max(2, n))
	for _, t := range ticks {
		list = append(list, tick{(t.at - h.From) / (h.To - h.From) * float64(cols-1), t.label})
	}
	return list
}

// Stack is several pictures, one above the other or in columns. The axes of Lines are aligned.
type Stack struct {
	Title   string
	Panels  []Picture
	Columns int // 0: as many as suit the panels
}

// rows returns the panels row by row, in as many columns as there are. Room is how many columns the page has room for.
func (s *Stack) rows(room int) [][]Picture {
	n := s.Columns
	if n == 0 {
		n = 1
		for _, most := range []int{4, 12} { // more panels than this need one more column
			if len(s.Panels) > most {
				n++
			}
		}
	}
	n = max(1, min(n, room, len(s.Panels)))
	return slices.Collect(slices.Chunk(s.Panels, n))
}

// marksAlike tells whether two panels share their level axis and its marks, so that one legend will do.
func marksAlike(a, b Picture) bool {
	x, ok1 := a.(*Lines)
	y, ok2 := b.(*Lines)
	return ok1 && ok2 && x.X == y.X && slices.Equal(x.Marks, y.Marks)
}

// drawable bounds what is drawn: beyond it differences of two numbers overflow.
const drawable = 1e300

// finite reports whether x can be drawn.
func finite(x float64) bool { return math.Abs(x) <= drawable }

// shown reports whether x can be drawn along the axis.
func (a Axis) shown(x float64) bool { return finite(x) && (!a.Log || x > 0) }

// holds reports whether x lies on the part of the axis that is shown.
func (a Axis) holds(x float64) bool { return a.shown(x) && a.Range.holds(x) }

// cut gives an interval the ends that the axis asks for.
func (a Axis) cut(s span) span {
	if !a.Range.set() {
		return s
	}
	if a.shown(a.Range.From) {
		s.lo = a.Range.From
	}
	if a.shown(a.Range.To) {
		s.hi = a.Range.To
	}
	return s
}

// span is an interval of an axis.
type span struct{ lo, hi float64 }

// spanOf returns the smallest interval with all that can be drawn of the lists; ok is false when that is nothing.
func spanOf(a Axis, lists ...[]float64) (s span, ok bool) {
	s = span{math.Inf(1), math.Inf(-1)}
	for _, list := range lists {
		for _, x := range list {
			if a.shown(x) {
				s.lo, s.hi, ok = min(s.lo, x), max(s.hi, x), true
			}
		}
	}
	return s, ok
}

// widen gives a flat interval some room.
func (s span) widen(a Axis) span {
	if s.hi > s.lo && s.hi-s.lo > 1e-12*max(math.Abs(s.lo), math.Abs(s.hi)) {
		return s
	}
	mid := s.lo
	switch {
	case a.Log:
		return span{mid / 2, mid * 2}
	case mid == 0:
		return span{-1, 1}
	}
	return span{mid - 0.1*math.Abs(mid), mid + 0.1*math.Abs(mid)}
}

// pad widens an interval a little, so that curves do not run along the frame.
func (s span) pad(a Axis) span {
	const room = 0.03
	if a.Log {
		f := math.Pow(s.hi/s.lo, room)
		return span{s.lo / f, s.hi * f}
	}
	d := room * (s.hi - s.lo)
	return span{s.lo - d, s.hi + d}
}

// turns tells whether some curve goes back and forth, as in a phase plane.
func (l *Lines) turns() bool {
	for _, c := range l.Curves {
		for i := 1; c.Loop && i < len(c.X); i++ {
			if c.X[i] < c.X[i-1] {
				return true
			}
		}
	}
	return false
}

// to maps s to [0, 1], and x beyond s to what is beyond that, but not too far to be drawn.
func (s span) to(a Axis, x float64) float64 {
	const far = 1e5
	if a.Log {
		return max(-far, min(far, (math.Log10(x)-math.Log10(s.lo))/(math.Log10(s.hi)-math.Log10(s.lo))))
	}
	return max(-far, min(far, (x-s.lo)/(s.hi-s.lo)))
}

// spans returns the intervals of both axes. What lies beyond the range of the level axis does not widen the other.
func (l *Lines) spans() (x, y span, ok bool) {
	var xs, ys [][]float64
	add := func(x, y []float64) {
		xs = append(xs, x)
		if !l.X.Range.set() {
			ys = append(ys, y)
			return
		}
		var seen []float64
		for i := range x {
			if l.X.holds(x[i]) {
				seen = append(seen, y[i])
			}
		}
		ys = append(ys, seen)
	}
	for _, c := range l.Curves {
		add(c.X, c.Y)
		add(c.PX, c.PY)
		for i := range c.PX {
			if d := c.spread(i); d > 0 {
				add([]float64{c.PX[i], c.PX[i]}, []float64{c.PY[i] - d, c.PY[i] + d})
			}
		}
	}
	for _, b := range l.Bands {
		add(b.X, b.Lo)
		add(b.X, b.Hi)
	}
	x, okX := spanOf(l.X, xs...)
	y, okY := spanOf(l.Y, ys...)
	if !okX || !okY {
		return x, y, false
	}
	defer func() {
		x, y = l.X.cut(x), l.Y.cut(y)
		ok = ok && x.lo < x.hi && y.lo < y.hi
	}()
	x, y = x.widen(l.X), y.widen(l.Y)
	if l.turns() {
		return x.pad(l.X), y.pad(l.Y), true
	}
	// A curve that nearly reaches zero from one side is easier read with zero on the axis.
	if !l.Y.Log {
		if r := y.hi - y.lo; y.lo > 0 && y.lo < 0.15*r {
			y.lo = 0
		} else if y.hi < 0 && -y.hi < 0.15*r {
			y.hi = 0
		}
	}
	return x, y, true
}

// side returns the side of point i that its value lies on: -1 below, 1 above, 0 where it is known.
func (c Curve) side(i int) int {
	if i >= len(c.Side) {
		return 0
	}
	return max(-1, min(1, c.Side[i]))
}

// spread is the standard deviation of point i; 0 where it is not known.
func (c Curve) spread(i int) float64 {
	if i >= len(c.Spread) || !finite(c.Spread[i]) {
		return 0
	}
	return c.Spread[i]
}

// bounds tells which bounds a legend has to explain.
func (l *Lines) bounds() (below, above bool) {
	for _, c := range l.Curves {
		for i := range c.PX {
			if l.X.shown(c.PX[i]) && l.Y.shown(c.PY[i]) {
				below, above = below || c.side(i) < 0, above || c.side(i) > 0
			}
		}
	}
	return below, above
}

// lost returns where numbers of curves are not finite.
func (l *Lines) lost() (at []float64) {
	for _, c := range l.Curves {
		for i, x := range c.X {
			if !c.Gaps && l.X.holds(x) && !finite(c.Y[i]) {
				at = append(at, x)
			}
		}
	}
	return at
}

// notFinite is what a legend calls places and cells whose number is not finite.
const notFinite = "not finite"

// clip returns the part of a line from a to b that lies between lo and hi; ok is false where there is none.
func clip(a, b, lo, hi point) (from, to point, ok bool) {
	t0, t1 := 0.0, 1.0
	for _, e := range [][3]float64{
		{a.x, b.x - a.x, lo.x},
		{-a.x, a.x - b.x, -hi.x},
		{a.y, b.y - a.y, lo.y},
		{-a.y, a.y - b.y, -hi.y},
	} { // start + t·rate >= bound
		switch room := e[2] - e[0]; {
		case e[1] == 0 && room > 0:
			return a, b, false
		case e[1] > 0:
			t0 = max(t0, room/e[1])
		case e[1] < 0:
			t1 = min(t1, room/e[1])
		}
	}
	if !(t0 <= t1) {
		return a, b, false
	}
	at := func(t float64) point { return point{a.x + t*(b.x-a.x), a.y + t*(b.y-a.y)} }
	from, to = a, b
	if t0 > 0 {
		from = at(t0)
	}
	if t1 < 1 {
		to = at(t1)
	}
	return from, to, true
}

// What a legend calls points of which only a bound is known.
const (
	belowLimit = "below the limit"
	aboveLimit = "above the limit"
)

// runs cuts a curve into pieces that are drawn in one go.
func (c Curve) runs(x, y Axis) [][2]int {
	var out [][2]int
	from := -1
	for i := range c.X {
		ok := x.shown(c.X[i]) && y.shown(c.Y[i])
		if from >= 0 && (!ok || !c.Loop && c.X[i] == c.X[i-1] && c.Y[i] != c.Y[i-1]) {
			out = append(out, [2]int{from, i})
			from = -1
		}
		if ok && from < 0 {
			from = i
		}
	}
	if from >= 0 {
		out = append(out, [2]int{from, len(c.X)})
	}
	return out
}

// markNames returns the different names of marks in order, with their places.
func markNames(marks []Mark) (names []string, at map[string][]float64) {
	at = map[string][]float64{}
	for _, m := range marks {
		if at[m.Name] == nil {
			names = append(names, m.Name)
		}
		at[m.Name] = append(at[m.Name], m.X)
	}
	return names, at
}
