package result

import (
	"math"
	"slices"
)

// OneSided tells of derivatives that are not the same on both sides.
type OneSided struct {
	// Doubtful marks numbers of Gradient that are the derivative of one side, or that may be another one on the other
	// side, and of which no more is known. nil where all of Trusts are Sound, and where there are none.
	Doubtful []bool
	// Sides are the derivatives on both sides where these are known and differ. Those numbers of Gradient are that of
	// the order in which causes came in the run.
	Sides []BothSides
	// Leaps are values that leap where a variable passes the value that it has: they have no derivative by it. Those
	// numbers of Gradient are Lost.
	Leaps []Leap
	// Seconds are second derivatives that have two sides, or would be derivatives of what has: they are NaN.
	Seconds []SecondSides
	// Coincidences are where these come from.
	Coincidences []Coincidence
}

// Along is in the place of a column where numbers belong to a move along Sensitivities.Direction.
const Along = -1

// SecondSides tells of an element of a Hessian, or of its product with the direction, that is no number. Column is that
// of the row, Other that of the element in it, or Along in a product.
type SecondSides struct {
	Value, Column, Other int
	Coincidences         []int // that make sides differ
}

// BothSides are the derivatives of Values[Value] by column Column, or Along the direction, on both sides: Left is that
// of values below, Right that of values above.
type BothSides struct {
	Value, Column int
	Left, Right   float64
	Coincidences  []int // that make them differ
}

// Leap is what Values[Value] comes to where column Column comes near its value from below, and from above.
type Leap struct {
	Value, Column int
	Left, Right   float64
	Coincidences  []int // that make them differ
}

// Coincidence is a time of a run at which several causes come.
type Coincidence struct {
	T      float64
	Causes []string // in the words of the model
	Leap   bool     // some value leaps there
	// Pieces are the orders that a move may give the causes, as far as they are known: at most eight.
	Pieces []Piece
}

// Piece is an order of causes that a move gives them, and the derivatives of a run in which it holds.
type Piece struct {
	Order    []string
	Gradient []float64 // laid out like that of Sensitivities
}

// OnBothSides returns the derivatives of value i by column k on both sides; false where they are one.
func (s *Sensitivities) OnBothSides(i, k int) (b BothSides, ok bool) {
	for _, b := range s.OneSided.Sides {
		if b.Value == i && b.Column == k {
			return b, true
		}
	}
	return b, false
}

// Slopes returns the derivatives of all values along the direction on both sides; nil where each is the same on both.
func (s *Sensitivities) Slopes() (left, right []float64) {
	for _, b := range s.OneSided.Sides {
		if b.Column != Along {
			continue
		}
		if left == nil {
			left = make([]float64, len(s.Values))
			for at, x := range s.Gradient {
				left[at/s.Columns] += float64(x * s.Direction[at%s.Columns])
			}
			right = slices.Clone(left)
		}
		left[b.Value], right[b.Value] = b.Left, b.Right
	}
	return left, right
}

// Gradients returns derivatives on both sides, laid out like Gradient, and values, [values][columns], near which leaps
// begin and end. There is no derivative where a value leaps, and these values are NaN where it does not. The latter are
// nil where nothing leaps, and all are where every derivative is the same on both sides.
func (s *Sensitivities) Gradients() (left, right, from, to []float64) {
	alone := func(column int) bool { return column != Along }
	if !slices.ContainsFunc(s.OneSided.Sides, func(b BothSides) bool { return alone(b.Column) }) &&
		!slices.ContainsFunc(s.OneSided.Leaps, func(l Leap) bool { return alone(l.Column) }) {
		return nil, nil, nil, nil
	}
	left, right = slices.Clone(s.Gradient), slices.Clone(s.Gradient)
	for _, b := range s.OneSided.Sides {
		if !alone(b.Column) {
			continue
		}
		at := b.Value*s.Columns + b.Column
		left[at], right[at] = b.Left, b.Right
	}
	for _, x := range s.OneSided.Leaps {
		if !alone(x.Column) {
			continue
		}
		at := x.Value*s.Columns + x.Column
		if from == nil {
			from = make([]float64, len(left))
			for i := range from {
				from[i] = math.NaN()
			}
			to = slices.Clone(from)
		}
		left[at], right[at], from[at], to[at] = math.NaN(), math.NaN(), x.Left, x.Right
	}
	return left, right, from, to
}
