// Package measured says within which range a value of data is a number, and what is known of one beyond it.
package measured

import "math"

// Range is the range of quantification of a row of data: of a value at Lo or below only that is known, and so of one at
// Hi or above. A limit that is NaN or infinite is none.
type Range struct{ Lo, Hi float64 }

// Whole is the range that has no limits.
func Whole() Range { return Range{math.Inf(-1), math.Inf(1)} }

// Tell returns what is told of a value: the value and 0, or the limit that it lies beyond and the side on which: -1
// where it is at most the limit, 1 where it is at least that. Where limits leave no range between them, the upper one
// counts, as in the likelihood.
func (r Range) Tell(y float64) (told float64, side int) {
	switch {
	case y >= r.Hi:
		return r.Hi, 1
	case y <= r.Lo:
		return r.Lo, -1
	}
	return y, 0
}
