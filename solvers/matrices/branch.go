package matrices

import (
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

// The parts of a jump that are tried: the first, and the least.
const (
	firstPart = 0.25
	leastPart = 0x1p-20
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
	if side == 0 || c.Factor(f, t, y) == nil && c.Side() == side {
		return true
	}
	at, next := slices.Clone(j.From), make([]float64, len(y))
	for done, part := 0.0, firstPart; done < 1; {
		to := min(done+part, 1)
		Between(next, j.From, j.To, to)
		for _, i := range c.Mass.Unknowns {
			next[i] = at[i]
		}
		j.Enter(to)
		if c.Solve(f, t, next) != nil || c.Side() != side {
			if part *= 0.5; part < leastPart {
				return false
			}
			continue
		}
		copy(at, next)
		done, part = to, 2*part
	}
	copy(y, at)
	return true
}
