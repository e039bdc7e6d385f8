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

// Picture is what can be drawn: *Lines, *Bars, *Heat or *Stack.
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
}

// Curve joins the points (X[i], Y[i]), len(X) == len(Y). It is broken where a
// number is not finite, and where X repeats with another Y: there it jumps.
type Curve struct {
	Name string
	X, Y []float64
	// PX and PY are points in the curve's colour, each with a sign: what was measured where the curve is computed.
	PX, PY []float64
	// Side tells of which of these points only a bound is known: the i-th lies at or below PY[i]
	// where Side[i] < 0, at or above it where Side[i] > 0. nil: all are known.
	Side []int
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
}

// Heat shows a matrix, Values[row][column], in colours from negative to positive.
type Heat struct {
	Title      string
	Rows, Cols Axis   // labels are those of the row and the column index
	Unit       string // of the values
	Values     [][]float64
	// FirstRow and FirstCol are the indices of the first row and column (usually 1).
	FirstRow, FirstCol int
	// From and To, where they differ, are what the first and the last column stand for: the axis shows them
	// instead of indices.
	From, To float64
}

// columnTicks returns about n labels of columns, at places counted from 0.
func (h *Heat) columnTicks(cols, n int) []tick {
	var list []tick
	if h.To == h.From || cols < 2 {
		for _, j := range places(cols, n) {
			list = append(list, tick{float64(j), fmt.Sprint(h.FirstCol + j)})
		}
		return list
	}
	for _, t := range (span{h.From, h.To}).ticks(Axis{}, max(2, n)) {
		list = append(list, tick{(t.at - h.From) / (h.To - h.From) * float64(cols-1), t.label})
	}
	return list
}

// Stack is several pictures, one above the other. The axes of Lines are aligned.
type Stack struct {
	Title  string
	Panels []Picture
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

// to maps x to [0, 1].
func (s span) to(a Axis, x float64) float64 {
	if a.Log {
		return (math.Log10(x) - math.Log10(s.lo)) / (math.Log10(s.hi) - math.Log10(s.lo))
	}
	return (x - s.lo) / (s.hi - s.lo)
}

// spans returns the intervals of both axes.
func (l *Lines) spans() (x, y span, ok bool) {
	var xs, ys [][]float64
	for _, c := range l.Curves {
		xs, ys = append(xs, c.X, c.PX), append(ys, c.Y, c.PY)
	}
	for _, b := range l.Bands {
		xs, ys = append(xs, b.X), append(ys, b.Lo, b.Hi)
	}
	x, okX := spanOf(l.X, xs...)
	y, okY := spanOf(l.Y, ys...)
	if !okX || !okY {
		return x, y, false
	}
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
