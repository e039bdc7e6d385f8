package matrices

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/linalg"
)

// Unknowns are functions of time and the other states near a point where A is regular (the theorem of implicit
// functions). Along a run they stay on one branch of the solutions, on which the determinant of A keeps its sign. So a
// change of the sign from one point to the next says that the branch was lost between them: steps went past a place
// where branches come near each other, or Newton's method went on to another one behind a jump.

// Side returns the sign of the determinant of A where it was factored last; 0 where that is not known.
func (c *Consistency) Side() int {
	if lu, ok := c.lu.(linalg.Signed); ok {
		return lu.Sign()
	}
	return 0
}

// Jump is a change of states, discretes and modes at one time.
type Jump struct {
	From []float64 // [n] the consistent state before it
	To   []float64 // [n] the state behind it, with the unknowns of From
	// Enter enters the discretes at a part of the way, from those before the jump, 0, to those behind it, 1. The modes
	// are those behind, but at 0 those before.
	Enter func(part float64)
}

// Between writes what lies at a part of the way from a to b.
func Between(out, a, b []float64, part float64) {
	for i, from := range a {
		if out[i] = from + float64(part*(b[i]-from)); part == 1 {
			out[i] = b[i]
		}
	}
}

const (
	leastPart = 0x1p-20 // of a jump
	// tameness is what Newton's first step may leave to the second one, both by one matrix, where the solution that
	// it finds is to be that of the same branch (P. Deuflhard, Newton Methods for Nonlinear Problems, 2004, §5.1.2, has
	// 1/4 for the existence of a solution).
	tameness = 0.125
	oneRoot  = 1e-6 // by how much two ways to one solution may differ, relative to its size
	grains   = 64   // or as multiples of how far rounding moves it
)

// Stay makes y, the solution that Solve finds behind a jump, that of the branch that the state before is on: the one
// to which the unknowns come when states and discretes go from their values before to those behind along a straight
// line. It returns false where that line leads to no solution behind the jump, and leaves y as it is. Mass matrices
// that combine rates with those of unknowns are not looked at. The discretes behind are entered when it returns.
func (c *Consistency) Stay(f JacobianField, t float64, y []float64, j Jump) bool {
	if c.direct || len(c.Mass.Values) > 0 {
		return true
	}
	defer j.Enter(1)
	j.Enter(0)
	if c.Factor(f, t, j.From) != nil {
		return true
	}
	side := c.Side()
	j.Enter(1)
	if side == 0 {
		return true
	}
	const small = oneRoot * 1e-3 // of the value before, where rounding is all that is left of a value
	w := &way{c: c, f: f, t: t, side: side, enter: j.Enter, grain: make([]float64, len(j.From)), strict: true}
	for i, v := range j.From {
		w.grain[i] = float64(small * math.Abs(v))
	}
	w.states = func(y []float64, part float64) { Between(y, j.From, j.To, part) }
	end := w.end(j.From)
	if end == nil {
		// Where no step is short enough to be sure, another sign of the determinant says that the branch was lost.
		j.Enter(1)
		if c.Factor(f, t, y) == nil && c.Side() == side {
			return true
		}
		w.strict = false
		if end = w.end(j.From); end == nil {
			return false
		}
	}
	if !w.one(end, y) {
		copy(y, end)
	}
	return true
}

// way follows the unknowns along a line of problems, from part 0 to part 1.
type way struct {
	c      *Consistency
	f      JacobianField
	t      float64
	side   int                             // of the branch
	enter  func(part float64)              // enters the problem at a part of the way
	states func(y []float64, part float64) // writes the states that are no unknowns; nil where they stay
	grain  []float64                       // [n] smaller differences are none
	strict bool                            // each solution is found by tame steps, and by way of another one as well
}

// end returns the state to which the way leads from its start; nil for none.
func (w *way) end(at []float64) []float64 {
	for done, part := 0.0, 1.0; done < 1; {
		to := min(done+part, 1)
		next := w.next(at, done, to)
		if next == nil {
			if part *= 0.5; part < leastPart {
				return nil
			}
			continue
		}
		at, done, part = next, to, 2*part
	}
	return at
}

// next returns the state at a part of the way, from that at a part before; nil where it is not certain.
func (w *way) next(at []float64, done, to float64) []float64 {
	next := w.solve(at, to)
	if next == nil || !w.strict {
		return next
	}
	half := w.solve(at, done+(to-done)/2)
	if half != nil {
		half = w.solve(half, to)
	}
	if half == nil || !w.one(half, next) {
		return nil
	}
	return next
}

// solve returns the state at a part of the way with the unknowns that are found from those of a state before; nil for
// none on this side.
func (w *way) solve(from []float64, part float64) []float64 {
	y := slices.Clone(from)
	if w.states != nil {
		w.states(y, part)
		for _, i := range w.c.Mass.Unknowns {
			y[i] = from[i]
		}
	}
	w.enter(part)
	if w.c.Solve(w.f, w.t, y) != nil || w.c.Side() != w.side || w.strict && !w.c.tame {
		return nil
	}
	return y
}

// one reports whether two states are one solution, but for the rounding of the last one.
func (w *way) one(a, b []float64) bool {
	for _, i := range w.c.Mass.Unknowns {
		size := float64(oneRoot * max(math.Abs(a[i]), math.Abs(b[i])))
		if !(math.Abs(a[i]-b[i]) <= max(size, w.grain[i], float64(grains*w.c.noise[i]))) {
			return false
		}
	}
	return true
}
